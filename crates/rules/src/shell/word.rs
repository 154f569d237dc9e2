//! One word of a command: the part that is known, and the part that only the shell will know.
//!
//! A word is a small pattern. Two questions are asked about it: what it could be,
//! for rules that deny or ask and for the guard, and what it surely is, for
//! rules that allow. The first errs towards yes, the second towards no.

mod compare;
mod element;
mod expansion;

use callgate_mask::programs::is_one_of;
use callgate_mask::word_list::WordList;

use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};
use crate::steps;
use compare::{begins_otherwise, could_be_program};
pub(super) use element::is_variable_name;
pub use expansion::{ValueChange, WordExpansion};

/// Stands for what is not known in a text. No real word contains it.
pub(crate) const GAP: char = '\0';

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    Text(String),
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// Digits: a count, a process id.
    Digits,
    /// A path beneath the folder before it, from a list that a program prints.
    Listing,
    Unknown,
    /// What the shell inserts here.
    Expansion(Box<WordExpansion>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct ShellWord {
    pieces: Vec<WordPiece>,
    /// What it could be instead, after expansion.
    others: Vec<Vec<WordPiece>>,
    /// Whether part of it was quoted; then it is not a keyword.
    pub(crate) is_quoted: bool,
    /// Whether it has an unquoted `=`; only the first can make it an assignment.
    pub(crate) has_equals: bool,
    /// Where the value begins, if the word is an assignment before a program.
    pub(crate) value_at: Option<usize>,
    /// Whether the shell may make several words of it, or none.
    pub(crate) may_split: bool,
    /// Whether what is unknown counts as anything, rather than as nothing.
    is_open: bool,
}

impl ShellWord {
    /// Returns a word with this text. It counts as quoted, so that it is no keyword, and remains a
    /// word if it is empty.
    pub fn known(text: &str) -> Self {
        let mut word = Self { is_quoted: true, ..Self::default() };
        word.push_text(text);
        word
    }

    pub(crate) fn of_pieces(pieces: Vec<WordPiece>) -> Self {
        let mut word = Self { is_quoted: true, ..Self::default() };
        for piece in pieces {
            word.push_joined(piece);
        }
        word
    }

    /// Returns a word that begins with a known text and continues with these.
    pub(crate) fn of_toks(text: &str, toks: &[PatternToken]) -> Self {
        let mut word = Self::known(text);
        for tok in toks {
            match tok {
                PatternToken::Is(c) if *c != GAP => word.push(*c),
                PatternToken::Run => word.push_piece(WordPiece::Glob('*')),
                PatternToken::One | PatternToken::ShyOne => word.push_piece(WordPiece::Glob('?')),
                PatternToken::Is(_) | PatternToken::Cross => word.push_piece(WordPiece::Unknown),
                PatternToken::Beneath => word.push_piece(WordPiece::Listing),
                PatternToken::Digits => word.push_piece(WordPiece::Digits),
                // It comes before a star.
                PatternToken::Shy => {}
            }
        }
        word
    }

    /// Returns the text, if the shell does not change it.
    pub fn text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            _ if !self.others.is_empty() => None,
            [] => Some(""),
            [WordPiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns true if the shell does not change it.
    pub fn is_known(&self) -> bool {
        self.text().is_some()
    }

    pub fn pieces(&self) -> &[WordPiece] {
        &self.pieces
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.others.is_empty()
    }

    /// Returns everything it could be, each as its parts.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &[WordPiece]> {
        std::iter::once(self.pieces.as_slice()).chain(self.others.iter().map(Vec::as_slice))
    }

    pub(crate) fn add_choice(&mut self, pieces: Vec<WordPiece>) {
        if self.pieces != pieces
            && !self.others.contains(&pieces)
            && steps::spend_budget(steps::PIECE)
        {
            self.others.push(pieces);
        }
    }

    /// Makes what is unknown in it count as anything.
    pub(crate) fn open_unknown(&mut self) {
        self.is_open = true;
    }

    /// Returns true if part of it is unknown, and counts as anything.
    pub(crate) fn counts_as_anything(&self) -> bool {
        self.is_open && self.has_unknown()
    }

    /// Returns true if part of it is not known at all, rather than one of several.
    pub(crate) fn has_unknown(&self) -> bool {
        self.choices().flatten().any(|piece| *piece == WordPiece::Unknown)
    }

    /// Returns true if it could be any text at all.
    pub(crate) fn is_anything(&self) -> bool {
        let is_any = |pieces: &[WordPiece]| {
            !pieces.is_empty() && pieces.iter().all(|piece| *piece == WordPiece::Unknown)
        };
        self.choices().any(is_any)
    }

    pub(crate) fn push(&mut self, c: char) {
        if let Some(WordPiece::Text(text)) = self.pieces.last_mut() {
            text.push(c);
        } else {
            self.push_piece(WordPiece::Text(c.into()));
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        if let Some(WordPiece::Text(known)) = self.pieces.last_mut() {
            known.push_str(text);
        } else if !text.is_empty() {
            self.push_piece(WordPiece::Text(text.into()));
        }
    }

    /// Once the budget is spent it adds nothing, and nothing is allowed any more.
    pub(crate) fn push_piece(&mut self, piece: WordPiece) {
        if steps::spend_budget(steps::PIECE) {
            self.pieces.push(piece);
        }
    }

    /// Adds a part, which is joined with the text before it.
    pub(crate) fn push_joined(&mut self, piece: WordPiece) {
        match piece {
            WordPiece::Text(text) => self.push_text(&text),
            piece => self.push_piece(piece),
        }
    }

    pub(super) fn push_expansion(&mut self, expansion: WordExpansion) {
        self.push_piece(WordPiece::Expansion(Box::new(expansion)));
    }

    /// Returns true if the known part of its text ends with one of these.
    pub(crate) fn ends_with(&self, ends: [char; 2]) -> bool {
        matches!(self.pieces.last(), Some(WordPiece::Text(text)) if text.ends_with(ends))
    }

    /// Returns the word as it is shown: what is not known is `…`.
    pub fn render_text(&self) -> String {
        let text: String = self.pieces.iter().map(WordPiece::render_text).collect();
        let is_plain = |c: char| c.is_alphanumeric() || "_-./,:=+@%^~*?[]{}…\\!".contains(c);
        if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{text}'") }
    }

    /// Returns its text with a [`GAP`] for every part that the shell changes.
    pub(crate) fn gapped_text(&self) -> String {
        gapped_text_of(&self.pieces)
    }

    /// Returns the same of everything it could be, in the order of [`Self::patterns`].
    pub(crate) fn gapped_texts(&self) -> impl Iterator<Item = String> {
        self.choices().map(gapped_text_of)
    }

    /// Returns the first text that it could be, with a [`GAP`] for everything that is not known.
    pub(crate) fn first_text(&self) -> String {
        text_of(&self.pieces)
    }

    /// Returns the texts that it could be, with a [`GAP`] for everything that is not known.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.choices().flat_map(|pieces| {
            // Digits may also be missing.
            let has_digits = pieces.contains(&WordPiece::Digits);
            let without = || {
                let rest = pieces.iter().filter(|piece| **piece != WordPiece::Digits);
                text_of(&rest.cloned().collect::<Vec<WordPiece>>())
            };
            [Some(text_of(pieces)), has_digits.then(without)].into_iter().flatten()
        })
    }

    /// Returns the patterns of the texts that it could be. If what is unknown counts as nothing,
    /// it is a [`GAP`] in them.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = Vec<PatternToken>> {
        self.choices().map(|pieces| self.toks_of(pieces))
    }

    /// Returns true if the word could be a text that matches a pattern.
    pub(crate) fn could_be(&self, pattern: &[PatternToken]) -> bool {
        // Nearly always the first character of a known word already differs.
        if let Some(text) = self.text()
            && begins_otherwise(text, pattern)
        {
            return false;
        }
        self.patterns().any(|toks| can_meet(&toks, pattern, ComparisonBias::Generous))
    }

    /// Returns true if the word is known, and matches a pattern.
    pub(crate) fn surely_is(&self, pattern: &[PatternToken]) -> bool {
        self.text().is_some_and(|text| {
            !begins_otherwise(text, pattern)
                && can_meet(&literal_toks(text), pattern, ComparisonBias::Strict)
        })
    }

    pub(crate) fn could_be_text(&self, text: &str) -> bool {
        match self.text() {
            Some(known) => known.eq_ignore_ascii_case(text),
            None => self.could_be(&literal_toks(text)),
        }
    }

    pub(crate) fn could_begin_with(&self, start: &str) -> bool {
        match self.text() {
            Some(known) => known.starts_with(start),
            None => {
                self.could_be(&[literal_toks(start).as_slice(), &[PatternToken::Cross]].concat())
            }
        }
    }

    pub(crate) fn could_contain(&self, text: &str) -> bool {
        match self.text() {
            Some(known) => known.contains(text),
            None => self.could_be(
                &[&[PatternToken::Cross], literal_toks(text).as_slice(), &[PatternToken::Cross]]
                    .concat(),
            ),
        }
    }

    /// Returns true if the word could be a path whose last name is this one.
    pub(crate) fn could_end_in(&self, name: &str) -> bool {
        let pattern =
            [&[PatternToken::Cross, PatternToken::Is('/')], literal_toks(name).as_slice()].concat();
        self.could_be_text(name) || self.could_be(&pattern)
    }

    pub(crate) fn could_name(&self, programs: &WordList) -> bool {
        match self.text() {
            Some(name) => is_one_of(name, programs),
            None => self.patterns().any(|toks| {
                let slash = toks.iter().rposition(|tok| *tok == PatternToken::Is('/'));
                let name = &toks[slash.map_or(0, |at| at + 1)..];
                programs.iter().any(|program| could_be_program(name, program))
            }),
        }
    }

    fn toks_of(&self, pieces: &[WordPiece]) -> Vec<PatternToken> {
        let mut toks = Vec::new();
        // An empty pattern matches nearly nothing. The verdict is to ask by then.
        if !steps::spend_budget(pieces.len()) {
            return toks;
        }
        let unknown = if self.is_open { PatternToken::Cross } else { PatternToken::Is(GAP) };
        let mut rest = pieces.iter();
        // How much of the next text belongs to a bracket before it.
        let mut taken = 0;
        while let Some(piece) = rest.next() {
            let begins_name = matches!(toks.last(), None | Some(PatternToken::Is('/')));
            let skipped = std::mem::take(&mut taken);
            match piece {
                WordPiece::Text(text) => toks.extend(text[skipped..].chars().map(PatternToken::Is)),
                WordPiece::Unknown | WordPiece::Expansion(_) => toks.push(unknown),
                WordPiece::Listing => toks.push(PatternToken::Beneath),
                WordPiece::Digits => toks.push(PatternToken::Digits),
                // With some options two stars cross folders, if they begin a name.
                WordPiece::Glob('*') if rest.as_slice().first() == Some(piece) => {
                    rest.next();
                    toks.push(if begins_name { PatternToken::Beneath } else { PatternToken::Run });
                }
                WordPiece::Glob('*') if begins_name => {
                    toks.extend([PatternToken::Shy, PatternToken::Run]);
                }
                WordPiece::Glob('*') => toks.push(PatternToken::Run),
                WordPiece::Glob('?') if begins_name => toks.push(PatternToken::ShyOne),
                WordPiece::Glob('?') => toks.push(PatternToken::One),
                WordPiece::Glob(_) => match bracket_tok(rest.as_slice()) {
                    Some((tok, length)) => {
                        toks.push(tok);
                        taken = length;
                    }
                    // Where it ends, if it does, is not known.
                    None => toks.push(PatternToken::Cross),
                },
            }
        }
        toks
    }
}

/// Returns what a bracket matches, and how much of the following text belongs to it: one
/// character, or a literal bracket if it has no end.
fn bracket_tok(rest: &[WordPiece]) -> Option<(PatternToken, usize)> {
    let text = match rest {
        [] => "",
        [WordPiece::Text(text), ..] => text,
        _ => return None,
    };
    let signs = text.chars().take_while(|c| matches!(c, '!' | '^')).count().min(1);
    let first = signs + usize::from(text[signs..].starts_with(']'));
    match text[first..].find(']').map(|at| first + at) {
        Some(end) if text[..end].contains("[:") || text[..end].contains("[.") => None,
        Some(end) => {
            let set: Vec<char> = text[signs..end].chars().collect();
            let tok = match set.as_slice() {
                [only] if signs == 0 => PatternToken::Is(*only),
                _ => PatternToken::One,
            };
            Some((tok, end + 1))
        }
        None if rest.len() > 1 => None,
        None => Some((PatternToken::Is('['), 0)),
    }
}

fn gapped_text_of(pieces: &[WordPiece]) -> String {
    let parts = pieces.iter().map(|piece| match piece {
        WordPiece::Text(text) => text.as_str(),
        _ => "\0",
    });
    parts.collect()
}

fn text_of(pieces: &[WordPiece]) -> String {
    let parts = pieces.iter().map(|piece| match piece {
        WordPiece::Text(text) => text.as_str(),
        WordPiece::Glob('*') => "*",
        WordPiece::Glob('?') => "?",
        WordPiece::Glob(_) => "[",
        WordPiece::Digits => "0",
        _ => "\0",
    });
    parts.collect()
}

impl WordPiece {
    fn render_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Glob(c) => c.to_string(),
            _ => "…".into(),
        }
    }
}
