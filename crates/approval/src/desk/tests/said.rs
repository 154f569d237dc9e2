//! The agent's last words, when they come after its question.

use callgate_wire::approval::{Action, Decision};

use super::super::{AskerId, DeskInput, DeskOutput, DeskSettings};
use super::cases::{Table, answer, answers, shown};
use super::{request, settings};
use crate::channel::ChannelOrder;

fn said(asker: u64, words: &str) -> DeskInput {
    DeskInput::Said { asker: AskerId(asker), last_words: words.to_owned() }
}

/// The words that are shown anew, on phones and at the terminal.
fn redrawn(outputs: &[DeskOutput]) -> Vec<(&str, Option<&str>)> {
    let mut redrawn = Vec::new();
    for output in outputs {
        let (place, order) = match output {
            DeskOutput::Phones(order) => ("phones", order),
            DeskOutput::Terminal(order) => ("terminal", order),
            _ => continue,
        };
        if let ChannelOrder::Redraw { card, .. } = order {
            redrawn.push((place, card.last_words.as_deref()));
        }
    }
    redrawn
}

#[test]
fn they_are_recorded_and_shown_and_decide_nothing() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    let outputs = table.give(said(1, "I build with password=hunter2hunter2."));
    let shown = redrawn(&outputs);
    assert_eq!(shown.len(), 2, "{outputs:?}");
    let (_, words) = shown[0];
    assert!(words.unwrap().starts_with("I build") && !words.unwrap().contains("hunter2"));
    assert!(answers(&outputs).is_empty());
    assert!(!table.last("said").to_string().contains("hunter2"));
    // The same words again, and none, change nothing.
    let entries = table.ledger.entries.len();
    assert!(table.give(said(1, "I build with password=hunter2hunter2.")).is_empty());
    assert!(table.give(said(1, " ")).is_empty());
    assert_eq!(table.ledger.entries.len(), entries);
    assert_eq!(answer(&table.button(1, Action::Allow)).decision, Decision::Allow);
    assert!(table.give(said(1, "Too late.")).is_empty());
    assert!(table.give(said(2, "Of nobody.")).is_empty());
}

#[test]
fn a_question_that_is_on_no_phone_yet_is_sent_with_them() {
    let after = std::time::Duration::from_secs(5);
    let mut table = Table::with(DeskSettings { phone_after: after, ..settings() });
    table.ask(1, request(1, "make"));
    assert!(table.give(said(1, "I build.")).is_empty());
    let outputs = table.wait(5);
    let is_sent = |output: &DeskOutput| matches!(output, DeskOutput::Phones(ChannelOrder::Show { card, .. }) if card.last_words.as_deref() == Some("I build."));
    assert!(outputs.iter().any(is_sent), "{outputs:?}");
}

#[test]
fn a_restart_keeps_them() {
    let mut table = Table::with(DeskSettings { terminal: true, ..settings() });
    table.ask(1, request(1, "make"));
    table.give(shown(1));
    table.give(said(1, "I build."));
    table.desk = table.ledger.desk_with(DeskSettings { terminal: true, ..settings() }, table.now);
    let outputs = table.ask(2, request(1, "make"));
    let has_words = |output: &DeskOutput| matches!(output, DeskOutput::Terminal(ChannelOrder::Show { card, .. }) if card.last_words.as_deref() == Some("I build."));
    assert!(outputs.iter().any(has_words), "{outputs:?}");
    // The hook sends them again.
    assert!(table.give(said(2, "I build.")).is_empty());
}
