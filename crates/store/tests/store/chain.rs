//! Whatever is changed in the chain is seen and named; what is pruned is not missed.

use crate::place::{Place, now_ms, seqs};
use callgate_store::{
    ChainFault, ChainHead, ChainReport, EntryFilter, LONGEST_OPEN_MS, NotedHead, Store, StoreError,
};
use callgate_wire::ledger::{ChainedLinks, EntriesPruned, LedgerEvent};

/// A ledger of six entries, of which the first five are old.
fn six() -> Place {
    let mut place = Place::new();
    for (at, kind, question) in [
        (100, "started", None),
        (200, "asked", Some("q1")),
        (300, "decided", Some("q1")),
        (400, "closed", Some("q1")),
        (500, "ran", None),
    ] {
        place.write_at(at, kind, question, r#"{"tool":"Bash"}"#);
    }
    place.write("stopped", None, "{}");
    place
}

fn whole(place: &Place) -> u64 {
    match place.store.verify().unwrap() {
        ChainReport::Whole { entries, .. } => entries,
        broken @ ChainReport::Broken { .. } => panic!("{broken:?}"),
    }
}

#[test]
fn a_chain_that_nobody_touched_is_whole() {
    let place = Place::new();
    let nothing = ChainHead { seq: 0, hash: [0; 32] };
    let expected = ChainReport::Whole {
        entries: 0,
        from_anchor: None,
        head: nothing,
        noted: NotedHead::NotGiven,
    };
    assert_eq!(place.store.verify().unwrap(), expected);
    let place = six();
    let head = place.store.chain_head().unwrap();
    let expected =
        ChainReport::Whole { entries: 6, from_anchor: None, head, noted: NotedHead::NotGiven };
    assert_eq!(place.store.verify().unwrap(), expected);
    assert_eq!(Store::open_read_only(&place.path()).unwrap().verify().unwrap(), expected);
}

#[test]
fn every_change_is_seen_and_named() {
    let check = |sql: &str, seq: u64, why: ChainFault| {
        let place = six();
        place.tamper(sql);
        assert_eq!(place.store.verify().unwrap(), ChainReport::Broken { seq, why }, "{sql}");
    };
    for seq in 1..=6 {
        let of = |change: &str| format!("UPDATE entries SET {change} WHERE seq = {seq}");
        check(&of("at_ms = at_ms + 1"), seq, ChainFault::Changed);
        check(&of("kind = kind || 'x'"), seq, ChainFault::Changed);
        check(&of("kind = 'Asked'"), seq, ChainFault::Changed);
        check(&of("question = 'q9'"), seq, ChainFault::Changed);
        check(&of("question = coalesce(question, '') || ' '"), seq, ChainFault::Changed);
        check(&of("body = body || ' '"), seq, ChainFault::Changed);
        check(&of("body = ''"), seq, ChainFault::Changed);
        check(&of("hash = zeroblob(32)"), seq, ChainFault::Changed);
        check(&of("hash = x'00'"), seq, ChainFault::Changed);
        check(&of("body = CAST(x'ff' AS TEXT)"), seq, ChainFault::Changed);
    }
    check("UPDATE entries SET question = NULL WHERE seq = 2", 2, ChainFault::Changed);
    check("UPDATE entries SET seq = 60 WHERE seq = 6", 6, ChainFault::Missing);
    check("UPDATE entries SET seq = -6 WHERE seq = 1", 1, ChainFault::Missing);
    check("UPDATE entries SET seq = 0 WHERE seq = 1", 1, ChainFault::Missing);
    check("DELETE FROM entries WHERE seq = 1", 2, ChainFault::NoAnchor);
    check("DELETE FROM entries WHERE seq = 3", 3, ChainFault::Missing);
    check("DELETE FROM entries WHERE seq = 6", 6, ChainFault::Missing);
    check("DELETE FROM entries WHERE seq > 3", 4, ChainFault::Missing);
    check("DELETE FROM entries", 1, ChainFault::Missing);
    check("DELETE FROM head", 6, ChainFault::OtherMark);
    check("UPDATE head SET seq = 7", 7, ChainFault::Missing);
    check("UPDATE head SET seq = 5", 6, ChainFault::OtherMark);
    check("UPDATE head SET hash = zeroblob(32)", 6, ChainFault::OtherMark);
    let swapped = "UPDATE entries SET seq = 50 WHERE seq = 2; UPDATE entries SET seq = 2 WHERE \
                   seq = 3; UPDATE entries SET seq = 3 WHERE seq = 50";
    check(swapped, 2, ChainFault::Changed);
}

#[test]
fn any_bit_of_any_body_counts() {
    let place = six();
    let body = r#"{"tool":"Bash"}"#;
    for index in 0..body.len() {
        for bit in 0..7 {
            let mut changed = body.as_bytes().to_vec();
            changed[index] ^= 1 << bit;
            let changed = String::from_utf8(changed).unwrap().replace('\'', "''");
            place.tamper(&format!("UPDATE entries SET body = '{changed}' WHERE seq = 3"));
            let expected = ChainReport::Broken { seq: 3, why: ChainFault::Changed };
            assert_eq!(place.store.verify().unwrap(), expected, "{changed}");
        }
    }
    place.tamper(&format!("UPDATE entries SET body = '{body}' WHERE seq = 3"));
    assert_eq!(whole(&place), 6);
}

#[test]
fn a_noted_head_shows_what_was_cut_or_written_anew() {
    let place = six();
    let head = place.store.chain_head().unwrap();
    let third = place.store.entries_after(&EntryFilter::default(), 2, 1).unwrap().remove(0);
    let third = ChainHead { seq: 3, hash: third.hash };
    let noted = |place: &Place, head: ChainHead| match place
        .store
        .verify_with(Some(head), &|_, _| ())
        .unwrap()
    {
        ChainReport::Whole { noted, .. } => Ok(noted),
        ChainReport::Broken { seq, why } => Err((seq, why)),
    };
    assert_eq!(noted(&place, head), Ok(NotedHead::Found));
    assert_eq!(noted(&place, third), Ok(NotedHead::Found));
    assert_eq!(noted(&place, ChainHead { seq: 0, hash: [0; 32] }), Ok(NotedHead::Found));
    let other = ChainHead { hash: [1; 32], ..third };
    assert_eq!(noted(&place, other), Err((3, ChainFault::OtherThanNoted)));
    assert_eq!(noted(&place, ChainHead { seq: 9, ..head }), Err((7, ChainFault::Missing)));

    let cut = "DELETE FROM entries WHERE seq > 4;
               UPDATE head SET (seq, hash) = (SELECT seq, hash FROM entries WHERE seq = 4)";
    place.tamper(cut);
    assert_eq!(whole(&place), 4, "without a noted head nothing shows it");
    assert_eq!(noted(&place, head), Err((5, ChainFault::Missing)));
    assert_eq!(noted(&place, third), Ok(NotedHead::Found));

    let anew = six();
    assert_eq!(noted(&anew, head).unwrap_err().1, ChainFault::OtherThanNoted);
}

#[test]
fn a_number_is_not_given_again_to_hide_a_cut() {
    let mut place = six();
    place.tamper("DELETE FROM entries WHERE seq > 4");
    assert_eq!(place.write("started", None, "{}").seq, 7);
    let expected = ChainReport::Broken { seq: 5, why: ChainFault::Missing };
    assert_eq!(place.store.verify().unwrap(), expected);
    let mut place = six();
    place.tamper("UPDATE head SET seq = 2");
    assert_eq!(place.write("started", None, "{}").seq, 7);
    assert_eq!(whole(&place), 7);
}

#[test]
fn pruning_leaves_an_anchor_from_which_the_chain_goes_on() {
    let mut place = six();
    let fourth = place.store.entries_after(&EntryFilter::default(), 3, 1).unwrap().remove(0);
    let pruned = place.store.prune(500).unwrap();
    assert_eq!(pruned.removed, 4);
    let entry = pruned.anchor.unwrap();
    assert_eq!((entry.seq, entry.kind.as_str()), (7, "anchor"));
    let LedgerEvent::Anchor(anchor) = entry.event() else { panic!("{entry:?}") };
    let hash = callgate_store::Sha256Hash(fourth.hash).to_string();
    let links = Some(ChainedLinks::default());
    let expected = EntriesPruned { through: 4, hash, count: 4, from_ms: 100, to_ms: 400, links };
    assert_eq!(anchor, expected);
    let all = place.store.entries_after(&EntryFilter::default(), 0, 9).unwrap();
    assert_eq!(seqs(&all), [5, 6, 7]);
    match place.store.verify().unwrap() {
        ChainReport::Whole { entries, from_anchor, .. } => {
            assert_eq!((entries, from_anchor), (3, Some(anchor)));
        }
        broken @ ChainReport::Broken { .. } => panic!("{broken:?}"),
    }
    let none = place.store.prune(500).unwrap();
    assert_eq!((none.removed, none.anchor), (0, None));
    assert_eq!(place.store.last_seq().unwrap(), 7, "nothing removed, nothing written");
}

#[test]
fn a_chain_pruned_again_and_again_stays_whole_and_its_numbers_go_on() {
    let mut place = Place::new();
    for round in 1..=20 {
        let question = format!("q{round}");
        place.write("ran", None, "{}");
        place.write("asked", Some(&question), "{}");
        place.write("ran", None, "{}");
        let removed = place.store.prune(i64::MAX).unwrap().removed;
        assert_eq!(removed, if round == 1 { 1 } else { 5 }, "up to the open question");
        place.write("closed", Some(&question), "{}");
        assert_eq!(whole(&place), 4);
    }
    assert_eq!(place.store.last_seq().unwrap(), 100);
    assert_eq!(place.store.prune(i64::MAX).unwrap().removed, 4);
    assert_eq!(place.store.last_seq().unwrap(), 101);
    assert_eq!(whole(&place), 1, "the anchor alone");
    place.write("ran", None, "{}");
    assert_eq!(whole(&place), 2);
}

#[test]
fn an_anchor_is_guarded_by_the_chain_like_everything_else() {
    let tampered = |sql: &str| {
        let mut place = six();
        place.store.prune(500).unwrap();
        place.tamper(sql);
        place.store.verify().unwrap()
    };
    let change = "UPDATE entries SET body = replace(body, '\"count\":4', '\"count\":5')";
    assert_eq!(tampered(change), ChainReport::Broken { seq: 7, why: ChainFault::Changed });
    let delete = "DELETE FROM entries WHERE seq = 5";
    assert_eq!(tampered(delete), ChainReport::Broken { seq: 6, why: ChainFault::NoAnchor });
    let delete = "DELETE FROM entries WHERE seq = 7";
    assert_eq!(tampered(delete), ChainReport::Broken { seq: 5, why: ChainFault::NoAnchor });
    let garbage = "UPDATE entries SET body = 'garbage' WHERE seq = 7";
    assert_eq!(tampered(garbage), ChainReport::Broken { seq: 5, why: ChainFault::NoAnchor });
}

#[test]
fn a_head_noted_before_pruning_is_compared_as_far_as_it_can_be() {
    let mut place = six();
    let heads: Vec<ChainHead> = place
        .store
        .entries_after(&EntryFilter::default(), 0, 9)
        .unwrap()
        .iter()
        .map(|entry| ChainHead { seq: entry.seq, hash: entry.hash })
        .collect();
    place.store.prune(500).unwrap();
    let noted = |head: ChainHead| match place.store.verify_with(Some(head), &|_, _| ()).unwrap() {
        ChainReport::Whole { noted, .. } => Ok(noted),
        ChainReport::Broken { seq, why } => Err((seq, why)),
    };
    assert_eq!(noted(heads[5]), Ok(NotedHead::Found));
    assert_eq!(noted(heads[3]), Ok(NotedHead::Found), "the anchor has it");
    assert_eq!(noted(heads[2]), Ok(NotedHead::Pruned));
    let other = ChainHead { hash: [1; 32], ..heads[3] };
    assert_eq!(noted(other), Err((4, ChainFault::OtherThanNoted)));
}

#[test]
fn pruning_stops_before_a_question_that_is_open() {
    let mut place = Place::new();
    let now = now_ms();
    place.write_at(now - 50, "started", None, "{}");
    place.write_at(now - 40, "asked", Some("q1"), "{}");
    place.write_at(now - 30, "asked", Some("q2"), "{}");
    place.write_at(now - 20, "closed", Some("q1"), "{}");
    let kept =
        |place: &Place| seqs(&place.store.entries_after(&EntryFilter::default(), 0, 99).unwrap());
    assert_eq!(place.store.prune(i64::MAX).unwrap().removed, 2);
    assert_eq!(kept(&place), [3, 4, 5]);
    assert_eq!(place.store.prune(i64::MAX).unwrap().removed, 0);
    place.write("closed", Some("q2"), "{}");
    assert_eq!(place.store.prune(i64::MAX).unwrap().removed, 4);
    assert_eq!(kept(&place), [7]);
    whole(&place);
}

#[test]
fn pruning_does_not_stop_at_a_question_that_was_abandoned_long_ago() {
    assert_eq!(LONGEST_OPEN_MS, 86_400_000, "a day");
    let mut place = Place::new();
    place.write_at(now_ms() - LONGEST_OPEN_MS - 60_000, "asked", Some("q1"), "{}");
    assert_eq!(place.store.prune(i64::MAX).unwrap().removed, 1);
    let mut place = Place::new();
    place.write_at(now_ms() - LONGEST_OPEN_MS + 60_000, "asked", Some("q1"), "{}");
    assert_eq!(place.store.prune(i64::MAX).unwrap().removed, 0);
}

#[test]
fn pruning_takes_a_beginning_and_leaves_no_gap_when_clocks_went_back() {
    let mut place = Place::new();
    for at in [100, 900, 200, 300] {
        place.write_at(at, "ran", None, "{}");
    }
    assert_eq!(place.store.prune(500).unwrap().removed, 1);
    assert_eq!(
        seqs(&place.store.entries_after(&EntryFilter::default(), 0, 9).unwrap()),
        [2, 3, 4, 5]
    );
    whole(&place);
}

#[test]
fn a_broken_chain_is_not_pruned() {
    let mut place = six();
    place.tamper("UPDATE entries SET body = '{}' WHERE seq = 2");
    let error = place.store.prune(500).unwrap_err();
    assert!(matches!(error, StoreError::Broken { seq: 2, why: ChainFault::Changed }), "{error}");
    assert_eq!(place.store.entries_after(&EntryFilter::default(), 0, 9).unwrap().len(), 6);
}

#[test]
fn what_was_pruned_is_no_longer_in_the_file() {
    let mut place = Place::new();
    for _ in 0..50 {
        let body = format!(r#"{{"text":"{}"}}"#, "gone-for-good ".repeat(300));
        place.write_at(100, "ran", None, &body);
    }
    place.write("ran", None, "{}");
    let has_it = |place: &Place| {
        let bytes = std::fs::read(place.path()).unwrap();
        let wal = std::fs::read(place.path().with_extension("db-wal")).unwrap_or_default();
        [bytes, wal].iter().any(|bytes| bytes.windows(9).any(|window| window == b"gone-for-"))
    };
    assert!(has_it(&place));
    place.store.prune(500).unwrap();
    assert!(!has_it(&place));
    // What was removed took more than 200,000 bytes, and an empty store takes about half of that.
    let size = std::fs::metadata(place.path()).unwrap().len();
    assert!(size < 160_000, "space was given back: {size}");
}
