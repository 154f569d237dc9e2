//! Passwords in addresses: `scheme://user:password@host`.

use memchr::{memchr, memmem, memrchr};

use super::judge::{is_operator, is_random, is_reference, runs_something};
use super::span::{Span, Spans};

/// Longer than this is no user, password and host.
const LONGEST_AUTHORITY: usize = 4096;

/// Finds all passwords in addresses.
pub(super) fn find(bytes: &[u8], spans: &mut Spans) {
    spans.begin();
    let mut end = 0;
    for mark in memmem::find_iter(bytes, "://") {
        // An authority holds no `//`, so what was read is not read again.
        if mark >= end {
            end = authority(bytes, mark + 3, spans);
        }
    }
    for sign in ["@tcp(", "@unix("] {
        spans.begin();
        memmem::find_iter(bytes, sign).for_each(|at| data_source(bytes, at, spans));
    }
}

/// Looks at the authority that begins at `start` and says where it ends.
fn authority(bytes: &[u8], start: usize, spans: &mut Spans) -> usize {
    let window = &bytes[start..bytes.len().min(start + LONGEST_AUTHORITY)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\')
    };
    let len = window.iter().position(ends).unwrap_or(window.len());
    let authority = &window[..len];
    if let Some(at) = memrchr(b'@', authority) {
        let user = &authority[..at];
        match memchr(b':', user) {
            Some(colon) => hide(bytes, start + colon + 1, start + at, "password", spans),
            None if at >= 20 && is_random(user) => hide(bytes, start, start + at, "token", spans),
            None => {}
        }
    }
    start + len
}

/// `user:password@tcp(host)/name`, as Go writes it.
fn data_source(bytes: &[u8], at: usize, spans: &mut Spans) {
    const LONGEST: usize = 256;
    let from = at.saturating_sub(LONGEST);
    let is_end =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'=');
    let start = bytes[from..at].iter().rposition(is_end).map_or(from, |found| from + found + 1);
    if let Some(colon) = memchr(b':', &bytes[start..at]) {
        hide(bytes, start + colon + 1, at, "password", spans);
    }
}

fn hide(bytes: &[u8], start: usize, end: usize, label: &'static str, spans: &mut Spans) {
    let value = &bytes[start..end];
    let commands = value.iter().any(|byte| is_operator(*byte) && *byte != b'&');
    let shown = value.is_empty() || is_reference(value) || runs_something(value) || commands;
    if !shown && std::str::from_utf8(value).is_ok() {
        spans.push(Span::new(start, end, label));
    }
}
