//! The word that a person types to allow what a rule wants confirmed.
//!
//! It is no secret: it is the end of what the person is asked about, so that they have read it.

use super::{Card, CardBody};

/// The characters around a word that need not be typed.
const AROUND: &str = "'\"`“”‘’«»;&|()[]{}<>,";

/// The word that a person types to allow something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmWord {
    word: String,
    hint: &'static str,
}

impl ConfirmWord {
    /// Returns the word for a question.
    fn of(card: &Card) -> Self {
        let (word, hint) = match &card.body {
            CardBody::Command { command, .. } => {
                (command.split_whitespace().next_back(), "the last word of the command")
            }
            CardBody::Write { path, .. }
            | CardBody::Edit { path, .. }
            | CardBody::Notebook { path, .. } => {
                (path.trim_end_matches('/').rsplit('/').next(), "the last part of the path")
            }
            CardBody::Mcp { tool, .. } => (Some(tool.as_str()), "the name of the tool"),
            _ => (None, "the name of the tool"),
        };
        match word.map(bare).filter(|word| !word.is_empty()) {
            Some(word) => Self { word, hint },
            None => Self { word: bare(&card.tool), hint: "the name of the tool" },
        }
    }

    /// Returns where a person finds the word.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    /// Returns true if this is the word. Case and the characters around it do not matter.
    #[must_use]
    pub fn is(&self, typed: &str) -> bool {
        bare(typed) == self.word
    }
}

impl Card {
    /// Requires a typed word to allow the call. Nothing can then be allowed from now on, and no
    /// answer is a no.
    pub(crate) fn require_confirmation(&mut self) {
        self.confirm = Some(ConfirmWord::of(self));
        self.offers.clear();
        self.no_answer_denies = true;
    }
}

/// Returns a word in the form in which words are compared. One that consists of quotes and
/// brackets alone stays as it is.
fn bare(word: &str) -> String {
    let word = word.trim();
    let inner = word.trim_matches(|c| AROUND.contains(c));
    if inner.is_empty() { word } else { inner }.to_lowercase()
}
