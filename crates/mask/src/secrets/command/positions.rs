//! Programs that take a secret as a word of its own, or read it from their input.

use crate::word_list::WordList;
use crate::words;

/// Two words after which a secret follows, and how many words come between.
const AFTER_WORDS: [(&str, &str, u8); 11] = [
    ("cargo", "login", 0),
    ("operator", "unseal", 0),
    ("rclone", "obscure", 0),
    ("ansible-vault", "encrypt_string", 0),
    ("openssl", "passwd", 0),
    ("redis-cli", "AUTH", 0),
    ("config", "add-authtoken", 0),
    ("root", "password", 0),
    ("net", "user", 1),
    ("user", "password", 0),
    ("password", "is", 0),
];

/// Words that begin a command or a line, and how many words are between them and the secret.
const AFTER_START: [(&str, u8); 3] = [("requirepass", 0), ("masterauth", 0), ("wpa_passphrase", 1)];

const READERS: &WordList =
    words!("su passwd kinit vncpasswd cryptsetup secret-tool smbpasswd mkpasswd wg secret secrets");

/// Returns how many words are between `word`, which follows `last`, and a secret.
pub(super) fn before_secret(last: Option<&[u8]>, word: &[u8], starts_command: bool) -> Option<u8> {
    let two = || {
        let last = file_name(last?);
        let mut known = AFTER_WORDS.iter();
        known
            .find(|(first, second, _)| first.as_bytes() == last && second.as_bytes() == word)
            .map(|(_, _, between)| *between)
    };
    let one = || {
        let mut known = AFTER_START.iter().filter(|_| starts_command);
        known.find(|(name, _)| name.as_bytes() == word).map(|(_, between)| *between)
    };
    two().or_else(one)
}

pub(super) fn reads_password(word: &[u8]) -> bool {
    READERS.contains(file_name(word))
}

/// Returns the last part of a path.
pub(super) fn file_name(word: &[u8]) -> &[u8] {
    word.rsplit(|byte| *byte == b'/').next().unwrap_or(word)
}
