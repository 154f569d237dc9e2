//! Finds values in a JSON text, so that it can be edited in place.
//!
//! The text is known to be JSON ([`check`]). Each function goes one level down and does not
//! recurse, so that no nesting is too deep.

use std::ops::Range;

use serde::de::IgnoredAny;

/// A member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonMember {
    /// The name; `None` if it is not valid Unicode.
    pub(crate) name: Option<String>,
    /// From the name to the end of the value.
    pub(crate) whole: Range<usize>,
    /// Its value.
    pub(crate) value: Range<usize>,
}

/// Checks that `text` is JSON and returns where its value is.
pub(crate) fn check(text: &str) -> Result<Range<usize>, serde_json::Error> {
    serde_json::from_str::<IgnoredAny>(text)?;
    let start = skip_blanks(text, 0);
    Ok(start..text.trim_end_matches(is_blank).len())
}

/// Returns the members of the object at `object`. Any other value has none.
pub(crate) fn members(text: &str, object: &Range<usize>) -> Vec<JsonMember> {
    let member = |key: Range<usize>| {
        let colon = skip_blanks(text, key.end);
        let value = value_at(text, skip_blanks(text, colon + 1));
        let name = serde_json::from_str(&text[key.clone()]).ok();
        JsonMember { name, whole: key.start..value.end, value }
    };
    children(text, object, '{', |at| {
        let member = member(value_at(text, at));
        (member.whole.end, member)
    })
}

/// Returns the items of the array at `array`. Any other value has none.
pub(crate) fn items(text: &str, array: &Range<usize>) -> Vec<Range<usize>> {
    children(text, array, '[', |at| {
        let item = value_at(text, at);
        (item.end, item)
    })
}

/// Returns true if the value at `at` begins with this character.
pub(crate) fn is(text: &str, at: &Range<usize>, first: char) -> bool {
    text[at.clone()].starts_with(first)
}

/// Returns the string at `at`, decoded.
pub(crate) fn string(text: &str, at: &Range<usize>) -> Option<String> {
    serde_json::from_str(&text[at.clone()]).ok()
}

/// Returns true for white space as JSON defines it, which is less than Unicode's.
pub(crate) fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

fn children<T>(
    text: &str,
    container: &Range<usize>,
    open: char,
    child: impl Fn(usize) -> (usize, T),
) -> Vec<T> {
    let mut found = Vec::new();
    if !is(text, container, open) {
        return found;
    }
    let mut at = skip_blanks(text, container.start + 1);
    while at + 1 < container.end {
        let (end, child) = child(at);
        found.push(child);
        // A comma, or the closing bracket.
        at = skip_blanks(text, skip_blanks(text, end) + 1);
    }
    found
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    text.len() - rest.trim_start_matches(is_blank).len()
}

fn value_at(text: &str, start: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b':' | b',' | b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            _ => at = scalar_end(bytes, at),
        }
        if depth == 0 {
            break;
        }
    }
    start..at
}

fn string_end(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the end of a number, `true`, `false` or `null`.
fn scalar_end(bytes: &[u8], start: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
    bytes[start..].iter().position(is_end).map_or(bytes.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_items_are_found_where_they_stand() {
        let text = " {\"a\" : [1, \"]\\\"\" ,{}], \"b\\u0063\":true,\"\\ud800\":-1e5 } ";
        let root = check(text).unwrap();
        assert_eq!(&text[root.clone()], text.trim());
        let found = members(text, &root);
        let names: Vec<Option<&str>> = found.iter().map(|m| m.name.as_deref()).collect();
        assert_eq!(names, [Some("a"), Some("bc"), None]);
        let values: Vec<&str> = found.iter().map(|m| &text[m.value.clone()]).collect();
        assert_eq!(values, ["[1, \"]\\\"\" ,{}]", "true", "-1e5"]);
        assert_eq!(&text[found[0].whole.clone()], "\"a\" : [1, \"]\\\"\" ,{}]");
        let list: Vec<&str> =
            items(text, &found[0].value).into_iter().map(|item| &text[item]).collect();
        assert_eq!(list, ["1", "\"]\\\"\"", "{}"]);
    }

    #[test]
    fn empty_and_other_values_have_no_children() {
        for text in ["{}", "[ ]", "{\n}", "3", "\"{1}\"", "null"] {
            let root = check(text).unwrap();
            assert!(members(text, &root).is_empty() && items(text, &root).is_empty(), "{text}");
        }
    }

    #[test]
    fn comments_trailing_commas_and_cut_text_are_no_json() {
        for text in ["", "{", "{} {}", "{\"a\":1,}", "{/* no */}", "// no\n{}", "\u{feff}{}"] {
            check(text).unwrap_err();
        }
    }

    #[test]
    fn no_depth_is_too_much() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
        let root = check(&deep).unwrap();
        assert_eq!(members(&deep, &root)[0].value.len(), 400_001);
    }
}
