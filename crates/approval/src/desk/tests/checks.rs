//! Checks before every tool call: what the rules decide in each mode, who is asked, and what is
//! remembered of it.

use std::time::Duration;

use callgate_wire::approval::{Action, ApprovalRequest, ApprovalResponse, Decision};
use serde_json::{Value, json};

use super::super::{AskerId, DeskInput, DeskOutput, DeskSettings, Ruling, Unattended};
use super::cases::{Table, answer, answers, is_shown, marks, shown};
use super::{request_of, settings};
use crate::channel::{ChannelOrder, MarkState};

const CODEX: &str = "codex";

/// A request about a call of Bash, with this context.
fn call(number: u64, command: &str, kind: &str, context: &Value) -> ApprovalRequest {
    let mut whole = json!({ "prompt_id": "p1", "takes": [] });
    for (name, value) in context.as_object().unwrap() {
        whole[name] = value.clone();
    }
    let more = json!({ "kind": kind, "context": whole });
    request_of(number, "Bash", &json!({ "command": command }), &more)
}

pub(super) fn check(number: u64, command: &str, mode: &str, asks: &str) -> ApprovalRequest {
    let context = json!({ "event": "PreToolUse", "mode": mode, "asks": asks });
    call(number, command, "check", &context)
}

pub(super) fn permission(number: u64, command: &str) -> ApprovalRequest {
    call(number, command, "ask", &json!({ "event": "PermissionRequest", "mode": "default" }))
}

pub(super) fn blocked(number: u64, command: &str) -> ApprovalRequest {
    let reason = "it pushes to a shared branch.";
    let context = json!({ "event": "PermissionDenied", "mode": "auto", "reason": reason });
    call(number, command, "ask", &context)
}

pub(super) fn ran(number: u64, command: &str, context: &Value) -> DeskInput {
    let mut whole = json!({ "event": "PostToolUse", "mode": "auto", "ok": true });
    for (name, value) in context.as_object().unwrap() {
        whole[name] = value.clone();
    }
    DeskInput::Told(call(number, command, "settle", &whole))
}

pub(super) fn no_rule() -> Ruling {
    Ruling::Ask { because: None, is_guarded: false }
}

pub(super) fn rule_asks() -> Ruling {
    Ruling::Ask { because: Some("rule `pushes`".to_owned()), is_guarded: false }
}

pub(super) fn rule_denies() -> Ruling {
    Ruling::Deny { because: "rule `never`".to_owned() }
}

pub(super) fn rule_allows() -> Ruling {
    Ruling::Allow { because: "rule `builds`".to_owned() }
}

pub(super) fn asks_everything() -> DeskSettings {
    DeskSettings { unattended: Unattended::Ask, ..settings() }
}

impl Table {
    pub(super) fn bring(
        &mut self,
        asker: u64,
        request: ApprovalRequest,
        ruling: Ruling,
    ) -> Vec<DeskOutput> {
        let asker = AskerId(asker);
        self.give(DeskInput::Asked { asker, request, ruling, is_replay: false })
    }

    pub(super) fn delivered(&mut self, asker: u64) -> Vec<DeskOutput> {
        self.give(DeskInput::Delivered(AskerId(asker)))
    }
}

pub(super) fn decision(outputs: &[DeskOutput]) -> (Decision, Option<&str>) {
    let ApprovalResponse { decision, message, .. } = answer(outputs);
    (*decision, message.as_deref())
}

pub(super) fn notes(outputs: &[DeskOutput]) -> Vec<&str> {
    let note = |output| match output {
        &DeskOutput::Terminal(ChannelOrder::Note { ref line }) => Some(line.as_str()),
        _ => None,
    };
    outputs.iter().filter_map(note).collect()
}

const MODES: [&str; 6] = ["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"];

#[test]
fn rules_decide_in_every_mode_with_one_entry_each() {
    for mode in MODES {
        for asks in ["agent", "desk"] {
            let mut table = Table::new();
            let outputs = table.bring(1, check(1, "make", mode, asks), rule_allows());
            assert_eq!(decision(&outputs), (Decision::Allow, None));
            let outputs = table.bring(2, check(2, "rm -rf /", mode, asks), rule_denies());
            assert_eq!(decision(&outputs), (Decision::Deny, Some("rule `never`")));
            table.delivered(1);
            table.delivered(2);
            assert_eq!(table.kinds(), ["checked", "checked"]);
            let entry = table.last("checked");
            assert_eq!(entry["decision"], "deny");
            assert_eq!((&entry["mode"], &entry["summary"]), (&json!(mode), &json!("rm -rf /")));
            assert_eq!(table.desk.open_count(), 0);
        }
    }
}

#[test]
fn a_call_about_which_the_rules_do_not_decide_is_denied() {
    const WHY: &str = "the rules did not decide in time";
    let unruled =
        |asker, request| DeskInput::Unruled { asker: AskerId(asker), request, why: WHY.to_owned() };
    for (mode, asks) in [("default", "agent"), ("auto", "agent"), ("bypassPermissions", "desk")] {
        let mut table = Table::new();
        let outputs = table.give(unruled(1, check(1, "make", mode, asks)));
        assert_eq!(decision(&outputs), (Decision::Deny, Some(WHY)));
        assert!(!is_shown(&outputs));
        assert_eq!(table.kinds(), ["checked"]);
        assert_eq!(table.last("checked")["decision"], "deny");
        // Nobody is asked whether the agent may try again what we have denied.
        let outputs = table.bring(2, blocked(2, "make"), no_rule());
        assert_eq!(decision(&outputs).0, Decision::Deny);
        // The next time the rules may be there.
        let outputs = table.bring(3, check(3, "make", mode, asks), rule_allows());
        assert_eq!(decision(&outputs).0, Decision::Allow);
    }
    // Where the agent asks, it asks in its own way.
    let mut table = Table::new();
    let outputs = table.give(unruled(1, permission(1, "make")));
    assert_eq!(decision(&outputs).0, Decision::Timeout);
    assert_eq!(table.kinds(), ["refused"]);
    assert_eq!(table.desk.open_count(), 0);
}

#[test]
fn an_asker_that_comes_back_needs_no_rules() {
    let mut table = Table::new();
    let request = check(1, "git push", "auto", "desk");
    assert!(is_shown(&table.bring(1, request.clone(), rule_asks())));
    table.restart();
    let back = DeskInput::Unruled { asker: AskerId(2), request, why: "a slow disk".to_owned() };
    assert!(answers(&table.give(back)).is_empty());
    assert_eq!(table.desk.open_count(), 1);
}

#[test]
fn what_no_rule_names_is_left_to_the_agent_and_not_recorded() {
    for mode in MODES {
        for asks in ["agent", "desk"] {
            let mut table = Table::new();
            let outputs = table.bring(1, check(1, "make", mode, asks), no_rule());
            assert_eq!(decision(&outputs), (Decision::None, None));
            assert!(!is_shown(&outputs));
            table.delivered(1);
            assert!(table.ledger.entries.is_empty());
        }
    }
}

#[test]
fn what_a_rule_wants_asked_is_asked_by_the_agent_where_it_can() {
    let guarded = Ruling::Ask { because: Some("it touches callgate".to_owned()), is_guarded: true };
    for mode in MODES {
        let mut table = Table::new();
        let outputs = table.bring(1, check(1, "git push", mode, "agent"), rule_asks());
        assert_eq!(decision(&outputs), (Decision::Ask, Some("rule `pushes`")));
        let outputs = table.bring(2, check(2, "rm rules", mode, "agent"), guarded.clone());
        if matches!(mode, "auto" | "plan") {
            // There the agent's dialog does not come.
            assert!(answers(&outputs).is_empty(), "{mode}");
            assert_eq!(table.desk.open_count(), 1, "{mode}");
        } else {
            assert_eq!(decision(&outputs), (Decision::Ask, Some("it touches callgate")));
            assert_eq!(table.desk.open_count(), 0, "{mode}");
        }
    }
}

#[test]
fn a_check_that_waits_at_the_desk_is_answered_by_a_person() {
    for (press, expected) in [(Action::Allow, Decision::Allow), (Action::Deny, Decision::Deny)] {
        let mut table = Table::new();
        let outputs = table.bring(1, check(1, "git push", "auto", "desk"), rule_asks());
        assert!(is_shown(&outputs) && answers(&outputs).is_empty());
        table.give(shown(1));
        let outputs = table.button(1, press);
        assert_eq!(decision(&outputs).0, expected);
        table.delivered(1);
        assert_eq!(table.kinds(), ["asked", "pressed", "decided", "delivered", "closed"]);
    }
}

#[test]
fn a_check_that_nobody_answers_is_a_timeout_that_says_what_it_means() {
    let mut table = Table::new();
    table.bring(1, check(1, "git push", "auto", "desk"), rule_asks());
    table.give(shown(1));
    let outputs = table.wait(300);
    assert_eq!(decision(&outputs).0, Decision::Timeout);
    let outputs = table.delivered(1);
    assert_eq!(marks(&outputs), [(MarkState::Expired, "Not allowed: nobody answered in time")]);
    // Nobody can be reached at all.
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    let outputs = table.bring(1, check(1, "git push", "auto", "desk"), rule_asks());
    assert_eq!(decision(&outputs).0, Decision::Timeout);
}

#[test]
fn unattended_modes_ask_the_desk_about_everything_where_the_settings_say_so() {
    for mode in MODES {
        let mut table = Table::with(asks_everything());
        let outputs = table.bring(1, check(1, "make", mode, "desk"), no_rule());
        if ["default", "acceptEdits", "plan"].contains(&mode) {
            assert_eq!(decision(&outputs).0, Decision::None, "{mode}");
        } else {
            assert!(is_shown(&outputs), "{mode}");
            let because = format!("No rule allows it, and {mode} mode asks nobody");
            assert_eq!(table.last("asked")["because"], because);
            let outputs = table.wait(300);
            assert_eq!(decision(&outputs).0, Decision::Timeout, "{mode}");
        }
    }
    // A mode that is not known may be one that asks nobody; and the agent's own question to its
    // user is not asked about.
    let mut table = Table::with(asks_everything());
    assert!(is_shown(&table.bring(1, check(1, "make", "brandNew", "agent"), no_rule())));
    let more = json!({ "kind": "check", "context": { "mode": "auto" } });
    let question = request_of(2, "AskUserQuestion", &json!({ "questions": [] }), &more);
    assert_eq!(decision(&table.bring(2, question, no_rule())).0, Decision::None);
    // Rules decide as ever.
    let outputs = table.bring(3, check(3, "make", "auto", "desk"), rule_allows());
    assert_eq!(decision(&outputs).0, Decision::Allow);
}

#[test]
fn nobody_is_asked_again_when_the_agent_asks_after_the_check() {
    for (press, expected) in [(Action::Allow, Decision::Allow), (Action::Deny, Decision::Deny)] {
        let mut table = Table::new();
        table.bring(1, check(1, "git push", "default", "desk"), rule_asks());
        table.button(1, press);
        // The question may come before it is known that the answer was read.
        let outputs = table.bring(2, permission(2, "git push"), rule_asks());
        assert_eq!(decision(&outputs).0, expected);
        assert!(!is_shown(&outputs));
        assert_eq!(table.last("decided")["by"], "Ada, when the call was checked");
        // Once: the same call once more is another call.
        assert!(is_shown(&table.bring(3, permission(3, "git push"), rule_asks())));
    }
}

#[test]
fn codex_describes_a_call_only_when_it_asks() {
    let mut table = Table::new();
    let mut checked = check(1, "git push", "default", "desk");
    checked.agent = Some(CODEX.to_owned());
    table.bring(1, checked, rule_asks());
    table.button(1, Action::Allow);
    table.delivered(1);
    let input = json!({ "command": "git push", "description": "Publish the branch" });
    let context = json!({ "event": "PermissionRequest", "prompt_id": "p1", "takes": [] });
    let more = json!({ "agent": CODEX, "context": context });
    let outputs = table.bring(2, request_of(2, "Bash", &input, &more), rule_asks());
    assert_eq!(decision(&outputs).0, Decision::Allow);
}

#[test]
fn a_yes_at_a_check_is_never_given_to_another_call() {
    let same = permission(2, "git push");
    let mut others = vec![permission(2, "git push --force")];
    others.push(ApprovalRequest { session_id: "s2".to_owned(), ..same.clone() });
    others.push(ApprovalRequest { cwd: "/home/ada/other".to_owned(), ..same.clone() });
    others.push(ApprovalRequest { tool_name: "shell".to_owned(), ..same.clone() });
    let context = json!({ "event": "PermissionRequest", "prompt_id": "p2" });
    others.push(call(2, "git push", "ask", &context));
    let twice = r#"{"command":"rm -rf /","command":"git push"}"#.to_owned();
    let tool_input = serde_json::value::RawValue::from_string(twice).unwrap();
    others.push(ApprovalRequest { tool_input, ..same.clone() });
    let more = json!({ "command": "git push", "run_in_background": true });
    let context = json!({ "event": "PermissionRequest", "prompt_id": "p1" });
    others.push(request_of(2, "Bash", &more, &json!({ "context": context })));
    // What neither asks for permission in the agent's way is no second question about a call.
    others.push(call(2, "git push", "ask", &json!({})));
    for other in others {
        let mut table = Table::new();
        table.bring(1, check(1, "git push", "default", "desk"), rule_asks());
        table.button(1, Action::Allow);
        table.delivered(1);
        assert!(is_shown(&table.bring(2, other.clone(), rule_asks())), "{other:?}");
        let outputs =
            table.bring(3, ApprovalRequest { request_id: super::id(3), ..same.clone() }, no_rule());
        assert_eq!(decision(&outputs).0, Decision::Allow, "{other:?}");
    }
}

#[test]
fn a_rule_that_denies_beats_what_somebody_said_before() {
    let mut table = Table::new();
    table.bring(1, check(1, "git push", "default", "desk"), rule_asks());
    table.button(1, Action::Allow);
    table.delivered(1);
    let outputs = table.bring(2, permission(2, "git push"), rule_denies());
    assert_eq!(decision(&outputs), (Decision::Deny, Some("rule `never`")));
}

#[test]
fn what_was_decided_at_a_check_is_forgotten_in_time() {
    let forgets: [fn(&mut Table); 4] = [
        |table| {
            table.wait(600);
        },
        Table::restart,
        // It has run meanwhile, so whatever asks now is another call.
        |table| {
            table.give(ran(9, "git push", &json!({})));
        },
        // The answer never reached the agent.
        |table| {
            table.bring(5, check(5, "git push", "default", "desk"), rule_asks());
            table.button(5, Action::Allow);
            table.give(DeskInput::Lost(AskerId(5)));
            table.bring(6, permission(6, "git push"), rule_asks());
            table.give(DeskInput::Gone(AskerId(6)));
        },
    ];
    for forget in forgets {
        let mut table = Table::new();
        table.bring(1, check(1, "git push", "default", "desk"), rule_asks());
        table.button(1, Action::Allow);
        table.delivered(1);
        forget(&mut table);
        assert!(is_shown(&table.bring(2, permission(2, "git push"), rule_asks())));
    }
}

#[test]
fn parallel_calls_that_are_alike_have_their_own_answers() {
    let mut table = Table::new();
    for number in [1, 2] {
        let context = json!({ "event": "PreToolUse", "mode": "default", "tool_use_id": format!("t{number}") });
        table.bring(number, call(number, "git push", "check", &context), rule_asks());
        table.button(number, Action::Allow);
        table.delivered(number);
    }
    for number in [3, 4] {
        let outputs = table.bring(number, permission(number, "git push"), rule_asks());
        assert_eq!(decision(&outputs).0, Decision::Allow);
        table.delivered(number);
    }
    assert!(is_shown(&table.bring(5, permission(5, "git push"), rule_asks())));
}

#[test]
fn what_ran_unasked_is_recorded_with_its_mode_and_told_in_one_line() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let command = format!("curl -H 'Authorization: Bearer {token}' https://example.org\nmake");
    let outputs = table.give(ran(1, &command, &json!({ "tool_use_id": "t1" })));
    let entry = table.last("ran");
    assert_eq!((&entry["mode"], &entry["ok"]), (&json!("auto"), &json!(true)));
    assert_eq!((&entry["tool"], &entry["session"]), (&json!("Bash"), &json!("s1")));
    assert_eq!(entry["tool_use_id"], "t1");
    assert!(entry["input"]["command"].as_str().unwrap().contains("https://example.org"));
    let lines = notes(&outputs);
    assert!(lines.len() == 1 && lines[0].starts_with("auto mode ran: curl"), "{lines:?}");
    assert!(!lines[0].contains('\n'));
    assert!(!format!("{:?}{outputs:?}", table.ledger).contains(&token));
    // Where the agent asks by itself a line for each would only be noise.
    let outputs = table.give(ran(2, "make", &json!({ "mode": "default", "ok": false })));
    assert!(notes(&outputs).is_empty());
    assert_eq!(table.kinds(), ["ran", "ran"]);
    let outputs = table.give(ran(3, "make", &json!({ "ok": false })));
    assert_eq!(notes(&outputs), ["auto mode ran (failed): make"]);
}

#[test]
fn a_flood_of_runs_is_all_recorded_and_told_in_few_lines() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    let mut lines = 0;
    for number in 0..1_000 {
        lines += notes(&table.give(ran(number, "make", &json!({})))).len();
    }
    assert_eq!((lines, table.kinds().len()), (10, 1_000));
    assert_eq!(table.desk.next_alarm(), Some(Duration::from_secs(1)));
    assert_eq!(notes(&table.wait(1)), ["990 more ran (callgate log shows them)"]);
    assert_eq!(table.desk.next_alarm(), None);
    assert_eq!(notes(&table.give(ran(1, "make", &json!({})))), ["auto mode ran: make"]);
    // A text of any length costs little.
    let input = json!({ "file_path": "/w/a", "content": "x ".repeat(500_000) });
    let context = json!({ "event": "PostToolUse", "mode": "auto" });
    let more = json!({ "kind": "settle", "context": context });
    table.give(DeskInput::Told(request_of(2, "Write", &input, &more)));
    let entry = table.last("ran");
    assert_eq!(entry["input"], json!({ "file_path": "/w/a", "content": "(1000002 bytes)" }));
    assert_eq!(entry["summary"], "write /w/a");
}

#[test]
fn a_report_closes_no_question_about_another_call() {
    let mut table = Table::new();
    let with_id = |number: u64, id: &str| {
        let context = json!({ "event": "PermissionRequest", "tool_use_id": id });
        call(number, "make", "ask", &context)
    };
    table.bring(1, with_id(1, "t1"), no_rule());
    table.bring(2, with_id(2, "t2"), no_rule());
    table.bring(3, check(3, "make", "auto", "desk"), rule_asks());
    // Its own, the other, and one that is about neither.
    assert_eq!(answers(&table.give(ran(9, "make", &json!({ "tool_use_id": "t2" }))))[0].0, 2);
    assert!(answers(&table.give(ran(9, "make", &json!({ "tool_use_id": "t3" })))).is_empty());
    // Without an id it can only be about the question that asked for permission.
    assert_eq!(answers(&table.give(ran(9, "make", &json!({}))))[0].0, 1);
    assert!(answers(&table.give(ran(9, "make", &json!({})))).is_empty());
    assert_eq!(table.desk.open_count(), 1);
}

#[test]
fn an_asker_that_is_back_gets_what_was_decided_about_its_check() {
    let mut table = Table::new();
    table.bring(1, check(1, "git push", "auto", "desk"), rule_asks());
    table.give(shown(1));
    table.restart();
    assert!(answers(&table.button(1, Action::Allow)).is_empty());
    let outputs = table.bring(2, check(1, "git push", "auto", "desk"), rule_asks());
    assert_eq!(decision(&outputs).0, Decision::Allow);
    table.delivered(2);
    let outputs = table.bring(3, permission(3, "git push"), rule_asks());
    assert_eq!(decision(&outputs).0, Decision::Allow);
}
