//! The modes that settings name, and what is said about them.

use std::fs;

use callgate_wire::hook::AgentProfile;

use super::*;
use crate::config::test_surroundings;

fn mode(agent: CodingAgent, file: &str, text: &str) -> StartingMode {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let found = StartingMode::for_agent(agent, &test_surroundings(home.path(), &[]));
    assert!(found.file.as_ref().is_none_or(|file| *file == path));
    found
}

#[test]
fn the_mode_is_the_one_that_the_settings_name() {
    let claude = |text: &str| mode(&CLAUDE, ".claude/settings.json", text);
    let plan = claude(r#"{"permissions":{"defaultMode":"plan"}}"#);
    assert!(plan.name == "plan" && plan.file.is_some() && plan.asks == Some(true));
    let free = claude(r#"{"permissions":{"defaultMode":"bypassPermissions"}}"#);
    assert_eq!(free.asks, Some(false));
    let off = claude(r#"{"permissions":{"disableAutoMode":"disable"}}"#);
    assert_eq!((off.name.as_str(), off.file), ("default", None));
    let codex = |text: &str| mode(&CODEX, ".codex/config.toml", text);
    assert_eq!(codex("model = \"x\"").name, "on-request");
    assert_eq!(codex("approval_policy = \"never\"").asks, Some(false));
    assert_eq!(codex("[approval_policy.granular]\nrules = true").asks, Some(true));
}

#[test]
fn codex_reads_the_settings_of_projects_that_its_user_trusts() {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("shop/src");
    for folder in [home.path().join(".codex"), work.join(".codex"), home.path().join("shop/.git")] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(work.join(".codex/config.toml"), "approval_policy = \"never\"").unwrap();
    let around = Surroundings { here: Some(work.clone()), ..test_surroundings(home.path(), &[]) };
    let name_with = |trusted: &str| {
        let settings = format!("approval_policy = \"untrusted\"\n{trusted}");
        fs::write(home.path().join(".codex/config.toml"), settings).unwrap();
        StartingMode::for_agent(&CODEX, &around).name
    };
    let project = |folder: &Path, level: &str| {
        format!("[projects.{:?}]\ntrust_level = \"{level}\"", folder.to_str().unwrap())
    };
    assert_eq!(name_with(""), "untrusted");
    assert_eq!(name_with(&project(&work, "untrusted")), "untrusted");
    assert_eq!(name_with(&project(&work, "trusted")), "never");
    assert_eq!(name_with(&project(&home.path().join("shop"), "trusted")), "never");
    assert_eq!(name_with(&project(home.path(), "trusted")), "untrusted");
}

#[test]
fn what_happens_is_told_for_each_mode() {
    let text = |agent, name: &str, unattended| {
        let asks = Some(name == "on-request");
        StartingMode { agent, name: name.to_owned(), file: None, asks }.text(unattended)
    };
    let auto = text(&CLAUDE, "auto", Unattended::Rules);
    assert!(auto.starts_with("Claude Code starts in auto mode (its default), which asks nobody"));
    assert!(auto.ends_with("left to it; what it blocks comes to you"), "{auto}");
    let asks = text(&CLAUDE, "dontAsk", Unattended::Ask);
    assert!(asks.ends_with("comes to you, and no answer means no"), "{asks}");
    let codex = text(&CODEX, "on-request", Unattended::Rules);
    assert!(codex.contains("`codex exec` asks nobody: your rules apply"), "{codex}");
}

#[test]
fn the_modes_of_other_agents_are_read_where_they_are_set() {
    let of = |word: &str, file: &str, text: &str| {
        let found = mode(AgentProfile::find(word).unwrap(), file, text);
        (found.name.clone(), found.asks, found.text(Unattended::Rules))
    };
    for (word, file, text, name, asks) in [
        ("gemini", ".gemini/settings.json", "{}", "default", true),
        ("qwen", ".qwen/settings.json", "{} // mine", "auto", false),
        ("qwen", ".qwen/settings.json", r#"{"tools":{"approvalMode":"plan"}}"#, "plan", true),
        ("qwen", ".qwen/settings.json", r#"{"tools":{"approvalMode":"yolo"}} // !"#, "yolo", false),
        (
            "droid",
            ".factory/settings.json",
            r#"{"sessionDefaultSettings":{"autonomyLevel":"high"}}"#,
            "high",
            false,
        ),
        ("kimi", ".kimi-code/config.toml", "default_permission_mode = \"yolo\"", "yolo", false),
        ("goose", ".config/goose/config.yaml", "A: 1\nGOOSE_MODE: approve\n", "approve", true),
        ("goose", ".config/goose/config.yaml", "A: 1\n", "auto", false),
        ("pi", ".pi/x", "", "only", false),
        ("copilot", ".copilot/x", "", "default", true),
        ("grok", ".grok/x", "", "default", true),
        ("openhands", ".openhands/x", "", "always-ask", true),
        ("amp", ".config/amp/x", "", "default", true),
    ] {
        let found = of(word, file, text);
        assert_eq!((found.0.as_str(), found.1), (name, Some(asks)), "{word} {text}");
        assert_eq!(found.2.contains("asks nobody"), !asks, "{}", found.2);
    }
    for agent in AGENTS {
        assert!(of(agent.word, ".x", "").1.is_some(), "{agent:?}");
    }
}
