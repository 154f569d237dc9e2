//! Secrets in addresses: `scheme://user:password@host`, and tokens in their paths.

use crate::word_list::WordList;
use crate::words;
use memchr::{memchr, memrchr};

use super::candidate::{
    count_distinct_bytes, is_operator, is_random, is_reference, runs_something,
};
use super::occurrences::find_each;
use super::span::{SecretSpan, SpanList};

/// The longest user, password and host together, in bytes.
const LONGEST_AUTHORITY: usize = 4096;

pub(super) fn find_url_passwords(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    let mut end = 0;
    for mark in find_each(bytes, "://") {
        // An authority contains no `//`, so nothing is scanned twice.
        if mark >= end {
            end = examine_authority(bytes, mark + 3, spans);
            end = examine_path(bytes, end, spans);
        }
    }
    for sign in ["oracle:thin:", "sqlplus "] {
        spans.begin_search();
        find_each(bytes, sign).for_each(|at| oracle_login(bytes, at + sign.len(), spans));
    }
    for sign in ["@tcp(", "@unix("] {
        spans.begin_search();
        find_each(bytes, sign).for_each(|at| data_source(bytes, at, spans));
    }
}

/// Examines the authority that begins at `start` and returns where it ends.
fn examine_authority(bytes: &[u8], start: usize, spans: &mut SpanList) -> usize {
    let window = &bytes[start..bytes.len().min(start + LONGEST_AUTHORITY)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'\\')
    };
    let len = window.iter().position(ends).unwrap_or(window.len());
    let authority = &window[..len];
    // The last one counts, because a password may have others.
    if let Some(at) = memrchr(b'@', authority) {
        let user = &authority[..at];
        // A password may contain colons, and a user may not.
        match memchr(b':', user) {
            Some(colon) => hide_labelled(bytes, start + colon + 1, start + at, "password", spans),
            None if at >= 20 && is_random(user) => {
                hide_labelled(bytes, start, start + at, "token", spans);
            }
            None => {}
        }
    }
    start + len
}

/// Names in a path that are followed by a token.
const BEFORE_TOKEN: &WordList = words!(
    "webhook webhooks hook hooks catch services token tokens secret secrets key keys auth login \
    reset verify confirm invite magic signed access unsubscribe"
);

/// Examines the names of the path that begins at `start` and returns where it ends.
fn examine_path(bytes: &[u8], start: usize, spans: &mut SpanList) -> usize {
    const LONGEST: usize = 4096;
    let window = &bytes[start..bytes.len().min(start + LONGEST)];
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"/-_.~%+=@:,".contains(byte);
    let len = window.iter().take_while(is_part).count();
    let mut at = start;
    let mut is_told = false;
    for name in window[..len].split(|byte| *byte == b'/') {
        let is_token = (is_told && is_told_token(name)) || is_token(name);
        if is_token {
            spans.push(SecretSpan::new(at, at + name.len(), "token"));
        }
        let is_telling = BEFORE_TOKEN.contains_in_any_case(name);
        // A number or a short name may come between, as in `/hooks/catch/12345/…`.
        is_told = is_telling || (is_told && name.len() < 16 && !is_token);
        at += name.len() + 1;
    }
    start + len
}

/// Returns true if a name after one that announces a token is a token.
fn is_told_token(name: &[u8]) -> bool {
    let longest = name.split(|byte| matches!(byte, b'-' | b'.' | b'_')).map(<[u8]>::len).max();
    longest.unwrap_or(0) >= 16 && is_random(name) && count_distinct_bytes(name) >= 8
}

/// Returns true if a name can only be a token: long, and capitals, small letters and digits
/// alternate in it. A commit has no capitals, and a name that people chose has its digits in one
/// place.
fn is_token(name: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.len() < 24 || !name.iter().all(is_part) {
        return false;
    }
    let kind = |byte: u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let has = |wanted: u8| name.iter().any(|byte| kind(*byte) == wanted);
    let starts_digits = |two: &&[u8]| kind(two[0]) != 0 && kind(two[1]) == 0;
    let changes = name.windows(2).filter(|two| kind(two[0]) != kind(two[1])).count();
    let digits = name.windows(2).filter(starts_digits).count();
    has(0) && has(1) && has(2) && digits >= 2 && changes * 5 >= name.len() * 2
}

/// Hides the password in `user:password@tcp(host)/name`, a data source name of Go.
fn data_source(bytes: &[u8], at: usize, spans: &mut SpanList) {
    const LONGEST: usize = 256;
    let from = at.saturating_sub(LONGEST);
    let is_end =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'=');
    let start = bytes[from..at].iter().rposition(is_end).map_or(from, |found| from + found + 1);
    if let Some(colon) = memchr(b':', &bytes[start..at]) {
        hide_labelled(bytes, start + colon + 1, at, "password", spans);
    }
}

/// Hides the password in `user/password@host`, a login of Oracle.
fn oracle_login(bytes: &[u8], start: usize, spans: &mut SpanList) {
    const LONGEST: usize = 256;
    let window = &bytes[start..bytes.len().min(start + LONGEST)];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let login = &window[..window.iter().position(is_end).unwrap_or(window.len())];
    if let (Some(slash), Some(at)) = (memchr(b'/', login), memrchr(b'@', login))
        && slash < at
    {
        hide_labelled(bytes, start + slash + 1, start + at, "password", spans);
    }
}

fn hide_labelled(
    bytes: &[u8],
    start: usize,
    end: usize,
    label: &'static str,
    spans: &mut SpanList,
) {
    let value = &bytes[start..end];
    let commands = value.iter().any(|byte| is_operator(*byte) && *byte != b'&');
    let shown = value.is_empty() || is_reference(value) || runs_something(value) || commands;
    // The bounds of the window may have cut a character, where a text cannot be divided.
    if !shown && std::str::from_utf8(value).is_ok() {
        spans.push(SecretSpan::new(start, end, label));
    }
}
