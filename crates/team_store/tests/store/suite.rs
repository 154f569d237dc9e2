//! What holds for every store. Each function is a test on SQLite and on PostgreSQL.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use callgate_store::{ChainFault, ChainHead, EntryDraft, LedgerEntry};
use callgate_team_store::{
    AnswerReceipt, AskReceipt, AuditChainReport, AuditCopy, AuditFilter, AuditLabels, DocumentKind,
    EditReceipt, MOST_COPIES, TeamAsk, TeamChange, TeamQuestionState, TeamStore, TeamStoreError,
};
use callgate_testkit::until::until;
use callgate_wire::approval::Decision;

use super::fixture::Fixture;
use super::team::{answer, ask, edit, id, ledger};

const WEEK: Duration = Duration::from_hours(24 * 7);
/// Longer than any test waits for a hint.
const LONG: Duration = Duration::from_mins(1);

pub(crate) fn a_question_is_recorded_once(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    let AskReceipt::Recorded(asked) = one.ask_question(&ask(1)).unwrap() else { panic!() };
    assert_eq!((asked.id.clone(), asked.state.clone()), (id(1), TeamQuestionState::Open));
    assert_eq!(asked.deadline_ms - asked.asked_ms, 600_000);
    assert!(asked.remaining <= Duration::from_mins(10) && asked.remaining > Duration::from_mins(9));
    for store in [&mut one, &mut other] {
        let AskReceipt::Repeated(again) = store.ask_question(&ask(1)).unwrap() else { panic!() };
        assert_eq!((again.asked_ms, again.changed), (asked.asked_ms, asked.changed));
    }
    // Somebody else who has learnt the id gets nothing of the question, and changes nothing.
    let forged = [
        TeamAsk { machine: "other".into(), ..ask(1) },
        TeamAsk { act: "{}".into(), ..ask(1) },
        TeamAsk { project: "other".into(), ..ask(1) },
        TeamAsk { agent: "other".into(), ..ask(1) },
    ];
    for forged in forged {
        assert_eq!(other.ask_question(&forged).unwrap(), AskReceipt::OtherQuestion);
    }
    assert_eq!(one.open_questions().unwrap().len(), 1);
}

pub(crate) fn a_question_is_answered_at_most_once(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    one.ask_question(&ask(1)).unwrap();
    assert_eq!(one.answer_question(&answer(2, 1, "ada")).unwrap(), AnswerReceipt::Unknown);
    let first = answer(1, 1, "ada");
    let AnswerReceipt::Recorded(closed) = one.answer_question(&first).unwrap() else { panic!() };
    assert_eq!(closed.state, TeamQuestionState::Answered(first.clone()));
    // The same answer again, as after a lost acknowledgement, by whichever desk.
    let again = other.answer_question(&first).unwrap();
    assert!(matches!(again, AnswerReceipt::Repeated(ref found) if found.changed == closed.changed));
    let AnswerReceipt::TooLate(found) = other.answer_question(&answer(1, 2, "bob")).unwrap() else {
        panic!()
    };
    assert_eq!(found.state, TeamQuestionState::Answered(first.clone()));
    assert_eq!(one.find_question(&id(1)).unwrap().unwrap().state, closed.state);
    assert_eq!(one.open_questions().unwrap(), []);
    let late = one.withdraw_question("laptop", &id(1)).unwrap().unwrap();
    assert_eq!(late.state, closed.state);
}

pub(crate) fn of_four_desks_one_answers_each_question(fixture: &Fixture) {
    const QUESTIONS: u64 = 500;
    let mut asker = fixture.open();
    let start = Arc::new(Barrier::new(4));
    let desks = (0..4).map(|desk| {
        let (mut store, start) = (fixture.open(), Arc::clone(&start));
        thread::spawn(move || {
            start.wait();
            // Each asks, too: whoever is first records the question.
            let race = (0..QUESTIONS).filter(|number| {
                store.ask_question(&ask(*number)).unwrap();
                let answer = answer(*number, number * 4 + desk, &format!("desk {desk}"));
                matches!(store.answer_question(&answer).unwrap(), AnswerReceipt::Recorded(_))
            });
            race.collect::<Vec<u64>>()
        })
    });
    let desks: Vec<_> = desks.collect();
    let won: Vec<Vec<u64>> = desks.into_iter().map(|desk| desk.join().unwrap()).collect();
    let winners: BTreeSet<u64> = won.iter().flatten().copied().collect();
    assert_eq!(winners.len(), 500, "each question has a winner");
    assert_eq!(won.iter().map(Vec::len).sum::<usize>(), 500, "and no other");
    for (desk, number) in won
        .iter()
        .enumerate()
        .flat_map(|(desk, won)| won.iter().step_by(50).map(move |number| (desk, *number)))
    {
        let found = asker.find_question(&id(number)).unwrap().unwrap();
        let TeamQuestionState::Answered(answer) = found.state else { panic!() };
        assert_eq!(answer.by, format!("desk {desk}"));
    }
    assert_eq!(asker.open_questions().unwrap(), []);
    let AuditChainReport::Whole { entries, .. } = asker.verify_chain("desk").unwrap().unwrap()
    else {
        panic!()
    };
    assert_eq!(entries, 1000, "each question was recorded as asked and as answered, once");
}

pub(crate) fn only_its_machine_withdraws_a_question(fixture: &Fixture) {
    let mut store = fixture.open();
    store.ask_question(&ask(1)).unwrap();
    assert_eq!(store.withdraw_question("other", &id(1)).unwrap(), None);
    assert_eq!(store.withdraw_question("laptop", &id(2)).unwrap(), None);
    for _ in 0..2 {
        let withdrawn = store.withdraw_question("laptop", &id(1)).unwrap().unwrap();
        assert_eq!(withdrawn.state, TeamQuestionState::Withdrawn);
    }
    let late = store.answer_question(&answer(1, 1, "ada")).unwrap();
    assert!(matches!(late, AnswerReceipt::TooLate(_)));
}

pub(crate) fn a_question_whose_time_is_over_is_not_answered(fixture: &Fixture) {
    let mut store = fixture.open();
    store.ask_question(&ask(1)).unwrap();
    let brief = TeamAsk { wait: Duration::from_millis(1), ..ask(2) };
    store.ask_question(&brief).unwrap();
    until("the end of the question's time", || {
        store.find_question(&id(2)).unwrap().unwrap().remaining.is_zero()
    });
    // Whether or not anybody has closed it yet.
    let late = store.answer_question(&answer(2, 1, "ada")).unwrap();
    assert!(matches!(late, AnswerReceipt::TooLate(_)), "{late:?}");
    let expired = store.expire_questions().unwrap();
    assert_eq!(expired.iter().map(|it| &it.id).collect::<Vec<_>>(), [&id(2)]);
    assert_eq!(expired[0].state, TeamQuestionState::Expired);
    assert_eq!(store.expire_questions().unwrap(), []);
    assert_eq!(store.open_questions().unwrap().len(), 1);
    assert!(matches!(store.ask_question(&brief).unwrap(), AskReceipt::Repeated(_)));
}

pub(crate) fn a_new_desk_finds_what_is_open(fixture: &Fixture) {
    let mut store = fixture.open();
    for number in 0..20 {
        store.ask_question(&ask(number)).unwrap();
    }
    store.answer_question(&answer(3, 1, "ada")).unwrap();
    drop(store);
    let mut store = fixture.open();
    let open = store.open_questions().unwrap();
    let ids: Vec<_> = open.iter().map(|it| it.id.clone()).collect();
    assert_eq!(ids, (0..20).filter(|it| *it != 3).map(id).collect::<Vec<_>>());
    assert_eq!(open[0].act, ask(0).act);
}

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
    assert_eq!(one.chain_heads().unwrap(), [("box".into(), head), ("laptop".into(), head)]);
    let whole = |start, entries| Some(AuditChainReport::Whole { start, entries, head });
    assert_eq!(one.verify_chain("laptop").unwrap(), whole(ChainHead::NONE, 30));
    assert_eq!(one.verify_chain("box").unwrap(), whole(start, 25));
    assert_eq!(one.verify_chain("nobody").unwrap(), None);
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
    assert_eq!(store.chain_heads().unwrap(), [("laptop".into(), all[4].entry.head())]);
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

pub(crate) fn clocks_of_machines_do_not_matter(fixture: &Fixture) {
    let mut store = fixture.open();
    store.ask_question(&ask(1)).unwrap();
    let now = store.find_question(&id(1)).unwrap().unwrap().asked_ms;
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

pub(crate) fn odd_input_is_refused_or_kept_as_it_is(fixture: &Fixture) {
    let mut store = fixture.open();
    let long = "x".repeat(257);
    let names = ["", "a\0b", "a\nb", "\u{1b}[2J", long.as_str()];
    for name in names {
        let name = || name.to_owned();
        let asks = [
            TeamAsk { machine: name(), ..ask(1) },
            TeamAsk { project: name(), ..ask(1) },
            TeamAsk { agent: name(), ..ask(1) },
        ];
        for ask in asks {
            let refused = store.ask_question(&ask);
            assert!(matches!(refused, Err(TeamStoreError::Refused { .. })), "{refused:?}");
        }
        let mut odd = answer(1, 1, "ada");
        odd.by = name();
        assert!(matches!(store.answer_question(&odd), Err(TeamStoreError::Refused { .. })));
        assert!(store.edit_document(&edit(&name(), 0, 1, None)).is_err());
        assert!(store.copy_entries(&name(), ChainHead::NONE, &[]).is_err());
    }
    for act in ["", "[]", "null", "{", r#"{"a":1} x"#, "{\"a\":\"\n\"}"] {
        let refused = store.ask_question(&TeamAsk { act: act.into(), ..ask(1) });
        assert!(matches!(refused, Err(TeamStoreError::Refused { .. })), "{act}: {refused:?}");
    }
    let huge = format!(r#"{{"a":"{}"}}"#, "x".repeat(17 * 1024 * 1024));
    assert!(store.ask_question(&TeamAsk { act: huge, ..ask(1) }).is_err());
    for wait in [Duration::ZERO, Duration::from_hours(25), Duration::MAX] {
        assert!(store.ask_question(&TeamAsk { wait, ..ask(1) }).is_err());
    }
    for decision in [Decision::Ask, Decision::None, Decision::Timeout] {
        let mut odd = answer(1, 1, "ada");
        odd.decision = decision;
        assert!(store.answer_question(&odd).is_err());
    }
    assert_eq!(store.open_questions().unwrap(), []);
    assert_eq!(store.changes_after(0).unwrap(), []);
    // Escaped zero bytes, lone halves of characters, quotes and long texts come back as they were.
    let long = format!(r#"{{"a":"{}"}}"#, "€".repeat(1_000_000));
    let acts = [
        r#"{"a":"\u0000\ud83d"}"#,
        r#"{"a":"'; DROP TABLE questions; --"}"#,
        r#"{"b":1,"b":2,"a":0.10}"#,
        &long,
    ];
    for (number, act) in (10..).zip(acts) {
        let odd =
            TeamAsk { act: act.to_owned(), machine: "l'été \u{202e}".into(), ..ask(number) };
        let asked = store.ask_question(&odd);
        // A lone half is no text; a store may refuse it, and must not change it.
        if let Ok(AskReceipt::Recorded(question)) = asked {
            assert_eq!((question.act, question.machine), (odd.act, odd.machine));
        } else {
            assert!(matches!(asked, Err(TeamStoreError::Refused { .. })), "{asked:?}");
        }
    }
    assert!(store.open_questions().unwrap().len() >= 3);
    assert!(matches!(store.verify_chain("desk").unwrap(), Some(AuditChainReport::Whole { .. })));
}

pub(crate) fn every_change_is_in_the_chain_of_its_desk(fixture: &Fixture) {
    let mut store = fixture.open();
    store.ask_question(&ask(1)).unwrap();
    store.ask_question(&ask(1)).unwrap();
    store.answer_question(&answer(1, 1, "ada")).unwrap();
    store.answer_question(&answer(1, 2, "bob")).unwrap();
    store.ask_question(&ask(2)).unwrap();
    store.withdraw_question("laptop", &id(2)).unwrap();
    store.ask_question(&TeamAsk { wait: Duration::from_millis(1), ..ask(3) }).unwrap();
    until("an expired question", || !store.expire_questions().unwrap().is_empty());
    store.edit_document(&edit("ada", 0, 1, Some("{}"))).unwrap();
    let filter = AuditFilter { machine: Some("desk".into()), most: 100, ..AuditFilter::default() };
    let found = store.search_audit(&filter).unwrap();
    let mut kinds: Vec<_> = found.iter().map(|it| (it.entry.seq, it.entry.kind.as_str())).collect();
    kinds.sort_unstable();
    let kinds: Vec<_> = kinds.into_iter().map(|(_, kind)| kind).collect();
    let expected = [
        "team_asked",
        "team_answered",
        "team_asked",
        "team_withdrawn",
        "team_asked",
        "team_expired",
        "team_edited",
    ];
    assert_eq!(kinds, expected);
}
