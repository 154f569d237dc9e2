//! Random codes and tokens.

use std::io;

use callgate_link::random::random_bytes;
use callgate_wire::desk::HiddenText;

/// Letters and digits that are not mistaken for each other.
const ALPHABET: &[u8; 30] = b"23456789ABCDEFGHJKMNPQRSTVWXYZ";
const CODE: usize = 8;

pub(in crate::daemon) fn new_pairing_code() -> io::Result<HiddenText> {
    let mut code = String::new();
    while code.len() < CODE {
        // Bytes from the last whole multiple of 30 on would make some characters likelier than
        // others.
        let fair = random_bytes::<CODE>()?.into_iter().filter(|byte| *byte < 240);
        code.extend(fair.map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()])));
    }
    code.truncate(CODE);
    Ok(HiddenText::new(code))
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
}
