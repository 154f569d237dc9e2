//! Random codes and tokens, and the hashes of tokens.

use std::io;

use callgate_link::random::random_bytes;
use callgate_wire::desk::HiddenText;
use sha2::{Digest, Sha256};

/// Letters and digits that are not mistaken for each other.
const ALPHABET: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";
/// The length of a code.
const CODE: usize = 8;
/// How many random bytes a token has.
const TOKEN: usize = 32;

/// Returns a new pairing code.
pub(in crate::daemon) fn new_pairing_code() -> io::Result<HiddenText> {
    let mut code = String::new();
    while code.len() < CODE {
        // Bytes above the last whole multiple would make some characters likelier than others.
        let fair = random_bytes::<CODE>()?.into_iter().filter(|byte| *byte < 240);
        code.extend(fair.map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()])));
    }
    code.truncate(CODE);
    Ok(HiddenText::new(code))
}

/// Returns a new token for a viewer.
pub(super) fn new_viewer_token() -> io::Result<HiddenText> {
    Ok(HiddenText::new(hex_digits(&random_bytes::<TOKEN>()?)))
}

/// Returns the hash of a token, in hex. A token is too random to be guessed from it.
fn hash_token(token: &HiddenText) -> String {
    hex_digits(&Sha256::digest(token.reveal().as_bytes()))
}

/// Returns how the desk knows a token: by its hash and, if a page holds it, by the page's origin.
/// The same token from another origin is unknown.
pub(super) fn token_identity(token: &HiddenText, origin: Option<&str>) -> String {
    let hash = hash_token(token);
    match origin {
        Some(origin) => format!("{hash}@{origin}"),
        None => hash,
    }
}

/// Formats bytes in hex.
pub(super) fn hex_digits(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_code_has_eight_characters_that_cannot_be_mistaken() {
        let codes: BTreeSet<String> =
            (0..500).map(|_| new_pairing_code().unwrap().reveal().to_owned()).collect();
        assert_eq!(codes.len(), 500, "none comes twice");
        for code in &codes {
            assert_eq!(code.len(), 8);
            assert!(code.bytes().all(|byte| ALPHABET.contains(&byte)), "{code}");
        }
        let all: BTreeSet<char> = codes.iter().flat_map(|code| code.chars()).collect();
        assert_eq!(all.len(), ALPHABET.len(), "every character is used");
        for mistaken in "01ILOU".chars() {
            assert!(!all.contains(&mistaken), "{mistaken}");
        }
    }

    #[test]
    fn a_token_is_random_and_known_by_its_hash() {
        let (one, other) = (new_viewer_token().unwrap(), new_viewer_token().unwrap());
        assert_eq!(one.reveal().len(), 2 * TOKEN);
        assert_ne!(one, other);
        let expected = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(hash_token(&HiddenText::new("hello")), expected);
    }
}
