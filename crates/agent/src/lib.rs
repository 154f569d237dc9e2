//! The agent runtime: a front end sends messages, an engine answers them, and tools act in between.
//!
//! A pure [`turn`] decides what to do, an [`engine`] answers, [`tool`]s act when the [`gate`]
//! permits it, and [`history`] stores the conversations. The [`session`] speaks the session
//! protocol for them on two streams.

pub mod anthropic;
pub mod ask_user;
pub mod budget;
pub mod claude_code;
pub mod compact;
pub mod custom;
pub mod desktop;
pub mod engine;
pub mod engine_registry;
mod estimate;
pub mod failure;
pub mod files;
pub mod gate;
pub mod history;
pub mod mcp;
pub mod message;
pub mod message_list;
mod mode_note;
pub mod model_api;
pub mod offline;
pub mod openai;
mod picture;
pub mod price;
mod question_content;
pub mod run;
pub mod session;
mod sse;
pub mod system;
pub mod todo;
pub mod tool;
pub mod turn;

use std::pin::Pin;

/// The future that an object-safe trait returns in place of an `async fn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
