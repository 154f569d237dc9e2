//! Words of 40 hexadecimal digits: commits and checksums are shown, all others are keys.
//!
//! Only the context distinguishes a commit from a key. In a command it is a commit if a
//! program that works with commits or checksums was named, or if the word before says so. A word
//! that begins a line (`git ls-remote`, `sha1sum`) is one too, and so is whatever is only part of
//! a word (`origin/main..HASH`, `actions/checkout@HASH`).

use crate::secrets::candidate::count_distinct_bytes;
use crate::word_list::WordList;
use crate::words;

/// Programs and commands that work with commits or checksums.
const ABOUT: &WordList = words!(
    "git gh glab hub jj hg svn tig nix nix-prefetch-git nix-shell cherry-pick rev-parse sha1sum \
    shasum sha1 cksum openssl b3sum rg grep actions submodule bisect rebase checkout docker \
    podman"
);

const ANNOUNCING: &WordList = words!(
    "commit commits tree parent object merge blob tag revert reverts fixes rev revision sha sha1 \
    hash checksum digest at from to head base since until --rev --ref --sha --commit id"
);

/// Returns true if a word is 40 hexadecimal digits without a pattern.
pub(super) fn is_hash(word: &[u8]) -> bool {
    word.len() == 40
        && word.iter().all(u8::is_ascii_hexdigit)
        && word.iter().any(u8::is_ascii_digit)
        // A row of zeros or another filler has few.
        && count_distinct_bytes(word) >= 8
}

pub(super) fn is_about_hashes(word: &[u8]) -> bool {
    let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
    ABOUT.contains(name)
}

pub(super) fn announces_hash(word: &[u8]) -> bool {
    let word = word.strip_suffix(b":").unwrap_or(word);
    ANNOUNCING.contains_in_any_case(word)
}
