//! Reads tables of TOML that are written plainly: `[[rule]]`, and lines such as `name = "text"` and
//! `command = ["one", "two"]`.
//!
//! Nearly all rules are, and the hook reads all of them before every call of a tool when no daemon
//! runs. A parser of the whole language takes several times as long; it reads whatever is written in
//! any other way.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The first lines of the tables.
const HEADERS: [&str; 2] = ["[[rule]]\n", "[[test]]\n"];

/// Returns what [`DeTable::parse`] would, or `None` if the text is not plain.
pub(super) fn parse_table(text: &str) -> Option<DeTable<'_>> {
    let header = HEADERS.into_iter().find(|header| text.starts_with(header))?;
    let mut fields = DeTable::new();
    let mut end = header.len();
    for line in text[end..].split_inclusive('\n') {
        let start = end;
        end += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        if line.is_empty() || line.starts_with('#') && is_printed(line) {
            continue;
        }
        let (key, written) = line.split_once(" = ")?;
        let value = parse_value(written, start + line.len() - written.len())?;
        let is_name = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase());
        let key = Spanned::new(start..start + key.len(), Cow::Borrowed(key));
        if !is_name || fields.insert(key, value).is_some() {
            return None;
        }
    }
    let header: Range<usize> = 0..header.len() - 1;
    let name: Range<usize> = 2..header.end - 2;
    let array = DeArray::from_iter([Spanned::new(header.clone(), DeValue::Table(fields))]);
    let mut table = DeTable::new();
    table.insert(
        Spanned::new(name.clone(), Cow::Borrowed(&text[name])),
        Spanned::new(header, DeValue::Array(array)),
    );
    Some(table)
}

/// Reads a value that begins at this byte: a string, or a list of strings.
fn parse_value(text: &str, start: usize) -> Option<Spanned<DeValue<'_>>> {
    let Some(listed) = text.strip_prefix('[') else {
        let (value, rest) = parse_string(text, start)?;
        return rest.is_empty().then_some(value);
    };
    let (mut rest, end) = (listed.strip_suffix(']')?, start + text.len());
    let mut values = DeArray::default();
    while !rest.is_empty() {
        let (value, after) = parse_string(rest, end - 1 - rest.len())?;
        values.push(value);
        let next = after.strip_prefix(", ").filter(|next| !next.is_empty());
        rest = if after.is_empty() { after } else { next? };
    }
    Some(Spanned::new(start..end, DeValue::Array(values)))
}

/// Reads a string without escapes that begins at this byte, and returns what follows it.
fn parse_string(text: &str, start: usize) -> Option<(Spanned<DeValue<'_>>, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (content, rest) = text[1..].split_once(quote)?;
    let is_plain = is_printed(content) && !(quote == '"' && content.contains('\\'));
    let value =
        Spanned::new(start..start + content.len() + 2, DeValue::String(Cow::Borrowed(content)));
    is_plain.then_some((value, rest))
}

/// Returns true if no character is a control character.
fn is_printed(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_plain_table_is_what_the_parser_reads(
            lines in prop::collection::vec(prop::sample::select(
                [
                    "name = \"a\"", "path = 'b\\'", "tool = [\"a\", 'b']", "verb = []", "host = ['é']",
                    "command = [\"a\",  'b']", "command = ['a', ]", "agent = [,]", "days = ['a',]",
                    "# note", "", " ", "#\t", "x = \"\\\"\"", "x = \"\"\"", "x = ''''", "y = \"a\" # b",
                    "z = true", "w = ''", "a-b = 'c'", "v  = 'd'", "u = 'd'\r", "local = [[]]", "t = \"\u{7f}\"",
                    "[[rule]]", "[rule.x]", "= 'e'", "s = ['f'", "r = \"g\", \"h\"", "q = ['i'], ['j']",
                ].to_vec()
            ), 0..4),
            header in prop::sample::select(["[[rule]]", "[[test]]", "[[rule]] ", "[rule]", "[[other]]", ""].to_vec()),
            end in prop::sample::select(["", "\n", "\n\n"].to_vec()),
        ) {
            let text = format!("{header}\n{}{end}", lines.join("\n"));
            if let Some(plain) = parse_table(&text) {
                let parsed = DeTable::parse(&text);
                prop_assert_eq!(format!("{:?}", Ok::<_, ()>(plain)), format!("{:?}", parsed.map(Spanned::into_inner).map_err(drop)));
            }
        }
    }

    #[test]
    fn the_starter_rules_are_plain() {
        let text = include_str!("../../../../src/rules/starter.toml");
        let parts = text.split("\n[[rule]]").skip(1);
        let (plain, other): (Vec<&str>, Vec<&str>) =
            parts.partition(|part| parse_table(&format!("[[rule]]{part}")).is_some());
        assert!(plain.len() > 4 * other.len(), "{other:#?}");
    }
}
