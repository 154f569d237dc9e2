//! The agent runtime as a real process: `callgate agent` with its front end played by the test,
//! the offline engine or the strict fake of the Messages API behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod background;
mod budgets;
mod chat;
mod chat_conversations;
mod chat_questions;
mod chat_screen;
mod chat_typing;
mod chat_window;
mod claude_code;
mod claude_control;
mod claude_failures;
mod client;
mod ending;
mod engines;
mod extensions;
mod fixture;
mod front_tools;
mod going_on;
mod history;
mod instructions;
mod killed;
mod lanes;
mod limits;
mod mcp;
mod mcp_flood;
mod mcp_hostile;
mod mcp_oauth;
mod mcp_peers;
mod mcp_status;
mod one_message;
mod own_tools;
mod page;
mod permission;
mod picker;
mod protocol;
mod questions;
mod steering;
mod storage;
mod undo;
