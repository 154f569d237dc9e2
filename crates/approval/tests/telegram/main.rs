//! The Telegram channel against testkit's strict fake, and against an emulator from elsewhere.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing helper is a failing test")]

mod emulator;
mod faults;
mod replies;
mod rig;
mod showing;
mod taking;
