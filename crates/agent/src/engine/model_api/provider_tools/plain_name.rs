//! Names that every provider accepts. Pure.

use callgate_store::Sha256Hash;

use crate::tool::is_name_character;

/// The longest name that every provider accepts.
const LONGEST: usize = 64;
/// How many digits of a digest a replaced name ends with.
const DIGITS: usize = 12;

/// Returns true if every provider accepts the name.
pub(super) fn is_plain(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && name.chars().all(is_name_character)
}

/// Returns a name that every provider accepts, in place of one that some refuse: what is accepted
/// of it, and a digest of it. It depends only on the name, unless somebody has chosen the same.
pub(super) fn plain_name_for(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let accepted = |next: char| if is_name_character(next) { next } else { '_' };
    let start: String = name.chars().map(accepted).take(LONGEST - DIGITS - 1).collect();
    let mut digest = Sha256Hash::hash_bytes(name.as_bytes()).to_string();
    loop {
        let new = format!("{start}_{}", &digest[..DIGITS]);
        if !is_taken(&new) {
            return new;
        }
        digest = Sha256Hash::hash_bytes(digest.as_bytes()).to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_replaced_by_one_that_depends_on_it_alone() {
        let check = |name: &str| {
            let new = plain_name_for(name, |_| false);
            assert!(is_plain(&new), "{new}");
            assert_eq!(new, plain_name_for(name, |_| false));
            new
        };
        assert_eq!(check("$filter"), "_filter_0c097d40d6b7");
        assert_ne!(check("a b"), check("a.b"));
        assert_ne!(check(&"x".repeat(65)), check(&"x".repeat(66)));
        check("");
        check("日本語");
        // Somebody has chosen the same.
        let taken = check("$filter");
        let other = plain_name_for("$filter", |name| name == taken);
        assert!(is_plain(&other) && other != taken, "{other}");
        assert!(is_plain("read_file-2") && !is_plain("a.b") && !is_plain(""));
    }
}
