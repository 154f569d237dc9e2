//! The spans of a text that are hidden, and all that looks for them.

use std::borrow::Cow;

use super::{assign, command, pem, placeholder, shapes, tokens, url};

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

/// All secrets in `text`, in order and without overlaps.
pub(super) fn all(text: &str) -> Vec<Span> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    placeholder::find(text, &mut spans);
    tokens::find(bytes, &mut spans);
    shapes::find(bytes, &mut spans);
    pem::find(bytes, &mut spans);
    url::find(bytes, &mut spans);
    assign::find(bytes, &mut spans);
    command::find(bytes, &mut spans);
    debug_assert!(spans.iter().all(|span| text.get(span.start..span.end).is_some()));
    merge(spans)
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
