//! Hooks in the words of the CLI.

use expect_test::{Expect, expect};

use super::*;

#[expect(clippy::needless_pass_by_value, reason = "reads better at the call")]
fn check(event: HookEvent, output: HookOutput, expected: Expect) {
    expected.assert_eq(&output.to_response(&event).to_string());
}

#[test]
fn before_a_tool() {
    let event = || HookEvent::PreToolUse;
    check(event(), HookOutput::proceed(), expect!["{}"]);
    check(
        event(),
        HookOutput::allow().input(json!({"a": 1})),
        expect![[
            r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"a":1},"hookEventName":"PreToolUse"}}"#
        ]],
    );
    check(
        event(),
        HookOutput::deny("no").context("try the other"),
        expect![[
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no","additionalContext":"try the other","hookEventName":"PreToolUse"}}"#
        ]],
    );
    check(
        event(),
        HookOutput::stop("enough"),
        expect![[r#"{"continue":false,"stopReason":"enough"}"#]],
    );
}

#[test]
fn elsewhere() {
    check(
        HookEvent::PermissionRequest,
        HookOutput::allow().input(json!({"a": 1})),
        expect![[
            r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"a":1}},"hookEventName":"PermissionRequest"}}"#
        ]],
    );
    check(
        HookEvent::Stop,
        HookOutput::deny("go on"),
        expect![[r#"{"decision":"block","reason":"go on"}"#]],
    );
    check(HookEvent::Stop, HookOutput::raw(json!({"x": 1})), expect![[r#"{"x":1}"#]]);
}

#[test]
fn hooks_are_registered_by_their_place() {
    let hook = |event| Hook::new(event, |_| async { HookOutput::proceed() });
    let hooks = [
        hook(HookEvent::PreToolUse).matcher("Bash").timeout(Duration::from_secs(90)),
        hook(HookEvent::Stop),
        hook(HookEvent::PreToolUse),
    ];
    let expected = json!({
        "PreToolUse": [
            {"hookCallbackIds": ["0"], "matcher": "Bash", "timeout": 90.0, "onFailure": "block"},
            {"hookCallbackIds": ["2"], "onFailure": "block"},
        ],
        "Stop": [{"hookCallbackIds": ["1"]}],
    });
    assert_eq!(registrations_by_event(&hooks), expected);
}
