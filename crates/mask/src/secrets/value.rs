//! Parses the value that follows a name: one word, quoted or not.

use memchr::memchr;

use super::candidate::{is_operator, is_random};
use super::quotes::{OpenQuotes, QuoteTracker};

/// The longest quoted value, in bytes. A longer one ends at its first blank.
const LONGEST_QUOTED: usize = 8 * 1024;

/// The most pieces of one word, as in `"a"'b'c`.
const MOST_PIECES: usize = 16;

/// The most backslashes before a quote that are interpreted.
const MOST_BACKSLASHES: usize = 8;

/// The position of a value without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueRange {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_quoted: bool,
}

/// Returns the value that begins at `from`, where there is no blank. `None` when it is empty.
pub(super) fn find_value(
    bytes: &[u8],
    from: usize,
    quotes: &mut QuoteTracker,
) -> Option<ValueRange> {
    let start = from + string_prefix(&bytes[from..]);
    let (slashes, quote) = opening_quote(&bytes[start..]);
    let open = quotes.open_at(from);
    let value = match quote {
        Some(quote) => quoted_value(bytes, start, QuoteMark { slashes, quote }, open),
        None => Some(bare_value(bytes, from, open, &mut quotes.word)),
    };
    value.filter(|value| value.start < value.end)
}

/// Returns the length of a prefix such as in `f"…"` or `$'…'`.
fn string_prefix(bytes: &[u8]) -> usize {
    let letters = bytes.iter().take(2).take_while(|byte| b"fFbBrRuU$@".contains(byte)).count();
    let is_quote = |at: usize| matches!(bytes.get(at), Some(b'"' | b'\''));
    (1..=letters).find(|at| is_quote(*at)).unwrap_or(0)
}

/// Returns the backslashes and the quote with which a value begins.
fn opening_quote(bytes: &[u8]) -> (usize, Option<u8>) {
    let slashes = bytes.iter().take(MOST_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    (slashes, bytes.get(slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'')))
}

#[derive(Clone, Copy)]
struct QuoteMark {
    slashes: usize,
    quote: u8,
}

fn quoted_value(
    bytes: &[u8],
    at: usize,
    mark: QuoteMark,
    (text, line): (OpenQuotes, OpenQuotes),
) -> Option<ValueRange> {
    let is_escaped = mark.slashes > 0;
    let closes = |open: OpenQuotes| open.closes(mark.quote, is_escaped);
    // By both readings the quote ends what is open, so that no value begins with it.
    if closes(text) && closes(line) {
        return None;
    }
    // Where the two readings differ, what follows might run, and must not be hidden.
    let is_sure = text == line && !(is_escaped && text.outer.is_none());
    let start = at + mark.slashes + 1;
    let Some(end) = find_closing_quote(bytes, start, mark) else {
        return Some(unclosed_word(bytes, start));
    };
    let end = if is_sure { end } else { careful_end(bytes, start, end) };
    // A quoted text may continue: "a""b" is one word.
    let is_one =
        is_sure && text.outer.is_none() && !is_escaped && bytes.get(end) == Some(&mark.quote);
    let end = if is_one { end_of_pieces(bytes, end + 1).unwrap_or(end) } else { end };
    Some(ValueRange { start, end, is_quoted: true })
}

/// Returns the first whole word of an unclosed quotation.
fn unclosed_word(bytes: &[u8], start: usize) -> ValueRange {
    let len = bytes[start..].iter().take_while(|byte| !stops_bare(**byte)).count();
    ValueRange { start, end: start + len, is_quoted: false }
}

fn find_closing_quote(bytes: &[u8], start: usize, mark: QuoteMark) -> Option<usize> {
    let window = &bytes[start..bytes.len().min(start + LONGEST_QUOTED)];
    let mut from = 0;
    while let Some(found) = memchr(mark.quote, &window[from..]) {
        let at = from + found;
        let slashes = window[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        let is_shell_single = mark.quote == b'\'' && mark.slashes == 0;
        let closes = match mark.slashes {
            0 => is_shell_single || slashes % 2 == 0,
            // Fewer backslashes close the quotation around this one.
            wanted => slashes <= wanted,
        };
        if closes {
            let before = if mark.slashes == 0 { 0 } else { slashes };
            return Some(start + at - before);
        }
        from = at + 1;
    }
    None
}

/// Returns where to stop if it is uncertain whether the value is quoted: before what a shell might
/// run.
fn careful_end(bytes: &[u8], start: usize, end: usize) -> usize {
    let is_danger = |byte: &u8| is_operator(*byte) || *byte == b'\n';
    bytes[start..end].iter().position(is_danger).map_or(end, |at| start + at)
}

/// Returns true for a byte that ends a value without quotes.
fn stops_bare(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'') || is_operator(byte)
}

fn bare_value(
    bytes: &[u8],
    start: usize,
    (text, line): (OpenQuotes, OpenQuotes),
    last: &mut (usize, usize),
) -> ValueRange {
    /// The length from which a word is remembered, so that it is not scanned again from inside.
    const LONG: usize = 256;
    let is_open = text != line || text.outer.is_some();
    if last.0 <= start && start < last.1 {
        return ValueRange { start, end: last.1, is_quoted: false };
    }
    let mut end = bare_end(bytes, start, is_open);
    if end - start > LONG {
        *last = (start, end);
    }
    if !is_open && matches!(bytes.get(end), Some(b'"' | b'\'')) && end > start {
        end = end_of_pieces(bytes, end).unwrap_or(end);
    }
    let trailing = bytes[start..end].iter().rev().take_while(|byte| **byte == b',').count();
    ValueRange { start, end: end - trailing, is_quoted: false }
}

/// Returns where a word without quotes ends. Inside a quotation a backslash escapes the quote or
/// a line end; outside, it keeps the next character in the word.
fn bare_end(bytes: &[u8], start: usize, is_open: bool) -> usize {
    let mut at = start;
    let mut braces = 0_usize;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => match bytes.get(at + 1) {
                Some(b'"' | b'\'' | b'\n' | b'\r') | None => return at,
                // Within quotes this is a line end or a tab.
                Some(b'n' | b'r' | b't') if is_open => return at,
                Some(next) if !is_open && !next.is_ascii_alphanumeric() && next.is_ascii() => {
                    at += 2;
                }
                Some(_) => at += 1,
            },
            b'$' if bytes.get(at + 1) == Some(&b'{') => at += variable_length(&bytes[at..]),
            b'{' | b'[' => (at, braces) = (at + 1, braces + 1),
            // It closes something around the value, such as an object or a list.
            b'}' | b']' if braces == 0 => return at,
            b'}' | b']' => (at, braces) = (at + 1, braces - 1),
            b',' if bytes.get(at + 1).is_none_or(|next| stops_bare(*next)) => return at,
            _ if is_operator(byte) => match random_tail(bytes, at + 1) {
                Some(end) => at = end,
                None => return at,
            },
            _ if stops_bare(byte) => return at,
            _ => at += 1,
        }
    }
    at
}

/// Returns the length of `${…}`, which may contain blanks, or of `$` alone.
fn variable_length(bytes: &[u8]) -> usize {
    const LONGEST: usize = 256;
    let window = &bytes[..bytes.len().min(LONGEST)];
    let line = &window[..memchr(b'\n', window).unwrap_or(window.len())];
    memchr(b'}', line).map_or(1, |end| end + 1)
}

/// Returns the end of a password that continues after a `&` or `;`. What follows one counts as part
/// of the password if no command could have such a name.
fn random_tail(bytes: &[u8], from: usize) -> Option<usize> {
    const LONGEST_TAIL: usize = 128;
    let is_tail = |byte: &&u8| byte.is_ascii_alphanumeric() || b"!@#%^*_+=?~-".contains(byte);
    let len = bytes[from..].iter().take(LONGEST_TAIL).take_while(is_tail).count();
    let tail = &bytes[from..from + len];
    let has = |of: fn(&u8) -> bool| tail.iter().any(of);
    let is_mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    (len >= 6 && is_mixed && is_random(tail)).then_some(from + len)
}

/// Returns where a word ends that continues at `from` with quoted or bare pieces; `None` if it does
/// not.
fn end_of_pieces(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut end = None;
    for _ in 0..MOST_PIECES {
        match bytes.get(at) {
            Some(&quote @ (b'"' | b'\'')) => {
                let close = find_closing_quote(bytes, at + 1, QuoteMark { slashes: 0, quote })?;
                end = Some(close);
                at = close + 1;
            }
            Some(byte) if !stops_bare(*byte) && !b",}]\\:.+[".contains(byte) => {
                at = bare_end(bytes, at, false);
                end = Some(at);
            }
            _ => break,
        }
    }
    end
}
