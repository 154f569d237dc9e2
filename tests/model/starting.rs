//! Calls that cannot start: no CLI, something else in its place, no bridge, other tools.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use callgate_claude::{ClaudeError, Model, blocking};
use callgate_testkit::messages::Turn;
use callgate_testkit::process::run;
use callgate_testkit::script::write_program;
use tokio::time::timeout;

use crate::fixture::{DEADLINE, Stage, TRANSPORTS};

/// Set in the process that has no CLI anywhere.
const NOWHERE: &str = "CALLGATE_TEST_NO_CLI";
const SECRET: &str = "swordfish-0123456789";
const KEY: &str = "sk-ant-api03-0123456789abcdef";

/// Why a call with this in place of the CLI fails.
async fn failure(stage: &Stage, cli: impl AsRef<Path>) -> ClaudeError {
    let settings = stage.settings().cli(cli.as_ref()).env("MY_TOKEN", SECRET);
    let model = stage.model_with(settings, TRANSPORTS[0]);
    let outcome = timeout(DEADLINE / 2, model.request("Hello?")).await;
    assert_eq!(fs::read_dir(stage.folder.path()).unwrap().count(), 0, "files are left");
    outcome.expect("it fails in time").expect_err("it is no CLI")
}

#[tokio::test]
async fn other_programs_are_not_the_cli() {
    let Some(stage) = Stage::new([]) else { return };
    let silent = failure(&stage, "/bin/true").await;
    assert!(matches!(&silent, ClaudeError::Died { status, .. } if status.success()), "{silent}");
    let cat = failure(&stage, "/bin/cat").await;
    assert!(matches!(&cat, ClaudeError::Died { stderr, .. } if stderr.contains("cat")), "{cat}");
    let chatty = stage.program("chatty", "echo 'Hello, nice to meet you!'; exec sleep 1000");
    let chatty = failure(&stage, chatty).await;
    assert!(matches!(chatty, ClaudeError::Garbage { .. }), "{chatty}");
    let long = "head -c 68000000 /dev/zero | tr '\\0' x; echo; exec sleep 1000";
    let long = failure(&stage, stage.program("long", long)).await;
    assert!(long.to_string().contains("it has 68000000 bytes"), "{long}");
    let half = failure(&stage, stage.program("half", "printf '{\"type\":'")).await;
    assert!(matches!(half, ClaudeError::Died { .. }), "{half}");
}

#[tokio::test]
async fn an_echo_is_refused() {
    let Some(stage) = Stage::new([]) else { return };
    let echo = failure(&stage, stage.program("echo", "exec cat")).await;
    assert!(matches!(echo, ClaudeError::Refused { .. }), "{echo}");
}

#[tokio::test]
async fn the_last_words_are_told_without_their_secrets() {
    let Some(stage) = Stage::new([]) else { return };
    let script = format!("echo \"no luck with $MY_TOKEN and {KEY}\" >&2; exit 3");
    let error = failure(&stage, stage.program("failing", &script)).await;
    let ClaudeError::Died { status, stderr } = &error else { panic!("{error}") };
    assert_eq!(status.code(), Some(3));
    assert_eq!(stderr, "no luck with [hidden 1: secret variable] and [hidden 2: Anthropic key]");
    assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
}

/// Its output has ended, so nothing will come of it, although it is there.
#[tokio::test]
async fn a_cli_that_closes_its_output_is_ended() {
    let Some(stage) = Stage::new([]) else { return };
    let error = failure(&stage, stage.program("mute", "exec >&-; exec sleep 1000")).await;
    assert!(error.to_string().contains("closed its output"), "{error}");
}

#[tokio::test]
async fn an_old_cli_is_told_so() {
    let Some(stage) = Stage::new([]) else { return };
    for (version, found) in
        [(r#""claude_code_version":"1.0.0""#, "1.0.0"), (r#""pid":1"#, "unknown")]
    {
        let answer = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"callgate-initialize","response":{{{version}}}}}}}"#
        );
        let script = format!("read line; echo '{answer}'; exec sleep 1000");
        let error = failure(&stage, stage.program("old", &script)).await;
        let ClaudeError::CliTooOld { found: theirs, .. } = &error else { panic!("{error}") };
        assert_eq!(theirs, found);
        assert!(error.to_string().ends_with("update it"), "{error}");
    }
}

#[tokio::test]
async fn a_path_that_is_no_program_is_named() {
    let Some(stage) = Stage::new([]) else { return };
    let text = stage.claude.folder().join("text");
    fs::write(&text, "no program").unwrap();
    for path in [text, stage.claude.folder().join("missing"), stage.claude.work()] {
        let error = failure(&stage, &path).await;
        assert!(matches!(&error, ClaudeError::Start { program, .. } if *program == path));
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}

/// Not a test of its own: the process without a CLI that the next test starts.
#[test]
fn process_without_a_cli() {
    if std::env::var_os(NOWHERE).is_none() {
        return;
    }
    let error = blocking::request(&Model::new(), "Hello?").unwrap_err();
    assert!(matches!(error, ClaudeError::CliNotFound { .. }), "{error}");
    let words = error.to_string();
    for word in ["was found neither", "PATH", "~/.local/bin/claude", "install it", "Settings::cli"]
    {
        assert!(words.contains(word), "{word}: {words}");
    }
}

#[test]
fn no_cli_at_all_is_told_with_what_to_do() {
    if ["/usr/local/bin/claude", "/opt/homebrew/bin/claude"].iter().any(|p| Path::new(p).exists()) {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "starting::process_without_a_cli", "--nocapture"]);
    // A program in the working folder, which is a project's, is not the CLI although the PATH has
    // that folder.
    write_program(&home.path().join("claude"), "#!/bin/sh\nexit 0\n");
    command.env(NOWHERE, "1").env("PATH", ".:").env("HOME", "/nonexistent");
    command.current_dir(home.path());
    let done = run(command, Duration::from_secs(30)).success();
    assert!(done.stdout.contains("1 passed"), "{}", done.stdout);
}

#[tokio::test]
async fn a_bridge_that_fails_is_told() {
    let Some(stage) = Stage::new([Turn::text("Never said.")]) else { return };
    let mut model = stage.model(TRANSPORTS[0]);
    let broken = stage.program("broken", "exit 1");
    model.set_tools(stage.host([]).bridge(broken), TRANSPORTS[0]);
    let error = model.request("Hello?").await.unwrap_err();
    assert!(matches!(error, ClaudeError::BridgeStartup(_)), "{error}");
    let words = error.to_string();
    assert!(words.starts_with("BridgeStartupError: ") && words.contains("failed"), "{words}");
}

#[tokio::test]
async fn a_bridge_that_is_no_program_is_told_at_once() {
    let Some(stage) = Stage::new([]) else { return };
    let mut model = stage.model(TRANSPORTS[0]);
    model.set_tools(stage.host([]).bridge("/nowhere/callgate"), TRANSPORTS[0]);
    let error = model.request("Hello?").await.unwrap_err();
    assert!(error.to_string().starts_with("BridgeStartupError: /nowhere/callgate"), "{error}");
}

/// A bridge that serves another schema file than ours.
#[tokio::test]
async fn a_bridge_with_other_tools_is_refused() {
    let Some(stage) = Stage::new([Turn::text("Never said.")]) else { return };
    let schema = stage.claude.folder().join("schema.json");
    let other = r#"[{"name":"other","description":"Not ours.","input_schema":{"type":"object"}}]"#;
    fs::write(&schema, other).unwrap();
    let callgate = env!("CARGO_BIN_EXE_callgate");
    let script = format!("exec {callgate} bridge \"$2\" {}", schema.display());
    let mut model = stage.model(TRANSPORTS[0]);
    model.set_tools(stage.host([]).bridge(stage.program("swapped", &script)), TRANSPORTS[0]);
    let error = model.request("Hello?").await.unwrap_err();
    let ClaudeError::BridgeStartup(reason) = &error else { panic!("{error}") };
    assert!(reason.contains(r#"["other"]"#) && reason.contains(r#""echo""#), "{reason}");
}

#[tokio::test]
async fn tools_of_ours_that_are_denied_are_missed() {
    for transport in TRANSPORTS {
        let Some(stage) = Stage::new([Turn::text("Never said.")]) else { return };
        let settings = stage.settings().deny("mcp__callgate__fail");
        let error = stage.model_with(settings, transport).request("Hello?").await.unwrap_err();
        let ClaudeError::BridgeStartup(reason) = &error else { panic!("{error}") };
        assert!(reason.contains("some of the tools are denied"), "{reason}");
    }
}
