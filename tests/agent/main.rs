//! The agent runtime as a real process: `callgate agent` with its front end played by the test,
//! the offline engine or the strict fake of the Messages API behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod budgets;
mod chat;
mod client;
mod ending;
mod engines;
mod extensions;
mod fixture;
mod going_on;
mod history;
mod instructions;
mod lanes;
mod limits;
mod mcp;
mod one_message;
mod page;
mod permission;
mod protocol;
mod questions;
mod steering;
mod tools;
