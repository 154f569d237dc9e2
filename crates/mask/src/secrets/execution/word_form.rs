//! What the form of a word says about its execution.

use super::shell_tokens::HIDDEN;
use crate::word_list::WordList;
use crate::words;

/// Options after which a program runs the next word, and long ones that may have it attached.
const RUN_OPTIONS: &WordList = words!(
    "-c -lc -ec -exec -execdir -ok -okdir --exec --eval --command --execute --run --rsh --pre \
    --split-string"
);

/// Returns true if a hidden part of a word is the name of a file (`/tmp/…`, `X=~/…`) or follows the
/// sign with which git's aliases call other programs.
pub(super) fn is_hidden_path(word: &[u8]) -> bool {
    let before = word.split(|byte| *byte == HIDDEN).next().unwrap_or_default();
    // The path may be the value of an assignment or of an option.
    let path = before.rsplit(|byte| *byte == b'=').next().unwrap_or_default();
    let is_path = path.contains(&b'/') && matches!(path[0], b'/' | b'.' | b'~' | b'$');
    is_path || path.starts_with(b"!")
}

/// Returns the name in `NAME=value`, `NAME+=value` or `NAME[0]=value`.
pub(super) fn assigned_name(word: &[u8]) -> Option<&[u8]> {
    let len = word.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let after = &word[len..];
    let is_assigned = after.starts_with(b"=")
        || after.starts_with(b"+=")
        || (after.starts_with(b"[") && memchr::memmem::find(after, b"]=").is_some());
    (len > 0 && !word[0].is_ascii_digit() && is_assigned).then_some(&word[..len])
}

/// Returns true if a shell would replace something in a word, other than a well-known folder.
pub(super) fn is_expanded(word: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 4] = [b"$HOME", b"${HOME}", b"$PWD", b"${PWD}"];
    let rest = FOLDERS.iter().find_map(|folder| word.strip_prefix(*folder)).unwrap_or(word);
    rest.contains(&b'$') || rest.starts_with(b"%") || (rest.len() > 1 && rest.starts_with(b"!"))
}

/// Returns the name of an option that has its value attached: `--name=value`, `-cvalue`.
pub(super) fn attached_name(word: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| matches!(*byte, b'=' | HIDDEN);
    &word[..word.iter().position(is_end).unwrap_or(word.len())]
}

/// Returns true for an option after which a program runs the next word.
pub(super) fn is_run_option(word: &[u8]) -> bool {
    word.starts_with(b"-") && RUN_OPTIONS.contains(word)
}

/// Returns true for combined letters of which the last takes code: `-euxc`, `-ne`.
pub(super) fn is_code_option(word: &[u8]) -> bool {
    word.len() > 1
        && word.len() <= 6
        && word[0] == b'-'
        && word[1..].iter().all(u8::is_ascii_alphabetic)
        && (word.ends_with(b"c") || word.ends_with(b"e"))
}

/// Returns the name at the end of a word: `system` in `os.system`.
pub(super) fn last_name(word: &[u8]) -> &[u8] {
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    &word[word.len() - word.iter().rev().take_while(is_name).count()..]
}
