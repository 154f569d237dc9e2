//! What holds for documents and for watchers.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use callgate_team_store::{DocumentKind, EditReceipt, TeamChange, TeamQuestionState, TeamStore};

use super::LONG;
use crate::fixture::Fixture;
use crate::team::{answer, ask, edit};

pub(crate) fn a_document_is_changed_by_compare_and_set(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    let first = edit("ada", 0, 1, Some(r#"{"role":"admin"}"#));
    let EditReceipt::Recorded(made) = one.edit_document(&first).unwrap() else { panic!() };
    assert_eq!((made.version, made.by.as_str()), (1, "ada"));
    assert_eq!(other.edit_document(&first).unwrap(), EditReceipt::Repeated(made.clone()));
    // Whoever has not read the last version changes nothing.
    let stale = other.edit_document(&edit("ada", 0, 2, Some("{}"))).unwrap();
    assert_eq!(stale, EditReceipt::Stale(Some(made)));
    let stale = other.edit_document(&edit("bob", 4, 3, Some("{}"))).unwrap();
    assert_eq!(stale, EditReceipt::Stale(None));
    let absurd = other.edit_document(&edit("bob", u64::MAX, 3, Some("{}"))).unwrap();
    assert_eq!(absurd, EditReceipt::Stale(None));
    let second = other.edit_document(&edit("ada", 1, 4, Some("{}"))).unwrap();
    assert!(matches!(second, EditReceipt::Recorded(ref it) if it.version == 2));
    one.edit_document(&edit("eve", 0, 5, Some("{}"))).unwrap();
    let names = |store: &mut dyn TeamStore| {
        let all = store.list_documents(DocumentKind::Member).unwrap();
        all.into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut *one), ["ada", "eve"]);
    assert_eq!(one.list_documents(DocumentKind::Policy).unwrap(), []);
    let EditReceipt::Recorded(gone) = one.edit_document(&edit("ada", 2, 6, None)).unwrap() else {
        panic!()
    };
    assert_eq!(names(&mut *other), ["eve"]);
    // A removed document goes on with its versions: an old edit cannot bring it back.
    assert_eq!(other.find_document(DocumentKind::Member, "ada").unwrap(), Some(gone));
    assert!(matches!(other.edit_document(&first).unwrap(), EditReceipt::Stale(_)));
    assert!(matches!(
        other.edit_document(&edit("ada", 3, 7, Some("{}"))).unwrap(),
        EditReceipt::Recorded(it) if it.version == 4
    ));
}

pub(crate) fn a_watcher_sees_every_change_in_order(fixture: &Fixture) {
    let (mut watcher, mut store) = (fixture.open(), fixture.open());
    let watching = thread::spawn(move || {
        let (mut after, mut answered, mut numbers) = (0, BTreeSet::new(), Vec::new());
        while answered.len() < 40 {
            let changes = watcher.wait_for_changes(after, LONG).unwrap();
            assert!(!changes.is_empty(), "a hint came late");
            for change in changes {
                numbers.push(change.number());
                after = change.number();
                if let TeamChange::Question(question) = change
                    && let TeamQuestionState::Answered(answer) = question.state
                {
                    answered.insert(answer.question);
                }
            }
        }
        numbers
    });
    for number in 0..40 {
        store.ask_question(&ask(number)).unwrap();
        if number % 10 == 0 {
            store.edit_document(&edit(&format!("m{number}"), 0, number, Some("{}"))).unwrap();
        }
        store.answer_question(&answer(number, number, "ada")).unwrap();
    }
    let numbers = watching.join().unwrap();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    // Nothing happens, so the wait ends with its limit.
    let nothing = store.wait_for_changes(*numbers.last().unwrap(), Duration::from_millis(20));
    assert_eq!(nothing.unwrap(), []);
}

pub(crate) fn a_watcher_that_comes_late_reads_what_it_missed(fixture: &Fixture) {
    let mut store = fixture.open();
    for number in 0..30 {
        store.ask_question(&ask(number)).unwrap();
    }
    for number in 0..15 {
        store.answer_question(&answer(number, number, "ada")).unwrap();
    }
    // What has changed twice is read once, so the numbers have gaps.
    let all = store.changes_after(0).unwrap();
    assert_eq!(all.len(), 30);
    assert_eq!(
        all.iter().map(TeamChange::number).collect::<Vec<_>>(),
        (16..=45).collect::<Vec<_>>()
    );
    let mut late = fixture.open();
    let missed = late.wait_for_changes(40, LONG).unwrap();
    assert_eq!(
        missed.iter().map(TeamChange::number).collect::<Vec<_>>(),
        (41..=45).collect::<Vec<_>>()
    );
    assert_eq!(late.changes_after(45).unwrap(), []);
    assert_eq!(late.changes_after(u64::MAX).unwrap(), []);
}
