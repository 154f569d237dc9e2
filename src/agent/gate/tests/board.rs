//! What the front end is shown of a question, in order and once.

use std::sync::{Arc, Mutex};

use callgate_agent::gate::QuestionMirror;
use callgate_wire::approval::RequestId;
use callgate_wire::session::{PermissionRequest, SessionEvent};
use serde_json::value::RawValue;

use super::super::board::{Board, FoundQuestion, PostedQuestion, PressRoute, QuestionTerms};

const TERMS: QuestionTerms = QuestionTerms { deadline_ms: Some(7), takes_always: true };

const ASKED: &str = "make all, always: true, until Some(7)";

/// A board with one question, and what the front end is shown of it.
fn posted() -> (Board, RequestId, Arc<Mutex<Vec<String>>>) {
    let id = RequestId::parse("550e8400-e29b-41d4-a716-446655440000").unwrap();
    let shown: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&shown);
    let mirror: QuestionMirror = Arc::new(move |what| {
        let line = match what {
            SessionEvent::PermissionRequest(asked) => format!(
                "{}, always: {}, until {:?}",
                asked.title,
                asked.can_allow_always == Some(true),
                asked.deadline
            ),
            SessionEvent::PermissionResolved(end) => format!("{}: {}", end.decision, end.text),
            other => panic!("{other:?}"),
        };
        seen.lock().unwrap().push(line);
    });
    let asked = PermissionRequest {
        question: id.to_string(),
        tool_id: "1".to_owned(),
        tool_name: "run_shell_command".to_owned(),
        title: "make all".to_owned(),
        input: RawValue::NULL.to_owned(),
        reason: None,
        can_allow_always: Some(true),
        deadline: None,
        diff: None,
        card: None,
    };
    let route: PressRoute = Arc::new(|_, _| Box::pin(async { Err("there is no desk".to_owned()) }));
    let board = Board::default();
    board.post(&id, PostedQuestion { route, asked, mirror: Some(mirror) });
    (board, id, shown)
}

#[test]
fn a_question_ends_once() {
    let (board, id, shown) = posted();
    board.show_asked(&id, TERMS);
    board.show_asked(&id, TERMS);
    board.close(&id, "timeout", "It was withdrawn");
    board.close(&id, "allow", "Allowed by Ada");
    board.show_asked(&id, TERMS);
    assert_eq!(*shown.lock().unwrap(), [ASKED, "timeout: It was withdrawn"]);
    assert!(board.find(&id).is_some(), "a late answer is told why it is");
}

#[test]
fn a_question_that_was_withdrawn_before_it_was_shown_never_is() {
    let (board, id, shown) = posted();
    board.close(&id, "timeout", "It was withdrawn");
    board.show_asked(&id, TERMS);
    board.note_end(&id, "The agent went away");
    assert!(shown.lock().unwrap().is_empty());
    assert!(board.find(&id).is_none(), "nobody can answer what was never shown");
}

#[test]
fn an_answer_to_what_was_withdrawn_goes_nowhere() {
    let (board, id, shown) = posted();
    board.show_asked(&id, TERMS);
    assert!(matches!(board.find(&id), Some(FoundQuestion::Answerable { .. })));
    board.withdraw(&id, "It was withdrawn");
    assert_eq!(*shown.lock().unwrap(), [ASKED, "timeout: It was withdrawn"]);
    assert!(matches!(board.find(&id), Some(FoundQuestion::Withdrawn)));
}

#[test]
fn what_the_desk_does_not_take_is_not_offered() {
    let (board, id, shown) = posted();
    board.show_asked(&id, QuestionTerms { deadline_ms: None, takes_always: false });
    assert_eq!(*shown.lock().unwrap(), ["make all, always: false, until None"]);
    let Some(FoundQuestion::Answerable { has_offer, .. }) = board.find(&id) else {
        panic!("it can be answered")
    };
    assert!(!has_offer, "an answer would ask for what the desk does not take");
}
