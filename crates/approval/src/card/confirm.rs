//! The word that a person types to allow what a rule wants confirmed.
//!
//! It is no secret: it is the end of what the person is asked about, so that they have read it.

use callgate_wire::approval::AllowDemands;
use callgate_wire::desk::{AnswerNeeds, CardContent};

use super::Card;

/// The characters around a word that need not be typed.
const AROUND: &str = "'\"`“”‘’«»;&|()[]{}<>,";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmWord {
    word: String,
    hint: &'static str,
}

impl ConfirmWord {
    fn for_card(card: &Card) -> Self {
        let last_part = |path: &str| path.trim_end_matches('/').rsplit('/').next().map(bare_word);
        let (word, hint) = match &card.body {
            CardContent::Command { .. } => (
                card.body.command().split_whitespace().next_back().map(bare_word),
                "the last word of the command",
            ),
            CardContent::Patch { files } => (
                files.last().and_then(|file| last_part(&file.path)),
                "the last part of the last path",
            ),
            CardContent::Mcp { tool, .. } => (Some(bare_word(tool)), "the name of the tool"),
            body => (body.path().and_then(last_part), "the last part of the path"),
        };
        match word.filter(|word| !word.is_empty()) {
            Some(word) => Self { word, hint },
            None => Self { word: bare_word(&card.row.tool), hint: "the name of the tool" },
        }
    }

    /// Returns where a person finds the word.
    pub fn hint(&self) -> &'static str {
        self.hint
    }

    /// Returns true if this is the word. Case and the characters around it do not matter.
    pub fn is_same_word(&self, typed: &str) -> bool {
        bare_word(typed) == self.word
    }
}

impl Card {
    /// Has people decide at the desk: with a typed word if it `needs_word`, and as the demands of
    /// rules say. Nothing can then be allowed from now on, and no answer is a no.
    pub(crate) fn require_desk(&mut self, needs_word: bool, demands: AllowDemands) {
        if needs_word {
            let word = ConfirmWord::for_card(self);
            self.row.needs = AnswerNeeds::Confirm;
            self.confirm_word_of = Some(word.hint().to_owned());
            self.confirm = Some(word);
        }
        self.row.demands = demands;
        // Both people have to allow the same.
        self.can_edit &= !demands.two_people;
        self.takes_words &= !demands.two_people;
        self.offers.clear();
        self.no_answer_denies = true;
    }

    /// Returns true if people decide at the desk, and no prompt of the agent in their place.
    pub fn is_for_desk(&self) -> bool {
        self.confirm.is_some() || !self.row.demands.is_empty()
    }
}

/// Returns a word in the form in which words are compared. One that consists of quotes and
/// brackets alone stays as it is.
fn bare_word(word: &str) -> String {
    let word = word.trim();
    let inner = word.trim_matches(|c| AROUND.contains(c));
    if inner.is_empty() { word } else { inner }.to_lowercase()
}
