//! `callgate log` as a process: what it shows, follows, verifies and removes.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod following;
mod ledger;
mod proving;
mod showing;
