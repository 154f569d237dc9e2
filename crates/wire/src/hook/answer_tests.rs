//! What is printed for each decision, by the form that the agent wants.

use expect_test::{Expect, expect};

use super::*;
use crate::approval::Response;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

/// Answers of the desk without their request id.
const ANSWERS: [&str; 10] = [
    r#""decision":"allow""#,
    r#""decision":"allow","always_allow_suggestion":{"type":"a", "n":1.0}"#,
    r#""decision":"allow","always_allow_suggestion":{"type":"a"},"updated_permissions":[{"type":"a"},{"type": "b"}]"#,
    r#""decision":"allow","updated_permissions":[{"type":"a"},null]"#,
    r#""decision":"allow","updated_input":{"command":"make test", "n":1.0}"#,
    r#""decision":"deny""#,
    r#""decision":"deny","message":"Not\nnow \"é\"""#,
    r#""decision":"deny","message":"Stop.","interrupt":true"#,
    r#""decision":"timeout","message":"m","updated_input":{}"#,
    // What does not belong to a decision changes nothing.
    r#""decision":"deny","message":"","always_allow_suggestion":{"type":"a"},"updated_input":{}"#,
];

/// What is printed for each of [`ANSWERS`] to a question about `input`.
fn printed(input: &str) -> [String; ANSWERS.len()] {
    let input = Input::read(input.as_bytes()).unwrap();
    let id = RequestId::parse(ID).unwrap();
    let request = input.request(id, input.agent()).unwrap();
    ANSWERS.map(|fields| {
        let response = format!(r#"{{"request_id":"{ID}",{fields}}}"#);
        let response = Response::decode(response.as_bytes()).unwrap();
        let line = answer(input.event(), input.agent(), &request, &response);
        line.map_or("nothing\n".into(), |line| String::from_utf8(line).unwrap())
    })
}

fn check(input: &str, expected: &Expect) {
    expected.assert_eq(&printed(input).concat());
}

#[test]
fn a_permission_request_takes_everything() {
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"},"prompt_id":"p"}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"a", "n":1.0}]}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"a"},{"type": "b"}]}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"make test", "n":1.0}}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Not\nnow \"é\""}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Stop.","interrupt":true}}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
        "#]],
    );
}

#[test]
fn codex_is_given_a_bare_decision_or_none() {
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"},"turn_id":"t"}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Not\nnow \"é\""}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Stop."}}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
        "#]],
    );
}

#[test]
fn an_approved_plan_comes_back_whole() {
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode","tool_input":{"plan":"1. Do","planFilePath":"/p"}}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"plan":"1. Do","planFilePath":"/p"}}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"plan":"1. Do","planFilePath":"/p"},"updatedPermissions":[{"type":"a", "n":1.0}]}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"plan":"1. Do","planFilePath":"/p"},"updatedPermissions":[{"type":"a"},{"type": "b"}]}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"plan":"1. Do","planFilePath":"/p"}}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"make test", "n":1.0}}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Not\nnow \"é\""}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Stop.","interrupt":true}}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
        "#]],
    );
}

#[test]
fn before_a_tool_an_input_is_changed_only_where_that_is_known_to_work() {
    check(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"prompt_id":"p"}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"make test", "n":1.0}}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not\nnow \"é\""}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Stop."}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
        "#]],
    );
    check(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"}}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not\nnow \"é\""}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Stop."}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
        "#]],
    );
}

#[test]
fn an_elicitation_is_accepted_with_what_it_needs() {
    check(
        r#"{"hook_event_name":"Elicitation","message":"m","mode":"form","requested_schema":{"type":"object","required":["name"]}}"#,
        &expect![[r#"
            nothing
            nothing
            nothing
            nothing
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"command":"make test", "n":1.0}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"cancel"}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
        "#]],
    );
    check(
        r#"{"hook_event_name":"Elicitation","message":"m","mode":"form","requested_schema":{"type":"object","required":[]}}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"command":"make test", "n":1.0}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"cancel"}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
        "#]],
    );
    check(
        r#"{"hook_event_name":"Elicitation","message":"m","mode":"url","url":"https://example.com"}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"command":"make test", "n":1.0}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"cancel"}}
            nothing
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
        "#]],
    );
}

#[test]
fn other_events_are_never_answered() {
    for event in ["PostToolUse", "SessionStart"] {
        let input = format!(r#"{{"hook_event_name":"{event}","tool_name":"Bash"}}"#);
        assert_eq!(printed(&input), ["nothing\n"; ANSWERS.len()]);
    }
}
