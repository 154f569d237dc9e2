//! The headers whose values have a format of their own: `Authorization` and `Cookie`.

use super::candidate::{is_operator, is_reference, runs_something};
use super::span::{SecretSpan, SpanList};
use crate::word_list::WordList;
use crate::words;

/// Hides the credentials in `Authorization: Scheme credentials`, or credentials alone. The scheme
/// stays.
pub(super) fn hide_authorization(bytes: &[u8], from: usize, spans: &mut SpanList) -> Option<usize> {
    let start = from + count_quotes(bytes, from);
    let scheme = word_length(bytes, start);
    let blanks = bytes[start + scheme..].iter().take(8).take_while(|byte| **byte == b' ').count();
    let next = start + scheme + blanks;
    let credentials = word_length(bytes, next);
    let is_scheme = bytes[start..start + scheme]
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_'));
    // A key without a scheme may consist of letters only, but then it is long.
    if is_scheme && blanks > 0 && credentials > 0 && scheme < 24 {
        let is_known = SCHEMES.contains_in_any_case(&bytes[start..start + scheme]);
        let is_prose = !is_known && is_prose(&bytes[next..next + credentials]);
        return (!is_prose).then(|| hide_credentials(bytes, next, credentials, spans)).flatten();
    }
    // A word of prose is not a key.
    let is_key = scheme >= 8 && !(is_scheme && scheme < 16);
    is_key.then(|| hide_credentials(bytes, start, scheme, spans)).flatten()
}

fn hide_credentials(bytes: &[u8], start: usize, len: usize, spans: &mut SpanList) -> Option<usize> {
    let value = &bytes[start..start + len];
    let is_shown = is_reference(value) || runs_something(value);
    (!is_shown).then(|| {
        spans.push(SecretSpan::new(start, start + len, "credentials"));
        start + len
    })
}

/// The schemes after which everything is a secret.
const SCHEMES: &WordList = words!("bearer basic token digest apikey key negotiate");

fn is_prose(value: &[u8]) -> bool {
    value.len() < 4 || value.len() < 12 && value.iter().all(u8::is_ascii_lowercase)
}

/// Returns how many quotes and backslashes precede a value.
fn count_quotes(bytes: &[u8], from: usize) -> usize {
    let is_quote = |byte: &&u8| matches!(byte, b'"' | b'\'' | b'\\');
    bytes.get(from..).unwrap_or_default().iter().take(8).take_while(is_quote).count()
}

/// Returns the length of the word at `from`, as a shell would split it.
fn word_length(bytes: &[u8], from: usize) -> usize {
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace() || is_operator(*byte) || matches!(byte, b'"' | b'\'' | b'\\')
    };
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().position(ends).unwrap_or(rest.len())
}

/// Hides the values in `Cookie: a=b; c=d` one by one. What follows a `;` and is not `name=value`
/// would run in a shell, so it stays.
pub(super) fn hide_cookies(bytes: &[u8], from: usize, spans: &mut SpanList) -> Option<usize> {
    let mut at = from + count_quotes(bytes, from);
    let mut end = None;
    loop {
        let is_name =
            |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.!#$%*+^|~@[]".contains(byte);
        let name = bytes.get(at..)?.iter().take(128).take_while(is_name).count();
        let is_attribute = is_cookie_attribute(&bytes[at..at + name]);
        let has_value = name > 0 && bytes.get(at + name) == Some(&b'=');
        if !(has_value || is_attribute && end.is_some()) {
            return end;
        }
        let start = at + name + usize::from(has_value);
        let len = word_length(bytes, start);
        let value = &bytes[start..start + len];
        if has_value && len > 0 && !is_attribute && !is_reference(value) && !runs_something(value) {
            spans.push(SecretSpan::new(start, start + len, "cookie"));
        }
        end = Some(start + len);
        let rest = &bytes[start + len..];
        if !rest.starts_with(b";") {
            return end;
        }
        at = start + len + 1 + rest[1..].iter().take(2).take_while(|byte| **byte == b' ').count();
    }
}

/// Returns true for an attribute of `Set-Cookie`; none of them is secret.
fn is_cookie_attribute(name: &[u8]) -> bool {
    const ATTRIBUTES: &WordList =
        words!("path domain expires max-age samesite secure httponly priority partitioned");
    ATTRIBUTES.contains_in_any_case(name)
}
