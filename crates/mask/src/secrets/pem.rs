//! Private keys between `-----BEGIN …-----` and `-----END …-----`.
//!
//! Only lines that can be nothing but a key are hidden, not everything between the markers:
//! in a command, a line between them would run.

use memchr::memmem;

use super::occurrences::find_each;
use super::span::{SecretSpan, SpanList};

const LABEL: &str = "private key";

/// Finds all private keys, also those whose line ends are written as `\n`.
pub(super) fn find_private_keys(bytes: &[u8], spans: &mut SpanList) {
    const LONGEST_TITLE: usize = 64;
    spans.begin_search();
    let mut end = 0;
    for at in find_each(bytes, "BEGIN ") {
        // SSH2 has four dashes and blanks between them and the title.
        let dashes = match &bytes[..at] {
            before if before.ends_with(b"-----") => "-----",
            before if before.ends_with(b"---- ") => " ----",
            _ => continue,
        };
        let title = at + "BEGIN ".len();
        let window = &bytes[title..bytes.len().min(title + LONGEST_TITLE)];
        let Some(len) = memmem::find(window, dashes.as_bytes()) else { continue };
        if title >= end && memmem::find(&window[..len], b"PRIVATE KEY").is_some() {
            end = hide_key_lines(bytes, title + len + dashes.len(), spans);
        }
    }
    spans.begin_search();
    for at in find_each(bytes, "Private-Lines:") {
        let count = at + "Private-Lines:".len();
        let digits = bytes[count..].iter().take(6).take_while(|byte| b" 0123456789".contains(byte));
        let from = count + digits.count();
        if from >= end {
            end = hide_key_lines(bytes, from, spans);
        }
    }
}

/// Hides the key's lines from `from` on and returns where they end.
fn hide_key_lines(bytes: &[u8], from: usize, spans: &mut SpanList) -> usize {
    let mut at = from;
    let mut key: Option<(usize, usize)> = None;
    loop {
        let start = at + separator_length(bytes, at);
        let len = bytes[start..].iter().take_while(|byte| is_padded_base64(**byte)).count();
        let line = &bytes[start..start + len];
        let after = start + len + separator_length(bytes, start + len);
        let ends = bytes[after..].starts_with(b"-----END") || after == bytes.len();
        // Headers come before the key. After its first line such a line is something else, and is
        // shown.
        if let Some(line_end) = header_end(bytes, start).filter(|_| key.is_none()) {
            at = line_end;
            continue;
        }
        if !(is_full_line(line) || (key.is_some() && is_last_line(line, ends))) {
            break;
        }
        key = Some((key.map_or(start, |(first, _)| first), start + len));
        at = start + len;
    }
    if let Some((start, end)) = key {
        spans.push(SecretSpan::new(start, end, LABEL));
    }
    at
}

fn is_padded_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Returns the length of the separator between two lines: blanks, quotes, commas, escaped line
/// ends.
fn separator_length(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match bytes.get(at..).unwrap_or_default() {
            [b'\\', b'n' | b'r' | b't', ..] => at += 2,
            [b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'\'' | b',' | b'\\', ..] => at += 1,
            _ => return at - from,
        }
    }
}

/// Returns true if a run is a line of a key and not a command: no program has such a name.
fn is_full_line(line: &[u8]) -> bool {
    let has = |of: fn(&u8) -> bool| line.iter().any(of);
    line.len() >= 24 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Returns true for the last line of a key, which is shorter, or the checksum of an armoured one.
fn is_last_line(line: &[u8], ends: bool) -> bool {
    let is_key =
        |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"=+".contains(byte);
    !line.is_empty()
        && (line.iter().any(is_key) || line.len() < 5)
        && (ends || line.contains(&b'='))
}

/// Returns where the header that begins at `start` ends, if it is a header of a key.
fn header_end(bytes: &[u8], start: usize) -> Option<usize> {
    const HEADERS: [&str; 6] =
        ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Charset:", "Hash:"];
    const LONGEST: usize = 120;
    HEADERS.iter().find(|name| bytes[start..].starts_with(name.as_bytes()))?;
    let line = &bytes[start..bytes.len().min(start + LONGEST)];
    let written = memmem::find(line, b"\\n");
    let real = memchr::memchr(b'\n', line);
    written.into_iter().chain(real).min().map(|len| start + len)
}
