//! Copies of the ledgers of other machines.

use callgate_store::{
    ChainFault, ChainHead, ChainReport, CopyOutcome, EntryDraft, EntryFilter, LedgerEntry,
    MemberMatch, Store,
};
use tempfile::TempDir;

fn draft(number: i64) -> EntryDraft {
    EntryDraft {
        at_ms: number,
        kind: "checked".to_owned(),
        question: None,
        body: format!(r#"{{"tool":"Bash","n":{number}}}"#),
    }
}

/// The ledger of a machine, and the file to which it is copied.
fn house(count: i64) -> (TempDir, Vec<LedgerEntry>, Store) {
    let folder = tempfile::tempdir().unwrap();
    let mut there = Store::open(&folder.path().join("there.db")).unwrap();
    let drafts: Vec<EntryDraft> = (1..=count).map(draft).collect();
    let entries = there.append_entries(&drafts).unwrap();
    let here = Store::open(&folder.path().join("here.db")).unwrap();
    (folder, entries, here)
}

fn head(entry: &LedgerEntry) -> ChainHead {
    ChainHead { seq: entry.seq, hash: entry.hash }
}

#[test]
fn a_copy_goes_on_where_it_ended_and_has_nothing_twice() {
    let (folder, entries, mut here) = house(5);
    assert_eq!(here.copied_through("box").unwrap(), None);
    let copied = here.copy_entries("box", &entries[..3], false).unwrap();
    assert_eq!(copied, CopyOutcome::Copied(head(&entries[2])));
    assert_eq!(here.copied_through("box").unwrap(), Some(head(&entries[2])));
    assert_eq!(here.copied_through("other").unwrap(), None);
    // What was sent twice, and what came too early, changes nothing.
    for wrong in [&entries[1..3], &entries[2..], &entries[4..]] {
        let seq = wrong[0].seq;
        assert_eq!(here.copy_entries("box", wrong, false).unwrap(), CopyOutcome::Broken(seq));
    }
    here.copy_entries("box", &entries[3..], false).unwrap();
    assert_eq!(here.last_seq().unwrap(), 0, "the ledger of this machine is another one");
    let copy = Store::open_copy(&folder.path().join("here.db"), "box").unwrap();
    assert_eq!(copy.entries_after(&EntryFilter::default(), 0, 10).unwrap(), entries);
    let of_tool = MemberMatch::Is("bash".to_owned());
    let filter =
        EntryFilter { members: vec![("tool".to_owned(), of_tool)], ..EntryFilter::default() };
    assert_eq!(copy.entries_before(&filter, u64::MAX, 2).unwrap().len(), 2);
    assert_eq!(here.copied_machines().unwrap(), ["box"]);
}

#[test]
fn a_changed_entry_is_not_copied_and_neither_is_what_came_with_it() {
    let (_folder, mut entries, mut here) = house(3);
    entries[1].body = entries[1].body.replace("Bash", "Read");
    assert_eq!(here.copy_entries("box", &entries, false).unwrap(), CopyOutcome::Broken(2));
    assert_eq!(here.copied_through("box").unwrap(), None);
}

/// A machine that makes up its ledger can make it a chain.
#[test]
fn what_no_ledger_has_is_not_copied_although_it_is_a_chain() {
    let (_folder, entries, mut here) = house(1);
    here.copy_entries("box", &entries, false).unwrap();
    let question = |id: &str| EntryDraft { question: Some(id.to_owned()), ..draft(3) };
    for (wrong, expected) in [
        (EntryDraft { kind: "Checked\u{1b}[2J".to_owned(), ..draft(3) }, "its kind is not a word"),
        (EntryDraft { kind: "x".repeat(33), ..draft(3) }, "its kind is not a word"),
        (question(""), "its question's id is empty"),
        (question("a\nb"), "its question's id is empty"),
        (EntryDraft { body: "[1]".to_owned(), ..draft(3) }, "is not one JSON object"),
        (EntryDraft { body: "{} {}".to_owned(), ..draft(3) }, "is not one JSON object"),
    ] {
        let good = LedgerEntry::chain_draft(&head(&entries[0]), draft(2));
        let wrong = LedgerEntry::chain_draft(&head(&good), wrong);
        let refused = here.copy_entries("box", &[good, wrong], false).unwrap_err().to_string();
        assert!(refused.contains(expected) && refused.contains("entry 1"), "{refused}");
        assert_eq!(here.copied_through("box").unwrap(), Some(head(&entries[0])));
    }
}

#[test]
fn a_ledger_that_was_replaced_begins_a_new_series() {
    let (folder, entries, mut here) = house(4);
    here.copy_entries("it's", &entries, false).unwrap();
    let (_other, replaced, _) = house(2);
    here.copy_entries("it's", &replaced, true).unwrap();
    assert_eq!(here.copied_through("it's").unwrap(), Some(head(&replaced[1])));
    let copy = Store::open_copy(&folder.path().join("here.db"), "it's").unwrap();
    assert_eq!(copy.entries_after(&EntryFilter::default(), 0, 10).unwrap(), replaced);
    // One that was pruned begins with a higher number.
    here.copy_entries("it's", &entries[2..], true).unwrap();
    assert_eq!(here.copied_through("it's").unwrap(), Some(head(&entries[3])));
    // What was copied before is still there, each series for itself.
    assert_eq!(here.copied_series("it's").unwrap(), [1, 2, 3]);
    assert!(here.copied_series("its").unwrap().is_empty());
    let path = folder.path().join("here.db");
    for (name, expected) in [
        ("it's", &entries[2..]),
        ("it's#1", &entries[..]),
        ("it's#2", &replaced[..]),
        ("it's#3", &entries[2..]),
        ("it's#4", &[]),
        ("it's#0", &[]),
        ("it's#18446744073709551615", &[]),
        ("other", &[]),
    ] {
        let copy = Store::open_copy(&path, name).unwrap();
        assert_eq!(copy.entries_after(&EntryFilter::default(), 0, 10).unwrap(), expected, "{name}");
        let ChainReport::Whole { entries, head: end, .. } = copy.verify_copy().unwrap() else {
            panic!("{name} is whole");
        };
        assert_eq!(entries, expected.len() as u64, "{name}");
        assert_eq!(Some(end), expected.last().map(head).or(Some(ChainHead::NONE)), "{name}");
    }
    // A machine may have such a name itself.
    here.copy_entries("it's#1", &replaced, false).unwrap();
    let copy = Store::open_copy(&path, "it's#1").unwrap();
    assert_eq!(copy.entries_after(&EntryFilter::default(), 0, 10).unwrap(), replaced);
}

#[test]
fn a_copy_that_was_changed_is_broken() {
    let (folder, entries, mut here) = house(4);
    here.copy_entries("box", &entries, false).unwrap();
    let path = folder.path().join("here.db");
    let change = |statement: &str| {
        rusqlite::Connection::open(&path).unwrap().execute(statement, []).unwrap();
        Store::open_copy(&path, "box").unwrap().verify_copy().unwrap()
    };
    let changed = change("UPDATE copied_entries SET at_ms = 9 WHERE seq = 4");
    assert_eq!(changed, ChainReport::Broken { seq: 4, why: ChainFault::Changed });
    let removed = change("DELETE FROM copied_entries WHERE seq = 2");
    assert_eq!(removed, ChainReport::Broken { seq: 2, why: ChainFault::Missing });
}
