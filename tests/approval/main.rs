//! Approvals as a whole: `callgate up` as a process, hooks as processes, a phone on a strict fake
//! of Telegram, and the real Claude Code CLI.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a failed step is a failed test, and a skipped one says why"
)]

mod attack;
mod chaos;
mod cli;
mod desk;
mod dialog;
mod fixture;
mod killed;
mod many;
mod modes;
mod phone;
mod private;
mod secrets;
mod status;
mod stopped;
mod unchecked;
