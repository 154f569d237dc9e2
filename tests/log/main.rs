//! `callgate log` as a process: what it shows, follows, verifies and removes.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]
#![allow(clippy::needless_raw_string_hashes, reason = "`expect!` writes them so")]

mod exporting;
mod following;
mod ledger;
mod proving;
mod showing;
