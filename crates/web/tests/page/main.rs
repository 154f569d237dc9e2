//! The host of the page with a real desk behind it, and browsers that are played with raw sockets.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod access;
mod browser;
mod chat;
mod documented;
mod house;
mod limits;
mod streams;
mod team;
