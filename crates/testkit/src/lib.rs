//! For callgate's own tests: strict fakes of remote services, runners for real programs, and
//! checks that a test leaves nothing behind. Never part of a release.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::print_stderr,
    reason = "a failing helper is a failing test: a panic with the reason is what its caller wants"
)]

pub mod browser;
pub mod certificates;
pub mod chat;
pub mod claude;
pub mod codex;
pub mod commonmark;
pub mod drawn_screen;
pub mod kept_port;
pub mod leaks;
pub mod markdown_text;
pub mod mcp_flood;
pub mod messages;
pub mod network_proxy;
pub mod odd_text;
pub mod page;
pub mod page_barriers;
pub mod page_chat;
pub mod picture;
pub mod postgres_server;
pub mod private_etc;
pub mod proc;
pub mod process;
pub mod responses;
pub mod script;
pub mod secrets;
pub mod stuck;
pub mod telegram;
pub mod telegram_html;
pub mod terminal;
pub mod test_home;
pub mod tools;
pub mod trial;
pub mod until;

mod http;
