//! The bridge and the tool host with real peers: programs that other people wrote and use.
//!
//! A peer that is not installed is skipped with a printed reason; with `CI=true` that fails.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod claude;
mod codex;
mod conformance;
mod fixture;
mod gemini;
mod inspector;
mod opencode;
mod python;
mod rmcp;
mod typescript;
