//! Finds values in a JSON text, so that it can be edited in place.
//!
//! The text is known to be JSON ([`check_syntax`]). Each function goes one level down, so that no
//! nesting is too deep.

use std::borrow::Cow;
use std::ops::Range;

use callgate_wire::raw::{Json, Members};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonMember {
    /// The name; one that is not valid Unicode is left escaped.
    pub(crate) name: String,
    /// From the name to the end of the value.
    pub(crate) whole: Range<usize>,
    pub(crate) value: Range<usize>,
}

pub(crate) fn check_syntax(text: &str) -> Result<Range<usize>, serde_json::Error> {
    serde_json::from_str::<IgnoredAny>(text)?;
    Ok(place_in(text, text.trim_matches(is_blank)))
}

/// Returns the text with a blank in place of each byte of its comments.
pub(crate) fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => string_end(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            first => first.len_utf8(),
        };
        let (part, after) = rest.split_at(end);
        if first == '/' && part.len() > 1 {
            // Line ends stay, so that errors name the right line.
            plain.extend(part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            plain.push_str(part);
        }
        rest = after;
    }
    plain
}

fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    let mut is_end = |byte: u8| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    };
    text.bytes().skip(1).position(&mut is_end).map_or(text.len(), |at| at + 2)
}

/// Returns the members of the object at `object`. Any other value has none.
pub(crate) fn object_members(text: &str, object: &Range<usize>) -> Vec<JsonMember> {
    let Members(members) = Members::from_text(&text[object.clone()]).unwrap_or_default();
    let mut end = object.start;
    let member = |(name, value): (Cow<'_, str>, Json<'_>)| {
        let value = place_in(text, value.get());
        // Between two members there are only blanks and a comma.
        let start = end + text[end..].find('"').unwrap_or_default();
        end = value.end;
        JsonMember { name: name.into_owned(), whole: start..end, value }
    };
    members.into_iter().map(member).collect()
}

/// Returns the items of the array at `array`. Any other value has none.
pub(crate) fn array_items(text: &str, array: &Range<usize>) -> Vec<Range<usize>> {
    let items: Vec<&RawValue> = serde_json::from_str(&text[array.clone()]).unwrap_or_default();
    items.into_iter().map(|item| place_in(text, item.get())).collect()
}

/// Returns true if the value at `at` begins with this character.
pub(crate) fn has_first_char(text: &str, at: &Range<usize>, first: char) -> bool {
    text[at.clone()].starts_with(first)
}

pub(crate) fn decode_value<T: DeserializeOwned>(text: &str, at: &Range<usize>) -> Option<T> {
    serde_json::from_str(&text[at.clone()]).ok()
}

/// Returns true for white space as JSON defines it, which is less than Unicode's.
pub(crate) fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

/// Returns where `part`, a slice of `text`, is in it.
fn place_in(text: &str, part: &str) -> Range<usize> {
    // `RawValue` borrows from the text, so the address of a part says where it is without a parser
    // of our own.
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests;
