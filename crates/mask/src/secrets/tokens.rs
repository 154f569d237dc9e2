//! Tokens that are recognised by their prefixes.

mod table;

pub(super) use self::table::TOKENS;
use self::table::{INDEX, PAIRS};
use super::candidate::count_distinct_bytes;
use super::span::{SecretSpan, SpanList};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenBody {
    Alnum,
    /// Letters, digits, `_` and `-`.
    Url,
    /// The same and `.`.
    Dotted,
    /// The same and `/`, `%`, `+` and `=`.
    Path,
    Hex,
    /// Capitals and digits.
    Upper,
}

impl TokenBody {
    fn allows_byte(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => Self::Url.allows_byte(byte) || byte == b'.',
            Self::Path => {
                Self::Dotted.allows_byte(byte) || matches!(byte, b'/' | b'%' | b'+' | b'=')
            }
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

pub(super) struct TokenPattern {
    pub(super) prefixes: &'static str,
    pub(super) label: &'static str,
    pub(super) body: TokenBody,
    pub(super) least: usize,
    most: usize,
    /// Whether the prefix is so short that it must begin a word and its body must have a digit
    /// and many different letters.
    is_strict: bool,
    /// Whether the prefix is an address that may be shown.
    pub(super) keeps_prefix: bool,
}

/// How many bytes of a token are examined to distinguish it from a word.
const HEAD: usize = 64;

/// The most quotes inside one token.
const MOST_JOINS: usize = 64;

pub(super) fn find_prefixed_tokens(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    let mut at = 0;
    while at + 1 < bytes.len() {
        // Nearly all places begin no token, so two bytes are first looked up in a table of bits.
        let pair = usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
        let is_start = PAIRS[pair >> 6] >> (pair & 63) & 1 == 1;
        match is_start.then(|| token_at(bytes, at)).flatten() {
            Some(span) => {
                at = span.end;
                spans.push(span);
            }
            None => at += 1,
        }
    }
}

fn token_at(bytes: &[u8], at: usize) -> Option<SecretSpan> {
    let first = usize::from(bytes[at]);
    // Only the patterns with this first byte are tried; longer prefixes come before shorter ones.
    let candidates = &TOKENS[usize::from(INDEX[first])..usize::from(INDEX[first + 1])];
    candidates.iter().find_map(|token| {
        if token.is_strict && !starts_word(bytes, at) {
            return None;
        }
        let rest = &bytes[at..];
        let begins = |prefix: &&str| rest.starts_with(prefix.as_bytes());
        let from = at + token.prefixes.split(' ').find(begins)?.len();
        let end = body_end(bytes, from, token)?;
        let start = if token.keeps_prefix { from } else { at };
        Some(SecretSpan::new(start, end, token.label))
    })
}

/// Returns true if a word begins at `at`: also after an escape such as `\n` or `%20`.
pub(super) fn starts_word(bytes: &[u8], at: usize) -> bool {
    let back = |by: usize| at.checked_sub(by).map(|place| bytes[place]);
    let Some(before) = back(1) else { return true };
    if !(before.is_ascii_alphanumeric() || matches!(before, b'_' | b'-')) {
        return true;
    }
    back(2) == Some(b'\\') || (back(3) == Some(b'%') && before.is_ascii_hexdigit())
}

fn body_end(bytes: &[u8], from: usize, token: &TokenPattern) -> Option<usize> {
    let mut head = [0; HEAD];
    let mut len = 0;
    let mut at = from;
    let mut end = from;
    let mut joins = 0;
    loop {
        match bytes.get(at) {
            Some(&byte) if token.body.allows_byte(byte) => {
                if len < HEAD {
                    head[len] = byte;
                }
                len += 1;
                at += 1;
                end = at;
                // A long run that is not a token must not be scanned again from each of its bytes.
                if len == HEAD && !is_varied(&head, token) {
                    return None;
                }
            }
            _ => {
                joins += 1;
                match continuation_start(bytes, at, len < token.least, token.body) {
                    Some(next) if joins <= MOST_JOINS && len > 0 => at = next,
                    _ => break,
                }
            }
        }
    }
    // A dot at the end is not part of a token, because it ends a sentence.
    while end > from && bytes[end - 1] == b'.' {
        end -= 1;
        len -= 1;
    }
    let is_long = (token.least..=token.most).contains(&len);
    (is_long && is_varied(&head[..len.min(HEAD)], token)).then_some(end)
}

/// Returns true if a body is more than a word or a repetition of one letter.
fn is_varied(head: &[u8], token: &TokenPattern) -> bool {
    if !token.is_strict {
        return count_distinct_bytes(head) >= 5;
    }
    let digits = head.iter().filter(|byte| byte.is_ascii_digit()).count();
    let longest_run = head.split(|byte| matches!(byte, b'-' | b'_')).map(<[u8]>::len).max();
    // A token of a known length may have letters only.
    (digits > 0 || token.most == token.least)
        && count_distinct_bytes(head) >= 8
        && longest_run.unwrap_or(0) >= 12
}

/// Returns where a token continues that is interrupted at `at` by shell quoting (`"ghp_ab""cd"`),
/// by a continued line, or by `" + "`.
fn continuation_start(bytes: &[u8], at: usize, is_short: bool, body: TokenBody) -> Option<usize> {
    let is_quote = |byte: &&u8| matches!(byte, b'"' | b'\'');
    let goes_on =
        |next: usize| bytes.get(next).is_some_and(|byte| body.allows_byte(*byte)).then_some(next);
    let rest = &bytes[at..];
    if rest.starts_with(b"\\\n") {
        return goes_on(at + 2);
    }
    let quotes = rest.iter().take(4).take_while(is_quote).count();
    if quotes == 1 {
        let blanks = |from: usize| {
            rest[from.min(rest.len())..].iter().take(4).take_while(|byte| **byte == b' ').count()
        };
        let plus = 1 + blanks(1);
        if rest.get(plus) == Some(&b'+') {
            let quote = plus + 1 + blanks(plus + 1);
            return rest.get(quote).filter(is_quote).and_then(|_| goes_on(at + quote + 1));
        }
    }
    // A single quote ends a token, unless what precedes it is too short to be one.
    let is_pair = quotes >= 2 || (quotes == 1 && is_short);
    is_pair.then(|| goes_on(at + quotes)).flatten()
}
