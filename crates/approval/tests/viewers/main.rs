//! Viewers on the desk socket of a real daemon: nobody else can be reached.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod history;
mod house;
mod inbox;
mod limits;
mod pairing;
#[path = "../parts/mod.rs"]
mod parts;
mod phones;
mod pressing;
mod rules;
mod watching;
