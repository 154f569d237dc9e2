//! The spans of a text that are hidden, and all that looks for them.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::runs::Uses;
use super::{MOST_SPANS, REST, assign, command, pem, placeholder, shapes, tokens, url};

/// A piece of a text that is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
    /// What kind of secret it is.
    pub(super) label: Cow<'static, str>,
}

impl Span {
    pub(super) fn new(start: usize, end: usize, label: &'static str) -> Self {
        Self { start, end, label: Cow::Borrowed(label) }
    }
}

/// The spans that were found so far.
pub(super) struct Spans {
    all: Vec<Span>,
    /// How many there were when the present search began.
    before: usize,
    /// How long the text is.
    len: usize,
}

impl Spans {
    /// Another search begins at the start of the text.
    pub(super) fn begin(&mut self) {
        self.before = self.all.len();
    }

    /// Adds a span. After too many of one search the rest of the
    /// text is hidden, and no more are kept: no text can fill the memory with spans.
    pub(super) fn push(&mut self, span: Span) {
        match (self.all.len() - self.before).cmp(&MOST_SPANS) {
            Ordering::Less => self.all.push(span),
            Ordering::Equal => self.all.push(Span::new(span.start, self.len, REST)),
            Ordering::Greater => {
                if let Some(rest) = self.all.last_mut() {
                    rest.start = rest.start.min(span.start);
                }
            }
        }
    }

    /// Those with this label.
    pub(super) fn labelled(&self, label: &str) -> impl Iterator<Item = &Span> {
        self.all.iter().filter(move |span| span.label == label)
    }
}

/// All secrets in `text`, which is part of something that uses these variables; in order and
/// without overlaps.
pub(super) fn all(text: &str, uses: &Uses) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut spans = Spans { all: Vec::new(), before: 0, len: text.len() };
    placeholder::find(text, &mut spans);
    tokens::find(bytes, &mut spans);
    shapes::find(bytes, &mut spans);
    pem::find(bytes, &mut spans);
    url::find(bytes, &mut spans);
    assign::find(bytes, uses, &mut spans);
    command::find(bytes, uses, &mut spans);
    debug_assert!(spans.all.iter().all(|span| text.get(span.start..span.end).is_some()));
    merge(spans.all)
}

/// Joins what overlaps. The longer span gives the label, of equals the first that was found.
fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    // The length of the span that gave the last label: joining must not make it grow.
    let mut longest = 0;
    for span in spans {
        let len = span.end - span.start;
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                if len > longest {
                    last.label = span.label;
                    longest = len;
                }
                last.end = last.end.max(span.end);
            }
            _ => {
                merged.push(span);
                longest = len;
            }
        }
    }
    merged
}
