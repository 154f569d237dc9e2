//! How callgate's bytes move.
//!
//! Sockets that only their owner can reach ([`socket`]), drivers that read the frames of
//! `callgate-wire` from them, blocking ([`blocking`]) and on tokio ([`tokio`]), files that only
//! their owner can read ([`mod@file`]), text from files with a limit ([`text_file`]), hang-ups of
//! many sockets at once ([`hangup`]), child processes that do not outlive us ([`child`],
//! [`group_guard`]), what the kernel reports about a process ([`process`]), random bytes
//! ([`random`]), and locks ([`sync`]).

pub mod blocking;
pub mod child;
pub mod file;
pub mod group_guard;
pub mod hangup;
pub mod process;
pub mod random;
pub mod socket;
pub mod sync;
pub mod text_file;
pub mod tokio;
