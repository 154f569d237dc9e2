//! What a person decides reaches the agent in its own form, byte for byte.

use std::process::Command;

use serde_json::json;

use crate::fixture::{Ended, Stage, answered, answered_by, bash, call, event};

fn check(input: &str, fields: &str, printed: &str) {
    answered(&[], input, fields).printed(&format!("{printed}\n"));
}

fn permission(decision: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
    )
}

#[test]
fn the_question_is_the_agents_own() {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(bash());
    let mut asked = desk.accept();
    let mut request = asked.request();
    let id = request["request_id"].take();
    assert_eq!(id.as_str().unwrap().len(), 36);
    let expected = json!({
        "request_id": null, "tool_name": "Bash",
        "tool_input": {"command": "curl -H s3cret", "description": "d"},
        "cwd": "/work", "session_id": "session",
        "permission_suggestions": [{"type": "addRules", "rules": [{"toolName": "Bash"}]}],
        "agent": "claude-code",
        "context": {
            "event": "PermissionRequest", "prompt_id": "prompt", "timeout_seconds": 300,
            "words_follow": true, "takes": ["always", "edit", "interrupt"], "mode": "default",
        },
    });
    assert_eq!(request, expected);
    asked.answer(r#""decision":"allow""#);
    assert_eq!(hook.end().code, Some(0));
    let other = stage.hook(bash());
    let mut asked = desk.accept();
    assert_ne!(asked.id(), id.as_str().unwrap());
    asked.answer(r#""decision":"deny""#);
    assert_eq!(other.end().code, Some(0));
}

#[test]
fn allow_deny_and_all_that_goes_with_them() {
    let bash = bash();
    let allow =
        r#""decision":"allow","message":null,"always_allow_suggestion":null,"new_field":{"a":1}"#;
    check(&bash, allow, &permission(r#"{"behavior":"allow"}"#));
    check(
        &bash,
        r#""decision":"allow","always_allow_suggestion":{"type":"a", "n":1.50}"#,
        &permission(r#"{"behavior":"allow","updatedPermissions":[{"type":"a", "n":1.50}]}"#),
    );
    check(
        &bash,
        r#""decision":"allow","always_allow_suggestion":{"type":"a"},"updated_permissions":[{"type":"a"},{"z":1,"a":"\u00e9"}]"#,
        &permission(
            r#"{"behavior":"allow","updatedPermissions":[{"type":"a"},{"z":1,"a":"\u00e9"}]}"#,
        ),
    );
    check(
        &bash,
        r#""decision":"allow","updated_input":{"command":"make  test"}"#,
        &permission(r#"{"behavior":"allow","updatedInput":{"command":"make  test"}}"#),
    );
    check(
        &bash,
        r#""decision":"deny","message":"Only `make test`,\nplease.""#,
        &permission(r#"{"behavior":"deny","message":"Only `make test`,\nplease."}"#),
    );
    check(
        &bash,
        r#""decision":"deny","message":"Stop.","interrupt":true"#,
        &permission(r#"{"behavior":"deny","message":"Stop.","interrupt":true}"#),
    );
}

#[test]
fn nobody_decided() {
    answered(&[], &bash(), r#""decision":"timeout""#).fell_back("nobody decided");
    // Also for an answer that the agent could not take.
    let edited = r#""decision":"allow","updated_input":{}"#;
    answered(&["--agent", "codex"], &bash(), edited).fell_back("nobody decided");
}

#[test]
fn codex_is_answered_with_nothing_that_it_refuses() {
    let all = r#""decision":"allow","always_allow_suggestion":{"type":"a"},"updated_permissions":[{"type":"a"}]"#;
    let stop = r#""decision":"deny","message":"No.","interrupt":true"#;
    let mut recognised = event("PermissionRequest");
    recognised["turn_id"] = json!("turn");
    recognised["transcript_path"] = json!(null);
    for (flags, input) in [
        (&["--agent", "codex"][..], bash()),
        (&[][..], recognised.to_string()),
        (&["--agent", "codex"][..], recognised.to_string()),
    ] {
        let allowed = permission(r#"{"behavior":"allow"}"#) + "\n";
        answered(flags, &input, all).printed(&allowed);
        let denied = permission(r#"{"behavior":"deny","message":"No."}"#) + "\n";
        answered(flags, &input, stop).printed(&denied);
    }
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.start(stage.command(&["hook", "--agent", "codex"]), bash());
    let mut asked = desk.accept();
    let request = asked.request();
    assert_eq!((&request["agent"], &request["context"]["takes"]), (&json!("codex"), &json!([])));
    asked.answer(r#""decision":"timeout""#);
    hook.end().fell_back("nobody decided");
}

#[test]
fn other_events_that_ask_have_their_own_form() {
    let pre = event("PreToolUse").to_string();
    check(
        &pre,
        r#""decision":"allow","updated_input":{"command":"ls"}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}"#,
    );
    check(
        &pre,
        r#""decision":"deny","message":"No.""#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"No."}}"#,
    );
    let form = json!({
        "hook_event_name": "Elicitation", "mcp_server_name": "toy", "message": "your name?",
        "mode": "form", "requested_schema": {"type": "object", "required": ["name"]},
    });
    let form = form.to_string();
    check(
        &form,
        r#""decision":"allow","updated_input":{"name":"Ada"}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"name":"Ada"}}}"#,
    );
    check(
        &form,
        r#""decision":"deny","message":"No.""#,
        r#"{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}"#,
    );
    check(
        &form,
        r#""decision":"deny","interrupt":true"#,
        r#"{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"cancel"}}"#,
    );
    answered(&[], &form, r#""decision":"timeout""#).fell_back("nobody decided");
}

/// The small program, which is the hook by itself.
const SMALL: &str = env!("CARGO_BIN_EXE_callgate-hook");

#[test]
fn the_small_program_prints_the_same_to_the_byte() {
    let small = |arguments: &[&str], input: &str, fields: &str| {
        let stage = Stage::new();
        answered_by(&stage, stage.program(SMALL, arguments), input, fields)
    };
    let suggested = r#""decision":"allow","always_allow_suggestion":{"type":"a", "n":1.50}"#;
    let edited = r#""decision":"allow","updated_input":{"command":"make  \u00e9"}"#;
    let denied = r#""decision":"deny","message":"No,\nü.","interrupt":true"#;
    let codex = &["--agent", "codex"][..];
    // Codex has no such event, and its hook asks nobody about it.
    let refused = event("PermissionDenied").to_string();
    let calls = [bash(), call().to_string()];
    let mut cases: Vec<_> =
        calls.iter().flat_map(|input| [(&[][..], input), (codex, input)]).collect();
    cases.push((&[], &refused));
    for fields in [suggested, edited, denied, r#""decision":"timeout""#] {
        for (arguments, input) in &cases {
            let expected = answered(arguments, input, fields);
            assert_eq!(small(arguments, input, fields), expected, "{fields}");
        }
    }
    small(&[], &bash(), denied).printed(
        &(permission(r#"{"behavior":"deny","message":"No,\nü.","interrupt":true}"#) + "\n"),
    );
}

#[test]
fn the_small_program_takes_the_same_arguments_settings_and_inputs() {
    let stage = Stage::new();
    std::fs::write(stage.folder.path().join("wrong.toml"), "grace_seconds = 1000\nsocket =")
        .unwrap();
    let both = |arguments: &[&str], gated: &str, input: &str| {
        let run = |mut command: Command| {
            command.env("CALLGATE_GATED", gated);
            stage.start(command, input).end()
        };
        let ended = run(stage.command(&[&["hook"], arguments].concat()));
        assert_eq!(run(stage.program(SMALL, arguments)), ended, "{arguments:?}");
        ended
    };
    both(&[], "", &bash()).fell_back("desk.sock");
    both(&["--config", "wrong.toml"], "", &bash()).fell_back("wrong.toml");
    assert_eq!(both(&["--fast"], "", &bash()).code, Some(64));
    assert_eq!(both(&["hook"], "", &bash()).code, Some(64), "it is the hook already");
    both(&[], "", "{").refused("input");
    assert_eq!(both(&[], "", &call().to_string()).code, Some(0));
    both(&["--config", "wrong.toml"], "", &call().to_string()).denied("wrong.toml");
    let silent = Ended { code: Some(0), stdout: String::new(), stderr: String::new() };
    both(&[], "1", &bash()).fell_back("desk.sock");
    assert_eq!(both(&[], "", &event("Later").to_string()), silent);
}
