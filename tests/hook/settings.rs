//! A change of the agent's settings: what would open the gate is refused, and the desk is told.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::fixture::Stage;

/// The user's settings, with our hook.
const OURS: &str =
    r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"/bin/callgate-hook","args":[]}]}]}}"#;

/// A home with our hook in its settings, and a project.
struct Settings {
    stage: Stage,
    folder: PathBuf,
}

impl Settings {
    fn new() -> Self {
        let stage = Stage::new();
        let folder = stage.socket.parent().unwrap().to_owned();
        let settings = Self { stage, folder };
        settings.write(".claude/settings.json", OURS);
        settings
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// What the hook prints when this file has changed.
    fn changed(&self, source: &str, file: &str) -> String {
        let input = json!({
            "hook_event_name": "ConfigChange", "session_id": "s", "cwd": "/",
            "source": source, "file_path": file,
        });
        let mut command = self.stage.command(&["hook", "--agent", "claude"]);
        command.env("CLAUDE_PROJECT_DIR", self.folder.join("project"));
        let ended = self.stage.start(command, input.to_string()).end();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        ended.stdout
    }

    /// The reason why a project's new settings are refused.
    fn refused(&self, source: &str, name: &str, text: &str) -> String {
        let printed = self.changed(source, &self.write(name, text));
        let answer: Value = serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(answer["decision"], "block");
        answer["reason"].as_str().unwrap().to_owned()
    }
}

#[test]
fn settings_that_open_the_gate_are_refused() {
    let settings = Settings::new();
    let refuses = |text: &str, expected: &str| {
        for (source, name) in [
            ("project_settings", "project/.claude/settings.json"),
            ("local_settings", "project/.claude/settings.local.json"),
        ] {
            let reason = settings.refused(source, name, text);
            assert!(reason.contains(expected), "{reason}");
            assert!(reason.contains("does not apply to this session"), "{reason}");
        }
    };
    refuses(r#"{"disableAllHooks":true}"#, "no hook runs");
    refuses(r#"{"env":{"CLAUDE_CODE_SHELL_PREFIX":"/x"}}"#, "`env` sets CLAUDE_CODE_SHELL_PREFIX");
    refuses(
        r#"{"hooks":{"PermissionRequest":[{"hooks":[{"command":"yes"}]}]}}"#,
        "it has a PermissionRequest hook, which can answer in your place",
    );
    refuses("{", "it cannot be read");
}

#[test]
fn other_changes_pass() {
    let settings = Settings::new();
    for text in ["{}", "", r#"{"model":"x","env":{"A":"1"},"hooks":{"Stop":[]}}"#] {
        let file = settings.write("project/.claude/settings.json", text);
        assert_eq!(settings.changed("project_settings", &file), "", "{text}");
    }
    let absent = settings.folder.join("project/.claude/settings.local.json");
    assert_eq!(settings.changed("local_settings", absent.to_str().unwrap()), "");
    // Hooks of the user beside ours are the user's choice.
    let both =
        OURS.replace("\"hooks\":[{\"command\"", "\"hooks\":[{\"command\":\"beep\"},{\"command\"");
    let file = settings.write(".claude/settings.json", &both);
    for source in ["user_settings", "project_settings"] {
        assert_eq!(settings.changed(source, &file), "", "the home folder may be the project");
    }
    // Only an administrator can change these.
    let file = settings.write("managed.json", r#"{"disableAllHooks":true}"#);
    assert_eq!(settings.changed("policy_settings", &file), "");
}

#[test]
fn taking_the_hook_out_is_refused_while_no_other_file_has_it() {
    let settings = Settings::new();
    let reason = settings.refused("user_settings", ".claude/settings.json", "{}");
    assert!(reason.contains("our hook is in none of its settings any more"), "{reason}");
    let file = settings.write(".claude/settings.json", "{}");
    fs::remove_file(&file).unwrap();
    assert!(settings.changed("user_settings", &file).contains("in none of its settings"));
    settings.write("project/.claude/settings.local.json", OURS);
    assert_eq!(settings.changed("user_settings", &file), "");
}

#[test]
fn the_desk_is_told_why() {
    let settings = Settings::new();
    let desk = settings.stage.desk();
    let text = r#"{"disableAllHooks":true}"#;
    let reason = settings.refused("project_settings", "project/.claude/settings.json", text);
    let request = desk.accept().request();
    assert_eq!(
        (&request["kind"], &request["tool_name"]),
        (&json!("notify"), &json!("ConfigChange"))
    );
    assert_eq!(request["context"], json!({ "event": "ConfigChange", "reason": reason }));
    assert_eq!(request["tool_input"]["source"], "project_settings");
}
