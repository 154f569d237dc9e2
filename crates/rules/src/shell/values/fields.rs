//! The words that one word could become.

use super::{ShellWord, ValueChange, WordExpansion, WordPiece, one_word};

/// The words that one word becomes, each as its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields(pub(super) Vec<Vec<WordPiece>>);

#[derive(Debug, Clone, Default)]
pub(crate) struct WordChoices(pub(super) Vec<Fields>);

impl WordChoices {
    pub(super) fn from_pieces(pieces: Vec<WordPiece>) -> Self {
        Self(vec![Fields(vec![pieces])])
    }

    pub(super) fn unknown() -> Self {
        Self::from_pieces(vec![WordPiece::Unknown])
    }

    pub(super) fn add_fields(&mut self, fields: Fields) {
        if !self.0.contains(&fields) {
            self.0.push(fields);
        }
    }

    /// Returns what the word could be where it stays one word.
    pub(crate) fn into_single_words(self) -> Vec<Vec<WordPiece>> {
        let space = || WordPiece::Text(" ".into());
        let join = |Fields(fields): Fields| {
            let mut joined = Vec::new();
            for (at, field) in fields.into_iter().enumerate() {
                joined.extend((at > 0).then(space));
                joined.extend(field);
            }
            joined
        };
        self.0.into_iter().map(join).collect()
    }

    /// Returns the lists of words that the word could become: one for each choice of several words,
    /// and a single one for all others, because the lists of all words of a command multiply.
    pub(super) fn forms(self, like: &ShellWord) -> Vec<Vec<ShellWord>> {
        let (single, several): (Vec<Fields>, Vec<Fields>) =
            self.0.into_iter().partition(|fields| fields.0.len() == 1);
        let may_split = splits_unknown(like);
        let words = |choices: Vec<Vec<WordPiece>>| {
            let mut word = one_word(like, choices);
            word.may_split = may_split && word.has_unknown();
            word
        };
        let mut forms = Vec::new();
        if !single.is_empty() {
            forms.push(vec![words(single.into_iter().flat_map(|fields| fields.0).collect())]);
        }
        for Fields(fields) in several {
            forms.push(fields.into_iter().map(|pieces| words(vec![pieces])).collect());
        }
        forms
    }
}

/// Returns true if an unknown value in a word may become several words, or none.
fn splits_unknown(word: &ShellWord) -> bool {
    word.pieces().iter().any(|piece| match piece {
        WordPiece::Expansion(expansion) => match &**expansion {
            WordExpansion::Variable { name, is_quoted, change } => {
                !is_quoted || name == "@" || *change == ValueChange::Elements
            }
            WordExpansion::Output { is_quoted, .. } => !is_quoted,
            WordExpansion::Braces(_) | WordExpansion::Choice(_) | WordExpansion::Array(_) => true,
        },
        WordPiece::Unknown => true,
        _ => false,
    })
}

/// Appends words to words; the first continues the last.
pub(super) fn join_words(
    before: &[Vec<WordPiece>],
    after: &[Vec<WordPiece>],
) -> Vec<Vec<WordPiece>> {
    let mut joined = before.to_vec();
    let mut after = after.iter();
    match (joined.last_mut(), after.next()) {
        (Some(last), Some(first)) => last.extend(first.iter().cloned()),
        (None, Some(first)) => joined.push(first.clone()),
        (_, None) => {}
    }
    joined.extend(after.cloned());
    joined
}

/// Splits a value at blanks, and takes its stars for wildcards.
pub(in crate::shell) fn split_value(pieces: &[WordPiece]) -> Vec<Vec<WordPiece>> {
    let mut fields: Vec<Vec<WordPiece>> = Vec::new();
    let mut is_open = false;
    for piece in pieces {
        let WordPiece::Text(text) = piece else {
            match fields.last_mut().filter(|_| is_open) {
                Some(last) => last.push(piece.clone()),
                None => fields.push(vec![piece.clone()]),
            }
            is_open = true;
            continue;
        };
        for (at, part) in text.split([' ', '\t', '\n']).enumerate() {
            // Every part but the first comes after a blank, which ends the field before it.
            is_open &= at == 0;
            if part.is_empty() {
                continue;
            }
            let parts = with_wildcards(part);
            match fields.last_mut().filter(|_| is_open) {
                Some(last) => last.extend(parts),
                None => fields.push(parts),
            }
            is_open = true;
        }
    }
    fields
}

/// Returns the parts of a text that a shell has inserted without quotes, where wildcards count.
fn with_wildcards(text: &str) -> Vec<WordPiece> {
    let mut word = ShellWord::default();
    for c in text.chars() {
        match c {
            '*' | '?' | '[' => word.push_piece(WordPiece::Glob(c)),
            c => word.push(c),
        }
    }
    word.pieces().to_vec()
}
