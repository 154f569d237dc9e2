//! The daemon from outside, over its real socket and with its real ledger.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod asking;
mod house;
mod restart;
mod starting;
