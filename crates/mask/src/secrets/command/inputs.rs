//! Passwords in what a command reads: `<<< password`, `<<EOF` and lines of `user:password`.

use memchr::{memchr, memmem};

use crate::secrets::candidate::{is_operator, is_reference, runs_something};
use crate::secrets::span::{SecretSpan, SpanList};

const LABEL: &str = "password";

/// The longest rest of a line and the longest document that are examined, in bytes. Without a limit
/// a line that names `--stdin` again and again would be searched to its end for each of them.
const LONGEST_LINE: usize = 1024;
const LONGEST_DOCUMENT: usize = 16 * 1024;

/// Hides the word after `<<<` on the rest of a line.
pub(super) fn here_string(bytes: &[u8], from: usize, spans: &mut SpanList) {
    if let Some((start, end)) = here_word(bytes, from) {
        hide_input(bytes, start, end, spans);
    }
}

/// Hides the passwords in lines of `user:password` that the command before `from` reads, and
/// returns where they end.
pub(super) fn after_users(bytes: &[u8], from: usize, spans: &mut SpanList) -> usize {
    if let Some((start, end)) = here_word(bytes, from) {
        after_user(bytes, start, end, spans);
        return end;
    }
    let line = rest_of_line(bytes, from);
    if memmem::find(line, b"<<").is_none() {
        return from;
    }
    let mut start = from + line.len() + 1;
    let last = bytes.len().min(from + LONGEST_DOCUMENT);
    while start < last {
        let end = start + rest_of_line(bytes, start).len();
        if memchr(b':', &bytes[start..end]).is_none() {
            break;
        }
        after_user(bytes, start, end, spans);
        start = end + 1;
    }
    start
}

/// Returns where the word after `<<<` is, without its quotes.
fn here_word(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let line = rest_of_line(bytes, from);
    let sign = memmem::find(line, b"<<<")? + 3;
    let is_before = |byte: &&u8| matches!(byte, b' ' | b'"' | b'\'');
    let start = sign + line[sign..].iter().take_while(is_before).count();
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'') || is_operator(*byte)
    };
    let len = line[start..].iter().position(ends).unwrap_or(line.len() - start);
    Some((from + start, from + start + len))
}

fn rest_of_line(bytes: &[u8], from: usize) -> &[u8] {
    let window = &bytes[from.min(bytes.len())..bytes.len().min(from + LONGEST_LINE)];
    &window[..memchr(b'\n', window).unwrap_or(window.len())]
}

fn after_user(bytes: &[u8], start: usize, end: usize, spans: &mut SpanList) {
    if let Some(colon) = memchr(b':', &bytes[start..end]) {
        hide_input(bytes, start + colon + 1, end, spans);
    }
}

fn hide_input(bytes: &[u8], start: usize, end: usize, spans: &mut SpanList) {
    let value = bytes[start..end].trim_ascii_end();
    // Blanks and operators could make a command of it, which must not be hidden.
    let is_plain = !value.iter().any(|byte| byte.is_ascii_whitespace() || is_operator(*byte));
    if is_plain && !value.is_empty() && !is_reference(value) && !runs_something(value) {
        spans.push(SecretSpan::new(start, start + value.len(), LABEL));
    }
}
