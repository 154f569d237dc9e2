//! Tokens that are recognised by their whole shape.

use crate::word_list::WordList;
use crate::words;
use memchr::memchr_iter;

use super::candidate::{count_distinct_bytes, is_random};
use super::occurrences::find_each;
use super::span::{SecretSpan, SpanList};
use super::tokens::starts_word;

pub(super) fn find_shaped_tokens(bytes: &[u8], spans: &mut SpanList) {
    find_jwts(bytes, spans);
    find_telegram_tokens(bytes, spans);
    find_discord_tokens(bytes, spans);
    find_azure_secrets(bytes, spans);
    find_mailchimp_keys(bytes, spans);
    find_scheme_credentials(bytes, spans);
    aws_secrets(bytes, spans);
    password_hashes(bytes, spans);
}

fn is_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Returns how many bytes from `from` on satisfy a condition.
fn run_length(bytes: &[u8], from: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|byte| of(**byte)).count()
}

/// Returns how many bytes before `end` satisfy a condition.
fn run_back(bytes: &[u8], end: usize, most: usize, of: impl Fn(u8) -> bool) -> usize {
    bytes[..end].iter().rev().take(most).take_while(|byte| of(**byte)).count()
}

/// Finds JSON web tokens, `eyJ….….…`: a head, a body and perhaps a signature.
fn find_jwts(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    let mut end = 0;
    for start in find_each(bytes, "eyJ") {
        // Each run is looked at once, or a text of many beginnings would cost its square.
        if start < end {
            continue;
        }
        let head = run_length(bytes, start, usize::MAX, is_url);
        end = start + head;
        if head < 12 {
            continue;
        }
        let all = run_length(bytes, start, usize::MAX, |byte| is_url(byte) || byte == b'.');
        // Dots at the end belong to the sentence around it.
        let all = all - run_back(bytes, start + all, all, |byte| byte == b'.');
        if all >= head + 8 {
            spans.push(SecretSpan::new(start, start + all, "JWT"));
            end = start + all;
        }
    }
}

/// Finds `123456789:…` with 35 characters after the colon, also in `/bot123456789:…/`.
fn find_telegram_tokens(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    for colon in memchr_iter(b':', bytes) {
        // One more than a token can have is counted, because a longer run is no token; so are the
        // others below.
        let digits = run_back(bytes, colon, 13, |byte| byte.is_ascii_digit());
        let secret = run_length(bytes, colon + 1, 65, is_url);
        let is_token = (6..=12).contains(&digits)
            && (32..=64).contains(&secret)
            && count_distinct_bytes(&bytes[colon + 1..colon + 1 + secret]) >= 12;
        if is_token {
            let (start, end) = (colon - digits, colon + 1 + secret);
            spans.push(SecretSpan::new(start, end, "Telegram bot token"));
        }
    }
}

/// Finds three parts with dots between them: the user's number in base64, a time, a signature.
fn find_discord_tokens(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    for dot in memchr_iter(b'.', bytes) {
        let time = run_length(bytes, dot + 1, 8, is_url);
        let second = dot + 1 + time;
        if !(6..=7).contains(&time) || bytes.get(second) != Some(&b'.') {
            continue;
        }
        let first = run_back(bytes, dot, 30, is_url);
        let third = run_length(bytes, second + 1, 48, is_url);
        let start = dot - first;
        let is_token = (23..=29).contains(&first)
            // Base64 of a digit begins with one of these.
            && matches!(bytes[start], b'M' | b'N' | b'O')
            && third >= 27
            && count_distinct_bytes(&bytes[second + 1..second + 1 + third]) >= 10;
        if is_token {
            spans.push(SecretSpan::new(start, second + 1 + third, "Discord token"));
        }
    }
}

/// Finds client secrets of Azure, which have `Q~` after their fourth character.
fn find_azure_secrets(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    for mark in find_each(bytes, "Q~") {
        let is_body = |byte: u8| is_url(byte) || matches!(byte, b'~' | b'.');
        let before = run_back(bytes, mark, 5, is_body);
        let after = run_length(bytes, mark + 2, 64, is_body);
        if before == 4 && bytes[mark - 1].is_ascii_digit() && after >= 31 {
            let (start, end) = (mark - before, mark + 2 + after);
            spans.push(SecretSpan::new(start, end, "Azure client secret"));
        }
    }
}

/// Finds 32 hexadecimal digits followed by `-us` and a number.
fn find_mailchimp_keys(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    for mark in find_each(bytes, "-us") {
        let hex = run_back(bytes, mark, 33, |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let digits = run_length(bytes, mark + 3, 3, |byte| byte.is_ascii_digit());
        if hex == 32 && (1..=2).contains(&digits) {
            let (start, end) = (mark - hex, mark + 3 + digits);
            spans.push(SecretSpan::new(start, end, "Mailchimp key"));
        }
    }
}

/// Finds `Bearer …` and `Basic …` wherever they occur.
fn find_scheme_credentials(bytes: &[u8], spans: &mut SpanList) {
    // The first letters are left out, because they may be capitals or not.
    for (scheme, label) in [("earer ", "bearer token"), ("asic ", "credentials")] {
        spans.begin_search();
        let mut end = 0;
        for at in find_each(bytes, scheme) {
            let start = at + scheme.len();
            let is_begun = at > 0
                && matches!(bytes[at - 1], b'B' | b'b')
                && starts_word(bytes, at - 1)
                && start >= end;
            if !is_begun {
                continue;
            }
            let len = run_length(bytes, start, usize::MAX, |byte| {
                is_base64(byte) || matches!(byte, b'_' | b'-' | b'.' | b'~' | b'=')
            });
            end = start + len;
            let value = &bytes[start..end];
            // `basic` is also an ordinary word, after which only base64 has capitals.
            let has_capital = value.iter().take(64).any(u8::is_ascii_uppercase);
            if len >= 12 && is_random(value) && (has_capital || scheme == "earer ") {
                spans.push(SecretSpan::new(start, end, label));
            }
        }
    }
}

/// Finds the 40 characters near the id of an AWS key.
fn aws_secrets(bytes: &[u8], spans: &mut SpanList) {
    /// The most bytes between the id and the secret.
    const NEAR: usize = 256;
    spans.begin_search();
    let ids: Vec<usize> = spans.labelled("AWS key").map(|span| span.end).collect();
    let mut at = 0;
    for id in ids {
        // Several ids may be near each other, so what lies between them is searched only once.
        at = at.max(id);
        let end = bytes.len().min(id + NEAR);
        while at < end {
            let len = run_length(bytes, at, 128, is_base64);
            let value = &bytes[at..at + len];
            let has = |of: fn(&u8) -> bool| value.iter().any(of);
            let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
            if len == 40 && is_mixed && is_random(value) {
                spans.push(SecretSpan::new(at, at + len, "AWS secret key"));
            }
            at += len.max(1);
        }
    }
}

/// Finds hashes of passwords, `$6$salt$hash`. The name of the method stays.
fn password_hashes(bytes: &[u8], spans: &mut SpanList) {
    const METHODS: &WordList = words!(
        "1 5 6 7 y gy 2a 2b 2x 2y apr1 argon2i argon2d argon2id scrypt pbkdf2 pbkdf2-sha256 \
        pbkdf2-sha512"
    );
    spans.begin_search();
    let mut end = 0;
    for sign in memchr_iter(b'$', bytes) {
        let method = run_length(bytes, sign + 1, 14, is_url);
        let start = sign + method + 2;
        let is_method = sign >= end
            && bytes.get(start - 1) == Some(&b'$')
            && METHODS.contains(&bytes[sign + 1..sign + 1 + method]);
        if !is_method {
            continue;
        }
        let len =
            run_length(bytes, start, 512, |byte| is_base64(byte) || b"$.=,-_".contains(&byte));
        if len >= 22 && count_distinct_bytes(&bytes[start..start + len]) >= 12 {
            end = start + len;
            spans.push(SecretSpan::new(start, end, "password hash"));
        }
    }
}
