//! What holds for the copies of ledgers.

use std::collections::BTreeSet;
use std::time::Duration;

use callgate_store::{ChainFault, ChainHead, EntryDraft, LedgerEntry};
use callgate_team_store::{
    AuditChain, AuditChainReport, AuditCopy, AuditFilter, AuditLabels, AuditRecord, LedgerPart,
    MOST_COPIES, TeamAsk, TeamStore, TeamStoreError, chain_name, unknown_before,
};
use callgate_wire::approval::Decision;

use super::WEEK;
use crate::fixture::Fixture;
use crate::team::{answer, ask, id, ledger};

pub(crate) fn a_ledger_is_copied_once_and_verified(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    let all = ledger(ChainHead::NONE, 30);
    let head = all[29].entry.head();
    one.copy_entries("laptop", ChainHead::NONE, &all[..20]).unwrap();
    // Again, with an overlap, and what is long known.
    assert_eq!(other.copy_entries("laptop", ChainHead::NONE, &all[..20]).unwrap().seq, 20);
    assert_eq!(other.copy_entries("laptop", all[9].entry.head(), &all[10..]).unwrap(), head);
    assert_eq!(other.copy_entries("laptop", all[3].entry.head(), &all[4..8]).unwrap(), head);
    assert_eq!(other.copy_entries("laptop", head, &[]).unwrap(), head);
    // A machine that joins late begins in the middle of its ledger.
    let start = all[4].entry.head();
    other.copy_entries("box", start, &all[5..]).unwrap();
    let chain = |name: &str| AuditChain { name: name.into(), head };
    assert_eq!(one.chain_heads(None).unwrap(), [chain("laptop"), chain("box")]);
    assert_eq!(one.chain_heads(Some("box")).unwrap(), [chain("box")]);
    assert_eq!(one.chain_heads(Some("bo")).unwrap(), []);
    let numbers = |read: Vec<AuditRecord>| read.iter().map(|it| it.entry.seq).collect::<Vec<_>>();
    assert_eq!(numbers(one.chain_entries("box", 27).unwrap()), [28, 29, 30]);
    assert_eq!(numbers(one.chain_entries("nobody", 0).unwrap()), [0; 0]);
    let whole = |start, entries| Some(AuditChainReport::Whole { start, entries, head });
    assert_eq!(one.verify_chain("laptop").unwrap(), whole(ChainHead::NONE, 30));
    assert_eq!(one.verify_chain("box").unwrap(), whole(start, 25));
    assert_eq!(one.verify_chain("nobody").unwrap(), None);
}

pub(crate) fn a_ledger_that_begins_anew_has_another_chain(fixture: &Fixture) {
    let mut store = fixture.open();
    let all = ledger(ChainHead::NONE, 12);
    store.copy_entries("laptop", ChainHead::NONE, &all[..3]).unwrap();
    // It was pruned: what the next entry follows is gone.
    let start = unknown_before(7);
    let second = chain_name("laptop", 2);
    for _ in 0..2 {
        let end = store.copy_entries(&second, start, &all[6..8]).unwrap();
        assert_eq!(end, all[7].entry.head());
    }
    let gap = store.copy_entries(&second, start, &all[7..9]).unwrap_err().to_string();
    assert!(gap.contains("entry 8 of the sent ledger does not follow"), "{gap}");
    store.copy_entries(&second, all[7].entry.head(), &all[8..]).unwrap();
    store.copy_entries("laptopper", ChainHead::NONE, &all[..1]).unwrap();
    let names = |chains: Vec<AuditChain>| chains.into_iter().map(|it| it.name).collect::<Vec<_>>();
    assert_eq!(names(store.chain_heads(Some("laptop")).unwrap()), ["laptop", "laptop#2"]);
    let of_laptop =
        AuditFilter { machine: Some("laptop".into()), most: 100, ..AuditFilter::default() };
    assert_eq!(store.search_audit(&of_laptop).unwrap().len(), 3 + 6);
    let head = all[11].entry.head();
    let whole = AuditChainReport::Whole { start, entries: 6, head };
    assert_eq!(store.verify_chain(&second).unwrap(), Some(whole));
    fixture.tamper("UPDATE audit SET body = '{}' WHERE seq = 8");
    let broken = AuditChainReport::Broken { seq: 8, why: ChainFault::Changed };
    assert_eq!(store.verify_chain(&second).unwrap(), Some(broken));
}

pub(crate) fn parts_of_many_ledgers_are_copied_together(fixture: &Fixture) {
    let mut store = fixture.open();
    let all = ledger(ChainHead::NONE, 9);
    let part = |chain: &str, after, copies: &[AuditCopy]| LedgerPart {
        chain: chain.to_owned(),
        after,
        copies: copies.to_vec(),
    };
    let mut forged = all[..4].to_vec();
    forged[2].entry.body = "{}".into();
    let parts = [
        part("laptop", ChainHead::NONE, &all[..4]),
        part("forger", ChainHead::NONE, &forged),
        part("box", ChainHead::NONE, &all),
        // The same machine over another line, and one that leaves entries out.
        part("laptop", all[3].entry.head(), &all[4..6]),
        part("late", all[1].entry.head(), &all[2..5]),
        part("laptop", all[7].entry.head(), &all[8..]),
        part("idle", ChainHead::NONE, &[]),
    ];
    let copied = store.copy_ledgers(&parts).unwrap();
    let heads: Vec<_> = copied.iter().map(|it| it.as_ref().ok().map(|head| head.seq)).collect();
    assert_eq!(heads, [Some(4), None, Some(9), Some(6), Some(5), None, Some(0)]);
    assert!(matches!(copied[1], Err(TeamStoreError::NotAChain { seq: 3 })));
    assert!(matches!(copied[5], Err(TeamStoreError::Gap { expected: 7 })));
    // All of it again, as after a lost acknowledgement.
    let again = store.copy_ledgers(&parts).unwrap();
    assert!(matches!(&again[0], Ok(head) if head.seq == 6), "{again:?}");
    for (chain, count) in [("laptop", 6), ("box", 9), ("late", 3)] {
        let report = store.verify_chain(chain).unwrap();
        let Some(AuditChainReport::Whole { entries, .. }) = report else { panic!("{report:?}") };
        assert_eq!(entries, count, "{chain}");
    }
    assert!(store.chain_heads(Some("forger")).unwrap().is_empty());
}

pub(crate) fn a_forged_ledger_is_refused(fixture: &Fixture) {
    let mut store = fixture.open();
    let all = ledger(ChainHead::NONE, 10);
    store.copy_entries("laptop", ChainHead::NONE, &all[..5]).unwrap();
    let mut refused = |after, copies: &[AuditCopy], expected: &str| {
        let told = store.copy_entries("laptop", after, copies).unwrap_err().to_string();
        assert!(told.contains(expected), "{told}");
    };
    refused(all[6].entry.head(), &all[7..], "send it from entry 6 on");
    refused(ChainHead::NONE, &all[5..], "entry 6 of the sent ledger does not follow");
    let mut changed = all.clone();
    changed[6].entry.body = r#"{"tool":"Bash"}"#.into();
    refused(ChainHead::NONE, &changed, "entry 7 of the sent ledger does not follow");
    // Another history, whole in itself: past its end, up to its end, and before its end.
    let mut head = ChainHead::NONE;
    let other: Vec<AuditCopy> = all
        .iter()
        .map(|copy| {
            let LedgerEntry { at_ms, kind, question, .. } = copy.entry.clone();
            let draft = EntryDraft { at_ms, kind, question, body: r#"{"forged":1}"#.into() };
            let entry = LedgerEntry::chain_draft(&head, draft);
            head = entry.head();
            AuditCopy { labels: AuditLabels::default(), entry }
        })
        .collect();
    refused(ChainHead::NONE, &other, "entry 5 of the sent ledger is not the one");
    refused(ChainHead::NONE, &other[..5], "entry 5 of the sent ledger is not the one");
    refused(ChainHead::NONE, &other[..3], "entry 3 of the sent ledger is not the one");
    refused(other[4].entry.head(), &other[5..], "entry 5 of the sent ledger is not the one");
    let long = ledger(all[4].entry.head(), MOST_COPIES as u64 + 1);
    refused(all[4].entry.head(), &long, "over 1000 at once");
    let mut odd = all[5..].to_vec();
    odd[0].labels.project = Some("a\0b".into());
    refused(all[4].entry.head(), &odd, "a label of a copied entry is refused");
    let head = all[4].entry.head();
    assert_eq!(store.chain_heads(None).unwrap(), [AuditChain { name: "laptop".into(), head }]);
    store.copy_entries("laptop", ChainHead::NONE, &all).unwrap();
}

pub(crate) fn a_changed_entry_is_found(fixture: &Fixture) {
    let mut store = fixture.open();
    let all = ledger(ChainHead::NONE, 10);
    store.copy_entries("laptop", ChainHead::NONE, &all).unwrap();
    let mut check = |sql: &str, seq, why| {
        fixture.tamper(sql);
        let found = store.verify_chain("laptop").unwrap().unwrap();
        assert_eq!(found, AuditChainReport::Broken { seq, why }, "{sql}");
    };
    check("UPDATE chains SET head_seq = 9", 10, ChainFault::OtherMark);
    check(
        "UPDATE chains SET head_seq = 10; DELETE FROM audit WHERE seq = 10",
        10,
        ChainFault::Missing,
    );
    check("UPDATE audit SET body = '{}' WHERE seq = 7", 7, ChainFault::Changed);
    check("UPDATE audit SET at_ms = at_ms + 1 WHERE seq = 5", 5, ChainFault::Changed);
    check("DELETE FROM audit WHERE seq = 3", 3, ChainFault::Missing);
}

pub(crate) fn who_allowed_what_is_found(fixture: &Fixture) {
    let mut store = fixture.open();
    for number in 0..6 {
        let project = if number % 2 == 0 { "shop" } else { "site" };
        store.ask_question(&TeamAsk { project: project.into(), ..ask(number) }).unwrap();
        let mut answer = answer(number, number, if number < 4 { "ada" } else { "bob" });
        if number == 2 {
            answer.decision = Decision::Deny;
        }
        store.answer_question(&answer).unwrap();
    }
    let last_week = AuditFilter {
        project: Some("shop".into()),
        decision: Some(Decision::Allow),
        within: Some(WEEK),
        most: 100,
        ..AuditFilter::default()
    };
    let mut find = |filter: &AuditFilter| {
        let found = store.search_audit(filter).unwrap();
        let tell = |it: &callgate_team_store::AuditRecord| {
            let body: serde_json::Value = serde_json::from_str(&it.entry.body).unwrap();
            let act = body["act"]["summary"].as_str().unwrap_or_default().to_owned();
            format!("{} {act}", it.labels.who.clone().unwrap_or_default())
        };
        found.iter().map(tell).collect::<Vec<_>>()
    };
    assert_eq!(find(&last_week), ["bob make 4", "ada make 0"]);
    let ada = AuditFilter { who: Some("ada".into()), ..last_week.clone() };
    assert_eq!(find(&ada), ["ada make 0"]);
    let elsewhere = AuditFilter { machine: Some("nobody".into()), ..last_week.clone() };
    assert_eq!(find(&elsewhere), [""; 0]);
    let other_agent = AuditFilter { agent: Some("codex".into()), ..last_week.clone() };
    assert_eq!(find(&other_agent), [""; 0]);
    let one = AuditFilter {
        question: Some(id(5).as_str().into()),
        machine: Some("desk".into()),
        most: 100,
        ..AuditFilter::default()
    };
    assert_eq!(find(&one), ["bob make 5", " make 5"]);
    // Nothing of it is a statement.
    let injected = AuditFilter { project: Some("' OR true --".into()), ..last_week.clone() };
    assert_eq!(find(&injected), [""; 0]);
    fixture.age_entries(2, 10);
    assert_eq!(find(&last_week), ["bob make 4"]);
}

pub(crate) fn a_page_follows_the_one_before(fixture: &Fixture) {
    let mut store = fixture.open();
    for machine in ["one", "two"] {
        let all = ledger(ChainHead::NONE, 25);
        store.copy_entries(machine, ChainHead::NONE, &all).unwrap();
    }
    let mut filter = AuditFilter { most: 7, ..AuditFilter::default() };
    let (mut seen, mut pages) = (BTreeSet::new(), 0);
    loop {
        let page = store.search_audit(&filter).unwrap();
        let Some(last) = page.last() else { break };
        filter.before = Some(last.position);
        seen.extend(page.into_iter().map(|it| (it.machine, it.entry.seq)));
        pages += 1;
    }
    assert_eq!((seen.len(), pages), (50, 8));
}

pub(crate) fn old_entries_are_removed_and_the_chain_stays_whole(fixture: &Fixture) {
    let mut store = fixture.open();
    let all = ledger(ChainHead::NONE, 10);
    store.copy_entries("laptop", ChainHead::NONE, &all).unwrap();
    store.ask_question(&ask(1)).unwrap();
    store.answer_question(&answer(1, 1, "ada")).unwrap();
    store.ask_question(&ask(2)).unwrap();
    store.tend_audit().unwrap();
    let count = |store: &mut dyn TeamStore| {
        store.search_audit(&AuditFilter { most: 100, ..AuditFilter::default() }).unwrap().len()
    };
    assert_eq!(count(&mut *store), 13, "nothing is removed before its days are over");
    fixture.age_entries(6, 40);
    fixture.tamper("UPDATE questions SET closed_ms = closed_ms - 40 * CAST(86400000 AS bigint)");
    store.tend_audit().unwrap();
    assert_eq!(count(&mut *store), 4);
    let (start, head) = (all[5].entry.head(), all[9].entry.head());
    let whole = AuditChainReport::Whole { start, entries: 4, head };
    assert_eq!(store.verify_chain("laptop").unwrap(), Some(whole));
    // What is repeated of the removed part is known to be old.
    assert_eq!(store.copy_entries("laptop", ChainHead::NONE, &all[..4]).unwrap(), head);
    assert_eq!(store.find_question(&id(1)).unwrap(), None, "closed, and old");
    assert_eq!(store.open_questions().unwrap().len(), 1);
    // The chain of the desk was removed whole, and goes on.
    store.ask_question(&ask(3)).unwrap();
    let AuditChainReport::Whole { start, entries, .. } =
        store.verify_chain("desk").unwrap().unwrap()
    else {
        panic!()
    };
    assert_eq!((start.seq, entries), (3, 1));
    let status = store.read_status().unwrap();
    assert_eq!(status.kept_days, 30);
    assert!(status.bytes > status.audit_bytes && status.audit_bytes > 0, "{status:?}");
}

pub(crate) fn what_yesterday_took_is_told(fixture: &Fixture) {
    let mut store = fixture.open();
    store.copy_entries("laptop", ChainHead::NONE, &ledger(ChainHead::NONE, 50)).unwrap();
    assert_eq!(store.read_status().unwrap().day_bytes, None, "all of it is of today");
    fixture.age_entries(40, 1);
    let status = store.read_status().unwrap();
    let yesterday = status.day_bytes.unwrap();
    assert!(yesterday > 2000 && yesterday <= status.audit_bytes, "{status:?}");
}

pub(crate) fn clocks_of_machines_do_not_matter(fixture: &Fixture) {
    let mut store = fixture.open();
    store.ask_question(&ask(1)).unwrap();
    let now = store.find_question(&id(1)).unwrap().unwrap().asked_ms;
    assert!((now..now + 60_000).contains(&store.read_clock().unwrap()));
    for (machine, minutes) in [("fast", 10), ("slow", -10), ("lost", -60 * 24 * 400)] {
        let draft = EntryDraft {
            at_ms: now + minutes * 60_000,
            kind: "ran".into(),
            question: None,
            body: "{}".into(),
        };
        let entry = LedgerEntry::chain_draft(&ChainHead::NONE, draft);
        let copies = [AuditCopy { labels: AuditLabels::default(), entry }];
        store.copy_entries(machine, ChainHead::NONE, &copies).unwrap();
    }
    store.tend_audit().unwrap();
    let filter =
        AuditFilter { within: Some(Duration::from_mins(1)), most: 9, ..AuditFilter::default() };
    let found = store.search_audit(&filter).unwrap();
    let machines: Vec<_> = found.iter().map(|it| it.machine.as_str()).collect();
    // All were recorded now, in this order; each keeps the time that its machine gave.
    assert_eq!(BTreeSet::from_iter(machines), ["desk", "fast", "lost", "slow"].into());
    let fast = found.iter().find(|it| it.machine == "fast").unwrap();
    assert_eq!(fast.entry.at_ms, now + 600_000);
    assert!(fast.position.recorded_ms - now < 60_000);
    // No time comes from the desk: nothing in the crate reads a clock of its machine.
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let mut folders = vec![std::path::PathBuf::from(sources)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let reads = ["SystemTime", "callgate_store::now_ms", "Zoned::now", "Timestamp::now"];
            let found = reads.iter().find(|name| text.contains(**name));
            assert!(found.is_none(), "{} uses {found:?}", path.display());
        }
    }
}
