//! The page in a real browser: `callgate up` as a process, hooks as processes, and a person who
//! clicks and types.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod attacks;
mod barriers;
mod channels;
mod chat;
mod composer;
mod conversations;
mod desktop;
#[path = "../approval/fixture.rs"]
#[allow(dead_code, reason = "the tests of the approval line use more of it")]
mod fixture;
mod forms;
mod history;
mod inbox;
mod machines;
mod markdown;
mod narrow_rows;
mod pictures;
mod rules;
mod secrets;
mod stage;
mod tool_cards;
