//! The placeholders that stand for hidden spans.
//!
//! A text may already contain something that looks like a placeholder. It is then hidden behind a
//! placeholder of its own, with the same label: so every placeholder in a shown text is one of
//! ours, none can be confused with another, and a masked text does not change when it is masked
//! again.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::occurrences::find_each;
use super::span::{SecretSpan, SpanList};

const START: &str = "[hidden ";

const LONGEST_LABEL: usize = 48;

pub(super) fn write_numbered(number: usize, label: &str, out: &mut String) {
    // Writing to a string cannot fail.
    write!(out, "{START}{number}: {label}]").ok();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placeholder<'a> {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number; zero if it is not one of ours.
    pub(super) number: usize,
    pub(super) label: &'a str,
}

pub(super) fn placeholders_in(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    find_each(text.as_bytes(), START).filter_map(|start| parse_placeholder(text, start))
}

pub(super) fn find_placeholders(text: &str, spans: &mut SpanList) {
    for Placeholder { start, end, label, .. } in placeholders_in(text) {
        spans.push(SecretSpan { start, end, label: Cow::Owned(label.to_owned()) });
    }
}

fn parse_placeholder(text: &str, start: usize) -> Option<Placeholder<'_>> {
    let bytes = text.as_bytes();
    let digits = start + START.len();
    // Nine digits fit into every `usize`.
    let count = bytes[digits..].iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let label = digits + count + 2;
    if count == 0 || bytes.get(digits + count..label) != Some(b": ") {
        return None;
    }
    let is_label = |byte: &&u8| byte.is_ascii_alphanumeric() || b" ,.'-".contains(byte);
    let len = bytes[label..].iter().take(LONGEST_LABEL + 1).take_while(is_label).count();
    let end = label + len;
    if len == 0 || len > LONGEST_LABEL || bytes.get(end) != Some(&b']') {
        return None;
    }
    let number = &text[digits..digits + count];
    // Ours have no zero before them, and 0 is the number of none.
    let number = if number.starts_with('0') { 0 } else { number.parse().unwrap_or(0) };
    Some(Placeholder { start, end: end + 1, number, label: &text[label..end] })
}
