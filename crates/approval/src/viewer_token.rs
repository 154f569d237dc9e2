//! The tokens by which viewers may press, and the hashes by which the desk knows them.

use std::io;

use callgate_link::random::random_bytes;
use callgate_wire::desk::HiddenText;
use callgate_wire::hex::hex_digits;
use callgate_wire::ledger::viewer_identity;
use sha2::{Digest, Sha256};

/// How many random bytes a token has.
const TOKEN: usize = 32;

pub fn new_viewer_token() -> io::Result<HiddenText> {
    Ok(HiddenText::new(hex_digits(&random_bytes::<TOKEN>()?)))
}

/// Returns how the desk knows a token, without `viewer/`. The hash needs neither salt nor a slow
/// function: a token has 256 random bits, which nobody can try out.
pub fn token_identity(token: &HiddenText, origin: Option<&str>) -> String {
    viewer_identity(&Sha256::digest(token.reveal()), origin)
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
        assert_eq!(token_identity(&HiddenText::new("hello"), None), expected);
    }
}
