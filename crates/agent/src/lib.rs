//! The agent runtime: a front end sends messages, an engine answers them, tools act in between.
//!
//! The core is free of any one front end's shapes: a pure [`turn`] says what is to be done, an
//! [`engine`] answers, [`tool`]s act when the [`gate`] lets them, and [`history`] keeps what was
//! said. The [`session`] speaks the session protocol for them on two streams.

pub mod anthropic;
pub mod budget;
pub mod compact;
pub mod engine;
pub mod failure;
pub mod files;
pub mod gate;
pub mod history;
pub mod message;
pub mod offline;
pub mod price;
pub mod run;
pub mod session;
pub mod system;
pub mod tool;
pub mod turn;

use std::pin::Pin;

/// What a trait that can be an object gives in place of an `async fn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
