//! What holds at the limits, and for the chain of each desk.

use std::time::Duration;

use callgate_store::ChainHead;
use callgate_team_store::{
    AskReceipt, AuditChainReport, AuditFilter, DeliveryOutcome, QuestionNote, TeamAsk,
    TeamStoreError,
};
use callgate_testkit::until::until;
use callgate_wire::approval::{Decision, FirstAllow};

use crate::fixture::Fixture;
use crate::team::{answer, ask, edit, id};

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
    store.note_question(&id(1), &QuestionNote::LastWords("So.".into())).unwrap();
    let first = FirstAllow { member: None, name: "bob".into() };
    let first = QuestionNote::FirstAllow { first, replaces: None, roles: 0 };
    store.note_question(&id(1), &first).unwrap();
    store.answer_question(&answer(1, 1, "ada")).unwrap();
    store.note_question(&id(1), &QuestionNote::Outcome(DeliveryOutcome::Delivered)).unwrap();
    store.answer_question(&answer(1, 2, "bob")).unwrap();
    store.ask_question(&ask(2)).unwrap();
    store.withdraw_question("laptop", &id(2), "over").unwrap();
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
        "team_words",
        "team_first_allow",
        "team_answered",
        "team_delivered",
        "team_asked",
        "team_withdrawn",
        "team_asked",
        "team_expired",
        "team_edited",
    ];
    assert_eq!(kinds, expected);
}
