//! Reads tables of TOML that are written plainly: `[[rule]]`, and lines such as `name = "text"`,
//! `command = ["one", "two"]` and `arguments = { path = "text" }`.
//!
//! Nearly all rules are, and the hook reads all of them before every call of a tool when no daemon
//! runs. A parser of the whole language takes several times as long; it reads whatever is written
//! in any other way.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The first lines of the tables.
const HEADERS: [&str; 2] = ["[[rule]]\n", "[[test]]\n"];

/// Returns what [`DeTable::parse`] would, or `None` if the text is not plain.
pub(super) fn parse_table(text: &str) -> Option<DeTable<'_>> {
    let Some(header) = HEADERS.into_iter().find(|header| text.starts_with(header)) else {
        return text.lines().all(is_skipped).then(DeTable::new);
    };
    let mut fields = DeTable::new();
    let mut end = header.len();
    for line in text[end..].split_inclusive('\n') {
        let start = end;
        end += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        // What follows the value, such as a comment, is left to the general parser.
        if !is_skipped(line) && !parse_member(line, start, &mut fields)?.is_empty() {
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

/// Returns true for an empty line and a comment.
fn is_skipped(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') && is_printed(line)
}

/// Reads `key = value`, which begins at this byte, and returns what follows it.
fn parse_member<'a>(text: &'a str, start: usize, fields: &mut DeTable<'a>) -> Option<&'a str> {
    let (key, written) = text.split_once(" = ")?;
    let name = match key.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"').filter(|name| is_plain(name))?,
        None if key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') => key,
        None => return None,
    };
    let at = start + text.len() - written.len();
    let (value, rest) = match written.strip_prefix("{ ") {
        Some(members) => parse_members(members, at)?,
        None => parse_value(written, at)?,
    };
    let key = Spanned::new(start..start + key.len(), Cow::Borrowed(name));
    // A key that occurs twice is an error, which the general parser reports.
    (!name.is_empty() && fields.insert(key, value).is_none()).then_some(rest)
}

/// Reads the members of a table `{ … }` that begins at this byte, and returns what follows it.
fn parse_members(mut text: &str, start: usize) -> Option<(Spanned<DeValue<'_>>, &str)> {
    let end = start + "{ ".len() + text.len();
    let mut fields = DeTable::new();
    loop {
        let rest = parse_member(text, end - text.len(), &mut fields)?;
        match rest.strip_prefix(" }") {
            Some(rest) => {
                let span = start..end - rest.len();
                return Some((Spanned::new(span, DeValue::Table(fields)), rest));
            }
            None => text = rest.strip_prefix(", ")?,
        }
    }
}

/// Reads `true`, a string or a list of strings that begins at this byte, and returns what follows
/// it.
fn parse_value(text: &str, start: usize) -> Option<(Spanned<DeValue<'_>>, &str)> {
    if let Some(rest) = text.strip_prefix("true") {
        return Some((Spanned::new(start..start + 4, DeValue::Boolean(true)), rest));
    }
    let Some(mut listed) = text.strip_prefix('[') else { return parse_string(text, start) };
    let end = start + text.len();
    let mut values = DeArray::default();
    loop {
        if let Some(rest) = listed.strip_prefix(']').filter(|_| values.is_empty()) {
            return Some((Spanned::new(start..start + 2, DeValue::Array(values)), rest));
        }
        let (value, rest) = parse_string(listed, end - listed.len())?;
        values.push(value);
        if let Some(rest) = rest.strip_prefix(']') {
            return Some((Spanned::new(start..end - rest.len(), DeValue::Array(values)), rest));
        }
        listed = rest.strip_prefix(", ")?;
    }
}

/// Reads a string that begins at this byte, and returns what follows it. The only escape in it is
/// that of a quote.
fn parse_string(text: &str, start: usize) -> Option<(Spanned<DeValue<'_>>, &str)> {
    let bytes = text.as_bytes();
    let quote = *bytes.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let mut at = 1;
    let mut has_escape = false;
    loop {
        match *bytes.get(at)? {
            byte if byte == quote => break,
            b'\\' if quote == b'"' => {
                (at, has_escape) = (at + 1, true);
                bytes.get(at).filter(|byte| **byte == b'"')?;
            }
            byte if byte.is_ascii_control() => return None,
            _ => {}
        }
        at += 1;
    }
    let content = &text[1..at];
    let content =
        if has_escape { Cow::Owned(content.replace("\\\"", "\"")) } else { Cow::Borrowed(content) };
    let value = Spanned::new(start..start + at + 1, DeValue::String(content));
    Some((value, &text[at + 1..]))
}

/// Returns true if a text means itself between double quotes.
fn is_plain(text: &str) -> bool {
    is_printed(text) && !text.contains(['\\', '"'])
}

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
                    "local = true", "not_own = true", "_ = 'a'", "local = truex", "local = true # x", "p = [true]", "o = { a = 'b' }",
                    "n = { a = ['b', \"c\"], \"*\" = true }", "m = {}", "m = { }", "l = { a = 'b', }",
                    "k = { a = 'b', a = 'c' }", "j = { a = { b = 'c' } }", "i = { a.b = 'c' }", "h = { a = 'b'}",
                    "g = { a = 'b' } }", "f = \"x \\\" y\"", "f = \"\\\"\"", "f = [\"\\\\\"]", "f = \"\\n\"", "e = ",
                    "\"a b\" = 'c'", "\"\" = 'c'", "d = { \"x'\" = \"y\" }", "c = \"x' = \"", "b = ['x = ', ' = y']",
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
        let text = include_str!("../starter.toml");
        let mut start = 0;
        let mut others = Vec::new();
        for end in super::super::read::part_ends(text) {
            others.extend(parse_table(&text[start..end]).is_none().then_some(&text[start..end]));
            start = end;
        }
        assert!(others.len() < 3, "{others:#?}");
    }
}
