//! What is printed for each decision, by the form that the agent wants.

use expect_test::{Expect, expect};

use crate::approval::ApprovalResponse;
use crate::hook::*;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

/// Answers of the desk without their request id.
const ANSWERS: [&str; 12] = [
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
    r#""decision":"ask","message":"A rule asks.""#,
    r#""decision":"none""#,
];

/// Returns what is printed for each of [`ANSWERS`] to a question about `input`.
fn printed(input: &str) -> [String; ANSWERS.len()] {
    let input = AgentHookInput::from_bytes(input.as_bytes(), None).unwrap();
    let id = RequestId::parse(ID).unwrap();
    let mut request = input.request(id).unwrap();
    if input.event() == AgentHookEvent::PreToolUse {
        request.context.as_mut().unwrap().asks = Some(input.choose_prompter(true));
    }
    ANSWERS.map(|fields| {
        let response = format!(r#"{{"request_id":"{ID}",{fields}}}"#);
        let response = ApprovalResponse::decode(response.as_bytes()).unwrap();
        match render_response(input.known_event(), &request, &response) {
            HookReply::Line(line) => String::from_utf8(line).unwrap(),
            HookReply::Nothing => "nothing\n".to_owned(),
            HookReply::Undecided => "undecided\n".to_owned(),
            HookReply::Refusal(reason) => format!("refused: {reason}\n"),
        }
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
            undecided
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
            undecided
            undecided
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
            undecided
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Not\nnow \"é\""}}}
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"Stop."}}}
            undecided
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
            undecided
            undecided
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
            undecided
            {"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The user denied this."}}}
            undecided
            undecided
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
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"A person has to allow this, and nobody answered in time or could be reached. Tell the user; try again only when they want you to."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"This was answered in a way that the agent cannot take, so it was not run. Tell the user."}}
            nothing
        "#]],
    );
    check(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"}}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"This was answered in a way that the agent cannot take, so it was not run. Tell the user."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not\nnow \"é\""}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Stop."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"A person has to allow this, and nobody answered in time or could be reached. Tell the user; try again only when they want you to."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"This was answered in a way that the agent cannot take, so it was not run. Tell the user."}}
            nothing
        "#]],
    );
}

#[test]
fn before_a_tool_nothing_but_no_rule_is_silence() {
    // Here the agent can ask, there it cannot.
    check(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"permission_mode":"auto"}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"This was answered in a way that the agent cannot take, so it was not run. Tell the user."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not\nnow \"é\""}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Stop."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"A person has to allow this, and nobody answered in time or could be reached. Tell the user; try again only when they want you to."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"A rule asks."}}
            nothing
        "#]],
    );
    check(
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make"},"permission_mode":"default","turn_id":"t"}"#,
        &expect![[r#"
            nothing
            nothing
            nothing
            nothing
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"This was answered in a way that the agent cannot take, so it was not run. Tell the user."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not\nnow \"é\""}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Stop."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"A person has to allow this, and nobody answered in time or could be reached. Tell the user; try again only when they want you to."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"The user denied this."}}
            {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"This was answered in a way that the agent cannot take, so it was not run. Tell the user."}}
            nothing
        "#]],
    );
}

#[test]
fn a_blocked_call_is_tried_again_or_left_alone() {
    check(
        r#"{"hook_event_name":"PermissionDenied","tool_name":"Bash","tool_input":{"command":"make"},"reason":"It pushes."}"#,
        &expect![[r#"
            {"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}
            {"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}
            {"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}
            {"hookSpecificOutput":{"hookEventName":"PermissionDenied","retry":true}}
            nothing
            nothing
            nothing
            nothing
            nothing
            nothing
            nothing
            nothing
        "#]],
    );
}

/// Claude Code with somebody at its terminal, unless said otherwise.
fn asks(tool: &str, mode: &str, is_attended: bool) -> Prompter {
    let input = format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"{tool}","permission_mode":"{mode}"}}"#
    );
    AgentHookInput::from_bytes(input.as_bytes(), None).unwrap().choose_prompter(is_attended)
}

#[test]
fn the_agent_asks_only_where_it_is_known_to() {
    for mode in ["default", "acceptEdits", "plan", "auto"] {
        for tool in ["Bash", "WebFetch", "mcp__mail__send", "Task"] {
            assert_eq!(asks(tool, mode, true), Prompter::Agent, "{tool} {mode}");
            assert_eq!(asks(tool, mode, false), Prompter::Desk, "{tool} {mode}");
        }
        for tool in ["Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep", "LS"] {
            assert_eq!(asks(tool, mode, true), Prompter::Desk, "{tool} {mode}");
        }
    }
    for mode in ["dontAsk", "bypassPermissions", "new", ""] {
        assert_eq!(asks("Bash", mode, true), Prompter::Desk, "{mode}");
    }
    let codex = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","permission_mode":"default","turn_id":"t"}"#;
    let codex = AgentHookInput::from_bytes(codex.as_bytes(), None).unwrap();
    assert_eq!(codex.choose_prompter(true), Prompter::Desk);
}

#[test]
fn an_elicitation_is_accepted_with_what_it_needs() {
    check(
        r#"{"hook_event_name":"Elicitation","message":"m","mode":"form","requested_schema":{"type":"object","required":["name"]}}"#,
        &expect![[r#"
            undecided
            undecided
            undecided
            undecided
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{"command":"make test", "n":1.0}}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"cancel"}}
            undecided
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            undecided
            undecided
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
            undecided
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            undecided
            undecided
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
            undecided
            {"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}
            undecided
            undecided
        "#]],
    );
}

#[test]
fn other_events_are_never_answered() {
    for event in ["PostToolUse", "SessionStart"] {
        let input = format!(r#"{{"hook_event_name":"{event}","tool_name":"Bash"}}"#);
        assert_eq!(printed(&input), ["undecided\n"; ANSWERS.len()]);
    }
}
