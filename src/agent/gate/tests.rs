//! The gate, with real rules, real desks and real sockets.

mod bench;
mod board;
mod daemon;
mod inside;
mod ruled;
mod same;
mod stuck;
