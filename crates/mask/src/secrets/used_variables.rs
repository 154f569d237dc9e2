//! What in a text could be executed. Nothing that could run is hidden because of its name alone;
//! if a hidden secret could still run, whoever approves is informed.

use std::collections::HashSet;

use super::candidate::is_operator;
use super::span::SecretSpan;
use super::{REST, SEVERAL_WORDS};
use crate::programs::{INTERPRETERS, SHELLS, WRAPPERS, is_one_of};

/// Words after which a shell, or a program, runs the next one.
const BEFORE_A_PROGRAM: &str =
    "-c -lc -ec -exec -execdir -ok --exec --eval then do else elif if while until { !";

/// The variables whose values a text uses.
#[derive(Debug, Default)]
pub(super) struct UsedVariables<'a> {
    names: HashSet<&'a [u8]>,
    /// Those that are used around the text.
    outer: Option<&'a UsedVariables<'a>>,
}

impl<'a> UsedVariables<'a> {
    /// Finds `$NAME`, `${NAME…}`, `${!NAME}`, `$env:NAME`, `%NAME%` and `printenv NAME`.
    pub(super) fn find(bytes: &'a [u8]) -> Self {
        let mut names = HashSet::new();
        let signs = memchr::memchr_iter(b'$', bytes).map(|at| at + 1);
        // JSON may escape the sign like this.
        let written = memchr::memmem::find_iter(bytes, "\\u0024").map(|at| at + 6);
        for from in signs.chain(written) {
            let rest = &bytes[from..];
            let skipped = rest.iter().take(3).take_while(|byte| b"{!#".contains(byte)).count();
            let rest = &rest[skipped..];
            let rest = match rest.split_at_checked(4) {
                Some((start, name)) if start.eq_ignore_ascii_case(b"env:") => name,
                _ => rest,
            };
            // In some languages a variable also has its sign where it is set.
            let name = name(rest);
            if !is_set(&rest[name.len()..]) {
                names.insert(name);
            }
        }
        for at in memchr::memchr_iter(b'%', bytes) {
            let name = name(&bytes[at + 1..]);
            if !name.is_empty() && bytes.get(at + 1 + name.len()) == Some(&b'%') {
                names.insert(name);
            }
        }
        for at in memchr::memmem::find_iter(bytes, "printenv ") {
            names.insert(name(&bytes[at + "printenv ".len()..]));
        }
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

/// Returns the name of a variable at the beginning of some bytes.
fn name(bytes: &[u8]) -> &[u8] {
    /// The longest name, in bytes.
    const LONGEST: usize = 128;
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    &bytes[..bytes.iter().take(LONGEST).take_while(is_part).count()]
}

/// Returns true if the text after a name gives it a value.
fn is_set(after: &[u8]) -> bool {
    let blanks = after.iter().take(8).take_while(|byte| **byte == b' ').count();
    let after = &after[blanks..];
    after.starts_with(b"=") && !after.starts_with(b"==") && !after.starts_with(b"=~")
}

/// Returns true if a hidden part of a text could be executed.
pub(super) fn could_run(
    text: &[u8],
    span: &SecretSpan,
    uses: &UsedVariables,
    is_command: bool,
) -> bool {
    let before = &text[..span.start];
    let quotes = before.iter().rev().take(8).take_while(|byte| b"\"'\\".contains(byte)).count();
    let before = &before[..before.len() - quotes];
    span.label == REST
        || span.label == SEVERAL_WORDS
        || is_used(before, uses)
        || (is_command && begins_command(before))
}

/// Returns true if the value of a used variable follows.
fn is_used(before: &[u8], uses: &UsedVariables) -> bool {
    let Some(before) = before.strip_suffix(b"=") else { return false };
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = before.iter().rev().take(128).take_while(is_part).count();
    uses.has(&before[before.len() - len..])
}

/// Returns true if the next word would be the name of a program.
fn begins_command(before: &[u8]) -> bool {
    let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let before = &before[..before.len() - blanks];
    let Some(last) = before.last() else { return true };
    if *last == b'\n' || (is_operator(*last) && !matches!(last, b'<' | b'>')) {
        return true;
    }
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || is_operator(*byte) || b"\"'".contains(byte);
    let start = before.iter().rposition(ends).map_or(0, |at| at + 1);
    let Ok(word) = std::str::from_utf8(&before[start..]) else { return false };
    blanks > 0
        && (is_one_of(word, WRAPPERS)
            || is_one_of(word, SHELLS)
            || is_one_of(word, INTERPRETERS)
            || BEFORE_A_PROGRAM.split_ascii_whitespace().any(|known| known == word))
}
