//! Comparisons that need no search.

use crate::glob::{Lean, Tok, can_meet, literal_toks};

/// Returns true if the last name of a path could be a program, with or without a version.
pub(super) fn could_be_program(name: &[Tok], program: &str) -> bool {
    if let (Some(Tok::Is(c)), Some(first)) = (name.first(), program.chars().next())
        && !c.eq_ignore_ascii_case(&first)
    {
        return false;
    }
    let is_version = |tok: &&Tok| matches!(tok, Tok::Is(c) if c.is_ascii_digit() || *c == '.');
    let version = name.iter().rev().take_while(is_version).count();
    let pattern = literal_toks(program);
    can_meet(name, &pattern, Lean::Generous)
        || (version > 0 && can_meet(&name[..name.len() - version], &pattern, Lean::Generous))
}

/// Returns true if a text certainly begins differently from a pattern.
pub(super) fn begins_otherwise(text: &str, pattern: &[Tok]) -> bool {
    match (text.chars().next(), pattern.first()) {
        (Some(c), Some(Tok::Is(wanted))) => {
            c.is_ascii() && wanted.is_ascii() && !c.eq_ignore_ascii_case(wanted)
        }
        (None, Some(Tok::Is(_))) | (Some(_), None) => true,
        _ => false,
    }
}
