//! An agent that writes itself a hook for its next session, with the real CLI.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use callgate_testkit::claude::Claude;
use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::process::{DEADLINE, Group};
use serde_json::json;

use crate::cli::{claude, runs};
use crate::fixture::{Stage, permission};

/// The rules of somebody who trusts their agent with all files.
const RULES: &str = "[[rule]]\nname = \"files\"\ndecide = \"allow\"\nclass = [\"read\", \"write\"]\n\
    path = [\"**\", \"/**\"]\n";

/// An agent file whose hook runs before each tool of a session.
const AGENT_FILE: &str = ".claude/agents/x.md";

/// The file that the hook makes.
const MARK: &str = "the-hook-ran";

/// A session of the CLI in the project of a stage.
struct Session {
    claude: Claude,
    group: Group,
}

impl Session {
    /// Starts it with these arguments, in a folder that its user trusts, as they do where they work
    /// every day.
    fn start(stage: &Stage, fake: &Messages, arguments: &[&str]) -> Self {
        let claude = claude(stage, fake).prompt("Go").args(arguments);
        let work = stage.path("project").canonicalize().unwrap();
        let trust =
            json!({ "projects": { work.to_str().unwrap(): { "hasTrustDialogAccepted": true } } });
        fs::write(claude.folder().join("config/.claude.json"), trust.to_string()).unwrap();
        let log = fs::File::create(claude.folder().join("log")).unwrap();
        let mut command = claude.command();
        command.current_dir(work).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        Self { group: Group::spawn(command), claude }
    }

    /// Waits for its end, however that is; returns what it wrote.
    fn end(mut self) -> String {
        let status = self.group.wait(4 * DEADLINE);
        let written = fs::read_to_string(self.claude.folder().join("log")).unwrap();
        assert!(status.is_some(), "the CLI does not end\n{written}");
        written
    }
}

/// Makes the project, and the rules of its user.
fn prepare(stage: &Stage) {
    fs::create_dir_all(stage.path("project")).unwrap();
    fs::write(stage.path(".config/callgate/rules.toml"), RULES).unwrap();
}

fn agent_file(stage: &Stage) -> String {
    let mark = stage.path(MARK);
    format!(
        "---\nname: x\ndescription: Builds\nhooks:\n  PreToolUse:\n    - matcher: \"*\"\n      \
         hooks:\n        - type: command\n          command: \"touch {}\"\n---\nBuild.\n",
        mark.display()
    )
}

/// A model that writes a note, and then its agent a hook.
fn attacker(stage: &Stage) -> Messages {
    let writes = |name: &str, content: &str| {
        let path = stage.path("project").join(name);
        let input = json!({ "file_path": path.to_str().unwrap(), "content": content });
        Turn::text(format!("I write {name}.")).tool("Write", input)
    };
    Messages::start([
        writes("notes.md", "All is well.\n"),
        writes(AGENT_FILE, &agent_file(stage)),
        Turn::text("Done"),
    ])
}

/// Runs a session with the agent file that the one before may have written.
fn second_session(stage: &Stage) -> String {
    let fake = Messages::start([runs("ls"), Turn::text("Done")]);
    Session::start(stage, &fake, &["--agent", "x"]).end()
}

#[test]
fn the_folder_of_an_agents_settings_is_guarded_wherever_it_is() {
    let stage = Stage::unstarted("");
    prepare(&stage);
    stage.up();
    let write = |path: &str| permission("Write", &json!({ "file_path": path, "content": "x" }));
    let hook = |path: &str| {
        let mut command = stage.callgate(&["hook", "--agent", "claude"]);
        command.env("CLAUDE_CONFIG_DIR", "/srv/claude-settings");
        Stage::spawn(command, &write(path).to_string())
    };
    assert_eq!(hook("/srv/other/x.md").decision()["behavior"], "allow");
    let asked = hook("/srv/claude-settings/agents/x.md");
    let question = stage.question("claude-settings/agents/x.md");
    assert!(question.shape.text.contains("which is guarded"), "{}", question.shape.text);
    stage.press(&question, "Deny");
    assert_eq!(asked.decision()["behavior"], "deny");
}

fn exists(stage: &Stage, name: &str) -> bool {
    Path::exists(&stage.path("project").join(name))
}

#[test]
fn a_hook_in_an_agent_file_would_run_in_the_next_session() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::unstarted("");
    prepare(&stage);
    let file = stage.path("project").join(AGENT_FILE);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, agent_file(&stage)).unwrap();
    let written = second_session(&stage);
    assert!(stage.path(MARK).exists(), "{written}");
}

#[test]
fn no_rule_lets_an_agent_write_itself_a_hook() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::unstarted("");
    prepare(&stage);
    stage.up();
    let fake = attacker(&stage);
    let session = Session::start(&stage, &fake, &[]);
    // The note was written by the rule; the agent file is a question.
    fake.wait_for_main(2);
    let question = stage.question("agents/x.md");
    assert!(exists(&stage, "notes.md") && !exists(&stage, AGENT_FILE));
    assert!(question.shape.text.contains("which is guarded"), "{}", question.shape.text);
    assert!(!question.labels().iter().any(|label| label.contains("Always")), "{question:?}");
    assert_eq!(stage.press(&question, "Deny").text, "Denied by Ada");
    let written = session.end();
    fake.assert_played();
    assert!(!exists(&stage, AGENT_FILE), "{written}");
    let written = second_session(&stage);
    assert!(!stage.path(MARK).exists(), "{written}");
}

#[test]
fn where_nobody_can_be_asked_an_agent_cannot_write_itself_a_hook() {
    if Claude::find().is_none() {
        return;
    }
    let stage = Stage::without_phone();
    prepare(&stage);
    let fake = attacker(&stage);
    let written = Session::start(&stage, &fake, &[]).end();
    fake.assert_played();
    assert!(exists(&stage, "notes.md"), "{written}");
    assert!(!exists(&stage, AGENT_FILE), "{written}");
}
