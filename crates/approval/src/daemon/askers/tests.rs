//! Answers that are read, and answers that are lost.

use std::io::Read;

use callgate_wire::approval::Decision;

use super::*;

#[tokio::test]
async fn nothing_follows_the_line_of_an_answer() {
    let (to_desk, _letters) = LetterBox::new(1);
    let askers = Askers::new(to_desk).unwrap();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    askers.park_asker(AskerId(1), ours);
    assert!(askers.watch(AskerId(1)));
    let response = ApprovalResponse::new(crate::asker::fresh_id(), Decision::Deny);
    askers.send_answer(&Handle::current(), AskerId(1), &response);
    // Nothing else has had a chance to run: the end is there with the line.
    theirs.set_nonblocking(true).unwrap();
    let mut heard = Vec::new();
    theirs.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, response.to_line());
}

/// The kernel reports only once that an answer was lost, and two look for it.
#[tokio::test]
async fn an_answer_that_was_lost_is_not_delivered_to_whoever_looks_next() {
    let (to_desk, mut letters) = LetterBox::new(4);
    let askers = Askers::new(to_desk).unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    askers.park_asker(AskerId(1), ours);
    let response = ApprovalResponse::new(crate::asker::fresh_id(), Decision::Allow);
    askers.send_answer(&Handle::current(), AskerId(1), &response);
    drop(theirs);
    assert!(matches!(askers.take_result(AskerId(1), false), Some(DeskInput::Lost(_))));
    assert!(askers.take_result(AskerId(1), false).is_none());
    // The task that watches the reading finds nobody either.
    tokio::task::yield_now().await;
    assert!(letters.try_take().is_none());
}

/// Most checks end so: the answer comes whole, whatever the asker has sent after its line, and the
/// desk hears nothing more of it.
#[tokio::test]
async fn an_asker_without_an_open_question_is_let_go_with_its_answer() {
    let (to_desk, mut letters) = LetterBox::new(4);
    let askers = Askers::new(to_desk).unwrap();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    theirs.write_all(b"more than the line").unwrap();
    askers.park_asker(AskerId(1), ours);
    assert!(askers.watch(AskerId(1)));
    let response = ApprovalResponse::new(crate::asker::fresh_id(), Decision::None);
    askers.answer_and_release(&Handle::current(), AskerId(1), &response);
    assert!(!askers.is_waiting(AskerId(1)));
    let mut line = vec![0; response.to_line().len()];
    theirs.read_exact(&mut line).unwrap();
    assert_eq!(line, response.to_line());
    drop(theirs);
    tokio::task::yield_now().await;
    assert!(letters.try_take().is_none());
}
