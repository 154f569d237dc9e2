//! The bridge as a real process, between a client on its pipes and a host on its socket.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a failed step is a failed test, and a skipped one says why"
)]

mod calls;
mod checks;
mod connection;
mod ending;
mod fixture;
mod footprint;
mod instructions;
mod progress;
mod size;
mod start;
mod strangers;
