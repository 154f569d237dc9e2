//! Markdown that arrives in pieces, drawn block by block.
//!
//! A block is drawn for good when the next one has begun, an item of a list when the next item has,
//! and a line of code when its end has arrived; the rest is drawn anew with every piece. However an
//! answer is cut into pieces, the same rows come out. Line ends in a paragraph are kept.

mod drawing;
mod highlighter;
mod table;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};
use drawing::BlockDrawer;
use highlighter::CodeHighlighter;

/// The longest line that is drawn as one. A longer one is split, so that an open line stays cheap.
const LONGEST_LINE: usize = 8192;
/// The longest block that is drawn as one.
/// An open block is parsed anew with each of its lines.
const LONGEST_BLOCK: usize = 32 * 1024;
/// The longest paragraph that waits for its end; of a longer one only the last line does. Rows that
/// are drawn anew have to be few, because a window that becomes narrower shows those for which it
/// has no room twice.
const LONGEST_OPEN: usize = 300;
/// The prefix of the lines of a quoted block.
const QUOTE_MARKS: [char; 3] = [' ', '\t', '>'];

/// A Markdown text of which a part has arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct MarkdownStream {
    /// What is not drawn for good.
    source: String,
    /// The definitions of links in what is.
    definitions: String,
    /// The code block whose lines are arriving.
    fence: Option<CodeFence>,
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
    indent: usize,
    is_diff: bool,
    highlighter: Option<CodeHighlighter>,
}

/// A block or an item of a list: where it begins, and what it is.
struct MarkdownUnit {
    at: usize,
    is_fenced: bool,
    is_paragraph: bool,
}

impl MarkdownStream {
    /// Adds a piece, and returns the rows that are final.
    pub(crate) fn push(&mut self, piece: &str, page: &ChatPage) -> Vec<String> {
        let mut rows = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.source.push_str(part);
            while let Some(end) = self.end_of_long_line() {
                self.draw_up_to(end, page, &mut rows);
            }
            // Blocks are settled at line ends alone, because a `2` may still become the item `2.`.
            if self.source.ends_with('\n') {
                self.settle_blocks(page, &mut rows);
            }
        }
        rows
    }

    /// Returns where the last line is split, if it is too long.
    fn end_of_long_line(&self) -> Option<usize> {
        let text = self.source.strip_suffix('\n').unwrap_or(&self.source);
        let start = line_start(text, text.len());
        (text.len() - start > LONGEST_LINE).then(|| start + split_point(&text[start..]))
    }

    /// Returns the rows that are not final yet.
    pub(crate) fn open_rows(&self, page: &ChatPage) -> Vec<String> {
        // On a copy: the rest of the text may change what these rows are.
        self.clone().finish(page)
    }

    /// Ends the text, and returns the remaining rows.
    pub(crate) fn finish(&mut self, page: &ChatPage) -> Vec<String> {
        let mut rows = Vec::new();
        self.draw_up_to(self.source.len(), page, &mut rows);
        *self = Self::default();
        rows
    }

    /// Draws the blocks to which nothing can be added. The source ends with a line.
    fn settle_blocks(&mut self, page: &ChatPage, rows: &mut Vec<String>) {
        while self.fence.is_none() && !self.source.is_empty() {
            let Some(last) = self.block_starts().pop() else { return };
            if last.is_fenced {
                self.draw_up_to(last.at, page, rows);
                let line = self.take_line();
                self.fence = CodeFence::opened_by(&line);
                self.add_rows(
                    StyledText::new(line.trim(), TextStyle::DIM).rows(page, WrapAt::Columns),
                    rows,
                );
            } else if self.source.len() - last.at > LONGEST_BLOCK {
                return self.draw_up_to(self.source.len(), page, rows);
            } else {
                self.draw_up_to(last.at, page, rows);
                let end = line_start(&self.source, self.source.len() - 1);
                // By itself, such a line may be a definition, of which nothing is shown.
                let is_hidden = self.source[end..].trim_start().starts_with('[');
                let is_open = last.is_paragraph && !self.source.ends_with("\n\n");
                if is_open && end > LONGEST_OPEN && !is_hidden {
                    self.draw_up_to(end, page, rows);
                }
                return;
            }
        }
        while self.fence.is_some() && !self.source.is_empty() {
            let line = self.take_line();
            self.code_line(&line, page, rows);
        }
        if !self.source.is_empty() {
            self.settle_blocks(page, rows);
        }
    }

    fn take_line(&mut self) -> String {
        let end = self.source.find('\n').map_or(self.source.len(), |at| at + 1);
        let rest = self.source.split_off(end);
        let line = std::mem::replace(&mut self.source, rest);
        line.trim_end_matches(['\n', '\r']).to_owned()
    }

    /// Returns where the blocks and items of the source begin.
    fn block_starts(&self) -> Vec<MarkdownUnit> {
        let text = self.with_definitions(&self.source);
        let shift = text.len() - self.source.len();
        let mut starts = Vec::new();
        let (mut depth, mut is_list) = (0, false);
        for (event, range) in Parser::new_ext(&text, parser_options()).into_offset_iter() {
            let is_block = depth == 0 && !matches!(event, Event::End(_));
            let is_item = depth == 1 && is_list && matches!(event, Event::Start(Tag::Item));
            if (is_block || is_item) && range.start >= shift {
                let at = line_start(&self.source, range.start - shift);
                let is_fenced =
                    matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))));
                let is_paragraph = matches!(event, Event::Start(Tag::Paragraph));
                starts.push(MarkdownUnit { at, is_fenced, is_paragraph });
            }
            match &event {
                Event::Start(tag) => {
                    is_list |= depth == 0 && matches!(tag, Tag::List(_));
                    depth += 1;
                }
                Event::End(_) => {
                    depth -= 1;
                    is_list &= depth > 0;
                }
                _ => {}
            }
        }
        starts
    }

    /// Draws the source up to `end` for good.
    fn draw_up_to(&mut self, end: usize, page: &ChatPage, rows: &mut Vec<String>) {
        let rest = self.source.split_off(end);
        let settled = std::mem::replace(&mut self.source, rest);
        if self.fence.is_some() {
            for line in settled.lines() {
                self.code_line(line, page, rows);
            }
            return;
        }
        let text = self.with_definitions(&settled);
        let shift = text.len() - settled.len();
        let parser = Parser::new_ext(&text, parser_options());
        let spans = parser.reference_definitions().iter().map(|(_, definition)| &definition.span);
        let own = spans.filter(|span| span.start >= shift);
        let own: String = own.map(|span| text[span.clone()].to_owned() + "\n").collect();
        let begins_blank = settled.lines().next().is_some_and(|line| line.trim().is_empty());
        self.is_blank_pending |= begins_blank && self.has_rows;
        let drawn = BlockDrawer::new(&text, page).draw_events(parser.into_offset_iter());
        self.definitions.push_str(&own);
        if !drawn.is_empty() {
            self.add_rows(drawn, rows);
        }
        let ends_blank = settled.lines().next_back().is_some_and(|line| line.trim().is_empty());
        self.is_blank_pending |= ends_blank && self.has_rows;
    }

    /// Returns a text after the definitions of what was before it.
    fn with_definitions(&self, text: &str) -> String {
        if self.definitions.is_empty() {
            text.to_owned()
        } else {
            // Without the empty line between them the text could be the title of the last
            // definition.
            format!("{}\n{text}", self.definitions)
        }
    }

    fn code_line(&mut self, line: &str, page: &ChatPage, rows: &mut Vec<String>) {
        let Some(fence) = &mut self.fence else { return };
        let drawn = if fence.is_closed_by(line) {
            self.fence = None;
            StyledText::new(line.trim(), TextStyle::DIM)
        } else {
            fence.draw_line(line)
        };
        self.add_rows(drawn.rows(page, WrapAt::Columns), rows);
    }

    fn add_rows(&mut self, drawn: Vec<String>, rows: &mut Vec<String>) {
        if std::mem::take(&mut self.is_blank_pending) {
            rows.push(String::new());
        }
        self.has_rows = true;
        rows.extend(drawn);
    }
}

impl CodeFence {
    fn opened_by(line: &str) -> Option<Self> {
        let content = line.trim_start();
        let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = content.chars().take_while(|c| *c == mark).count();
        let info = &content[length..];
        let is_diff = matches!(info.trim(), "diff" | "patch");
        let indent = line.len() - content.len();
        Some(Self {
            mark,
            length,
            indent,
            is_diff,
            highlighter: CodeHighlighter::for_language(info),
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let content = line.trim_start_matches(' ');
        let marks = content.trim_end();
        // Behind four blanks it is a line of the code.
        line.len() - content.len() < 4
            && marks.len() >= self.length
            && marks.chars().all(|c| c == self.mark)
    }

    fn draw_line(&mut self, line: &str) -> StyledText {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let line = &line[blanks.min(self.indent)..];
        match &mut self.highlighter {
            Some(highlighter) => highlighter.colour_line(line),
            None => code_line(line, self.is_diff),
        }
    }
}

/// Returns what is understood beyond `CommonMark`.
fn parser_options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Returns where a line that is too long is split: after the last blank, or at the limit.
fn split_point(line: &str) -> usize {
    let limit = line.floor_char_boundary(LONGEST_LINE);
    line[..limit].rfind(' ').map_or(limit, |blank| blank + 1)
}

/// Draws a line of code, or of a diff.
pub(crate) fn code_line(line: &str, is_diff: bool) -> StyledText {
    let style = match line.as_bytes().first() {
        Some(b'+') if is_diff => TextStyle::GREEN,
        Some(b'-') if is_diff => TextStyle::RED,
        Some(b'@') if is_diff => TextStyle::CYAN,
        _ => TextStyle::PLAIN,
    };
    StyledText::new(line, style)
}

#[cfg(test)]
mod tests;
