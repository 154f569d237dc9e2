//! The spans of a text that are hidden.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{MOST_SPANS, REST};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecretSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) label: Cow<'static, str>,
}

impl SecretSpan {
    pub(super) fn new(start: usize, end: usize, label: &'static str) -> Self {
        Self { start, end, label: Cow::Borrowed(label) }
    }
}

pub(super) struct SpanList {
    all: Vec<SecretSpan>,
    /// How many there were when the current search began.
    before: usize,
    len: usize,
}

impl SpanList {
    pub(super) fn new(len: usize) -> Self {
        Self { all: Vec::new(), before: 0, len }
    }

    /// Begins another search at the start of the text.
    pub(super) fn begin_search(&mut self) {
        self.before = self.all.len();
    }

    /// Adds a span. After too many in one search, the rest of the text is hidden and no more spans
    /// are kept, so that no text can fill the memory.
    pub(super) fn push(&mut self, span: SecretSpan) {
        match (self.all.len() - self.before).cmp(&MOST_SPANS) {
            Ordering::Less => self.all.push(span),
            Ordering::Equal => self.all.push(SecretSpan::new(span.start, self.len, REST)),
            Ordering::Greater => {
                if let Some(rest) = self.all.last_mut() {
                    rest.start = rest.start.min(span.start);
                }
            }
        }
    }

    pub(super) fn labelled(&self, label: &str) -> impl Iterator<Item = &SecretSpan> {
        self.all.iter().filter(move |span| span.label == label)
    }
    /// Returns the spans in order, with overlapping ones joined. The longest determines the label;
    /// among equals the first one, unless one of them hides the rest of the text.
    pub(super) fn merged(self) -> Vec<SecretSpan> {
        let mut spans = self.all;
        spans.retain(|span| span.start < span.end);
        // The sort is stable, so of equal spans that of the first search determines the label.
        spans.sort_by_key(|span| span.start);
        let mut merged: Vec<SecretSpan> = Vec::with_capacity(spans.len());
        // The length of the span that determined the last label: joining must not increase it.
        let mut longest = 0;
        for span in spans {
            let len = span.end - span.start;
            match merged.last_mut() {
                Some(last) if span.start < last.end => {
                    // What hides the rest of a text keeps its label, by which it is known that
                    // something could run in there.
                    if last.label != REST && (len > longest || span.label == REST) {
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
}
