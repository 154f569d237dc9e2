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

use std::pin::Pin;

/// The future that an object-safe trait returns in place of an `async fn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
