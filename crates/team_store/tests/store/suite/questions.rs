//! What holds for questions.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use callgate_team_store::{
    AnswerReceipt, AskReceipt, AuditChainReport, DeliveryOutcome, DocumentEdit, DocumentKind,
    EditReceipt, QuestionNote, ROLES, TeamAnswer, TeamAsk, TeamChange, TeamQuestionState,
    TeamStore, TeamStoreError,
};
use callgate_testkit::until::until;
use callgate_wire::approval::{FirstAllow, RequestId};

use crate::fixture::Fixture;
use crate::team::{answer, ask, edit, id};

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
    let late = one.withdraw_question("laptop", &id(1), "over").unwrap().unwrap();
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
                if let AskReceipt::Recorded(asked) = store.ask_question(&ask(*number)).unwrap() {
                    assert_eq!(asked.deadline_ms - asked.asked_ms, 600_000, "of one reading");
                }
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
    assert_eq!(store.withdraw_question("other", &id(1), "over").unwrap(), None);
    assert_eq!(store.withdraw_question("laptop", &id(2), "over").unwrap(), None);
    for _ in 0..2 {
        let withdrawn = store.withdraw_question("laptop", &id(1), "over").unwrap().unwrap();
        assert_eq!(withdrawn.state, TeamQuestionState::Withdrawn);
        assert_eq!(withdrawn.closed_text.as_deref(), Some("over"));
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

fn pending(store: &mut dyn TeamStore) -> Vec<RequestId> {
    store.pending_questions(None).unwrap().into_iter().map(|question| question.id).collect()
}

pub(crate) fn an_answer_is_on_its_way_until_its_outcome_is_known(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    let delivered = QuestionNote::Outcome(DeliveryOutcome::Delivered);
    let lost = QuestionNote::Outcome(DeliveryOutcome::Lost);
    for number in 1..4 {
        one.ask_question(&ask(number)).unwrap();
    }
    assert_eq!(one.note_question(&id(9), &delivered).unwrap(), None);
    let open = one.note_question(&id(1), &delivered).unwrap().unwrap();
    assert_eq!(open.outcome, None, "there is no answer yet");
    one.answer_question(&answer(1, 1, "ada")).unwrap();
    one.withdraw_question("laptop", &id(2), "over").unwrap();
    assert_eq!(pending(&mut *other), [id(3), id(1)]);
    let closed = one.note_question(&id(2), &lost).unwrap().unwrap();
    assert_eq!(closed.outcome, None, "nobody has answered it");
    let before = one.last_change().unwrap();
    let noted = one.note_question(&id(1), &delivered).unwrap().unwrap();
    assert_eq!(noted.outcome, Some(DeliveryOutcome::Delivered));
    // Again, and by somebody who knows less.
    for (store, note) in [(&mut one, &delivered), (&mut other, &lost)] {
        let again = store.note_question(&id(1), note).unwrap().unwrap();
        assert_eq!((again.outcome, again.changed), (noted.outcome, noted.changed));
    }
    assert_eq!(pending(&mut *other), [id(3)]);
    assert_eq!(other.pending_questions(Some("laptop")).unwrap().len(), 1);
    assert_eq!(other.pending_questions(Some("other")).unwrap(), []);
    let changes = other.changes_after(before).unwrap();
    let [TeamChange::Question(seen)] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((&seen.id, seen.outcome), (&id(1), Some(DeliveryOutcome::Delivered)));
}

pub(crate) fn an_answer_of_which_nothing_is_heard_is_lost(fixture: &Fixture) {
    let mut store = fixture.open();
    for number in 1..3 {
        store.ask_question(&ask(number)).unwrap();
        store.answer_question(&answer(number, number, "ada")).unwrap();
    }
    store.note_question(&id(2), &QuestionNote::Outcome(DeliveryOutcome::Delivered)).unwrap();
    fixture.tamper("UPDATE questions SET deadline_ms = deadline_ms - 1190000");
    assert_eq!(store.expire_questions().unwrap(), [], "it may still arrive");
    fixture.tamper("UPDATE questions SET deadline_ms = deadline_ms - 20000");
    let lost = store.expire_questions().unwrap();
    assert_eq!(lost.len(), 1);
    assert_eq!((&lost[0].id, lost[0].outcome), (&id(1), Some(DeliveryOutcome::Lost)));
    assert!(matches!(lost[0].state, TeamQuestionState::Answered(_)));
    assert_eq!(store.expire_questions().unwrap(), []);
}

fn allow_of(name: &str) -> FirstAllow {
    FirstAllow { member: Some(name.to_owned()), name: name.to_owned() }
}

pub(crate) fn the_first_of_two_allows_is_noted_once(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    for (number, name) in (1..).zip(["ada", "ben", "eve"]) {
        one.edit_document(&edit(name, 0, number, Some("{}"))).unwrap();
    }
    one.ask_question(&ask(1)).unwrap();
    let note = |name: &str, replaces: Option<&str>| QuestionNote::FirstAllow {
        first: allow_of(name),
        replaces: replaces.map(allow_of),
        roles: 0,
    };
    let noted = one.note_question(&id(1), &note("ada", None)).unwrap().unwrap();
    assert_eq!(noted.first_allow, Some(allow_of("ada")));
    // Whoever was slower learns who was faster, and a repetition changes nothing.
    for late in [note("ben", None), note("ada", None), note("ben", Some("eve"))] {
        let found = other.note_question(&id(1), &late).unwrap().unwrap();
        assert_eq!((found.first_allow, found.changed), (Some(allow_of("ada")), noted.changed));
    }
    // One that does not count any more is replaced.
    let replaced = other.note_question(&id(1), &note("ben", Some("ada"))).unwrap().unwrap();
    assert_eq!(replaced.first_allow, Some(allow_of("ben")));
    let owner = FirstAllow { member: None, name: "owner".to_owned() };
    let by_owner = QuestionNote::FirstAllow {
        first: owner.clone(),
        replaces: Some(allow_of("ben")),
        roles: 0,
    };
    one.note_question(&id(1), &by_owner).unwrap();
    one.answer_question(&answer(1, 1, "ada")).unwrap();
    let closed = one.note_question(&id(1), &note("eve", Some("owner"))).unwrap().unwrap();
    assert_eq!(closed.first_allow, Some(owner));
    let odd = FirstAllow { member: None, name: String::new() };
    let odd = QuestionNote::FirstAllow { first: odd, replaces: None, roles: 0 };
    assert!(one.note_question(&id(1), &odd).is_err());
}

/// Whoever is revoked at one desk presses at another that does not know it yet.
pub(crate) fn whoever_has_left_answers_nothing(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    for (number, name) in (1..).zip(["ada", "ben"]) {
        one.edit_document(&edit(name, 0, number, Some("{}"))).unwrap();
    }
    for number in 1..4 {
        one.ask_question(&ask(number)).unwrap();
    }
    let of_members = |question, number, members: &[&str]| TeamAnswer {
        members: members.iter().map(|name| (*name).to_owned()).collect(),
        ..answer(question, number, &members.join(" and "))
    };
    // While he belongs to it, his answer counts, and is found again after he has left.
    let by_ben = of_members(1, 1, &["ben"]);
    assert!(matches!(one.answer_question(&by_ben).unwrap(), AnswerReceipt::Recorded(_)));
    one.edit_document(&edit("ben", 1, 3, None)).unwrap();
    assert!(matches!(other.answer_question(&by_ben).unwrap(), AnswerReceipt::Repeated(_)));
    let late = of_members(1, 2, &["ben"]);
    assert!(matches!(other.answer_question(&late).unwrap(), AnswerReceipt::TooLate(_)));
    let before = one.last_change().unwrap();
    for (number, members) in (3..).zip([&["ben"][..], &["ben", "ada"], &["ada", "ben"], &["eve"]]) {
        let told = other.answer_question(&of_members(2, number, members)).unwrap();
        let AnswerReceipt::NoMember(found) = told else { panic!("{members:?}: {told:?}") };
        assert_eq!(found.state, TeamQuestionState::Open);
    }
    // Nor does he give the first of two allows.
    let note = QuestionNote::FirstAllow { first: allow_of("ben"), replaces: None, roles: 0 };
    let found = other.note_question(&id(2), &note).unwrap().unwrap();
    assert_eq!((found.first_allow, one.last_change().unwrap()), (None, before));
    let by_ada = other.answer_question(&of_members(2, 7, &["ada"])).unwrap();
    assert!(matches!(by_ada, AnswerReceipt::Recorded(_)), "{by_ada:?}");
    // Whoever owns a desk is no member, and answers there.
    let by_owner = other.answer_question(&answer(3, 8, "ben")).unwrap();
    assert!(matches!(by_owner, AnswerReceipt::Recorded(_)), "{by_owner:?}");
}

/// Roles are changed at one desk while somebody presses at another that has read those of before.
pub(crate) fn whoever_has_lost_their_role_answers_nothing(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    one.edit_document(&edit("ben", 0, 1, Some("{}"))).unwrap();
    one.ask_question(&ask(1)).unwrap();
    let mut change_roles = |version| {
        let roles = edit(ROLES, version, 10 + version, Some("{}"));
        let changed =
            one.edit_document(&DocumentEdit { kind: DocumentKind::Policy, ..roles }).unwrap();
        assert!(matches!(changed, EditReceipt::Recorded(_)), "{changed:?}");
    };
    let by_roles = |number, version| TeamAnswer {
        members: vec!["ben".to_owned()],
        roles: version,
        ..answer(1, number, "ben")
    };
    let allow = |version| QuestionNote::FirstAllow {
        first: allow_of("ben"),
        replaces: None,
        roles: version,
    };
    for version in 0..2 {
        change_roles(version);
        let before = other.last_change().unwrap();
        let told = other.answer_question(&by_roles(1, version)).unwrap_err();
        assert!(matches!(told, TeamStoreError::OtherRoles), "{told}");
        let told = other.note_question(&id(1), &allow(version)).unwrap_err();
        assert!(matches!(told, TeamStoreError::OtherRoles), "{told}");
        assert_eq!(other.last_change().unwrap(), before);
    }
    // By the roles that are in force both count, and are found again after the next change.
    let noted = other.note_question(&id(1), &allow(2)).unwrap().unwrap();
    assert_eq!(noted.first_allow, Some(allow_of("ben")));
    let answered = other.answer_question(&by_roles(2, 2)).unwrap();
    assert!(matches!(answered, AnswerReceipt::Recorded(_)), "{answered:?}");
    change_roles(2);
    let again = other.answer_question(&by_roles(2, 2)).unwrap();
    assert!(matches!(again, AnswerReceipt::Repeated(_)), "{again:?}");
    let again = other.note_question(&id(1), &allow(2)).unwrap().unwrap();
    assert_eq!(again.first_allow, noted.first_allow);
    // Whoever owns a desk has no role.
    other.ask_question(&ask(2)).unwrap();
    let by_owner = other.answer_question(&answer(2, 3, "owner")).unwrap();
    assert!(matches!(by_owner, AnswerReceipt::Recorded(_)), "{by_owner:?}");
}

/// A newer desk has written a word that this one does not know, or somebody has changed a row.
pub(crate) fn what_cannot_be_read_is_left_out(fixture: &Fixture) {
    let mut store = fixture.open();
    for number in 1..4 {
        store.ask_question(&ask(number)).unwrap();
        store.edit_document(&edit(&format!("m{number}"), 0, number, Some("{}"))).unwrap();
    }
    let odd = id(2);
    fixture.tamper(&format!(
        "UPDATE questions SET first_allow = 'x' WHERE id = '{odd}';
         UPDATE documents SET edit_id = 'x' WHERE name = 'm2';"
    ));
    let open = store.open_questions().unwrap();
    assert_eq!(open.iter().map(|it| &it.id).collect::<Vec<_>>(), [&id(1), &id(3)]);
    assert_eq!(store.take_unread(), [format!("the question {odd}")]);
    assert_eq!(store.pending_questions(None).unwrap().len(), 2);
    let members = store.list_documents(DocumentKind::Member).unwrap();
    assert_eq!(members.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["m1", "m3"]);
    assert_eq!(store.changes_after(0).unwrap().len(), 4);
    let told: BTreeSet<String> = store.take_unread().into_iter().collect();
    assert_eq!(told, [format!("the question {odd}"), "the member m2".to_owned()].into());
    assert_eq!(store.take_unread(), [""; 0]);
    // Asking for it alone is an error, which changes nothing.
    let told = store.find_question(&odd).unwrap_err();
    assert!(matches!(told, TeamStoreError::Damaged { .. }), "{told}");
    assert!(store.find_document(DocumentKind::Member, "m2").is_err());
    assert!(store.ask_question(&ask(2)).is_err());
}

pub(crate) fn what_cannot_be_read_keeps_nothing_from_expiring(fixture: &Fixture) {
    let mut store = fixture.open();
    for number in 0..101 {
        store.ask_question(&ask(number)).unwrap();
    }
    let last = id(100);
    fixture.tamper(&format!(
        "UPDATE questions SET deadline_ms = 1;
         UPDATE questions SET first_allow = 'x' WHERE id <> '{last}'"
    ));
    let expired = store.expire_questions().unwrap();
    assert_eq!(expired.iter().map(|it| &it.id).collect::<Vec<_>>(), [&last]);
    assert_eq!(store.expire_questions().unwrap(), []);
}

pub(crate) fn the_words_of_an_agent_follow_its_question(fixture: &Fixture) {
    let (mut one, mut other) = (fixture.open(), fixture.open());
    let AskReceipt::Recorded(asked) = one.ask_question(&ask(1)).unwrap() else { panic!() };
    assert_eq!(asked.last_words, None);
    let words = |words: &str| QuestionNote::LastWords(words.to_owned());
    let noted = one.note_question(&id(1), &words("I build it.")).unwrap().unwrap();
    assert_eq!(noted.last_words.as_deref(), Some("I build it."));
    let again = other.note_question(&id(1), &words("Other words.")).unwrap().unwrap();
    assert_eq!((again.last_words, again.changed), (noted.last_words, noted.changed));
    // They are no part of what is asked.
    assert!(matches!(other.ask_question(&ask(1)).unwrap(), AskReceipt::Repeated(_)));
    assert!(one.note_question(&id(1), &words("a\0b")).is_err());
}
