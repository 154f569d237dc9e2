//! Whom a question reaches, how long it waits, and what is said if nobody answers.

use std::time::Duration;

use callgate_wire::approval::{Action, AnswerExtra, Decision};
use serde_json::{Value, json};

use super::super::{AskerId, DeskInput, DeskOutput, DeskSettings};
use super::cases::{Table, answer, answers, is_shown, marks, shown};
use super::{ADA, ada, id, request, request_of, settings, stranger};
use crate::channel::{ChannelOrder, ChannelReport, CopyPart, MarkState, QuestionCopy};

fn is_to_phones(output: &DeskOutput) -> bool {
    matches!(output, DeskOutput::Phones(ChannelOrder::Show { .. }))
}

#[test]
fn nobody_in_time_is_a_timeout() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    assert_eq!(table.desk.next_alarm(), Some(Duration::from_mins(5)));
    assert!(answers(&table.wait(299)).is_empty());
    assert_eq!(answer(&table.wait(1)).decision, Decision::Timeout);
    let outputs = table.give(DeskInput::Delivered(AskerId(1)));
    assert_eq!(marks(&outputs), [(MarkState::Expired, "Not decided: nobody answered in time")]);
}

#[test]
fn an_asker_that_waits_less_is_answered_sooner() {
    let mut table = Table::new();
    let more = json!({ "context": { "timeout_seconds": 5 } });
    table.ask(1, request_of(1, "Ask", &json!({}), &more));
    assert_eq!(answer(&table.wait(5)).decision, Decision::Timeout);
}

#[test]
fn when_nobody_can_be_reached_it_is_a_timeout_at_once() {
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    assert_eq!(answer(&table.ask(1, request(1, "make"))).decision, Decision::Timeout);
    table.give(DeskInput::Viewers(1));
    assert!(answers(&table.ask(2, request(2, "make"))).is_empty());
    table.give(DeskInput::Viewers(0));
    assert_eq!(answer(&table.wait(settings().viewer_grace.as_secs())).decision, Decision::Timeout);
    assert_eq!(answer(&table.ask(3, request(3, "make"))).decision, Decision::Timeout);
    let mut table = Table::with(DeskSettings { phones: false, terminal: true, ..settings() });
    assert!(answers(&table.ask(1, request(1, "make"))).is_empty());
}

#[test]
fn a_page_that_is_loaded_again_loses_no_question() {
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    table.give(DeskInput::Viewers(1));
    table.ask(1, request(1, "make one"));
    assert!(answers(&table.give(DeskInput::Viewers(0))).is_empty());
    let asked_meanwhile = table.ask(2, request(2, "make two"));
    assert!(answers(&asked_meanwhile).is_empty());
    table.give(DeskInput::Viewers(1));
    assert!(answers(&table.wait(settings().viewer_grace.as_secs())).is_empty());
}

#[test]
fn an_asker_that_wants_to_know_is_told_who_decided_or_why_nobody_did() {
    let curious = |number: u64| {
        let mut request = request(number, "make");
        let context = request.context.get_or_insert_default();
        context.takes = Some(vec![AnswerExtra::Outcome]);
        request
    };
    let mut table = Table::with(DeskSettings { phones: false, ..settings() });
    let alone = answer(&table.ask(1, curious(1))).clone();
    assert_eq!((alone.decision, alone.unreachable, alone.by), (Decision::Timeout, true, None));
    assert!(!answer(&table.ask(2, request(2, "make"))).unreachable, "it did not want to know");
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.ask(3, curious(3));
    let late = answer(&table.wait(300)).clone();
    assert_eq!((late.decision, late.unreachable, late.by), (Decision::Timeout, false, None));
    table.ask(4, curious(4));
    let allowed = answer(&table.button(4, Action::Allow)).clone();
    assert_eq!((allowed.decision, allowed.by.as_deref()), (Decision::Allow, Some("Ada")));
    table.ask(5, request(5, "make"));
    assert_eq!(answer(&table.button(5, Action::Allow)).by, None, "it did not want to know");
}

#[test]
fn after_a_restart_viewers_have_a_moment_to_come_back() {
    let alone = || DeskSettings { phones: false, ..settings() };
    let mut table = Table::with(alone());
    table.give(DeskInput::Viewers(1));
    table.ask(1, request(1, "make"));
    let restart = |table: &mut Table| {
        table.desk = table.ledger.desk_with(alone(), table.now);
    };
    restart(&mut table);
    assert!(answers(&table.ask(2, request(1, "make"))).is_empty());
    assert!(answers(&table.wait(14)).is_empty());
    table.give(DeskInput::Viewers(1));
    assert!(answers(&table.wait(20)).is_empty());
    restart(&mut table);
    assert!(answers(&table.ask(3, request(1, "make"))).is_empty());
    assert_eq!(answer(&table.wait(15)).decision, Decision::Timeout);
    assert_eq!(answer(&table.ask(4, request(4, "make"))).decision, Decision::Timeout);
}

#[test]
fn when_no_message_can_be_sent_it_is_a_timeout_at_once() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let unsendable = |chat| {
        DeskInput::News(ChannelReport::Unsendable {
            question: id(1),
            chat,
            why: "blocked".to_owned(),
        })
    };
    assert!(answers(&table.give(unsendable(ADA))).is_empty());
    assert_eq!(answer(&table.give(unsendable(-100))).decision, Decision::Timeout);
    assert_eq!(table.last("decided")["message"], "nobody can be reached");
}

#[test]
fn a_broken_channel_gives_up_what_only_it_could_show() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let outputs =
        table.give(DeskInput::News(ChannelReport::Broken { why: "wrong token".to_owned() }));
    assert_eq!(answer(&outputs).decision, Decision::Timeout);
    assert_eq!(answer(&table.ask(2, request(2, "make"))).decision, Decision::Timeout);
}

#[test]
fn a_channel_that_works_again_is_used_again() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.give(DeskInput::News(ChannelReport::Broken { why: "wrong token".to_owned() }));
    assert!(!is_shown(&table.ask(1, request(1, "make"))));
    table.ask(2, request(2, "make it"));
    table.button(2, Action::Deny);
    // What is open goes there, once, and so does what comes.
    let outputs = table.give(DeskInput::News(ChannelReport::Works));
    assert_eq!(outputs.iter().filter(|output| is_to_phones(output)).count(), 1, "{outputs:?}");
    assert!(!is_shown(&table.give(DeskInput::News(ChannelReport::Works))));
    assert!(is_shown(&table.ask(3, request(3, "make"))));
    // The others have their first chance.
    let after = DeskSettings { phone_after: Duration::from_secs(30), terminal: true, ..settings() };
    let mut table = Table::with(after);
    table.give(DeskInput::News(ChannelReport::Broken { why: "wrong token".to_owned() }));
    table.ask(1, request(1, "make"));
    assert!(!is_shown(&table.give(DeskInput::News(ChannelReport::Works))));
    assert!(is_shown(&table.wait(30)));
}

#[test]
fn phones_come_after_the_first_chance_of_the_others() {
    let after = DeskSettings { phone_after: Duration::from_secs(30), terminal: true, ..settings() };
    let mut table = Table::with(after);
    assert!(!is_shown(&table.ask(1, request(1, "make"))));
    assert!(is_shown(&table.wait(30)));
    assert!(!is_shown(&table.wait(30)));
}

#[test]
fn a_copy_of_a_question_that_is_over_is_retired() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    table.give(DeskInput::Gone(AskerId(1)));
    // Whoever sent it marks it.
    assert!(table.give(shown(1)).is_empty());
    let outputs = table.press_on_copy(ada(), 1);
    assert!(
        matches!(&outputs[0], DeskOutput::Phones(ChannelOrder::Retire { text, .. }) if text == "The agent went away")
    );
    let again = table.press_on_copy(ada(), 1);
    assert!(
        !again
            .iter()
            .any(|output| matches!(output, DeskOutput::Phones(ChannelOrder::Retire { .. })))
    );
}

#[test]
fn a_copy_is_noted_only_for_a_press_that_counts() {
    let mut table = Table::new();
    table.ask(1, request(1, "make"));
    let kept = |table: &Table| table.ledger.kept.keys().any(|key| key.starts_with("copy/"));
    table.press_on_copy(stranger(), 1);
    assert!(!kept(&table), "a stranger's press tells nothing");
    let outputs = table.press_on_copy(ada(), 1);
    assert!(kept(&table));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    let marked = table.give(DeskInput::Delivered(AskerId(1)));
    let copies = marked.iter().find_map(|output| match output {
        DeskOutput::Phones(ChannelOrder::Mark { copies, .. }) => Some(copies.clone()),
        _ => None,
    });
    assert_eq!(
        copies.unwrap(),
        [QuestionCopy { question: id(1), chat: ADA, message: 40, part: CopyPart::Question }]
    );
}

#[test]
fn a_question_is_tried_on_phones_for_as_long_as_it_is_open() {
    let mut table =
        Table::with(DeskSettings { phone_after: Duration::from_secs(20), ..settings() });
    let within = |outputs: &[DeskOutput]| {
        outputs.iter().find_map(|output| match output {
            DeskOutput::Phones(ChannelOrder::Show { within, .. }) => Some(*within),
            _ => None,
        })
    };
    assert_eq!(within(&table.ask(1, request(1, "make"))), None);
    let left = settings().timeout.checked_sub(Duration::from_secs(20));
    assert_eq!(within(&table.wait(20)), left);
}

#[test]
fn a_question_that_reached_nobody_says_so_at_its_end() {
    let mut table = Table::with(DeskSettings { terminal: false, ..settings() });
    table.ask(1, request(1, "make"));
    table.ask(2, request(2, "make"));
    table.give(shown(2));
    table.wait(settings().timeout.as_secs());
    table.give(DeskInput::Delivered(AskerId(1)));
    table.give(DeskInput::Delivered(AskerId(2)));
    let closed = table.ledger.entries.iter().filter(|entry| entry.kind == "closed");
    let texts: Vec<Value> = closed
        .map(|entry| serde_json::from_str::<Value>(&entry.body).unwrap()["text"].take())
        .collect();
    assert_eq!(
        texts,
        ["Not decided: nobody can be reached", "Not decided: nobody answered in time"]
    );
}
