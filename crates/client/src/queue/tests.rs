//! The unread events of a request.

use callgate_wire::session::{SessionEvent, SessionReply};

use super::*;

fn queue() -> EventQueue {
    EventQueue::new(Arc::default(), Arc::default())
}

fn said(event: SessionEvent) -> RequestEvent {
    let id = Some("1".to_owned());
    RequestEvent::Said(Arc::new(SessionReply { id, event, timestamp: 0, seq: None }))
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let queue = queue();
    queue.push(said(SessionEvent::Token("a".into())), 10);
    queue.push(said(SessionEvent::Done(None)), 10);
    queue.push(said(SessionEvent::Token("b".into())), 10);
    queue.push(RequestEvent::Failed(ClientError::Lost), 10);
    assert_eq!(queue.bytes(), 20);
    assert!(!queue.next().await.unwrap().is_end());
    assert!(queue.next().await.unwrap().is_end());
    assert!(queue.next().await.is_none());
    queue.give_up(ClientError::Lost);
    assert!(queue.next().await.is_none());
    assert_eq!(queue.in_all.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn giving_up_leaves_one_end() {
    let queue = queue();
    queue.push(said(SessionEvent::Token("a".into())), 10);
    queue.push(said(SessionEvent::Done(None)), 10);
    queue.give_up(ClientError::Lost);
    assert!(matches!(queue.next().await, Some(RequestEvent::Failed(ClientError::Lost))));
    assert!(queue.next().await.is_none());
    assert_eq!((queue.bytes(), queue.in_all.load(Ordering::Relaxed)), (0, 0));
}

#[tokio::test]
async fn a_queue_that_nobody_reads_takes_nothing() {
    let queue = queue();
    queue.push(said(SessionEvent::Token("a".into())), 10);
    queue.mark_left();
    queue.push(said(SessionEvent::Token("b".into())), 10);
    assert_eq!((queue.bytes(), queue.in_all.load(Ordering::Relaxed)), (0, 0));
}
