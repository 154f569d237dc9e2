//! The variables whose values a text uses: they are not hidden because of their names alone.

use std::collections::HashSet;

use super::occurrences::find_each;
use super::span::SecretSpan;
use super::{REST, SEVERAL_WORDS};

#[derive(Debug, Default)]
pub(super) struct UsedVariables<'a> {
    names: HashSet<&'a [u8]>,
    /// Those that are used around the text.
    outer: Option<&'a UsedVariables<'a>>,
}

impl<'a> UsedVariables<'a> {
    /// Finds `$NAME`, `${NAME…}`, `${!NAME}`, `$env:NAME`, `%NAME%` and `printenv NAME`, and if a
    /// variable may be used by way of another one, every name that is mentioned.
    pub(super) fn find(bytes: &'a [u8]) -> Self {
        let mut names = HashSet::new();
        let signs = memchr::memchr_iter(b'$', bytes).map(|at| at + 1);
        // JSON may escape the sign like this.
        let written = find_each(bytes, "\\u0024").map(|at| at + 6);
        for from in signs.chain(written) {
            let rest = &bytes[from..];
            let skipped = rest.iter().take(3).take_while(|byte| b"{!#".contains(byte)).count();
            let rest = &rest[skipped..];
            let rest = match rest.split_at_checked(4) {
                Some((start, name)) if start.eq_ignore_ascii_case(b"env:") => name,
                _ => rest,
            };
            // In some languages a variable also has its sign where it is set.
            let name = leading_name(rest);
            if !is_set(&rest[name.len()..]) {
                names.insert(name);
            }
        }
        for at in memchr::memchr_iter(b'%', bytes) {
            let name = leading_name(&bytes[at + 1..]);
            if !name.is_empty() && bytes.get(at + 1 + name.len()) == Some(&b'%') {
                names.insert(name);
            }
        }
        for at in find_each(bytes, "printenv ") {
            names.insert(leading_name(&bytes[at + "printenv ".len()..]));
        }
        if !names.is_empty() && has_indirection(bytes) {
            names.extend(mentioned_names(bytes));
        }
        // `$(` and a lone `$` name nothing.
        names.remove(&b""[..]);
        Self { names, outer: None }
    }

    /// Finds those of a part of a text, and keeps those of the whole.
    pub(super) fn within(bytes: &'a [u8], outer: &'a UsedVariables<'a>) -> Self {
        Self { outer: Some(outer), ..Self::find(bytes) }
    }

    /// Returns true if the text uses the value of this variable.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.names.contains(name) || self.outer.is_some_and(|outer| outer.has(name))
    }
}

fn leading_name(bytes: &[u8]) -> &[u8] {
    /// The longest name, in bytes.
    const LONGEST: usize = 128;
    &bytes[..bytes.iter().take(LONGEST).take_while(|byte| is_part(**byte)).count()]
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns true if a text may use a variable whose name is the value of another one: `${!x}`,
/// `${(P)x}`, `declare -n x=NAME`.
fn has_indirection(bytes: &[u8]) -> bool {
    const DECLARING: [&str; 5] = ["declare ", "typeset ", "local ", "readonly ", "export "];
    let makes_reference = |at: usize| {
        let window = &bytes[at..bytes.len().min(at + 64)];
        let words = window.split(|byte| *byte == b' ').skip(1);
        words.take_while(|word| word.starts_with(b"-")).any(|word| word.contains(&b'n'))
    };
    ["${!", "${(", "nameref "].iter().any(|sign| find_each(bytes, sign).next().is_some())
        || DECLARING.iter().any(|word| find_each(bytes, word).any(makes_reference))
}

/// Returns the names in a text, except those to which it gives a value.
fn mentioned_names(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut end = 0;
    bytes.split(|byte| !is_part(*byte)).filter(move |name| {
        let after = &bytes[end + name.len()..];
        end += name.len() + 1;
        let after = after.strip_prefix(b"\"").unwrap_or(after);
        !(name.is_empty() || matches!(after.first(), Some(b'=' | b':')) || after.starts_with(b"+="))
    })
}

fn is_set(after: &[u8]) -> bool {
    let blanks = after.iter().take(8).take_while(|byte| **byte == b' ').count();
    let after = &after[blanks..];
    after.starts_with(b"=") && !after.starts_with(b"==") && !after.starts_with(b"=~")
}

/// Returns true if a hidden part of a text could be executed wherever the text is, because of its
/// kind or because the text uses the variable whose value it is.
pub(super) fn could_run(text: &[u8], span: &SecretSpan, uses: &UsedVariables) -> bool {
    let before = &text[..span.start];
    let quotes = before.iter().rev().take(8).take_while(|byte| b"\"'\\".contains(byte)).count();
    let before = &before[..before.len() - quotes];
    span.label == REST || span.label == SEVERAL_WORDS || is_used(before, uses)
}

/// Returns true if the value of a used variable follows.
fn is_used(before: &[u8], uses: &UsedVariables) -> bool {
    let Some(before) = before.strip_suffix(b"=") else { return false };
    let before = before.strip_suffix(b"+").unwrap_or(before);
    let len = before.iter().rev().take(128).take_while(|byte| is_part(**byte)).count();
    uses.has(&before[before.len() - len..])
}
