//! Two hooks of one agent about one call: a person is asked once, and both get the same answer.

use callgate_wire::approval::{Action, ApprovalRequest, Decision, RequestKind};
use serde_json::json;

use super::super::{AskerId, DeskInput, DeskOutput, MOST_BYTES};
use super::cases::{Table, answers, is_shown};
use super::checks::rule_asks;
use super::{ada, edited_input, request_of};

/// A call of Copilot's: its own hook, or the one in Claude Code's settings.
pub(super) fn call(number: u64, command: &str, hook_of: Option<&str>) -> ApprovalRequest {
    let tool = if hook_of.is_some() { "Bash" } else { "bash" };
    let takes = if hook_of.is_some() { json!([]) } else { json!(["edit"]) };
    let mut context = json!({ "event": "PreToolUse", "takes": takes });
    if let Some(hook_of) = hook_of {
        context["hook_of"] = json!(hook_of);
    }
    let more = json!({ "kind": "check", "agent": "copilot", "context": context });
    request_of(number, tool, &json!({ "command": command, "description": "d" }), &more)
}

fn decisions(outputs: &[DeskOutput]) -> Vec<(u64, Decision)> {
    let decision = |output: &DeskOutput| match output {
        DeskOutput::Answer(asker, response) => Some((asker.0, response.decision)),
        _ => None,
    };
    let mut decisions: Vec<_> = outputs.iter().filter_map(decision).collect();
    decisions.sort_by_key(|(asker, _)| *asker);
    decisions
}

#[test]
fn two_hooks_at_once_ask_once() {
    for action in [Action::Allow, Action::Deny] {
        let mut table = Table::new();
        assert!(is_shown(&table.bring(1, call(1, "make", None), rule_asks())));
        let second = table.bring(2, call(2, "make", Some("claude")), rule_asks());
        assert!(second.is_empty(), "{second:?}");
        let decision = if action == Action::Allow { Decision::Allow } else { Decision::Deny };
        let outputs = table.button(1, action);
        assert_eq!(decisions(&outputs), [(1, decision), (2, decision)]);
        assert!(table.kinds().contains(&"checked"), "{:?}", table.kinds());
    }
}

#[test]
fn two_hooks_one_after_the_other_ask_once_and_soon() {
    let mut table = Table::new();
    table.bring(1, call(1, "make", Some("claude")), rule_asks());
    assert_eq!(decisions(&table.button(1, Action::Allow)), [(1, Decision::Allow)]);
    table.delivered(1);
    let second = table.bring(2, call(2, "make", None), rule_asks());
    assert_eq!(decisions(&second), [(2, Decision::Allow)]);
    // The answer is used up: the same call again is another call.
    assert!(is_shown(&table.bring(3, call(3, "make", None), rule_asks())));
    table.button(3, Action::Allow);
    table.delivered(3);
    table.wait(6);
    assert!(is_shown(&table.bring(4, call(4, "make", Some("claude")), rule_asks())));
}

#[test]
fn only_the_same_call_of_the_other_hook_counts() {
    let mut table = Table::new();
    table.bring(1, call(1, "make", None), rule_asks());
    // The same hook again is a second call, and so is another input, folder or session.
    assert!(is_shown(&table.bring(2, call(2, "make", None), rule_asks())));
    assert!(is_shown(&table.bring(3, call(3, "make it", Some("claude")), rule_asks())));
    let mut elsewhere = call(4, "make", Some("claude"));
    elsewhere.cwd = "/elsewhere".to_owned();
    assert!(is_shown(&table.bring(4, elsewhere, rule_asks())));
    let mut other = call(5, "make", Some("claude"));
    other.session_id = "s2".to_owned();
    assert!(is_shown(&table.bring(5, other, rule_asks())));
}

#[test]
fn an_edit_that_the_other_hook_cannot_pass_on_is_a_deny() {
    let mut table = Table::new();
    table.bring(1, call(1, "make", None), rule_asks());
    table.bring(2, call(2, "make", Some("claude")), rule_asks());
    let input = json!({ "command": "make test", "description": "d" }).to_string();
    let outputs = table.press(ada(), 1, edited_input(input));
    assert_eq!(decisions(&outputs), [(1, Decision::Allow), (2, Decision::Deny)]);
}

#[test]
fn a_second_hook_is_not_left_alone() {
    let mut table = Table::new();
    table.bring(1, call(1, "make", None), rule_asks());
    table.bring(2, call(2, "make", Some("claude")), rule_asks());
    // The first one went away without an answer: now the second one asks.
    assert!(is_shown(&table.give(DeskInput::Gone(AskerId(1)))));
    assert_eq!(decisions(&table.button(2, Action::Deny)), [(2, Decision::Deny)]);
    // A second one that went away gets nothing.
    let mut table = Table::new();
    table.bring(1, call(1, "make", None), rule_asks());
    table.bring(2, call(2, "make", Some("claude")), rule_asks());
    assert!(answers(&table.give(DeskInput::Gone(AskerId(2)))).is_empty());
    assert_eq!(decisions(&table.button(1, Action::Allow)), [(1, Decision::Allow)]);
    // Nobody answers: neither runs.
    let mut table = Table::new();
    table.bring(1, call(1, "make", None), rule_asks());
    table.bring(2, call(2, "make", Some("claude")), rule_asks());
    let outputs = table.wait(360);
    assert_eq!(decisions(&outputs), [(1, Decision::Timeout), (2, Decision::Timeout)]);
}

#[test]
fn second_hooks_that_wait_take_room_and_give_it_back() {
    let mut table = Table::new();
    table.desk.most_open = 4;
    let other = |hook: u64| Some(format!("other-{hook}"));
    table.bring(1, call(1, "make", None), rule_asks());
    for hook in 2..=4 {
        let waiting = table.bring(hook, call(hook, "make", other(hook).as_deref()), rule_asks());
        assert!(waiting.is_empty(), "{waiting:?}");
    }
    // It is not asked about, either.
    let fifth = table.bring(5, call(5, "make", other(5).as_deref()), rule_asks());
    assert_eq!(decisions(&fifth), [(5, Decision::Timeout)]);
    table.give(DeskInput::Gone(AskerId(4)));
    let waiting = table.bring(6, call(6, "make", other(6).as_deref()), rule_asks());
    assert!(waiting.is_empty(), "{waiting:?}");
    table.button(1, Action::Deny);
    table.delivered(1);
    for number in 10..14 {
        let asked = table.bring(number, call(number, "make it", None), rule_asks());
        assert!(is_shown(&asked), "all room is free again: {asked:?}");
    }
}

/// A waiting hook holds its whole request.
#[test]
fn second_hooks_that_wait_count_with_their_bytes() {
    let mut table = Table::new();
    let large = "x".repeat(1024);
    table.bring(1, call(1, &large, None), rule_asks());
    table.desk.bytes = MOST_BYTES - 2 * large.len();
    assert!(table.bring(2, call(2, &large, Some("one")), rule_asks()).is_empty());
    let third = table.bring(3, call(3, &large, Some("two")), rule_asks());
    assert_eq!(decisions(&third), [(3, Decision::Timeout)]);
}

#[test]
fn a_run_that_both_hooks_report_is_recorded_once() {
    let mut table = Table::new();
    let report = |table: &mut Table, number, hook_of: Option<&str>| {
        let mut request = call(number, "make", hook_of);
        request.kind = RequestKind::Settle;
        request.context.as_mut().unwrap().event = Some("PostToolUse".to_owned());
        table.give(DeskInput::Told(request));
        table.kinds().iter().filter(|kind| **kind == "ran").count()
    };
    assert_eq!(report(&mut table, 1, None), 1);
    assert_eq!(report(&mut table, 2, Some("claude")), 1);
    // The next call is another one.
    assert_eq!(report(&mut table, 3, None), 2);
    assert_eq!(report(&mut table, 4, None), 3);
}
