//! One word of a command: the part that is known, and the part that only the shell will know.

use crate::glob::Tok;
use crate::steps;

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPiece {
    /// Literal text.
    Text(String),
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// Anything: a variable, a substitution, a brace expansion.
    Unknown,
}

/// One word, its quotes resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellWord {
    pieces: Vec<WordPiece>,
    /// Whether part of it was quoted; then it is not a keyword.
    pub(crate) is_quoted: bool,
    /// Whether it has an unquoted `=`; only the first can make it an assignment.
    pub(crate) has_equals: bool,
    /// Where the value begins, if the word is an assignment before a program.
    pub(crate) value_at: Option<usize>,
    /// The word with the value of `${NAME:-value}` inserted.
    alternative: Option<Box<ShellWord>>,
}

impl ShellWord {
    /// Returns a literal word.
    #[must_use]
    pub fn known(text: &str) -> Self {
        let mut word = Self { is_quoted: true, ..Self::default() };
        word.push_text(text);
        word
    }

    /// Returns a word that begins with a known text and continues with these.
    pub(crate) fn of_toks(text: &str, toks: &[Tok]) -> Self {
        let mut word = Self::known(text);
        for tok in toks {
            match tok {
                Tok::Is(c) => word.push(*c),
                Tok::Run => word.push_piece(WordPiece::Glob('*')),
                Tok::One | Tok::ShyOne => word.push_piece(WordPiece::Glob('?')),
                Tok::Cross => word.push_piece(WordPiece::Unknown),
                // It comes before a star.
                Tok::Shy => {}
            }
        }
        word
    }

    /// Returns the text, if the shell does not change it.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [WordPiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns true if the shell does not change it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.text().is_some()
    }

    /// Returns the parts of the word.
    #[must_use]
    pub fn pieces(&self) -> &[WordPiece] {
        &self.pieces
    }

    /// Returns true if nothing of it is known.
    pub(crate) fn is_unknown(&self) -> bool {
        !self.pieces.is_empty()
            && !self.pieces.iter().any(|part| matches!(part, WordPiece::Text(_)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds `value` as one of the texts that an expansion at this place may become.
    pub(super) fn push_alternative(&mut self, mut value: Self) {
        let value = value.alternative.take().map_or(value, |alternative| *alternative);
        let mut alternative = match self.alternative.take() {
            Some(alternative) => alternative,
            None if steps::spend(self.pieces.len()) => Box::new(self.clone()),
            None => return,
        };
        for piece in value.pieces {
            match piece {
                WordPiece::Text(text) => alternative.push_text(&text),
                piece => alternative.push_piece(piece),
            }
        }
        self.push_piece(WordPiece::Unknown);
        self.alternative = Some(alternative);
    }

    /// Returns the word with the values in place of its expansions, if it has any.
    pub(super) fn alternative(&self) -> Option<&Self> {
        self.alternative.as_deref()
    }

    pub(crate) fn push(&mut self, c: char) {
        if let Some(alternative) = &mut self.alternative {
            alternative.push(c);
        }
        if let Some(WordPiece::Text(text)) = self.pieces.last_mut() {
            text.push(c);
        } else {
            self.push_piece(WordPiece::Text(c.into()));
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        if let Some(alternative) = &mut self.alternative {
            alternative.push_text(text);
        }
        if let Some(WordPiece::Text(known)) = self.pieces.last_mut() {
            known.push_str(text);
        } else if !text.is_empty() {
            self.push_piece(WordPiece::Text(text.into()));
        }
    }

    pub(crate) fn push_piece(&mut self, piece: WordPiece) {
        if let Some(alternative) = &mut self.alternative {
            alternative.push_piece(piece.clone());
        }
        if steps::spend(steps::PIECE) {
            self.pieces.push(piece);
        }
    }

    /// Returns true if the known part of its text ends with one of these.
    pub(crate) fn ends_with(&self, ends: [char; 2]) -> bool {
        matches!(self.pieces.last(), Some(WordPiece::Text(text)) if text.ends_with(ends))
    }

    /// Returns the word as it is shown: what is not known is `…`.
    #[must_use]
    pub fn shown(&self) -> String {
        let text: String = self.pieces.iter().map(WordPiece::shown).collect();
        let is_plain = |c: char| c.is_alphanumeric() || "_-./,:=+@%^~*?[]{}…\\!".contains(c);
        if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{text}'") }
    }

    /// Returns the known part of its text. The rest is a NUL, which no real word contains.
    pub(crate) fn known_text(&self) -> String {
        let parts = self.pieces.iter().map(|piece| match piece {
            WordPiece::Text(text) => text.as_str(),
            _ => "\0",
        });
        parts.collect()
    }

    /// Returns the texts that the word can become.
    pub(crate) fn toks(&self) -> Vec<Tok> {
        let mut toks = Vec::new();
        if !steps::spend(self.pieces.len()) {
            return toks;
        }
        for (at, piece) in self.pieces.iter().enumerate() {
            let begins_name = matches!(toks.last(), None | Some(Tok::Is('/')));
            match piece {
                WordPiece::Text(text) => toks.extend(text.chars().map(Tok::Is)),
                WordPiece::Unknown => toks.push(Tok::Cross),
                // With some options two stars cross folders.
                WordPiece::Glob('*') if self.pieces.get(at + 1) == Some(piece) => {
                    toks.push(Tok::Cross);
                }
                WordPiece::Glob('*') if begins_name => toks.extend([Tok::Shy, Tok::Run]),
                WordPiece::Glob('*') => toks.push(Tok::Run),
                WordPiece::Glob('?') if begins_name => toks.push(Tok::ShyOne),
                WordPiece::Glob('?') => toks.push(Tok::One),
                // The characters that a bracket matches are not computed.
                WordPiece::Glob(_) => {
                    toks.push(Tok::Cross);
                    break;
                }
            }
        }
        toks
    }
}

impl WordPiece {
    fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Glob(c) => c.to_string(),
            Self::Unknown => "…".into(),
        }
    }
}
