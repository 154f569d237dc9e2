//! What holds for questions.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use callgate_team_store::{
    AnswerReceipt, AskReceipt, AuditChainReport, TeamAsk, TeamQuestionState,
};
use callgate_testkit::until::until;

use crate::fixture::Fixture;
use crate::team::{answer, ask, id};

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
