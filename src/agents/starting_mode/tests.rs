//! The modes that settings name, and what is said about them.

use std::fs;

use super::*;

fn mode(agent: CodingAgent, file: &str, text: &str) -> StartingMode {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let found = StartingMode::of(agent, &Surroundings::of_test(home.path(), &[]));
    assert!(found.file.as_ref().is_none_or(|file| *file == path));
    found
}

#[test]
fn the_mode_is_the_one_that_the_settings_name() {
    let claude = |text: &str| mode(&CLAUDE, ".claude/settings.json", text);
    let plan = claude(r#"{"permissions":{"defaultMode":"plan"}}"#);
    assert!(plan.name == "plan" && plan.file.is_some() && plan.asks());
    let free = claude(r#"{"permissions":{"defaultMode":"bypassPermissions"}}"#);
    assert!(!free.asks());
    let off = claude(r#"{"permissions":{"disableAutoMode":"disable"}}"#);
    assert_eq!((off.name.as_str(), off.file), ("default", None));
    let codex = |text: &str| mode(&CODEX, ".codex/config.toml", text);
    assert_eq!(codex("model = \"x\"").name, "on-request");
    assert!(!codex("approval_policy = \"never\"").asks());
    assert!(codex("[approval_policy.granular]\nrules = true").asks());
}

#[test]
fn what_happens_is_told_for_each_mode() {
    let text = |agent, name: &str, unattended| {
        StartingMode { agent, name: name.to_owned(), file: None }.text(unattended)
    };
    let auto = text(&CLAUDE, "auto", Unattended::Rules);
    assert!(auto.starts_with("Claude Code starts in auto mode (its default), which asks nobody"));
    assert!(auto.ends_with("left to it; what it blocks comes to you"), "{auto}");
    let asks = text(&CLAUDE, "dontAsk", Unattended::Ask);
    assert!(asks.ends_with("comes to you, and no answer means no"), "{asks}");
    let codex = text(&CODEX, "on-request", Unattended::Rules);
    assert!(codex.contains("`codex exec` asks nobody: your rules apply"), "{codex}");
}
