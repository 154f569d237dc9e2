//! What the front end is shown of a question, in order and once.

use std::sync::{Arc, Mutex, Weak};

use callgate_agent::gate::{Mirror, Shown};
use callgate_wire::approval::RequestId;
use serde_json::value::RawValue;

use super::super::board::{At, Board, Found, Posted, Way};

/// A board with one question, and what the front end is shown of it.
fn posted() -> (Board, RequestId, Arc<Mutex<Vec<String>>>) {
    let id = RequestId::parse("550e8400-e29b-41d4-a716-446655440000").unwrap();
    let shown: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&shown);
    let mirror: Mirror = Arc::new(move |what| {
        let line = match what {
            Shown::Asked { title, .. } => title,
            Shown::Closed { decision, text, .. } => format!("{decision}: {text}"),
        };
        seen.lock().unwrap().push(line);
    });
    let asked = Shown::Asked {
        question: id.to_string(),
        title: "make all".to_owned(),
        input: RawValue::NULL.to_owned(),
        reason: None,
    };
    let way = Way { at: At::Inside(Weak::new()), has_offer: false };
    let board = Board::default();
    board.post(&id, Posted { way, asked, mirror: Some(mirror) });
    (board, id, shown)
}

#[test]
fn a_question_ends_once() {
    let (board, id, shown) = posted();
    board.asked(&id);
    board.asked(&id);
    board.close(&id, "timeout", "It was withdrawn");
    board.close(&id, "allow", "Allowed by Ada");
    board.asked(&id);
    assert_eq!(*shown.lock().unwrap(), ["make all", "timeout: It was withdrawn"]);
    assert!(board.find(&id).is_some(), "a late answer is told why it is");
}

#[test]
fn a_question_that_was_withdrawn_before_it_was_shown_never_is() {
    let (board, id, shown) = posted();
    board.close(&id, "timeout", "It was withdrawn");
    board.asked(&id);
    board.ended(&id, "The agent went away");
    assert!(shown.lock().unwrap().is_empty());
    assert!(board.find(&id).is_none(), "nobody can answer what was never shown");
}

#[test]
fn an_answer_to_what_was_withdrawn_goes_nowhere() {
    let (board, id, shown) = posted();
    board.asked(&id);
    assert!(matches!(board.find(&id), Some(Found::At(_))));
    board.withdraw(&id, "It was withdrawn");
    assert_eq!(*shown.lock().unwrap(), ["make all", "timeout: It was withdrawn"]);
    assert!(matches!(board.find(&id), Some(Found::Withdrawn)));
}
