//! The model: the real Claude Code CLI, driven by `callgate-claude`, with tools of this process.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod asking;
mod conversation;
mod ending;
mod fake;
mod fixture;
mod hooks;
mod killed;
mod limits;
mod options;
mod permission;
mod prompts;
mod sessions;
mod starting;
mod streaming;
mod together;
mod without_runtime;
