//! How the results of tools are drawn: briefly, or in full.

use callgate_mask::text::counted_noun;
use serde_json::Value;

use crate::markdown::code_line;
use crate::result_text::{full_text, plain_text, text_of};
use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};

/// The most rows of a result, and of a change, that is drawn briefly.
const RESULT_ROWS: usize = 8;
const DIFF_ROWS: usize = 40;
/// The most rows of a result that is drawn in full.
const FULL_ROWS: usize = 10_000;
const REST: &str = "Ctrl-O shows all";

/// How much of a result is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultExtent {
    Brief,
    Full,
}

impl ResultExtent {
    pub(crate) fn most_diff_rows(self) -> usize {
        match self {
            Self::Brief => DIFF_ROWS,
            Self::Full => FULL_ROWS,
        }
    }
}

pub(crate) fn result_rows(
    value: &Value,
    is_error: bool,
    extent: ResultExtent,
    page: &ChatPage,
) -> Vec<String> {
    match extent {
        ResultExtent::Brief => {
            result_lines(value, is_error).iter().map(|line| line.row(page)).collect()
        }
        ResultExtent::Full => full_rows(value, is_error, page),
    }
}

fn full_rows(value: &Value, is_error: bool, page: &ChatPage) -> Vec<String> {
    let (style, at) =
        if is_error { (TextStyle::RED, WrapAt::Words) } else { (TextStyle::DIM, WrapAt::Columns) };
    let indent = StyledText::new("  ", TextStyle::PLAIN);
    let text = full_text(value);
    let drawn = text.lines().flat_map(|line| {
        let line = StyledText::new(last_part(line), style);
        line.hanging_rows(page, at, &indent, &indent)
    });
    drawn.take(FULL_ROWS).collect()
}

/// Returns how a command failed that ran: a result without an error does not say that it succeeded.
pub(crate) fn command_failure(value: &Value) -> Option<String> {
    if value["timedOut"] == true {
        return Some("time limit".into());
    }
    let code = value["exitCode"].as_i64().filter(|code| *code != 0);
    text_of(value, "signal").map(ToOwned::to_owned).or(code.map(|code| format!("exit code {code}")))
}

/// Draws a unified diff, cut to this many rows.
pub(crate) fn diff_rows(diff: &str, most: usize, page: &ChatPage) -> Vec<String> {
    let lines: Vec<&str> = diff.lines().collect();
    let indent = StyledText::new("  ", TextStyle::PLAIN);
    let drawn = lines.iter().flat_map(|line| {
        code_line(line, true).hanging_rows(page, WrapAt::Columns, &indent, &indent)
    });
    // One more than fits tells whether some are left out.
    let mut rows: Vec<String> = drawn.take(most + 1).collect();
    if rows.len() > most {
        rows.truncate(most.saturating_sub(1));
        rows.push(StyledText::new(&format!("  … more changes · {REST}"), TextStyle::DIM).row(page));
    }
    rows
}

/// Returns what is worth showing of a result.
fn result_lines(value: &Value, is_error: bool) -> Vec<StyledText> {
    let mut lines = Vec::new();
    if let Some(error) = text_of(value, "error") {
        lines.extend(cut_lines(error, TextStyle::RED, Keep::Beginning));
    }
    // Of an output the end is shown, where a failure stands. A background command has one for both
    // streams.
    for stream in ["stdout", "stderr", "output"] {
        if let Some(text) = text_of(value, stream) {
            lines.extend(cut_lines(text, TextStyle::DIM, Keep::End));
        }
    }
    let counts = [
        ("totalLines", ["line", "lines"]),
        ("lines", ["line", "lines"]),
        ("entries", ["entry", "entries"]),
        ("matches", ["match", "matches"]),
        ("files", ["file", "files"]),
    ];
    let count = |value: &Value| {
        value.as_u64().or_else(|| value.as_array().and_then(|all| u64::try_from(all.len()).ok()))
    };
    let counted = counts.iter().find_map(|(key, what)| Some((count(value.get(key)?)?, what)));
    match counted {
        Some((count, [one, many])) if lines.is_empty() => {
            lines.push(detail_line(&format!("{count} {}", if count == 1 { one } else { many })));
        }
        _ => {}
    }
    if lines.is_empty() {
        let style = if is_error { TextStyle::RED } else { TextStyle::DIM };
        lines.extend(cut_lines(&plain_text(value), style, Keep::Beginning));
    }
    lines
}

/// Which part of a long text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Beginning,
    End,
}

fn cut_lines(text: &str, style: TextStyle, keep: Keep) -> Vec<StyledText> {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let more = lines.len().saturating_sub(RESULT_ROWS);
    let note =
        (more > 0).then(|| detail_line(&format!("… {} · {REST}", counted_noun(more, "more line"))));
    let shown = if keep == Keep::End { &lines[more..] } else { &lines[..lines.len() - more] };
    let shown = shown.iter().map(|line| detail_line(line).in_style(style));
    match keep {
        Keep::Beginning => shown.chain(note).collect(),
        Keep::End => note.into_iter().chain(shown).collect(),
    }
}

/// Returns what a line shows in the end: a program may draw over it, as a progress bar does.
fn last_part(line: &str) -> &str {
    let line = line.trim_end_matches('\r');
    line.rsplit('\r').next().unwrap_or(line)
}

pub(crate) fn detail_line(line: &str) -> StyledText {
    StyledText::new("  ", TextStyle::PLAIN).and_text(last_part(line), TextStyle::DIM)
}
