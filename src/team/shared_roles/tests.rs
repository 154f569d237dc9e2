//! Roles that change between the look at them and what they let somebody record.

use callgate_team_store::{AnswerReceipt, DocumentEdit, TeamAnswer, TeamAsk, TeamQuestionState};
use callgate_wire::approval::{Decision, RequestId};

use super::*;
use crate::team::shared_policy::put_roles;
use crate::team_database::test_stores::open_two_stores;
use crate::team_register::member_edit;

const QUESTION: [u8; 16] = [7; 16];

fn role_of(people: &str) -> String {
    format!("[[role]]\nname = \"all\"\npeople = {people:?}\n")
}

/// Records an answer of Ben's by the roles; before the first attempt the other desk makes them
/// `then`.
fn answer_while_roles_change(then: &str) -> Option<(Option<AnswerReceipt>, TeamQuestionState)> {
    let [mut one, mut other] = open_two_stores()?;
    let member = member_edit("ben", 0, "the test", None);
    one.edit_document(&DocumentEdit { body: Some("{}".to_owned()), ..member }).unwrap();
    put_roles(one.as_mut(), Some(&role_of("ben")), "the test").unwrap();
    let id = RequestId::from_random(QUESTION);
    let ask = TeamAsk {
        id: id.clone(),
        machine: "build-7".to_owned(),
        project: "/shop".to_owned(),
        agent: "claude".to_owned(),
        act: "{}".to_owned(),
        wait: std::time::Duration::from_mins(5),
    };
    one.ask_question(&ask).unwrap();
    let mut answer = TeamAnswer {
        id: RequestId::from_random([8; 16]),
        question: id.clone(),
        by: "ben".to_owned(),
        members: vec!["ben".to_owned()],
        roles: 0,
        decision: Decision::Allow,
        body: "{}".to_owned(),
    };
    let mut looks = 0;
    let members = answer.members.clone();
    let scope = AnswerScope::default();
    let told = record_by_roles(one.as_mut(), &members, &scope, |store, roles| {
        looks += 1;
        if looks == 1 {
            put_roles(other.as_mut(), Some(&role_of(then)), "the test").unwrap();
        }
        answer.roles = roles;
        store.answer_question(&answer)
    });
    Some((told.unwrap(), one.find_question(&id).unwrap().unwrap().state))
}

#[test]
fn a_role_that_is_taken_away_meanwhile_lets_nobody_answer() {
    let Some((told, state)) = answer_while_roles_change("ada") else { return };
    assert_eq!((told, state), (None, TeamQuestionState::Open));
}

#[test]
fn roles_that_still_let_them_are_looked_at_again() {
    let Some((told, state)) = answer_while_roles_change("*") else { return };
    assert!(matches!(told, Some(AnswerReceipt::Recorded(_))), "{told:?}");
    assert!(matches!(state, TeamQuestionState::Answered(_)), "{state:?}");
}
