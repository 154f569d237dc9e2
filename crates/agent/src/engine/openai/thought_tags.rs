//! Finds the thoughts that a model writes into its answer, between `<think>` and `</think>`. Pure.
//!
//! Only an answer that begins with the first tag has such thoughts: later, the words may be about
//! the tags. A tag may come in several pieces.

use crate::engine::AnswerPiece;

const BEGIN: &str = "<think>";
const END: &str = "</think>";

/// Separates the thoughts of one answer from its text.
#[derive(Debug, Default)]
pub(super) struct ThoughtTags {
    state: TagState,
    /// What may be the beginning of a tag.
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum TagState {
    /// Nothing but blanks has come.
    #[default]
    Start,
    Thought,
    /// The thought is over, and only blanks have come since.
    Gap,
    Text,
}

impl ThoughtTags {
    pub(super) fn push(&mut self, text: &str, into: &mut Vec<AnswerPiece>) {
        if self.state == TagState::Text {
            into.push(AnswerPiece::Text(text.to_owned()));
            return;
        }
        self.held.push_str(text);
        loop {
            let before = self.state;
            self.handle_held(into);
            if self.state == before {
                return;
            }
        }
    }

    /// Ends the answer: what was held back is no tag.
    pub(super) fn finish(&mut self, into: &mut Vec<AnswerPiece>) {
        let rest = std::mem::take(&mut self.held);
        let piece = match self.state {
            _ if rest.is_empty() => return,
            TagState::Thought => AnswerPiece::Thinking(rest),
            TagState::Gap => return,
            TagState::Start | TagState::Text => AnswerPiece::Text(rest),
        };
        into.push(piece);
    }

    fn handle_held(&mut self, into: &mut Vec<AnswerPiece>) {
        match self.state {
            TagState::Start => {
                let said = self.held.trim_start();
                if let Some(rest) = said.strip_prefix(BEGIN) {
                    (self.held, self.state) = (rest.to_owned(), TagState::Thought);
                } else if !BEGIN.starts_with(said) {
                    self.state = TagState::Text;
                    into.push(AnswerPiece::Text(std::mem::take(&mut self.held)));
                }
            }
            TagState::Thought => {
                let end = self.held.find(END);
                let thought = match end {
                    Some(at) => at,
                    None => self.held.len() - begun_tag_length(&self.held),
                };
                let rest = self.held.split_off(thought);
                let thought = std::mem::replace(&mut self.held, rest);
                if !thought.is_empty() {
                    into.push(AnswerPiece::Thinking(thought));
                }
                if end.is_some() {
                    self.held.drain(..END.len());
                    self.state = TagState::Gap;
                }
            }
            // The blank lines behind a thought are not a part of the answer.
            TagState::Gap => {
                let said = self.held.trim_start();
                if !said.is_empty() {
                    into.push(AnswerPiece::Text(said.to_owned()));
                    (self.held, self.state) = (String::new(), TagState::Text);
                }
            }
            TagState::Text => {}
        }
    }
}

/// Returns how many bytes at the end of a thought may be the beginning of the tag that ends it.
fn begun_tag_length(thought: &str) -> usize {
    let is_end = |length: &usize| thought.ends_with(&END[..*length]);
    (1..END.len()).rev().find(is_end).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the thoughts and the text of an answer that comes in these pieces.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let (mut tags, mut found) = (ThoughtTags::default(), Vec::new());
        pieces.into_iter().for_each(|piece| tags.push(piece, &mut found));
        tags.finish(&mut found);
        let (mut thoughts, mut text) = (String::new(), String::new());
        for piece in found {
            match piece {
                AnswerPiece::Thinking(piece) => thoughts.push_str(&piece),
                AnswerPiece::Text(piece) => text.push_str(&piece),
                other => panic!("{other:?}"),
            }
        }
        (thoughts, text)
    }

    #[test]
    fn thoughts_are_found_wherever_the_answer_is_cut() {
        let whole = "\n<think>Two and </thin two.\nIs <b> four</think>\n\nFour. <think>x</think>";
        let expected = ("Two and </thin two.\nIs <b> four", "Four. <think>x</think>");
        for at in 0..=whole.len() {
            for to in at..=whole.len() {
                let (thoughts, text) = read([&whole[..at], &whole[at..to], &whole[to..]]);
                assert_eq!((&*thoughts, &*text), expected, "{at} {to}");
            }
        }
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let (thoughts, text) = read(letters.iter().map(String::as_str));
        assert_eq!((&*thoughts, &*text), expected);
    }

    #[test]
    fn other_answers_are_as_they_were() {
        for text in ["", " ", "<thin", "<thinking>a", "Use <think>.", "\n<p>\n", "ä<think>"] {
            assert_eq!(read([text]), (String::new(), text.to_owned()), "{text:?}");
        }
        assert_eq!(read(["<think>", "no end </th"]), ("no end </th".into(), String::new()));
        assert_eq!(read(["<think></think>", "\n"]), (String::new(), String::new()));
    }
}
