//! Leaves out of a style sheet what only its readers need: comments, indentation, line ends, and
//! blanks beside the marks that tell its parts apart.

use super::compact_script::quoted_length;

/// Marks beside which blanks mean nothing. A colon is not one: `a :hover` is not `a:hover`.
const APART: [char; 4] = ['{', '}', ';', ','];

/// Returns a style sheet without what only its readers need, or an error that names the line of a
/// comment, string, address or block that does not end. Such a block would take in the next sheet.
pub(crate) fn compact_style(source: &str) -> Result<String, String> {
    let (mut text, mut rest) = (String::new(), source);
    // Nothing is before the first part, so a blank there means nothing.
    let (mut gap, mut is_after_mark) = ("", true);
    let mut blocks = Vec::new();
    let unfinished = |rest: &str, what| {
        let line = source[..source.len() - rest.len()].matches('\n').count() + 1;
        format!("line {line}: {what} does not end")
    };
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            gap = " ";
            rest = rest.trim_start();
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            // It may be all that is between two names, which a blank would make two selectors.
            gap = if gap.is_empty() { "/**/" } else { gap };
            rest = comment.split_once("*/").ok_or_else(|| unfinished(rest, "a comment"))?.1;
            continue;
        }
        let address = rest.get(..4).filter(|name| name.eq_ignore_ascii_case("url("));
        let is_quoted =
            rest.get(4..).is_some_and(|rest| rest.trim_start().starts_with(['"', '\'']));
        let length = match first {
            '"' | '\'' => quoted_length(rest, first).ok_or_else(|| unfinished(rest, "a string"))?,
            _ if address.is_some() && !is_quoted => {
                quoted_length(rest, ')').ok_or_else(|| unfinished(rest, "an address"))?
            }
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => first.len_utf8(),
        };
        match first {
            '{' => blocks.push(rest),
            '}' => drop(blocks.pop()),
            _ => {}
        }
        let is_mark = APART.contains(&first);
        if !is_mark && !is_after_mark {
            text += gap;
        }
        is_after_mark = is_mark || first == ':';
        gap = "";
        text += &rest[..length];
        rest = &rest[length..];
    }
    blocks.pop().map_or(Ok(text), |block| Err(unfinished(block, "a block")))
}
