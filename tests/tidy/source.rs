//! Reads Rust source as tokens, without comments, literals and code compiled for tests only.

/// Returns the tokens of a file's product code: identifiers, `::`, and single punctuation marks.
pub(crate) fn product_tokens(text: &str) -> Vec<&str> {
    without_tests(&tokens(text))
}

fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = skipped_len(rest, first);
        if skipped > 0 {
            rest = &rest[skipped..];
            continue;
        }
        let (token, after) = rest.split_at(token_len(rest, first));
        found.push(token);
        rest = after;
    }
    found
}

/// Returns the length of the white space, comment, literal or lifetime that `rest` starts with.
fn skipped_len(rest: &str, first: char) -> usize {
    if first.is_whitespace() {
        rest.len() - rest.trim_start().len()
    } else if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else if first == '\'' {
        quoted_char_len(rest)
    } else {
        string_len(rest)
    }
}

/// Returns the length of the character literal or lifetime that `rest` starts with.
fn quoted_char_len(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    let second = chars.next().map(|(_, char)| char);
    if second == Some('\\') {
        return rest[3..].find('\'').map_or(rest.len(), |end| end + 4);
    }
    match chars.next() {
        Some((at, '\'')) => at + 1,
        _ => 1 + identifier_len(&rest[1..]),
    }
}

/// Returns the length of the string literal that `rest` starts with, 0 if there is none.
fn string_len(rest: &str) -> usize {
    let unmarked = rest.trim_start_matches(['b', 'c']);
    let raw = unmarked.strip_prefix('r').unwrap_or(unmarked);
    let opening = raw.trim_start_matches('#');
    let hashes = raw.len() - opening.len();
    let Some(body) = opening.strip_prefix('"') else { return 0 };
    let before = rest.len() - body.len();
    if raw.len() < unmarked.len() {
        let end = format!("\"{}", "#".repeat(hashes));
        return body.find(&end).map_or(rest.len(), |at| before + at + end.len());
    }
    let mut is_escaped = false;
    for (at, char) in body.char_indices() {
        match char {
            '"' if !is_escaped => return before + at + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    rest.len()
}

fn token_len(rest: &str, first: char) -> usize {
    if rest.starts_with("::") || rest.starts_with("r#") {
        2 + if first == 'r' { identifier_len(&rest[2..]) } else { 0 }
    } else {
        identifier_len(rest).max(first.len_utf8())
    }
}

fn identifier_len(rest: &str) -> usize {
    rest.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(rest.len())
}

fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let mut kept = Vec::new();
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        if let Some(item) = rest.strip_prefix(&["#", "[", "cfg", "(", "test", ")", "]"]) {
            rest = after_item(item);
        } else {
            kept.push(*first);
            rest = &rest[1..];
        }
    }
    kept
}

/// Returns what follows the item that `tokens` start with.
fn after_item<'t, 'a>(tokens: &'t [&'a str]) -> &'t [&'a str] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return &tokens[at..],
            "}" if depth == 1 => return &tokens[at + 1..],
            ")" | "]" | "}" => depth -= 1,
            ";" if depth == 0 => return &tokens[at + 1..],
            _ => {}
        }
    }
    &[]
}

/// Returns true if a token is a name.
pub(crate) fn is_identifier(token: &str) -> bool {
    token.starts_with(|char: char| char.is_alphabetic() || char == '_')
}

#[test]
fn comments_literals_and_tests_are_left_out() {
    let text = r#"
        // use crate::comment;
        use crate::a::{B, c as d}; /* use crate::block; */
        fn f<'a>(x: &'a str) { g(r"use crate::\", "a \" b", 'x', '\'', b'"'); }
        #[cfg(test)]
        mod tests { use super::*; fn t() { { } } }
        type r#Type = u8;
    "#;
    assert_eq!(
        product_tokens(text).join(" "),
        "use crate :: a :: { B , c as d } ; fn f < > ( x : & str ) { g ( , , , , b ) ; } \
         type r#Type = u8 ;"
    );
}
