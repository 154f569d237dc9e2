//! Runs about which no hook has asked.

use std::time::Duration;

use callgate_wire::approval::ApprovalRequest;
use callgate_wire::hook::AgentProfile;
use callgate_wire::hook::agents::AGENTS;
use serde_json::json;

use super::super::unchecked_runs::{LONGEST_CALL, MOST};
use super::super::{AskerId, DeskInput, DeskOutput, DeskSettings};
use super::cases::Table;
use super::{request_of, settings};
use crate::channel::ChannelOrder;

fn table() -> Table {
    Table::with(DeskSettings { terminal: true, ..settings() })
}

/// A request of an agent about a call, before it runs (`check`) or after it (`settle`).
fn call(kind: &str, agent: &str, tool: &str, id: Option<&str>, command: &str) -> ApprovalRequest {
    let event = if kind == "check" { "PreToolUse" } else { "PostToolUse" };
    let mut context = json!({ "event": event });
    if let Some(id) = id {
        context["tool_use_id"] = json!(id);
    }
    let more = json!({ "kind": kind, "agent": agent, "context": context });
    request_of(900, tool, &json!({ "command": command }), &more)
}

/// Reports a run, and returns whether it was marked and what the terminal was sent.
fn reported(table: &mut Table, request: ApprovalRequest) -> (bool, Vec<String>) {
    let outputs = table.give(DeskInput::Told(request));
    let ran = table.last("ran");
    let said = outputs.into_iter().filter_map(|output| match output {
        DeskOutput::Terminal(ChannelOrder::Say { text, .. }) => Some(text),
        _ => None,
    });
    (ran["by"] == "nobody: its hook did not ask", said.collect())
}

fn kimi(kind: &str, id: &str) -> ApprovalRequest {
    call(kind, "kimi", "Bash", Some(id), "make")
}

#[test]
fn runs_that_nobody_wants_to_keep_are_recorded_only_without_a_verdict() {
    let mut table = Table::with(DeskSettings { terminal: true, record_runs: false, ..settings() });
    table.ask(1, kimi("check", "a"));
    table.give(DeskInput::Told(kimi("settle", "a")));
    assert_eq!(table.kinds().iter().filter(|kind| **kind == "ran").count(), 0);
    let (is_marked, said) = reported(&mut table, kimi("settle", "b"));
    assert!(is_marked && said.len() == 1, "{said:?}");
}

#[test]
fn a_run_about_which_no_hook_asked_is_recorded_and_told_once() {
    let mut table = table();
    table.ask(1, kimi("check", "a"));
    assert_eq!(reported(&mut table, kimi("settle", "a")), (false, vec![]));
    let (is_marked, said) = reported(&mut table, kimi("settle", "b"));
    assert!(is_marked);
    assert_eq!(said.len(), 1);
    assert!(
        said[0].starts_with("Kimi Code in ") && said[0].contains("without a verdict"),
        "{said:?}"
    );
    assert!(said[0].contains("make") && said[0].contains("callgate doctor"), "{said:?}");
    // The ledger has each of them; people are notified of one.
    assert_eq!(reported(&mut table, kimi("settle", "c")), (true, vec![]));
    table.wait(601);
    assert_eq!(reported(&mut table, kimi("settle", "d")).1.len(), 1);
}

/// A check that is the same as a later one is forgotten before it.
#[test]
fn a_forgotten_check_takes_no_later_one_along() {
    let mut table = table();
    let unnamed = |kind: &str, command: &str| call(kind, "kimi", "Bash", None, command);
    table.ask(1, unnamed("check", "make"));
    // The tool is one whose runs are reported.
    table.give(DeskInput::Told(unnamed("settle", "make")));
    table.ask(2, unnamed("check", "make"));
    for number in 3..=MOST as u64 + 1 {
        table.ask(number, unnamed("check", &format!("make {number}")));
    }
    // Until then a run may be one whose check was forgotten.
    table.wait(LONGEST_CALL.as_secs());
    assert!(!reported(&mut table, unnamed("settle", "make")).0);
}

/// It is noted for exactly those agents that may run a call without their hook.
#[test]
fn agents_that_deny_such_calls_are_not_suspected() {
    for agent in AGENTS {
        let AgentProfile { id, failures, .. } = agent;
        let mut table = table();
        let (is_marked, _) = reported(&mut table, call("settle", id, "bash", Some("x"), "make"));
        assert_eq!(is_marked, failures.is_open(), "{agent:?}");
    }
    let mut table = table();
    assert!(!reported(&mut table, call("settle", "of-mine", "bash", Some("x"), "make")).0);
}

/// An agent that names no calls, and one that names them after the tool only.
#[test]
fn a_call_without_an_id_is_recognized_by_its_input() {
    for (before, after) in [(None, None), (None, Some("x")), (Some("x"), None)] {
        let mut table = table();
        let run = |kind: &str, id, command: &str| call(kind, "openhands", "terminal", id, command);
        table.ask(1, run("check", before, "make"));
        let about = format!("{before:?} {after:?}");
        assert!(!reported(&mut table, run("settle", after, "make")).0, "{about}");
        // The tool was seen to be checked, so this one was not.
        assert!(reported(&mut table, run("settle", after, "make install")).0, "{about}");
    }
}

/// Some tools have no hook before them, and some agents change the input between the two.
#[test]
fn a_tool_that_was_never_checked_is_not_suspected() {
    let mut table = table();
    for (tool, id) in [("todo_list", Some("a")), ("mcp__x__y", Some("b")), ("Bash", None)] {
        assert!(!reported(&mut table, call("settle", "kimi", tool, id, "make")).0, "{tool}");
    }
}

/// A host that asks its user itself has the call checked all the same, and so has a rule.
#[test]
fn what_was_checked_by_any_means_is_not_suspected() {
    let mut table = table();
    let why = "the rules took too long".to_owned();
    let unruled = DeskInput::Unruled { asker: AskerId(1), request: kimi("check", "a"), why };
    table.give(unruled);
    assert!(!reported(&mut table, kimi("settle", "a")).0);
}

#[test]
fn what_another_desk_may_have_checked_is_not_suspected() {
    let mut table = table();
    table.desk.doubt_runs();
    assert!(!reported(&mut table, kimi("settle", "a")).0);
    table.now.mono += LONGEST_CALL.saturating_sub(Duration::from_secs(1));
    assert!(!reported(&mut table, kimi("settle", "b")).0);
    table.wait(1);
    assert!(reported(&mut table, kimi("settle", "c")).0);
}

/// What is kept is bounded; a check that may be forgotten casts no suspicion on its run.
#[test]
fn a_forgotten_check_is_doubt() {
    let mut table = table();
    for number in 0..20_000 {
        table.ask(number, kimi("check", &number.to_string()));
    }
    assert!(!reported(&mut table, kimi("settle", "0")).0);
    assert!(!reported(&mut table, kimi("settle", "of nobody")).0);
    table.wait(LONGEST_CALL.as_secs());
    assert!(reported(&mut table, kimi("settle", "of nobody else")).0);
}
