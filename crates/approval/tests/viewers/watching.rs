//! The ledger as viewers see it grow.

use std::thread;

use callgate_store::{EntryDraft, Sha256Hash, Store};
use callgate_wire::approval::{Action, Decision};

use crate::house::{House, button, database, next, next_of, pair, request, told};

/// A ledger with so many entries of so many bytes each.
fn filled(entries: u64, bytes: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&database(folder.path())).unwrap();
    let draft = |number: u64| EntryDraft {
        at_ms: 1_000,
        kind: "noted".to_owned(),
        question: None,
        body: format!("{{\"number\":{number},\"text\":\"{}\"}}", "x".repeat(bytes)),
    };
    store.append_entries(&(1..=entries).map(draft).collect::<Vec<_>>()).unwrap();
    folder
}

#[test]
fn entries_come_from_the_wanted_number_on_as_the_ledger_has_them() {
    let house = House::over(filled(5, 1), None);
    let mut viewer = house.viewer();
    assert_eq!(viewer.watch(Some(3)).unwrap(), 6, "five, and that the daemon has started");
    for expected in &house.entries()[2..] {
        let entry = next(&mut viewer);
        assert_eq!(
            (entry.seq, entry.at_ms, &entry.kind),
            (expected.seq, expected.at_ms, &expected.kind)
        );
        assert_eq!((entry.body.get(), entry.question), (expected.body.as_str(), None));
        assert_eq!(entry.hash, Sha256Hash(expected.hash).to_string());
    }
    for from in [0, 1] {
        viewer.watch(Some(from)).unwrap();
        assert_eq!(next(&mut viewer).seq, 1);
        viewer = house.viewer();
    }
}

#[test]
fn new_entries_come_as_they_are_committed() {
    let house = House::new();
    let (mut viewer, _) = house.paired("Ada");
    let mut second = house.viewer();
    let head = viewer.watch(None).unwrap();
    second.watch(None).unwrap();
    let asked = request("make");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    for viewer in [&mut viewer, &mut second] {
        let entry = next(viewer);
        assert_eq!((entry.seq, entry.kind.as_str()), (head + 1, "asked"));
        assert_eq!(entry.question.as_deref(), Some(id.as_str()));
    }
    let (done, text) = told(&mut viewer, button(&id, Action::Allow));
    assert!(done, "{text}");
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Allow);
    for viewer in [&mut viewer, &mut second] {
        let kinds: Vec<String> = (0..4).map(|_| next(viewer).kind).collect();
        assert_eq!(kinds, ["pressed", "decided", "delivered", "closed"]);
    }
}

#[test]
fn a_second_watch_takes_the_place_of_the_first() {
    let house = House::over(filled(3, 1), None);
    let mut viewer = house.viewer();
    viewer.watch(Some(1_000)).unwrap();
    viewer.watch(Some(2)).unwrap();
    let seen: Vec<u64> = (0..3).map(|_| next(&mut viewer).seq).collect();
    assert_eq!(seen, [2, 3, 4]);
    viewer.watch(Some(4)).unwrap();
    assert_eq!(next(&mut viewer).seq, 4);
}

#[test]
fn a_viewer_that_does_not_read_holds_nobody_up_and_loses_nothing() {
    // Far more than a socket holds.
    let house = House::over(filled(400, 20_000), None);
    let mut slow = house.viewer();
    slow.watch(Some(1)).unwrap();
    let (mut quick, _) = house.paired("Ada");
    let asked = request("make");
    let id = asked.request_id.clone();
    let answer = house.ask(asked);
    quick.watch(Some(1)).unwrap();
    next_of(&mut quick, "asked");
    assert!(told(&mut quick, button(&id, Action::Deny)).0);
    assert_eq!(answer.join().unwrap().unwrap().decision, Decision::Deny);
    let all = house.entries();
    let seen: Vec<u64> = all.iter().map(|_| next(&mut slow).seq).collect();
    assert_eq!(seen, (1..=all.len() as u64).collect::<Vec<_>>(), "each once, in order");
}

#[test]
fn nothing_is_lost_while_the_ledger_grows() {
    let house = House::new();
    let mut viewers: Vec<_> = (0..4).map(|_| house.viewer()).collect();
    let path = house.desk_socket();
    let writer = thread::spawn(move || {
        let mut viewer = callgate_client::viewer::Viewer::connect(&path).unwrap();
        for _ in 0..100 {
            viewer.code().unwrap();
        }
    });
    // They begin somewhere in the middle of it.
    for viewer in &mut viewers {
        viewer.watch(Some(1)).unwrap();
    }
    writer.join().unwrap();
    for viewer in &mut viewers {
        let seen: Vec<u64> = (0..101).map(|_| next(viewer).seq).collect();
        assert_eq!(seen, (1..=101).collect::<Vec<_>>());
    }
}

#[test]
fn what_another_process_has_written_comes_in_its_place() {
    let house = House::new();
    let mut viewer = house.viewer();
    let head = viewer.watch(None).unwrap();
    let mut other = Store::open(&house.database()).unwrap();
    let draft =
        EntryDraft { at_ms: 1, kind: "noted".to_owned(), question: None, body: "{}".to_owned() };
    other.append_entries(&[draft]).unwrap();
    pair(&mut viewer, "Ada");
    let seen: Vec<_> = (0..3).map(|_| next(&mut viewer)).map(|it| (it.seq, it.kind)).collect();
    let expected = [(head + 1, "noted"), (head + 2, "code"), (head + 3, "paired")]
        .map(|(n, k)| (n, k.to_owned()));
    assert_eq!(seen, expected);
}
