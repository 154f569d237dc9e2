//! Names as the model and people read them.

use std::borrow::Cow;
use std::fmt::Write as _;

use callgate_mask::text::one_line;

/// Returns a name or path as it is shown. One that holds a line end, invisible or deceiving
/// characters, bytes that are no UTF-8, a quote or a backslash stands in quotes and escaped
/// (`"a\nb"`, `"\xff"`), so that it can be taken for no other.
pub(super) fn shown(name: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(name) {
        Ok(text) if is_plain(text) => Cow::Borrowed(text),
        _ => Cow::Owned(escaped(name)),
    }
}

fn is_plain(text: &str) -> bool {
    let is_clear = |c: char| !c.is_control() && c != '"' && c != '\\';
    !text.is_empty() && text.chars().all(is_clear) && one_line(text) == text
}

fn escaped(name: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                // A single character may be fine and yet deceive beside others.
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
