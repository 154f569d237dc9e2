//! What must be true for any bytes: one check for each fuzz target.
//!
//! The fuzz targets use this folder as their library, and an ordinary test of the workspace
//! replays the committed inputs through it. A check panics if something is wrong.

#![allow(clippy::missing_panics_doc, reason = "to panic is what a check is for")]

mod answers;
mod commands;
mod control;
mod frames;
mod hooks;
mod json;
mod judge;
mod messages;

use callgate_wire::raw::Members;

pub use answers::mcp_answer;
pub use commands::shell_command;
pub use control::stream_json;
pub use frames::{lines, prefixed};
pub use hooks::hook_input;
pub use json::json_cut;
pub use judge::judged;
pub use messages::{approval_line, session_line, tools_response};

/// Returns how many members have this name.
fn count(members: &Members, name: &str) -> usize {
    members.0.iter().filter(|(key, _)| key == name).count()
}

/// Returns the line without the `\r` of its end.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Checks a line that was written: UTF-8, with one newline, which ends it.
fn one_line(line: &[u8]) -> &str {
    let Ok(line) = std::str::from_utf8(line) else { panic!("a line that is no UTF-8: {line:?}") };
    match line.split_once('\n') {
        Some((line, "")) => line,
        _ => panic!("not one line: {line:?}"),
    }
}
