//! The gate, with real rules, real desks and real sockets.

mod bench;
mod daemon;
mod inside;
mod ruled;
