//! The agent runtime: a front end sends messages, an engine answers them, and tools act in between.
//!
//! A pure [`turn`] decides what to do, an [`engine`] answers, [`tool`]s act when the [`gate`]
//! permits it, and [`history`] stores the conversations. The [`session`] speaks the session
//! protocol for them on two streams.

pub mod budget;
pub mod engine;
pub mod failure;
pub mod gate;
pub mod history;
pub mod mcp;
pub mod message;
mod question_content;
pub mod session;
mod sse;
pub mod tool;
pub mod turn;

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// The future that an object-safe trait returns in place of an `async fn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Polls a future, lets the other tasks run once, and polls it again. What another task has at hand
/// arrives between the two.
async fn poll_twice<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut is_first = true;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if std::mem::take(&mut is_first) => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Pending => Poll::Ready(None),
    })
    .await
}
