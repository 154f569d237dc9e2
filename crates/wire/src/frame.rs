//! Splits a byte stream into messages: lines ([`Lines`]) or length-prefixed frames ([`Prefixed`]).
//!
//! A decoder owns its buffer, so a cancelled read loses nothing. A driver asks for
//! [`space`](Lines::space), reads into it, reports how much was [`filled`](Lines::filled), and
//! takes frames until there are none. Any chunking of the same bytes gives the same frames.

mod buffer;
mod lines;
mod prefixed;
#[cfg(test)]
mod tests;

pub use lines::{Line, Lines, TooLong};
pub use prefixed::{Cut, PREFIX, Prefixed, TooLarge, prefix};
