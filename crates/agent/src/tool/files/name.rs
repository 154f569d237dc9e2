//! File names in a form that is safe to show to the model and to people.

use std::borrow::Cow;
use std::fmt::Write as _;

use callgate_mask::text::one_line;

/// Returns a name or path in a form that is safe to show. One that contains a line end, invisible
/// or deceptive characters, bytes that are not UTF-8, a quote or a backslash is quoted and escaped
/// (`"a\nb"`, `"\xff"`), so that no two names look the same.
pub(super) fn shown_name(name: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(name) {
        Ok(text) if is_plain(text) => Cow::Borrowed(text),
        _ => Cow::Owned(escaped_name(name)),
    }
}

fn is_plain(text: &str) -> bool {
    let is_clear = |c: char| !c.is_control() && c != '"' && c != '\\';
    !text.is_empty() && text.chars().all(is_clear) && one_line(text) == text
}

fn escaped_name(name: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                // A single character may be harmless and still deceive beside others.
                ' '..='~' if c != '\\' => out.push(c),
                _ if c.is_alphanumeric() && is_plain(c.encode_utf8(&mut [0; 4])) => out.push(c),
                _ => out.extend(c.escape_default()),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}
