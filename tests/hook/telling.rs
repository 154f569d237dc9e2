//! Events that are only reported: no answer, no output, always success.

use std::time::{Duration, Instant};

use callgate_wire::approval::MAX_LINE;
use serde_json::{Value, json};

use crate::fixture::{Asked, Stage, bash, event};

/// The request that comes of this event, which is over before anybody answers.
fn told(input: &Value) -> Asked {
    let stage = Stage::new();
    let desk = stage.desk();
    stage.hook(input.to_string()).end().printed("");
    let mut asked = desk.accept();
    asked.assert_closed();
    asked
}

#[test]
fn what_has_ended_settles_questions() {
    for (name, ok) in [("PostToolUse", true), ("PostToolUseFailure", false)] {
        let mut input = event(name);
        input["tool_use_id"] = json!("toolu_1");
        let request = told(&input).request();
        assert_eq!(request["kind"], "settle");
        assert_eq!(request["tool_name"], "Bash");
        assert_eq!(request["tool_input"], event(name)["tool_input"]);
        assert_eq!(request["session_id"], "session");
        let context = json!({
            "event": name, "prompt_id": "prompt", "ok": ok, "mode": "default",
            "tool_use_id": "toolu_1",
        });
        assert_eq!(request["context"], context);
    }
    let stop = json!({
        "hook_event_name": "Stop", "session_id": "s", "prompt_id": "p", "agent_id": "a", "cwd": "/",
        "last_assistant_message": "All is done.",
    });
    let request = told(&stop).request();
    assert_eq!((&request["kind"], &request["tool_name"]), (&json!("settle"), &json!("Stop")));
    let context = json!({
        "event": "Stop", "prompt_id": "p", "agent_id": "a", "last_words": "All is done.",
    });
    assert_eq!(request["context"], context);
    let end = json!({"hook_event_name": "SessionEnd", "session_id": "s", "cwd": "/"});
    assert_eq!(told(&end).request()["context"], json!({"event": "SessionEnd"}));
}

#[test]
fn notifications_are_passed_on() {
    let input = json!({
        "hook_event_name": "Notification", "session_id": "s", "cwd": "/",
        "message": "Claude needs your permission", "notification_type": "permission_prompt",
    });
    let request = told(&input).request();
    assert_eq!(request["kind"], "notify");
    let expected = json!({
        "message": "Claude needs your permission", "notification_type": "permission_prompt",
    });
    assert_eq!(request["tool_input"], expected);
}

#[test]
fn nothing_that_goes_wrong_shows() {
    let stage = Stage::new();
    for name in ["PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd", "Notification"] {
        // No desk.
        stage.hook(event(name).to_string()).end().printed("");
        // Not even an event.
        stage.hook(format!(r#"{{"hook_event_name":"{name}","x":"#)).end().printed("");
        // Wrong settings.
        let mut command = stage.command(&["hook"]);
        command.env("CALLGATE_TIMEOUT_SECONDS", "never");
        stage.start(command, event(name).to_string()).end().printed("");
    }
    stage.hook(r#"{"hook_event_name":"PostToolUse"}"#).end().printed("");
    let mut large = event("PostToolUse");
    large["tool_input"]["command"] = "x".repeat(MAX_LINE).into();
    let desk = stage.desk();
    stage.hook(large.to_string()).end().printed("");
    assert_eq!(desk.accept().line, "");
    // A large result is not told, so it does no harm.
    let mut large = event("PostToolUse");
    large["tool_response"] = "x".repeat(MAX_LINE).into();
    stage.hook(large.to_string()).end().printed("");
    assert_eq!(desk.accept().request()["tool_name"], "Bash");
}

#[test]
fn a_desk_that_does_not_read_is_not_waited_for() {
    let stage = Stage::new();
    let _desk = stage.desk();
    let mut large = event("PostToolUse");
    large["tool_input"]["command"] = "x".repeat(MAX_LINE / 2).into();
    let start = Instant::now();
    stage.hook(large.to_string()).end().printed("");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn other_events_are_none_of_our_business() {
    let stage = Stage::new();
    let desk = stage.desk();
    for name in ["SessionStart", "UserPromptSubmit", "PreCompact", "permissionrequest", ""] {
        stage.hook(event(name).to_string()).end().printed("");
    }
    desk.assert_not_dialled();
}

/// The desk knows whether a host is registered; a value alone silences nothing.
#[test]
fn what_the_environment_says_of_a_host_is_for_the_desk() {
    let stage = Stage::new();
    let desk = stage.desk();
    let value = "5d0f2f1c8e7b4a69b3c2d1e0f9a8b7c6";
    for gated in ["1", value] {
        for input in [bash(), event("PreToolUse").to_string()] {
            let mut command = stage.command(&["hook"]);
            command.env("CALLGATE_GATED", gated);
            let hook = stage.start(command, input);
            let mut asked = desk.accept();
            assert_eq!(asked.request()["context"]["gated"], gated);
            // Its host asks.
            asked.answer(r#""decision":"none""#);
            hook.end().printed("");
        }
    }
    let mut command = stage.command(&["hook"]);
    command.env("CALLGATE_GATED", "x".repeat(129));
    let hook = stage.start(command, bash());
    let mut asked = desk.accept();
    assert!(asked.request()["context"]["gated"].is_null());
    asked.answer(r#""decision":"timeout""#);
    hook.end().fell_back("nobody decided");
}

/// Without a desk nobody has registered anything.
#[test]
fn a_value_without_a_desk_silences_nothing() {
    let stage = Stage::new();
    let mut command = stage.command(&["hook"]);
    command.env("CALLGATE_GATED", "1");
    stage.start(command, bash()).end().fell_back("desk.sock");
}
