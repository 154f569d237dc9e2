//! The examples of the `CommonMark` specification, and the blocks that they consist of.

use std::fs;
use std::mem;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::tools::commonmark;

/// What begins and ends an example, apart from the word after it.
const FENCE: &str = "````````````````````````````````";

/// An example: a text, and what it has to become.
#[derive(Debug, Clone)]
pub struct CommonmarkCase {
    /// Its number in the specification.
    pub number: usize,
    pub markdown: String,
    pub html: String,
}

/// Returns all examples; `None` where the specification is not installed.
///
/// # Panics
///
/// Panics if it cannot be read.
pub fn cases() -> Option<Vec<CommonmarkCase>> {
    let text = fs::read_to_string(commonmark()?).unwrap_or_else(|error| panic!("{error}"));
    let mut cases = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.strip_prefix(FENCE).map(str::trim) != Some("example") {
            continue;
        }
        let part = |lines: &mut std::str::Lines<'_>, end: &str| {
            let part: String =
                lines.take_while(|line| *line != end).flat_map(|line| [line, "\n"]).collect();
            part.replace('→', "\t")
        };
        let markdown = part(&mut lines, ".");
        let html = part(&mut lines, FENCE);
        cases.push(CommonmarkCase { number: cases.len() + 1, markdown, html });
    }
    Some(cases)
}

/// Returns the blocks of a text, each as the elements that it is in and its text, with single
/// blanks for what separates words.
pub fn blocks(markdown: &str) -> Vec<String> {
    let mut listing = BlockListing::default();
    for event in Parser::new_ext(markdown, options()) {
        match event {
            Event::Start(tag) => listing.start(&tag),
            Event::End(tag) => listing.end(tag),
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) | Event::Html(text) => {
                listing.text.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak => listing.text.push(' '),
            Event::Rule => {
                listing.open("hr");
                listing.close(true);
            }
            _ => {}
        }
    }
    listing.blocks
}

/// Returns what the terminal and the page understand beyond `CommonMark`.
pub(crate) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

#[derive(Default)]
struct BlockListing {
    blocks: Vec<String>,
    path: Vec<&'static str>,
    text: String,
}

impl BlockListing {
    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph => self.open("p"),
            Tag::Heading { level, .. } => self.open(heading(*level)),
            Tag::BlockQuote(_) => self.open("blockquote"),
            Tag::CodeBlock(_) => self.open("pre"),
            Tag::HtmlBlock => self.open("html"),
            Tag::List(None) => self.open("ul"),
            Tag::List(Some(_)) => self.open("ol"),
            Tag::Item => self.open("li"),
            Tag::TableCell => self.open("cell"),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::TableCell => self.close(true),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => self.close(false),
            _ => {}
        }
    }

    /// Begins a block. Text before it belongs to the one that it is in.
    fn open(&mut self, name: &'static str) {
        self.note(false);
        self.path.push(name);
    }

    fn close(&mut self, even_empty: bool) {
        self.note(even_empty);
        self.path.pop();
    }

    fn note(&mut self, even_empty: bool) {
        let text = mem::take(&mut self.text);
        let words: Vec<&str> = text.split_whitespace().collect();
        if even_empty || !words.is_empty() {
            self.blocks.push(format!("{}: {}", self.path.join(" "), words.join(" ")));
        }
    }
}

fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h1",
        HeadingLevel::H2 => "h2",
        HeadingLevel::H3 => "h3",
        HeadingLevel::H4 => "h4",
        HeadingLevel::H5 => "h5",
        HeadingLevel::H6 => "h6",
    }
}

/// Returns the text as the parser's own HTML, to hold the parser against the specification.
pub fn html(markdown: &str) -> String {
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, Parser::new(markdown));
    html
}
