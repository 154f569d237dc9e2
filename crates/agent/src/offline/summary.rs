//! What came of the tools, in plain words: made from their results and nothing else.

use std::sync::Arc;

use serde_json::Value;

use super::deed::{command_line, in_words};
use crate::message::{Block, Message};

/// How many lines of a result are shown.
const MOST_LINES: usize = 60;
/// How many bytes of a result are shown.
const MOST_BYTES: usize = 4000;

/// What came of one use.
#[derive(Debug)]
pub(super) struct Came<'a> {
    tool: &'a str,
    input: Value,
    content: &'a str,
    /// Whether it failed.
    pub(super) is_error: bool,
}

/// What the last message brought, if it brought results.
pub(super) fn results(since: &[Arc<Message>]) -> Vec<Came<'_>> {
    let Some((last, before)) = since.split_last() else { return Vec::new() };
    let asked = before.last().map_or(&[][..], |message| &message.content);
    last.content.iter().filter_map(|block| came(block, asked)).collect()
}

/// One result with the use that it belongs to.
fn came<'a>(result: &'a Block, asked: &'a [Block]) -> Option<Came<'a>> {
    let Block::ToolResult { tool_use_id, content, is_error } = result else { return None };
    let asked = asked.iter().find_map(|block| match block {
        Block::ToolUse { id, name, input } if id == tool_use_id => Some((name, input)),
        _ => None,
    });
    let (tool, input) = asked.map_or(("a tool", Value::Null), |(name, input)| {
        (name.as_str(), serde_json::from_str(input.get()).unwrap_or_default())
    });
    Some(Came { tool, input, content, is_error: *is_error })
}

/// All results in words.
pub(super) fn of(results: &[Came<'_>]) -> String {
    let all: Vec<String> = results.iter().map(one).collect();
    all.join("\n\n")
}

fn one(came: &Came<'_>) -> String {
    let subject =
        |name: &str| format!("`{}`", came.input.get(name).and_then(Value::as_str).unwrap_or("."));
    if came.is_error {
        let (first, rest) = came.content.split_once('\n').unwrap_or((came.content, ""));
        // The file tools say themselves what they could not do.
        let told = match first.strip_prefix("cannot ") {
            Some(_) => format!("I {}", cut_line(first)),
            None => {
                format!("I could not {}: {}", in_words(came.tool, &came.input), cut_line(first))
            }
        };
        return told + &below(rest);
    }
    match came.tool {
        "list_files" => format!("This is in {}:{}", subject("path"), below(came.content)),
        "read_file" => format!("{} says:{}", subject("path"), below(came.content)),
        "search_text" => {
            format!("Searching for {} gave:{}", subject("pattern"), below(came.content))
        }
        "search_files" => {
            format!("Looking for files named {} gave:{}", subject("pattern"), below(came.content))
        }
        "write_file" | "edit_file" => {
            let (first, rest) = came.content.split_once('\n').unwrap_or((came.content, ""));
            format!("Done: {}.{}", cut_line(first), below(rest))
        }
        "run_shell_command" => ran(came),
        "get_system_info" => format!("This is the machine:{}", below(came.content)),
        other => format!("{other} gave:{}", below(came.content)),
    }
}

fn ran(came: &Came<'_>) -> String {
    let (first, rest) = came.content.split_once('\n').unwrap_or((came.content, ""));
    let line = command_line(&came.input);
    let meaning = match first.strip_prefix("exit code ") {
        Some("0") | None => "",
        Some(_) => ", by which most programs mean that something went wrong",
    };
    format!("`{line}` ended with {}{meaning}.{}", cut_line(first), below(rest))
}

fn cut_line(line: &str) -> String {
    let end = line.floor_char_boundary(MOST_BYTES);
    if end < line.len() { format!("{}…", &line[..end]) } else { line.to_owned() }
}

/// A text in a fence below a line, cut if it is long.
fn below(text: &str) -> String {
    let text = text.trim_end();
    if text.trim().is_empty() {
        return String::new();
    }
    let mut end = text.floor_char_boundary(MOST_BYTES);
    if let Some((at, _)) = text[..end].match_indices('\n').nth(MOST_LINES - 1) {
        end = at;
    }
    let (shown, rest) = text.split_at(end);
    let note = match rest.trim_start_matches('\n').lines().count() {
        0 => String::new(),
        1 => "\n(1 more line, or the rest of one, is not shown here.)".to_owned(),
        more => format!("\n({more} more lines are not shown here.)"),
    };
    let fence = fence(shown);
    format!("\n\n{fence}\n{shown}\n{fence}{note}")
}

/// Longer than any row of backquotes in the text.
fn fence(text: &str) -> String {
    let rows = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(rows.max(2) + 1)
}
