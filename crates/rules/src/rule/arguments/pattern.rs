//! Patterns of texts in arguments: `*` within a word, `**` for anything.

use crate::glob::{ComparisonBias, PatternToken, can_meet, is_text, literal_toks};
use crate::steps;

/// The most steps of one exact comparison; a longer one does not match.
const MOST_STEPS: usize = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternStep {
    Is(char),
    /// `?`: any one character.
    One,
    /// `*`: any characters of a word.
    Word,
    /// `**`: anything at all.
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArgumentPattern {
    steps: Vec<PatternStep>,
    /// The pattern for denying and asking, where every `*` is anything.
    loose: Vec<PatternToken>,
}

impl ArgumentPattern {
    pub(super) fn from_text(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(
                "an empty text fits nothing; for an argument that is not given write `[]`".into()
            );
        }
        if text.contains("***") {
            return Err("`*` stands for a word and `**` for anything; three mean nothing".into());
        }
        let mut steps = Vec::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            steps.push(match c {
                '*' if chars.next_if_eq(&'*').is_some() => PatternStep::Any,
                '*' => PatternStep::Word,
                '?' => PatternStep::One,
                c => PatternStep::Is(c),
            });
        }
        let loose = steps.iter().map(|step| match step {
            PatternStep::Is(c) => PatternToken::Is(*c),
            // `PatternToken::One` matches no slash; matching more than one character errs on the
            // safe side.
            PatternStep::One | PatternStep::Word | PatternStep::Any => PatternToken::Cross,
        });
        Ok(Self { loose: loose.collect(), steps })
    }

    /// Returns true if the text matches exactly.
    pub(super) fn is_match(&self, text: &str) -> bool {
        if self.steps == [PatternStep::Any] {
            return true;
        }
        let is_wild = self.steps.iter().any(|step| !matches!(step, PatternStep::Is(_)));
        // A wildcard must not let a path leave the folder that the pattern names.
        if is_wild && has_parent_step(text) {
            return false;
        }
        let cost = text.len().saturating_mul(self.steps.len());
        if cost > MOST_STEPS || !steps::spend_budget(cost / 4) {
            return false;
        }
        // `open[i]` says whether the first `i` steps can match the text so far.
        let mut open = vec![false; self.steps.len() + 1];
        open[0] = true;
        self.skip_wildcards(&mut open);
        for c in text.chars() {
            let mut next = vec![false; open.len()];
            for (at, step) in self.steps.iter().enumerate().filter(|(at, _)| open[*at]) {
                match step {
                    PatternStep::Is(wanted) => next[at + 1] |= *wanted == c,
                    PatternStep::One => next[at + 1] |= !c.is_control(),
                    PatternStep::Word => next[at] |= is_word(c),
                    PatternStep::Any => next[at] = true,
                }
            }
            self.skip_wildcards(&mut next);
            open = next;
        }
        open[self.steps.len()]
    }

    /// Returns the pattern, if it is the name of a file, perhaps in any folder: without wildcards
    /// but for a `*/` at the beginning.
    pub(super) fn file_name(&self) -> Option<&[PatternToken]> {
        let name = self
            .loose
            .strip_prefix(&[PatternToken::Cross, PatternToken::Is('/')])
            .unwrap_or(&self.loose);
        is_text(name).then_some(&self.loose)
    }

    /// Lets every wildcard match nothing.
    fn skip_wildcards(&self, open: &mut [bool]) {
        for (at, step) in self.steps.iter().enumerate() {
            if open[at] && matches!(step, PatternStep::Word | PatternStep::Any) {
                open[at + 1] = true;
            }
        }
    }

    /// Returns true if the text, or one of several in it, could match. A tool may take several
    /// values in one text.
    pub(super) fn could_be(&self, text: &str) -> bool {
        let fits = |text: &str| {
            can_meet(&literal_toks(text.trim()), &self.loose, ComparisonBias::Generous)
        };
        let separates =
            |c: char| c.is_whitespace() || c.is_control() || ",;|<>()[]{}\"'`".contains(c);
        fits(text) || text.split(separates).filter(|piece| !piece.is_empty()).any(fits)
    }
}

/// Returns true for a character that a `*` of an allow matches: none that begins another
/// address, path or option.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')
}

fn has_parent_step(text: &str) -> bool {
    text.split(['/', '\\']).any(|name| name == "..")
}
