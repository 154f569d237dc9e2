//! What is marked in a text: the entities that the API gives for a message's tags.

use serde_json::{Value, json};

use crate::telegram_html;

/// Returns the text of a message as people read it, and what is marked in it; the reason where the
/// HTML is refused.
pub(super) fn parse(html: &str) -> Result<(String, Vec<Value>), String> {
    let text = telegram_html::check(html)?.text;
    Ok((text, entities(html)))
}

/// The server marks no more places than this in a message, and passes over the rest.
const MOST: usize = 100;

/// Returns the entities of valid HTML, with offsets in UTF-16 units.
fn entities(html: &str) -> Vec<Value> {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut found = Vec::new();
    let (mut at, mut rest) = (0, html);
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '<' => rest.find('>').map_or(rest.len(), |end| end + 1),
            '&' => rest.find(';').map_or(rest.len(), |end| end + 1),
            _ => c.len_utf8(),
        };
        let piece = &rest[..length];
        match piece.strip_prefix("</") {
            Some(_) => found.extend(open.pop().and_then(|(tag, from)| entity(tag, from, at))),
            None if c == '<' => open.push((&piece[1..piece.len() - 1], at)),
            None if c == '&' => at += telegram_html::check(piece).map_or(1, |one| one.utf16_len),
            None => at += c.len_utf16(),
        }
        rest = &rest[length..];
    }
    found.sort_by_key(|entity| entity["offset"].as_u64());
    found.truncate(MOST);
    found
}

fn entity(tag: &str, from: usize, to: usize) -> Option<Value> {
    let kind = match tag.split(' ').next()? {
        "b" | "strong" => "bold",
        "i" | "em" => "italic",
        "u" | "ins" => "underline",
        "s" | "strike" | "del" => "strikethrough",
        // Inside of `pre` it only names the language.
        "code" if tag.contains("language-") => return None,
        "code" => "code",
        "pre" => "pre",
        "a" => "text_link",
        "blockquote" if tag.ends_with("expandable") => "expandable_blockquote",
        "blockquote" => "blockquote",
        _ => "spoiler",
    };
    let mut entity = json!({"type": kind, "offset": from, "length": to - from});
    if let Some(address) = tag.split('"').nth(1).filter(|_| kind == "text_link") {
        entity["url"] = address.replace("&amp;", "&").into();
    }
    Some(entity)
}
