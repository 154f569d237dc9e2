//! The input of a tool while the model writes it: JSON of which only the beginning has arrived.
//!
//! Each character is looked at once, and little of it is kept, so that a long input costs no more
//! than a long answer. Pure.

use serde_json::{Map, Value};

/// How much of a member is kept, in bytes.
/// It is enough for a headline, which is all that members are kept for.
const LONGEST_MEMBER: usize = 512;

/// The beginning of an object of JSON.
#[derive(Debug)]
pub(crate) struct DraftedInput {
    /// The members that are kept.
    kept_keys: &'static [&'static str],
    place: DraftPlace,
    /// The key of the current member.
    key: String,
    /// The members that are kept, as far as they have arrived. All of them are texts.
    members: Map<String, Value>,
    /// The beginning of an escape sequence.
    escape: String,
}

/// Where in the object the next character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DraftPlace {
    /// Before a key.
    Outside,
    Key,
    /// Between a key and its value.
    AfterKey,
    Text,
    /// In any other value, at this depth.
    Other {
        depth: usize,
        in_text: bool,
    },
}

/// What a character of a text means.
enum TextStep {
    Char(char),
    End,
    /// A part of an escape sequence.
    Open,
}

impl DraftedInput {
    /// Creates an empty draft that keeps the members with these keys.
    pub(crate) fn keeping_keys(kept_keys: &'static [&'static str]) -> Self {
        Self {
            kept_keys,
            place: DraftPlace::Outside,
            key: String::new(),
            members: Map::new(),
            escape: String::new(),
        }
    }

    /// Adds a piece. Returns the text that it adds to members that are not kept, each of them
    /// ended by a line feed.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut added = String::new();
        for c in piece.chars() {
            self.parse_character(c, &mut added);
        }
        added
    }

    /// Returns the members that are kept, as far as they have arrived.
    pub(crate) fn members(&self) -> Map<String, Value> {
        self.members.clone()
    }

    fn parse_character(&mut self, c: char, added: &mut String) {
        self.place = match self.place {
            DraftPlace::Outside if c == '"' => {
                self.key.clear();
                DraftPlace::Key
            }
            DraftPlace::Outside => DraftPlace::Outside,
            DraftPlace::Key => self.key_character(c),
            DraftPlace::AfterKey => match c {
                '"' => DraftPlace::Text,
                '{' | '[' => DraftPlace::Other { depth: 1, in_text: false },
                ':' => DraftPlace::AfterKey,
                c if c.is_whitespace() => DraftPlace::AfterKey,
                _ => DraftPlace::Other { depth: 0, in_text: false },
            },
            DraftPlace::Text => self.text_character(c, added),
            DraftPlace::Other { depth, in_text: true } => {
                let is_over = matches!(self.parse_text_character(c), TextStep::End);
                DraftPlace::Other { depth, in_text: !is_over }
            }
            DraftPlace::Other { depth, in_text: false } => match c {
                '"' => DraftPlace::Other { depth, in_text: true },
                '{' | '[' => DraftPlace::Other { depth: depth + 1, in_text: false },
                // A number or a word has no end of its own.
                ',' | '}' | ']' if depth == 0 => DraftPlace::Outside,
                '}' | ']' => DraftPlace::Other { depth: depth - 1, in_text: false },
                _ => DraftPlace::Other { depth, in_text: false },
            },
        };
    }

    fn key_character(&mut self, c: char) -> DraftPlace {
        match self.parse_text_character(c) {
            TextStep::End => return DraftPlace::AfterKey,
            TextStep::Char(c) if self.key.len() < LONGEST_MEMBER => self.key.push(c),
            _ => {}
        }
        DraftPlace::Key
    }

    fn text_character(&mut self, c: char, added: &mut String) -> DraftPlace {
        let step = self.parse_text_character(c);
        let is_kept = self.kept_keys.contains(&self.key.as_str());
        match step {
            TextStep::End => {
                if !is_kept {
                    added.push('\n');
                }
                return DraftPlace::Outside;
            }
            TextStep::Char(c) if is_kept => {
                let member = self.members.entry(self.key.as_str()).or_insert_with(|| "".into());
                if let Value::String(text) = member
                    && text.len() < LONGEST_MEMBER
                {
                    text.push(c);
                }
            }
            TextStep::Char(c) => added.push(c),
            TextStep::Open => {}
        }
        DraftPlace::Text
    }

    fn parse_text_character(&mut self, c: char) -> TextStep {
        if self.escape.is_empty() {
            return match c {
                '"' => TextStep::End,
                '\\' => {
                    self.escape.push(c);
                    TextStep::Open
                }
                c => TextStep::Char(c),
            };
        }
        self.escape.push(c);
        if self.escape.len() < escape_length(&self.escape) {
            return TextStep::Open;
        }
        let quoted = format!("\"{}\"", std::mem::take(&mut self.escape));
        let decoded: Option<String> = serde_json::from_str(&quoted).ok();
        let decoded = decoded.and_then(|text| text.chars().next());
        TextStep::Char(decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

/// Returns how long an escape sequence with this beginning is. The first half of a surrogate pair
/// is followed by the other.
fn escape_length(escape: &str) -> usize {
    match escape.as_bytes() {
        [_, b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..] => 12,
        [_, b'u', ..] => 6,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Reads the pieces. Returns the members that are kept and the text of the others.
    fn read(pieces: &[&str]) -> (Value, String) {
        let mut draft = DraftedInput::keeping_keys(&["path"]);
        let added = pieces.iter().map(|piece| draft.push(piece)).collect();
        (Value::Object(draft.members()), added)
    }

    #[test]
    fn texts_are_there_as_far_as_they_have_arrived() {
        let check = |piece: &str, path: Value, added: &str| {
            assert_eq!(read(&[piece]), (path, added.to_owned()), "{piece}");
        };
        check("", json!({}), "");
        check(r#"{"pa"#, json!({}), "");
        check(r#"{"path": "no"#, json!({"path": "no"}), "");
        check(r#"{"path": "notes", "content": "mi"#, json!({"path": "notes"}), "mi");
        check(r#"{"a": "b", "path": "c\"d"}"#, json!({"path": "c\"d"}), "b\n");
        check(r#"{"a": {"path": "in"}, "b": [1, "]"], "path": "x"#, json!({"path": "x"}), "");
        check(r#"{"n": -1.5e3, "t": true, "path": "x"}"#, json!({"path": "x"}), "");
        check(r#"{"a": "1\n2\t\u00e9\ud83d\ude00\u00"#, json!({}), "1\n2\té😀");
        // What is not JSON does no harm.
        check(r#"["a", "b"]}{"#, json!({}), "");
        check(r#"{"a": "\ud800x\uzzzz\q"#, json!({}), "\u{fffd}z\u{fffd}");
    }

    #[test]
    fn a_member_is_not_kept_beyond_its_limit() {
        let long = format!(r#"{{"path": "{}"#, "x".repeat(5000));
        assert_eq!(read(&[&long]).0["path"].as_str().map(str::len), Some(LONGEST_MEMBER));
    }

    proptest! {
        #[test]
        fn every_way_of_cutting_it_gives_the_same(path in ".*", content in ".*", cut in 0..200_usize) {
            let json = json!({"content": content, "list": [content], "path": path}).to_string();
            let cut = json.floor_char_boundary(cut.min(json.len()));
            let whole = read(&[&json]);
            prop_assert_eq!(read(&[&json[..cut], &json[cut..]]), whole.clone());
            prop_assert_eq!(whole.1, format!("{content}\n"));
            if !path.is_empty() && path.len() < LONGEST_MEMBER {
                prop_assert_eq!(whole.0, json!({ "path": path }));
            }
        }
    }
}
