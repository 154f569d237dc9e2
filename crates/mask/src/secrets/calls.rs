//! Secrets in the calls of programming languages: `setPassword("…")`, `getenv('API_KEY', '…')`,
//! `HTTPBasicAuth('user', '…')`.
//!
//! Only literals of one word that look random are hidden.

use crate::word_list::WordList;
use crate::words;
use memchr::{memchr_iter, memmem};

use super::candidate::{is_more_than_a_word, is_random, is_reference, runs_something};
use super::names::{NameRole, NameStrength, role_of_name};
use super::occurrences::find_each;
use super::span::{SecretSpan, SpanList};

const LABEL: &str = "password";

/// Functions whose last argument is a password.
const LOGINS: &WordList = words!(
    "auth authenticate basicAuth basic_auth getConnection login logIn mysqli mysqli_connect \
    HTTPBasicAuth HTTPDigestAuth NetworkCredential PDO PasswordAuthentication SetBasicAuth \
    UsernamePasswordCredentials UsernamePasswordToken"
);

/// The most arguments of a call that are examined, and the longest of them, in bytes. A call may
/// begin at every parenthesis of a text.
const MOST_ARGUMENTS: usize = 6;
const LONGEST_ARGUMENT: usize = 256;

pub(super) fn find_call_secrets(bytes: &[u8], spans: &mut SpanList) {
    spans.begin_search();
    for open in memchr_iter(b'(', bytes) {
        examine_call(bytes, open, spans);
    }
    spans.begin_search();
    for at in find_each(bytes, "process.env.") {
        examine_fallback(bytes, at + "process.env.".len(), spans);
    }
}

fn examine_call(bytes: &[u8], open: usize, spans: &mut SpanList) {
    let end = if bytes[..open].ends_with(b"=") { open - 1 } else { open };
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    // Bounded, because a text may have a parenthesis after each of many names.
    let len = bytes[..end].iter().rev().take(64).take_while(is_name).count();
    let name = &bytes[end - len..end];
    if name.is_empty() || matches!(bytes.get(open + 1), None | Some(b')')) {
        return;
    }
    let literals = Literals::parse_arguments(bytes, open + 1);
    let found = match (literals.first(), literals.last()) {
        (None, None) => None,
        // A single argument may be the user or an address.
        (_, last) if literals.count > 1 && LOGINS.contains(name) => last,
        (Some(first), _) if may_be_secret(bytes, first) && means_secret(name) => Some(first),
        (Some((start, end)), Some(second))
            if may_be_secret(bytes, literals.all[1].unwrap_or(second))
                && means_secret(&bytes[start..end]) =>
        {
            literals.all[1]
        }
        _ => None,
    };
    if let Some((start, end)) = found {
        hide_literal(bytes, start, end, spans);
    }
}

/// Examines `process.env.NAME || 'secret'`, whose name begins at `at`.
fn examine_fallback(bytes: &[u8], at: usize, spans: &mut SpanList) {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let end = at + bytes[at..].iter().take(64).take_while(is_name).count();
    let is_fallback = [&b" || "[..], b" ?? "].iter().any(|sign| bytes[end..].starts_with(sign));
    if is_fallback
        && means_secret(&bytes[at..end])
        && let Some((start, end)) = Literals::parse_arguments(bytes, end + 4).first()
    {
        hide_literal(bytes, start, end, spans);
    }
}

fn means_secret(name: &[u8]) -> bool {
    let is_strong =
        |level: NameStrength| matches!(level, NameStrength::Strong | NameStrength::Token);
    matches!(role_of_name(name), Some(NameRole::Secret(level)) if is_strong(level))
}

/// Returns true if a literal looks random. Names are looked up only beside such a literal.
fn may_be_secret(bytes: &[u8], (start, end): (usize, usize)) -> bool {
    is_random(&bytes[start..end])
}

fn hide_literal(bytes: &[u8], start: usize, end: usize, spans: &mut SpanList) {
    let value = &bytes[start..end];
    let is_shown = !may_be_secret(bytes, (start, end))
        || is_reference(value)
        || runs_something(value)
        || is_more_than_a_word(value)
        || memmem::find(value, b"://").is_some();
    if !is_shown {
        spans.push(SecretSpan::new(start, end, LABEL));
    }
}

/// The arguments of a call; `None` for those that are not literals.
struct Literals {
    all: [Option<(usize, usize)>; MOST_ARGUMENTS],
    count: usize,
}

impl Literals {
    fn parse_arguments(bytes: &[u8], from: usize) -> Self {
        let mut literals = Self { all: [None; MOST_ARGUMENTS], count: 0 };
        let mut at = from;
        while literals.count < MOST_ARGUMENTS {
            // In a string of JSON or of another program the quotes have backslashes before them.
            let is_before = |byte: &&u8| matches!(byte, b' ' | b'\\');
            at += bytes[at..].iter().take(8).take_while(is_before).count();
            let window = &bytes[at..bytes.len().min(at + LONGEST_ARGUMENT)];
            let quote = window.first().filter(|byte| matches!(byte, b'"' | b'\''));
            let is_end = |byte: &u8| match quote {
                Some(quote) => matches!(byte, b'\n' | b'\\') || byte == quote,
                None => matches!(byte, b',' | b')' | b'(' | b'\n' | b'"' | b'\''),
            };
            let skipped = usize::from(quote.is_some());
            let Some(len) = window.iter().skip(skipped).position(is_end) else { break };
            if quote.is_some() {
                literals.all[literals.count] = Some((at + 1, at + 1 + len));
            }
            literals.count += 1;
            let is_after = |byte: &&u8| matches!(byte, b' ' | b'\\' | b'"' | b'\'');
            at += skipped + len;
            at += bytes[at..].iter().take(8).take_while(is_after).count();
            if bytes.get(at) != Some(&b',') {
                break;
            }
            at += 1;
        }
        literals
    }

    fn first(&self) -> Option<(usize, usize)> {
        self.all[0]
    }

    fn last(&self) -> Option<(usize, usize)> {
        self.all[self.count.checked_sub(1)?]
    }
}
