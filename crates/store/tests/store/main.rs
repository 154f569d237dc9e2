//! The store from outside: what it keeps, what it notices, and what it survives.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod chain;
mod conversations;
mod copied_ledgers;
mod file;
mod ledger;
mod links;
mod old_ledger;
mod place;
mod processes;
mod reservations;
