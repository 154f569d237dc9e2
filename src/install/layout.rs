//! The layout of a JSON text, so that additions look like the rest.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::agents::hooks::FoundHooks;
use crate::agents::json::{is_blank, without_comments};

/// The line ends and the indentation of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonLayout<'a> {
    newline: &'static str,
    /// One step of indentation.
    step: &'a str,
    /// Whether the text has more than one line.
    has_lines: bool,
}

impl<'a> JsonLayout<'a> {
    /// Detects the layout of a text.
    pub(crate) fn from_text(text: &'a str, found: &FoundHooks) -> Self {
        let root = &text[found.root.clone()];
        // An empty object gets lines of its own, because that is how people write settings.
        let has_lines = root.contains('\n') || found.members.is_empty();
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = found.members.first().and_then(|first| indentation_before(text, first.start));
        Self { newline, step: first.unwrap_or("  "), has_lines }
    }

    /// Inserts a new last child into the object or list at `container`.
    pub(crate) fn insert_child(
        &self,
        text: &str,
        container: &Range<usize>,
        children: &[Range<usize>],
        name: Option<&str>,
        value: &Value,
    ) -> String {
        let new = |indentation: Option<&str>| self.render(name, value, indentation);
        let (at, added) = match children.last() {
            Some(last) => {
                let added = match indentation_before(text, last.start) {
                    Some(own) => format!(",{}{own}{}", self.newline, new(Some(own))),
                    None => format!(",{}{}", blanks_before(text, last.start), new(None)),
                };
                (last.end..last.end, added)
            }
            None if !is_empty(text, container) => {
                // Comments stay before it.
                let outer = indentation_of_line(text, container.start);
                let inner = format!("{outer}{}", self.step);
                let inside = inner_range(container);
                let end = inside.start + text[inside].trim_end_matches(is_blank).len();
                (end..end, format!("{}{inner}{}", self.newline, new(Some(&inner))))
            }
            None if self.has_lines => {
                let outer = indentation_of_line(text, container.start);
                let inner = format!("{outer}{}", self.step);
                let newline = self.newline;
                let added = format!("{newline}{inner}{}{newline}{outer}", new(Some(&inner)));
                (inner_range(container), added)
            }
            None => (inner_range(container), new(None)),
        };
        format!("{}{added}{}", &text[..at.start], &text[at.end..])
    }

    pub(crate) fn insert_before(&self, text: &str, first: &Range<usize>, value: &Value) -> String {
        let (start, own) = (first.start, indentation_before(text, first.start));
        let gap = own.map_or(" ".to_owned(), |own| format!("{}{own}", self.newline));
        format!("{}{},{gap}{}", &text[..start], self.render(None, value, own), &text[start..])
    }

    /// Returns the text of an object that takes the place of the one at `at`, indented as its
    /// members are.
    pub(crate) fn replacement(
        &self,
        text: &str,
        at: &Range<usize>,
        members: &[Range<usize>],
        value: &Value,
    ) -> String {
        let own = indentation_before(text, at.start);
        let inner = members.first().and_then(|first| indentation_before(text, first.start));
        let step = own.zip(inner).and_then(|(own, inner)| inner.strip_prefix(own));
        let step = step.unwrap_or(self.step);
        JsonLayout { step, ..*self }.render(None, value, own)
    }

    /// Returns the text of a member or an item, on lines of its own if there is an indentation.
    fn render(&self, name: Option<&str>, value: &Value, indentation: Option<&str>) -> String {
        let name = name.map(|name| Value::from(name).to_string());
        let Some(indentation) = indentation else {
            return name.map_or_else(|| value.to_string(), |name| format!("{name}:{value}"));
        };
        let lines = pretty_json(value, self.step);
        let lines = lines.replace('\n', &format!("{}{indentation}", self.newline));
        name.map_or_else(|| lines.clone(), |name| format!("{name}: {lines}"))
    }
}

/// Removes a child from the object or list at `container`. Comments around it stay.
pub(crate) fn remove_child(
    text: &str,
    container: &Range<usize>,
    children: &[Range<usize>],
    at: usize,
) -> String {
    let cut = removal_range(container, children, at);
    let kept = comments_between(&text[cut.start..children[at].start.max(cut.start)])
        + &comments_between(&text[children[at].end.min(cut.end)..cut.end]);
    format!("{}{kept}{}", &text[..cut.start], &text[cut.end..])
}

/// Returns the text between two children without its comma, if there is a comment in it.
fn comments_between(between: &str) -> String {
    let plain = without_comments(between);
    if plain == between {
        return String::new();
    }
    let comma = plain.find(',').map_or(0..0, |at| at..at + 1);
    format!("{}{}", &between[..comma.start], &between[comma.end..])
}

/// Returns what has to be cut out to remove a child from the object or list at `container`.
pub(crate) fn removal_range(
    container: &Range<usize>,
    children: &[Range<usize>],
    at: usize,
) -> Range<usize> {
    match (at.checked_sub(1).map(|before| &children[before]), children.get(at + 1)) {
        // The comma goes, too: the one behind the child, or the one before it if it is the last.
        (_, Some(next)) => children[at].start..next.start,
        (Some(before), None) => before.end..children[at].end,
        (None, None) => inner_range(container),
    }
}

/// Returns true if there is nothing in the object or list, not even a comment.
fn is_empty(text: &str, container: &Range<usize>) -> bool {
    text[inner_range(container)].trim_matches(is_blank).is_empty()
}

fn inner_range(container: &Range<usize>) -> Range<usize> {
    container.start + 1..container.end - 1
}

fn blanks_before(text: &str, at: usize) -> &str {
    let before = &text[..at];
    &before[before.trim_end_matches(is_blank).len()..]
}

/// Returns the blanks between the start of the line and `at`, if there is nothing else.
fn indentation_before(text: &str, at: usize) -> Option<&str> {
    let blanks = blanks_before(text, at);
    blanks.rfind('\n').map(|newline| &blanks[newline + 1..])
}

fn indentation_of_line(text: &str, at: usize) -> &str {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    &line[..line.len() - line.trim_start_matches(is_blank).len()]
}

fn pretty_json(value: &Value, step: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(step.as_bytes());
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    match (written, String::from_utf8(bytes)) {
        (Ok(()), Ok(text)) => text,
        // A value can always be written, and is UTF-8.
        _ => value.to_string(),
    }
}
