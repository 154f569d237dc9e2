//! The daemon from outside, over its real socket and with its real ledger.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod asking;
mod house;
#[path = "../parts/mod.rs"]
mod parts;
mod restart;
mod starting;
