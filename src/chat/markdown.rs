//! Markdown that arrives in pieces, drawn line by line.
//!
//! A line is drawn for good when its end has arrived, and the line that is still open is drawn anew
//! with every piece. So the work for a piece does not grow with the answer, and however the answer
//! is cut into pieces, the same rows come out. Line ends in a paragraph are kept.

mod highlighter;
mod inline;
mod table;

use super::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};
use highlighter::CodeHighlighter;
use inline::spans;

/// The longest line that is drawn as one. A longer one is split, so that an open line stays cheap.
const LONGEST_LINE: usize = 8192;
/// The most rows of a table that wait for its end.
const LONGEST_TABLE: usize = 200;
/// The widest rule.
const WIDEST_RULE: usize = 40;

/// A Markdown text of which a part has arrived.
#[derive(Debug, Clone, Default)]
pub(super) struct MarkdownStream {
    /// The line whose end has not arrived.
    open: String,
    fence: Option<CodeFence>,
    /// The lines of a table that has not ended.
    table: Vec<String>,
    /// Whether a row was drawn.
    has_rows: bool,
    /// Whether an empty line waits for something that follows it.
    is_blank_pending: bool,
}

/// The beginning of a code block.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CodeFence {
    mark: char,
    length: usize,
    is_diff: bool,
    highlighter: Option<CodeHighlighter>,
}

impl MarkdownStream {
    /// Adds a piece, and returns the rows that are final.
    pub(super) fn push(&mut self, piece: &str, page: &ChatPage) -> Vec<String> {
        let mut rows = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.open.push_str(part);
            while self.open.len() > LONGEST_LINE {
                let split = split_point(&self.open);
                let rest = self.open.split_off(split);
                let line = std::mem::replace(&mut self.open, rest);
                self.line(line.trim_end(), page, &mut rows);
            }
            if self.open.ends_with('\n') {
                let line = std::mem::take(&mut self.open);
                self.line(line.trim_end_matches(['\n', '\r']), page, &mut rows);
            }
        }
        rows
    }

    /// Returns the rows that are not final yet.
    pub(super) fn open_rows(&self, page: &ChatPage) -> Vec<String> {
        self.clone().finish(page)
    }

    /// Ends the text, and returns the remaining rows.
    pub(super) fn finish(&mut self, page: &ChatPage) -> Vec<String> {
        let mut rows = Vec::new();
        let line = std::mem::take(&mut self.open);
        if !line.is_empty() {
            self.line(line.trim_end_matches('\r'), page, &mut rows);
        }
        self.end_table(page, &mut rows);
        *self = Self::default();
        rows
    }

    fn line(&mut self, line: &str, page: &ChatPage, rows: &mut Vec<String>) {
        if let Some(fence) = &mut self.fence {
            let drawn = if fence.is_closed_by(line) {
                self.fence = None;
                StyledText::new(line, TextStyle::DIM)
            } else if let Some(highlighter) = &mut fence.highlighter {
                highlighter.line(line)
            } else {
                code_line(line, fence.is_diff)
            };
            return self.add(drawn.rows(page, WrapAt::Columns), rows);
        }
        if line.trim_start().starts_with('|') && self.table.len() < LONGEST_TABLE {
            self.table.push(line.to_owned());
            return;
        }
        self.end_table(page, rows);
        if line.trim().is_empty() {
            self.is_blank_pending = self.has_rows;
            return;
        }
        self.fence = CodeFence::opened_by(line);
        let drawn = if self.fence.is_some() {
            StyledText::new(line, TextStyle::DIM).rows(page, WrapAt::Columns)
        } else {
            block(line, page)
        };
        self.add(drawn, rows);
    }

    fn end_table(&mut self, page: &ChatPage, rows: &mut Vec<String>) {
        if self.table.is_empty() {
            return;
        }
        let lines = std::mem::take(&mut self.table);
        self.add(table::rows(&lines, page), rows);
    }

    fn add(&mut self, drawn: Vec<String>, rows: &mut Vec<String>) {
        if std::mem::take(&mut self.is_blank_pending) {
            rows.push(String::new());
        }
        self.has_rows = true;
        rows.extend(drawn);
    }
}

impl CodeFence {
    fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        let info = &line[length..];
        // A code span may stand at the beginning of a line.
        let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
        let is_diff = matches!(info.trim(), "diff" | "patch");
        let highlighter = CodeHighlighter::of(info);
        is_fence.then_some(Self { mark, length, is_diff, highlighter })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// Returns where a line that is too long is split: after the last blank, or at the limit.
fn split_point(line: &str) -> usize {
    let limit = line.floor_char_boundary(LONGEST_LINE);
    line[..limit].rfind(' ').map_or(limit, |blank| blank + 1)
}

/// Draws a line of code, or of a diff.
pub(super) fn code_line(line: &str, is_diff: bool) -> StyledText {
    let style = match line.as_bytes().first() {
        Some(b'+') if is_diff => TextStyle::GREEN,
        Some(b'-') if is_diff => TextStyle::RED,
        Some(b'@') if is_diff => TextStyle::CYAN,
        _ => TextStyle::PLAIN,
    };
    StyledText::new(line, style)
}

/// Draws a line outside of code and tables.
fn block(line: &str, page: &ChatPage) -> Vec<String> {
    let content = line.trim_start();
    let depth = line.len() - content.len();
    if is_rule(content) {
        let rule = "─".repeat(page.width.min(WIDEST_RULE));
        return StyledText::new(&rule, TextStyle::DIM).rows(page, WrapAt::Columns);
    }
    if let Some((level, title)) = heading(content) {
        let marks = if page.colours { String::new() } else { "#".repeat(level) + " " };
        let style = TextStyle::BOLD | if level == 1 { TextStyle::CYAN } else { TextStyle::PLAIN };
        let mut text = StyledText::new(&marks, style);
        text.append(spans(title, page.colours).in_style(style));
        return text.rows(page, WrapAt::Words);
    }
    if let Some(quoted) = content.strip_prefix('>') {
        let bar = StyledText::new("│ ", TextStyle::DIM);
        let text = spans(quoted.trim_start(), page.colours).in_style(TextStyle::ITALIC);
        return text.hanging_rows(page, WrapAt::Words, &bar, &bar);
    }
    let indent = " ".repeat(depth.min(page.width / 2));
    let (mark, text) = list_item(content).unwrap_or((String::new(), content));
    let first = StyledText::new(&indent, TextStyle::PLAIN).and(&mark, TextStyle::CYAN);
    let rest = StyledText::new(&" ".repeat(first.columns()), TextStyle::PLAIN);
    spans(text, page.colours).hanging_rows(page, WrapAt::Words, &first, &rest)
}

fn is_rule(content: &str) -> bool {
    let content = content.trim_end();
    let marks = content.chars().filter(|c| *c != ' ').count();
    let is_of = |mark: char| content.chars().all(|c| c == mark || c == ' ');
    marks >= 3 && ['-', '*', '_'].into_iter().any(is_of)
}

fn heading(content: &str) -> Option<(usize, &str)> {
    let level = content.chars().take_while(|c| *c == '#').count();
    let title = content[level..].strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// Returns the mark of a list's item as it is drawn, and the item's text.
fn list_item(content: &str) -> Option<(String, &str)> {
    if let Some(item) =
        content.strip_prefix(['-', '*', '+']).and_then(|rest| rest.strip_prefix(' '))
    {
        let item = item.trim_start();
        let tasks = [("[ ] ", "☐ "), ("[x] ", "☑ "), ("[X] ", "☑ ")];
        let task = tasks.iter().find_map(|(mark, sign)| Some((sign, item.strip_prefix(mark)?)));
        return Some(match task {
            Some((sign, item)) => ((*sign).to_owned(), item),
            None => ("• ".to_owned(), item),
        });
    }
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let item = content[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ')?;
    (1..=9).contains(&digits).then(|| (format!("{} ", &content[..=digits]), item.trim_start()))
}

#[cfg(test)]
mod tests;
