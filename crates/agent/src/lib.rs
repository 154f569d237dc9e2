//! The agent runtime: a front end sends messages, an engine answers them, tools act in between.

pub mod engine;
pub mod event;
pub mod gate;
pub mod message;
pub mod tool;
pub mod turn;

use std::pin::Pin;

/// What a trait that can be an object gives in place of an `async fn`.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
