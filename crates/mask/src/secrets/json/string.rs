//! JSON strings and positions in them.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use crate::secrets::span::SecretSpan;

pub(super) fn closing_quote(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(found) = memchr2(b'"', b'\\', &bytes[at..]) {
        if bytes[at + found] == b'"' {
            return at + found;
        }
        // What a backslash escapes is skipped with it, above all a quote.
        at = bytes.len().min(at + found + 2);
    }
    bytes.len()
}

/// Returns the text of a string. Half of a surrogate pair becomes U+FFFD.
pub(super) fn decode_string(raw: &str) -> Cow<'_, str> {
    if memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    while at < raw.len() {
        let (c, len) = decode_character(&raw[at..]);
        text.push(c);
        at += len;
    }
    Cow::Owned(text)
}

/// Returns the first character of a string's content, and its length in the JSON text.
fn decode_character(raw: &str) -> (char, usize) {
    let bytes = raw.as_bytes();
    if bytes[0] != b'\\' {
        let c = raw.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        return (c, c.len_utf8());
    }
    match bytes.get(1) {
        Some(b'u') => decode_unicode_escape(raw),
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(other) => (char::from(*other), 2),
        None => ('\\', 1),
    }
}

/// Decodes `\uXXXX`, or two of them.
fn decode_unicode_escape(raw: &str) -> (char, usize) {
    let unit = |at: usize| {
        let escape = raw.get(at..at + 6).filter(|escape| escape.starts_with("\\u"));
        escape.and_then(|escape| u16::from_str_radix(&escape[2..], 16).ok())
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 2) };
    // A zero is never the second half of a pair, so that the first unit is then decoded alone.
    let units = [first, unit(6).unwrap_or(0)];
    match char::decode_utf16(units).next() {
        Some(Ok(c)) => (c, 6 * c.len_utf16()),
        _ => (char::REPLACEMENT_CHARACTER, 6),
    }
}

/// Converts the spans of a decoded text to positions in the JSON text.
pub(super) fn spans_in_raw(raw: &str, text: &str, found: &[SecretSpan]) -> Vec<SecretSpan> {
    let mut placed = Vec::with_capacity(found.len());
    let (mut decoded, mut at) = (0, 0);
    let mut advance = |to: usize| {
        // Without escapes the positions are the same.
        if raw.len() == text.len() {
            return to;
        }
        while decoded < to && at < raw.len() {
            let (c, len) = decode_character(&raw[at..]);
            decoded += c.len_utf8();
            at += len;
        }
        at
    };
    for span in found {
        let (start, end) = (advance(span.start), advance(span.end));
        placed.push(SecretSpan { start, end, label: span.label.clone() });
    }
    placed
}
