//! Calls that ran although no hook has asked about them, with the real hook and the real desk.

use callgate_testkit::process::{DEADLINE, run};
use serde_json::{Value, json};

use crate::fixture::{ADA, Stage};

/// What Kimi Code gives its hook before and after a command.
fn kimi(event: &str, id: &str) -> Value {
    json!({
        "hook_event_name": event, "session_id": "session_d9768051", "cwd": "/home/ada/engine",
        "client_type": "kimi_code_cli", "tool_name": "Bash",
        "tool_input": { "command": "touch made" }, "tool_call_id": id,
    })
}

fn hook(stage: &Stage, event: &str, id: &str) {
    let ended = stage.start(&["hook", "--agent", "kimi"], &kimi(event, id).to_string()).end();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{ended:?}");
}

/// Waits for the run of this call in the ledger, and returns who decided, if that is recorded.
fn ran(stage: &Stage, id: &str) -> Option<String> {
    stage.until("the run is recorded", || {
        let ran = stage.entries().into_iter().filter(|entry| entry.kind == "ran");
        let mut bodies = ran.map(|entry| serde_json::from_str::<Value>(&entry.body).unwrap());
        let body = bodies.find(|body| body["tool_use_id"] == id)?;
        Some(body["by"].as_str().map(str::to_owned))
    })
}

#[test]
fn a_call_that_ran_without_a_verdict_is_told_and_counted() {
    let stage = Stage::new();
    hook(&stage, "PreToolUse", "call_1");
    hook(&stage, "PostToolUse", "call_1");
    assert_eq!(ran(&stage, "call_1"), None);
    // The hook before this one was killed, and so nobody has asked.
    hook(&stage, "PostToolUse", "call_2");
    assert_eq!(ran(&stage, "call_2").as_deref(), Some("nobody: its hook did not ask"));
    let told = stage.phone.wait_for("a notice", |seen| {
        let texts = seen.chat(ADA).map(|message| message.shape.text.clone());
        texts.into_iter().find(|text| text.contains("without a verdict"))
    });
    assert!(told.starts_with("Kimi Code in /home/ada/engine ran a call"), "{told}");
    assert!(told.contains("touch made"), "{told}");
    let log = run(stage.callgate(&["log", "--all"]), DEADLINE).success().stdout;
    assert!(log.contains("by nobody: its hook did not ask"), "{log}");
    let doctor = run(stage.callgate(&["doctor"]), 2 * DEADLINE).stdout;
    let counted = "Kimi Code ran 1 call without a verdict in the last 7 days";
    assert!(doctor.contains(counted), "{doctor}");
}

/// A hook that lets a call run without a desk leaves word for the next one.
#[test]
fn what_a_hook_decided_without_a_desk_is_no_call_without_a_verdict() {
    let stage = Stage::unstarted("");
    hook(&stage, "PreToolUse", "call_1");
    assert!(stage.database().with_file_name("last-absence").is_file());
    stage.up();
    hook(&stage, "PostToolUse", "call_1");
    assert_eq!(ran(&stage, "call_1"), None);
}

/// A desk that comes back does not know what the one before it has checked.
#[test]
fn what_an_earlier_desk_checked_is_no_call_without_a_verdict() {
    let stage = Stage::new();
    hook(&stage, "PreToolUse", "call_1");
    stage.kill();
    stage.up();
    hook(&stage, "PostToolUse", "call_1");
    assert_eq!(ran(&stage, "call_1"), None);
}
