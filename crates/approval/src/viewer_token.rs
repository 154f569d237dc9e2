//! The tokens by which viewers may press, and the hashes by which the desk knows them.

use std::io;

use callgate_link::random::random_bytes;
use callgate_wire::desk::HiddenText;
use sha2::{Digest, Sha256};

/// How many random bytes a token has.
const TOKEN: usize = 32;

pub fn new_viewer_token() -> io::Result<HiddenText> {
    Ok(HiddenText::new(hex_digits(&random_bytes::<TOKEN>()?)))
}

/// Returns the hash of a token, in hex. It needs neither salt nor a slow function: a token has 256
/// random bits, which nobody can try out.
fn hash_token(token: &HiddenText) -> String {
    hex_digits(&Sha256::digest(token.reveal().as_bytes()))
}

/// Returns how the desk knows a token: by its hash and, if a page holds it, by the page's origin.
/// The same token from another origin is unknown.
pub fn token_identity(token: &HiddenText, origin: Option<&str>) -> String {
    let hash = hash_token(token);
    match origin {
        Some(origin) => format!("{hash}@{origin}"),
        None => hash,
    }
}

pub(crate) fn hex_digits(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_random_and_known_by_its_hash() {
        let (one, other) = (new_viewer_token().unwrap(), new_viewer_token().unwrap());
        assert_eq!(one.reveal().len(), 2 * TOKEN);
        assert_ne!(one, other);
        let expected = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(hash_token(&HiddenText::new("hello")), expected);
    }
}
