//! Regular expressions as schemas have them: those of ECMAScript, with the Unicode flag.
//!
//! A text is matched in time proportional to the lengths of pattern and text, also with lookahead.
//! Only back references, lookbehind, and lookaround together with a loop around something that may
//! be empty may take longer; the budget of the check ends them.

mod class;
mod parse;
mod program;
mod run;

use super::budget::{FitVerdict, StepBudget};
use program::PatternProgram;

/// A regular expression that is ready for use.
#[derive(Debug)]
pub(super) struct EcmaPattern {
    source: String,
    program: PatternProgram,
}

impl EcmaPattern {
    /// Reads a pattern. The error says what in it is wrong or not supported.
    pub(super) fn from_source(source: &str) -> Result<Self, String> {
        let tree = parse::parse_pattern(source)?;
        Ok(Self { source: source.to_owned(), program: PatternProgram::new(&tree)? })
    }

    /// The pattern as it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether a part of the text matches.
    pub(super) fn is_match(&self, text: &str, budget: &StepBudget) -> FitVerdict {
        run::is_match(&self.program, text, budget)
    }
}

#[cfg(test)]
mod tests;
