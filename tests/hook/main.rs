//! The hook and `ask` as real processes, with a scripted desk, and the hook as the real Claude Code
//! CLI starts it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a failed step is a failed test, and a skipped one says why"
)]

mod absent;
mod agents;
mod ask;
mod checking;
mod claude;
mod decisions;
mod failing;
mod fixture;
mod input;
mod leaving;
mod returning;
mod settings;
mod telling;
mod words;
