//! The protocols between callgate's processes.
//!
//! The protocols as types (`tools`, `session`, `approval`, `desk`, `relay`), what an agent wants to
//! do ([`tool_act`]), what the ledger records ([`ledger`]), the MCP envelopes that the bridge
//! exchanges with agent CLIs (`mcp`), and the decoders that split a byte stream into messages
//! ([`frame`]). Nothing here does I/O, reads a clock or starts a task, and every decoder knows its
//! limit before it allocates.

#[macro_use]
mod messages;
#[macro_use]
mod words;

pub mod approval;
pub mod control;
pub mod desk;
mod fields;
pub mod frame;
pub mod hex;
mod hidden_text;
pub mod hook;
pub mod ledger;
pub mod mcp;
pub mod raw;
pub mod relay;
pub mod scan;
pub mod session;
pub mod tool_act;
pub mod tools;
mod unreadable;

pub use hidden_text::HiddenText;
#[doc(hidden)]
pub use serde;
