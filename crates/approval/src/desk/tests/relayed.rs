//! Questions that another machine has passed on, and answers that come from a desk above.

use std::time::Duration;

use callgate_wire::approval::{
    Action, AllowDemands, ApprovalRequest, AskerMachine, Decision, Press, RelayedAnswer,
};
use callgate_wire::desk::HiddenText;
use callgate_wire::ledger::{LedgerEvent, LinkRemoved, REMOTE_LINK};
use serde_json::json;

use super::super::{
    AskerId, Authority, DeferReason, Desk, DeskInput, DeskOutput, DeskSettings, DeskStep,
    RELAY_ORIGIN, Ruling,
};
use super::cases::{Table, answer, answers, is_shown, marks, shown, told};
use super::checks::{blocked, check, permission, rule_asks};
use super::twins::call as call_of_twin;
use super::{ada, id, request, settings};
use crate::channel::{MarkState, Person, PersonPlace, ReplyTo};
use crate::viewer_token::token_identity;

fn relayed(mut request: ApprovalRequest, seconds: u64) -> ApprovalRequest {
    let (name, user, home) = ("box".to_owned(), "bo".to_owned(), "/home/bo".to_owned());
    request.machine = Some(AskerMachine { name, user, home });
    request.context.get_or_insert_default().timeout_seconds = Some(seconds);
    request
}

fn defer() -> DeskInput {
    DeskInput::Deferred { asker: AskerId(1), reason: DeferReason::Machine }
}

fn ask() -> Ruling {
    Ruling::Ask { because: None, is_guarded: false }
}

#[test]
fn it_waits_for_whoever_comes_and_as_long_as_its_machine_does() {
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    table.bring(1, relayed(request(1, "make"), 1000), ask());
    assert!(answers(&table.wait(999)).is_empty(), "nobody can be reached, and yet it waits");
    let outputs = table.wait(1);
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!(answer(&outputs).relayed, None, "that is no answer of a person");
    assert_eq!(table.last("asked")["machine"], "box");
}

#[test]
fn the_answer_is_told_in_the_terms_of_the_card() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    let outputs = table.press(ada(), 1, Press::Words("use the script".to_owned()));
    let told = answer(&outputs).relayed.clone().unwrap();
    assert_eq!((told.decision, &*told.by), (Decision::Deny, "Ada"));
    assert_eq!(told.message.as_deref(), Some("use the script"));
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs)[0].0, MarkState::Denied);
}

#[test]
fn an_answer_for_a_machine_that_is_away_is_said_to_be_kept_at_once() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    assert!(told(&table.button(1, Action::Allow)).is_empty(), "it may arrive at once");
    let outputs = table.give(defer());
    let kept = "Allowed by Ada. box cannot be reached, and gets it when it is back.";
    assert_eq!(told(&outputs), [kept]);
    assert_eq!(marks(&outputs), [(MarkState::Waiting, kept)]);
    let on_terminal = |output: &_| matches!(output, DeskOutput::Terminal(_));
    assert!(outputs.iter().any(on_terminal), "{outputs:?}");
    let again = table.give(defer());
    assert!(told(&again).is_empty() && marks(&again).is_empty(), "it is said once: {again:?}");
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs)[0], (MarkState::Allowed, "Allowed by Ada"));
}

#[test]
fn an_answer_that_its_machine_does_not_confirm_is_said_to_be_kept() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    table.button(1, Action::Deny);
    let silent = DeskInput::Deferred { asker: AskerId(1), reason: DeferReason::Silence };
    let kept = "Denied by Ada. box has not confirmed it yet, and gets it again if it comes back.";
    assert_eq!(told(&table.give(silent)), [kept]);
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs)[0], (MarkState::Denied, "Denied by Ada"));
}

#[test]
fn an_allow_for_another_machine_lets_nothing_run_here() {
    let mut table = Table::new();
    // The same call of the same session and prompt: a check is remembered for its permission.
    let asked = check(1, "make", "auto", "desk");
    table.bring(1, relayed(asked, 60), ask());
    table.button(1, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(1)));
    let outputs = table.bring(2, permission(2, "make"), ask());
    assert!(answers(&outputs).is_empty(), "a person is asked: {outputs:?}");
}

#[test]
fn an_allow_for_a_blocked_call_there_lets_none_try_again_here_after_a_restart() {
    let mut table = Table::new();
    table.bring(1, relayed(blocked(1, "make"), 60), ask());
    table.button(1, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(1)));
    table.restart();
    let outputs = table.bring(2, check(2, "make", "auto", "desk"), ask());
    assert_ne!(answer(&outputs).decision, Decision::Allow, "{outputs:?}");
    // The same of an agent here, to show that the two calls are one.
    table.bring(3, blocked(3, "make"), ask());
    table.button(3, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(3)));
    table.restart();
    let outputs = table.bring(4, check(4, "make", "auto", "desk"), ask());
    assert_eq!(answer(&outputs).decision, Decision::Allow);
}

#[test]
fn no_hook_here_gets_the_answer_to_a_hook_there() {
    let is_open = |outputs: &[DeskOutput]| answers(outputs).is_empty() && is_shown(outputs);
    // The other hook asks while the first one waits, and after it was answered.
    let mut table = Table::new();
    table.bring(1, relayed(call_of_twin(1, "make", None), 60), ask());
    assert!(is_open(&table.bring(2, call_of_twin(2, "make", Some("claude")), rule_asks())));
    assert_eq!(answers(&table.button(1, Action::Allow)).len(), 1);
    table.give(DeskInput::Delivered(AskerId(1)));
    let mut table = Table::new();
    table.bring(1, relayed(call_of_twin(1, "make", None), 60), ask());
    table.button(1, Action::Allow);
    table.give(DeskInput::Delivered(AskerId(1)));
    assert!(is_open(&table.bring(2, call_of_twin(2, "make", Some("claude")), rule_asks())));
}

#[test]
fn reports_of_agents_here_do_not_settle_it() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    let mut end = request(2, "make");
    end.kind = callgate_wire::approval::RequestKind::Settle;
    end.context.get_or_insert_default().event = Some("SessionEnd".to_owned());
    assert!(answers(&table.give(DeskInput::Told(end))).is_empty());
    assert_eq!(table.desk.open_count(), 1);
}

#[test]
fn questions_of_machines_leave_room_for_those_of_agents_here() {
    let mut table = Table::new();
    table.desk.most_open = 4;
    for number in 1..=2 {
        assert!(
            answers(&table.bring(number, relayed(request(number, "make"), 60), ask())).is_empty()
        );
    }
    let outputs = table.bring(3, relayed(request(3, "make"), 60), ask());
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    for number in 4..=5 {
        assert!(answers(&table.ask(number, request(number, "make"))).is_empty());
    }
    assert_eq!(answer(&table.ask(6, request(6, "make"))).decision, Decision::Timeout);
}

#[test]
fn what_a_machine_says_of_an_end_is_short_and_harmless() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    let text = format!("\u{1b}[2J\u{202e}{}", "x".repeat(64 * 1024));
    let outputs = table.give(DeskInput::Withdrawn { asker: AskerId(1), text });
    let (_, said) = marks(&outputs)[0];
    assert!(
        said.starts_with("⟨U+001B⟩[2J⟨U+202E⟩xx") && said.chars().count() == 4097,
        "{said:.60}"
    );
}

#[test]
fn what_is_over_there_says_so_here() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    let text = "Denied by Bob".to_owned();
    let outputs = table.give(DeskInput::Withdrawn { asker: AskerId(1), text });
    assert_eq!(marks(&outputs), [(MarkState::Settled, "Denied by Bob")]);
}

#[test]
fn after_a_restart_its_machine_may_come_back_until_its_time_is_over() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 600), ask());
    table.restart();
    table.wait(500);
    let outputs = table.bring(2, relayed(request(1, "make"), 100), ask());
    assert!(answers(&outputs).is_empty(), "{outputs:?}");
    assert!(table.kinds().contains(&"returned"));
    // Another machine with the same id is another question.
    let mut other = relayed(request(1, "make"), 100);
    other.machine.as_mut().unwrap().name = "other".to_owned();
    table.restart();
    assert_eq!(answer(&table.bring(3, other, ask())).decision, Decision::Timeout);
}

#[test]
fn what_a_machine_does_not_name_after_a_restart_is_over() {
    let mut table = Table::new();
    let mut other = relayed(request(4, "make"), 600);
    other.machine.as_mut().unwrap().name = "other".to_owned();
    for (number, request) in [
        (1, relayed(request(1, "make"), 600)),
        (2, relayed(request(2, "make"), 600)),
        (3, request(3, "make")),
        (4, other),
    ] {
        table.bring(number, request, ask());
    }
    let synced = |open: Vec<u64>| DeskInput::Synced {
        machine: "box".to_owned(),
        open: open.into_iter().map(id).collect(),
    };
    assert!(table.give(synced(vec![])).is_empty(), "who has an asker is asked about");
    table.restart();
    table.give(synced(vec![2]));
    let is_open = |number| table.desk.open.contains_key(&id(number));
    assert_eq!([1, 2, 3, 4].map(is_open), [false, true, true, true]);
    assert_eq!(table.last("closed")["text"], "It is over on its machine");
}

#[test]
fn a_question_of_a_machine_that_was_removed_meanwhile_ends_at_the_restart() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 600), ask());
    let link = format!("{REMOTE_LINK}box");
    let removed = LedgerEvent::Unpaired(LinkRemoved { link, by: "callgate remote".to_owned() });
    let mut step = DeskStep::default();
    step.record_event(None, &removed);
    table.ledger.commit(&step);
    table.restart();
    table.wait(0);
    assert!(table.desk.open.is_empty());
    assert_eq!(table.last("closed")["text"], "The agent went away");
}

fn relay(paired: bool) -> Person {
    let place = PersonPlace::Viewer { viewer: 4, paired, process: None };
    let identity = token_identity(&HiddenText::new("0".repeat(64)), Some(RELAY_ORIGIN));
    let link = paired.then(|| format!("viewer/{identity}"));
    Person { link, ..Person::new(place, "laptop") }
}

/// A desk that a relay has started, with nobody of its own.
fn below() -> Table {
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    let mut authority = Authority::default();
    authority.add_relay(&HiddenText::new("0".repeat(64)));
    table.desk = Desk::new(
        DeskSettings { phones: false, ..settings() },
        authority,
        crate::telegram::is_cut_in_message,
    );
    table
}

fn yes() -> RelayedAnswer {
    RelayedAnswer {
        decision: Decision::Allow,
        by: "Ada".to_owned(),
        members: Vec::new(),
        message: None,
        offer: None,
        picks: None,
        words: None,
        edited: None,
        interrupt: false,
        met: AllowDemands::default(),
    }
}

fn bring(table: &mut Table, who: Person, number: u64, answer: RelayedAnswer) -> Vec<DeskOutput> {
    let reply_to = ReplyTo::Viewer { viewer: 4, id: "1".to_owned() };
    table.give(DeskInput::Answered { who, question: id(number), answer, reply_to })
}

fn reply(outputs: &[DeskOutput]) -> (bool, &str) {
    let reply = outputs.iter().find_map(|output| match output {
        DeskOutput::Viewer { done, text, .. } => Some((*done, text.as_str())),
        _ => None,
    });
    reply.unwrap()
}

#[test]
fn a_desk_below_holds_its_questions_while_nobody_is_connected() {
    let mut table = below();
    table.ask(1, request(1, "make"));
    assert!(answers(&table.wait(299)).is_empty());
    assert_eq!(answer(&table.wait(1)).decision, Decision::Timeout);
    assert_eq!(table.now.mono, Duration::from_mins(5));
}

#[test]
fn an_answer_from_above_counts_once_and_only_from_a_relay_that_is_linked() {
    let mut table = below();
    table.ask(1, request(1, "make"));
    let outputs = bring(&mut table, relay(false), 1, yes());
    assert!(answers(&outputs).is_empty() && !reply(&outputs).0);
    let outputs = bring(&mut table, relay(true), 1, yes());
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    assert_eq!(table.last("decided")["by"], "Ada at laptop");
    let outputs = bring(&mut table, relay(true), 1, yes());
    assert!(answers(&outputs).is_empty());
    assert_eq!(reply(&outputs), (false, "Already decided by Ada at laptop."));
    table.give(DeskInput::Delivered(AskerId(1)));
    // A replay of an answer, and one to a question that never was.
    assert!(!reply(&bring(&mut table, relay(true), 1, yes())).0);
    assert_eq!(
        reply(&bring(&mut table, relay(true), 9, yes())),
        (false, "This question is no longer open.")
    );
}

#[test]
fn an_answer_that_does_not_fit_changes_nothing() {
    let plain = json!({ "context": { "takes": [] } });
    let wrong = [
        RelayedAnswer { decision: Decision::Timeout, ..yes() },
        RelayedAnswer { decision: Decision::Ask, ..yes() },
        RelayedAnswer { offer: Some(7), ..yes() },
        RelayedAnswer { picks: Some(vec![vec![200]]), ..yes() },
        RelayedAnswer { edited: Some("{\"command\":\"rm\"}".to_owned()), ..yes() },
        RelayedAnswer { edited: Some("[]".to_owned()), ..yes() },
        RelayedAnswer { decision: Decision::Deny, interrupt: true, ..yes() },
    ];
    for wrong in wrong {
        let mut table = below();
        table.ask(1, super::request_of(1, "Bash", &json!({ "command": "make" }), &plain));
        let outputs = bring(&mut table, relay(true), 1, wrong.clone());
        assert!(answers(&outputs).is_empty() && !reply(&outputs).0, "{wrong:?}: {outputs:?}");
        assert_eq!(answer(&bring(&mut table, relay(true), 1, yes())).decision, Decision::Allow);
    }
}

fn team_answer(decision: Decision, by: &str) -> DeskInput {
    let answer = RelayedAnswer {
        decision,
        by: by.to_owned(),
        members: Vec::new(),
        message: None,
        offer: None,
        picks: None,
        words: None,
        edited: None,
        interrupt: false,
        met: AllowDemands::default(),
    };
    DeskInput::TeamAnswered { asker: AskerId(1), answer }
}

#[test]
fn an_answer_at_another_desk_of_the_team_is_in_the_history_of_this_one() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    let outputs = table.give(team_answer(Decision::Deny, "Ben"));
    assert!(marks(&outputs).is_empty(), "it has not arrived yet");
    assert_eq!(
        (&table.last("decided")["by"], &table.last("decided")["decision"]),
        (&json!("Ben"), &json!("deny"))
    );
    assert_eq!(told(&table.button(1, Action::Allow)), ["Already decided by Ben."]);
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs), [(MarkState::Denied, "Denied by Ben")]);
}

#[test]
fn whoever_was_slower_than_another_desk_is_told_so() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    assert!(told(&table.button(1, Action::Allow)).is_empty(), "it is not recorded yet");
    let outputs = table.give(team_answer(Decision::Deny, "Ben"));
    assert_eq!(told(&outputs), ["Too late: Ben was faster."]);
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs), [(MarkState::Denied, "Denied by Ben")]);
    assert!(told(&outputs).is_empty(), "nothing more is said to the slower: {outputs:?}");
}

#[test]
fn an_answer_that_comes_back_from_the_team_changes_nothing() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    table.button(1, Action::Allow);
    assert!(table.give(team_answer(Decision::Allow, "Ada")).is_empty());
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(told(&outputs), ["Allowed by Ada"]);
}

#[test]
fn an_answer_that_cannot_be_recorded_is_said_to_wait_for_the_database() {
    let mut table = Table::new();
    table.bring(1, relayed(request(1, "make"), 60), ask());
    table.give(shown(1));
    table.button(1, Action::Allow);
    let defer = DeskInput::Deferred { asker: AskerId(1), reason: DeferReason::Database };
    let outputs = table.give(defer);
    assert!(told(&outputs)[0].contains("unless somebody else is faster"), "{outputs:?}");
    table.give(team_answer(Decision::Deny, "Ben"));
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs), [(MarkState::Denied, "Denied by Ben")]);
}
