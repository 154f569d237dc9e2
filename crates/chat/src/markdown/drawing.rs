//! Draws the blocks of a Markdown text.

use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Tag, TagEnd};

use super::{CodeFence, QUOTE_MARKS, code_line, line_start, table};
use crate::styled_text::{ChatPage, StyledText, TextStyle, WrapAt};

const WIDEST_RULE: usize = 40;

/// Draws events as rows.
pub(super) struct BlockDrawer<'a> {
    source: &'a str,
    page: &'a ChatPage,
    rows: Vec<String>,
    /// The prefix of the next row, and of those after it: marks of lists and quotes.
    first: StyledText,
    rest: StyledText,
    /// What `rest` was outside of each open quote and item.
    outer: Vec<StyledText>,
    /// The lines of text that are being collected; the last one is open.
    lines: Vec<StyledText>,
    /// The style of the text, and what it was outside of each open mark.
    style: TextStyle,
    styles: Vec<TextStyle>,
    /// The addresses of the open links, each with its title and where its text begins.
    links: Vec<OpenLink>,
    code: Option<CodeBlock>,
    table: Option<OpenTable>,
}

struct OpenLink {
    address: String,
    title: String,
    text: String,
}

/// A code block whose text is being collected.
struct CodeBlock {
    is_fenced: bool,
    text: String,
}

/// A table whose cells are being collected.
#[derive(Default)]
struct OpenTable {
    aligns: Vec<Alignment>,
    head: Vec<StyledText>,
    body: Vec<Vec<StyledText>>,
}

impl<'a> BlockDrawer<'a> {
    pub(super) fn new(source: &'a str, page: &'a ChatPage) -> Self {
        Self {
            source,
            page,
            rows: Vec::new(),
            first: StyledText::default(),
            rest: StyledText::default(),
            outer: Vec::new(),
            lines: Vec::new(),
            style: TextStyle::PLAIN,
            styles: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
        }
    }

    pub(super) fn draw_events<'e>(
        mut self,
        events: impl Iterator<Item = (Event<'e>, Range<usize>)>,
    ) -> Vec<String> {
        let mut events = events.peekable();
        while let Some((event, range)) = events.next() {
            match event {
                // Not in `start_tag`: whether the item is a task is said by the event behind it.
                Event::Start(Tag::Item) => {
                    self.flush();
                    let task = events.peek().and_then(|(event, _)| match event {
                        Event::TaskListMarker(is_done) => Some(*is_done),
                        _ => None,
                    });
                    self.draw_gap(range.start);
                    let mark = self.item_mark(range.start, task);
                    self.enter_block(&StyledText::new(&mark, TextStyle::CYAN), None);
                }
                Event::Start(tag) => self.start_tag(tag, &range),
                Event::End(tag) => self.end_tag(tag, &range),
                Event::Text(text) | Event::InlineHtml(text) => self.add_text(&text),
                // Shown as it is written: what HTML hides would be hidden from whoever approves a
                // plan.
                Event::Html(text) => {
                    for line in text.lines() {
                        self.draw_line(&StyledText::new(line, TextStyle::PLAIN), WrapAt::Words);
                    }
                }
                Event::Code(text) if self.page.colours => {
                    self.push(&text, self.style | TextStyle::CYAN);
                }
                Event::Code(text) => self.push(&code_span(&text), self.style),
                // Models mean the line ends that they write, also where Markdown makes blanks of
                // them.
                Event::SoftBreak | Event::HardBreak => self.lines.push(StyledText::default()),
                Event::Rule => {
                    self.flush();
                    self.draw_gap(range.start);
                    let rule = "─".repeat(self.room().min(WIDEST_RULE));
                    self.draw_line(&StyledText::new(&rule, TextStyle::DIM), WrapAt::Columns);
                }
                _ => {}
            }
        }
        self.flush();
        self.rows
    }

    fn start_tag(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => {
                self.flush();
                self.draw_gap(range.start);
            }
            Tag::Heading { level, .. } => {
                self.flush();
                self.draw_gap(range.start);
                let first = level == pulldown_cmark::HeadingLevel::H1;
                let colour = if first { TextStyle::CYAN } else { TextStyle::PLAIN };
                self.push_style(TextStyle::BOLD | colour);
                if !self.page.colours {
                    // Without colours only the mark tells a heading from a paragraph.
                    self.push(&("#".repeat(level as usize) + " "), TextStyle::PLAIN);
                }
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.draw_gap(range.start);
                let bar = StyledText::new("│ ", TextStyle::DIM);
                self.enter_block(&bar, Some(&bar));
                self.push_style(TextStyle::ITALIC);
            }
            Tag::List(_) => self.flush(),
            Tag::CodeBlock(kind) => {
                self.flush();
                self.draw_gap(range.start);
                let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                self.code = Some(CodeBlock { is_fenced, text: String::new() });
            }
            Tag::Table(aligns) => {
                self.draw_gap(range.start);
                self.table = Some(OpenTable { aligns, ..OpenTable::default() });
            }
            Tag::TableRow => self.table.iter_mut().for_each(|table| table.body.push(Vec::new())),
            Tag::Emphasis => self.push_style(TextStyle::ITALIC),
            Tag::Strong => self.push_style(TextStyle::BOLD),
            Tag::Strikethrough if self.source[range.start..].starts_with("~~") => {
                self.push_style(TextStyle::STRIKE);
            }
            // The parser takes a single tilde for a mark, too; it stays as it was written.
            Tag::Strikethrough => {
                self.add_text("~");
                self.push_style(TextStyle::PLAIN);
            }
            Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. } => {
                let (address, title) = (dest_url.to_string(), title.to_string());
                self.links.push(OpenLink { address, title, text: String::new() });
                self.push_style(TextStyle::UNDERLINE);
            }
            _ => {}
        }
    }

    fn end_tag(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Heading(_) => {
                self.flush();
                self.pop_style();
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.pop_style();
                self.leave_block();
            }
            TagEnd::Item => {
                self.flush();
                self.leave_block();
            }
            TagEnd::CodeBlock => self.end_code(range),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.lines).into_iter().next().unwrap_or_default();
                let Some(table) = &mut self.table else { return };
                // The cells before the first row are those of the head.
                table.body.last_mut().unwrap_or(&mut table.head).push(cell);
            }
            TagEnd::Table => self.end_table(range),
            TagEnd::Emphasis | TagEnd::Strong => self.pop_style(),
            TagEnd::Strikethrough => {
                self.pop_style();
                if !self.source[range.start..].starts_with("~~") {
                    self.add_text("~");
                }
            }
            TagEnd::Link | TagEnd::Image => {
                self.pop_style();
                let Some(OpenLink { address, title, text }) = self.links.pop() else { return };
                // A link must not hide where it leads.
                if address != text && !(address.is_empty() && title.is_empty()) {
                    let title = if title.is_empty() { title } else { format!(" “{title}”") };
                    self.push(&format!(" ({address}{title})"), self.style | TextStyle::DIM);
                }
            }
            _ => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        match &mut self.code {
            Some(code) => code.text.push_str(text),
            None => self.push(text, self.style),
        }
    }

    fn push(&mut self, text: &str, style: TextStyle) {
        self.links.iter_mut().for_each(|link| link.text.push_str(text));
        if self.lines.is_empty() {
            self.lines.push(StyledText::default());
        }
        if let Some(line) = self.lines.last_mut() {
            line.push(text, style);
        }
    }

    fn push_style(&mut self, style: TextStyle) {
        self.styles.push(self.style);
        self.style = self.style | style;
    }

    fn pop_style(&mut self) {
        self.style = self.styles.pop().unwrap_or(TextStyle::PLAIN);
    }

    /// Draws the collected lines.
    fn flush(&mut self) {
        for line in std::mem::take(&mut self.lines) {
            self.draw_line(&line, WrapAt::Words);
        }
    }

    fn draw_line(&mut self, line: &StyledText, at: WrapAt) {
        self.rows.extend(line.hanging_rows(self.page, at, &self.first, &self.rest));
        self.first = self.rest.clone();
    }

    /// Begins a quote or an item. The rows after the first have `rest`, or blanks.
    fn enter_block(&mut self, first: &StyledText, rest: Option<&StyledText>) {
        // Even if no mark is added: `leave_block` takes it away again.
        self.outer.push(self.rest.clone());
        // Deeper marks would leave too little room for the text.
        if self.rest.columns() > self.page.width / 2 {
            return;
        }
        let blanks = StyledText::new(&" ".repeat(first.columns()), TextStyle::PLAIN);
        self.first.append(first.clone());
        self.rest.append(rest.cloned().unwrap_or(blanks));
    }

    fn leave_block(&mut self) {
        if self.first != self.rest {
            // Nothing was in it: its mark is shown all the same.
            self.draw_line(&StyledText::default(), WrapAt::Words);
        }
        self.rest = self.outer.pop().unwrap_or_default();
        self.first = self.rest.clone();
    }

    /// Draws an empty row before a block, if there is one in the source.
    fn draw_gap(&mut self, start: usize) {
        let above = &self.source[..line_start(self.source, start)];
        let is_apart =
            above.lines().next_back().is_some_and(|line| line.trim_matches(QUOTE_MARKS).is_empty());
        if is_apart && !self.rows.is_empty() && self.first == self.rest {
            self.draw_line(&StyledText::default(), WrapAt::Words);
        }
    }

    /// Returns the mark of a list's item as it is drawn.
    fn item_mark(&self, start: usize, task: Option<bool>) -> String {
        // Before the mark of an item there may be blanks.
        let written = self.source[start..].trim_start_matches([' ', '\t']);
        let digits = written.bytes().take_while(u8::is_ascii_digit).count();
        let number = if digits > 0 { format!("{} ", &written[..=digits]) } else { String::new() };
        match task {
            Some(true) => number + "☑ ",
            Some(false) => number + "☐ ",
            None if digits > 0 => number,
            None => "• ".into(),
        }
    }

    fn end_code(&mut self, range: &Range<usize>) {
        let Some(CodeBlock { is_fenced, text }) = self.code.take() else { return };
        if !is_fenced {
            for line in text.lines() {
                self.draw_line(&code_line(line, false), WrapAt::Columns);
            }
            return;
        }
        let written = &self.source[range.clone()];
        let opening = written.lines().next().unwrap_or_default().trim();
        let mut fence = CodeFence::opened_by(opening);
        self.draw_line(&StyledText::new(opening, TextStyle::DIM), WrapAt::Columns);
        for line in text.lines() {
            let drawn = fence.as_mut().map(|fence| fence.draw_line(line)).unwrap_or_default();
            self.draw_line(&drawn, WrapAt::Columns);
        }
        let closing =
            written.lines().skip(1).last().map(|line| line.trim_start_matches(QUOTE_MARKS));
        if let (Some(closing), Some(fence)) = (closing, &fence)
            && fence.is_closed_by(closing)
        {
            self.draw_line(&StyledText::new(closing.trim(), TextStyle::DIM), WrapAt::Columns);
        }
    }

    fn end_table(&mut self, range: &Range<usize>) {
        let Some(OpenTable { aligns, head, body }) = self.table.take() else { return };
        let written = &self.source[range.clone()];
        // A cell that is left out would be hidden from whoever approves what is written in it.
        let drawn = (!table::loses_cells(written))
            .then(|| table::draw_table(head, &aligns, &body, self.room()))
            .flatten();
        let as_written = || {
            let bare = |line: &str| line.trim_start_matches(QUOTE_MARKS).trim_end().to_owned();
            let line = |line: &str| StyledText::new(&bare(line), TextStyle::PLAIN);
            written.lines().map(line).collect()
        };
        for line in drawn.unwrap_or_else(as_written) {
            self.draw_line(&line, WrapAt::Words);
        }
    }

    /// Returns how many columns there are beside the marks.
    fn room(&self) -> usize {
        self.page.width.saturating_sub(self.rest.columns())
    }
}

/// Returns a code span with its marks, which show it where there are no colours.
fn code_span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{marks}{blank}{text}{blank}{marks}")
}
