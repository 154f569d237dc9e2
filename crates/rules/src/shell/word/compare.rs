//! Comparisons that need no search.

use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};

/// Returns true if the last name of a path could be a program, with or without a version.
pub(super) fn could_be_program(name: &[PatternToken], program: &str) -> bool {
    if let (Some(PatternToken::Is(c)), Some(first)) = (name.first(), program.chars().next())
        && !c.eq_ignore_ascii_case(&first)
    {
        return false;
    }
    let is_version =
        |tok: &&PatternToken| matches!(tok, PatternToken::Is(c) if c.is_ascii_digit() || *c == '.');
    let version = name.iter().rev().take_while(is_version).count();
    let pattern = literal_toks(program);
    can_meet(name, &pattern, ComparisonBias::Generous)
        || (version > 0
            && can_meet(&name[..name.len() - version], &pattern, ComparisonBias::Generous))
}

/// Returns true if a text certainly begins differently from a pattern.
pub(super) fn begins_otherwise(text: &str, pattern: &[PatternToken]) -> bool {
    match (text.chars().next(), pattern.first()) {
        (Some(c), Some(PatternToken::Is(wanted))) => {
            // Beyond ASCII a letter may have another case that is not compared here.
            c.is_ascii() && wanted.is_ascii() && !c.eq_ignore_ascii_case(wanted)
        }
        (None, Some(PatternToken::Is(_))) | (Some(_), None) => true,
        _ => false,
    }
}
