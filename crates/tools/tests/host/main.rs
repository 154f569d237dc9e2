//! The tool host, spoken to over its socket as a bridge does.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod config;
mod fixture;
mod inline;
mod protocol;
mod registration;
mod running;
mod session;
mod sweep;
