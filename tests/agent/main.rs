//! The agent runtime as a real process: `callgate agent` with its front end played by the test,
//! the offline engine or the strict fake of the Messages API behind it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod budgets;
mod client;
mod ending;
mod extensions;
mod fixture;
mod history;
mod killed;
mod lanes;
mod limits;
mod page;
mod permission;
mod protocol;
mod storage;
