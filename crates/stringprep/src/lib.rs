//! `SASLprep` for passwords of `PostgreSQL`, in place of the crate of this name in the registry,
//! whose tables of Unicode take 150 KB.
//!
//! The server prepares a password when it is set, and the client when it is shown: they have to
//! agree. So this does what `pg_saslprep` of the server does, also where that differs from RFC
//! 4013: what is prohibited and what is bidirectional is looked for before the text is normalised.
//! Only this last step is missing: a password that it would change cannot be prepared here, and
//! [`needs_normalising`] finds it before it is used.

use std::borrow::Cow;

/// Ranges of code points: C.1.2, which become a space.
const SPACES: &str = "A0 1680 2000-200B 202F 205F 3000";
/// B.1, which are left out.
const LEFT_OUT: &str = "AD 34F 1806 180B-180D 200B-200D 2060 FE00-FE0F FEFF";
/// C.1.2 to C.9.
const PROHIBITED: &str = "0-1F 7F-A0 340-341 6DD 70F 1680 180E 2000-200F 2028-202F 205F-2063 \
    206A-206F 2FF0-2FFB 3000 D800-F8FF FDD0-FDEF FEFF FFF9-FFFF 1D173-1D17A 1FFFE-1FFFF \
    2FFFE-2FFFF 3FFFE-3FFFF 4FFFE-4FFFF 5FFFE-5FFFF 6FFFE-6FFFF 7FFFE-7FFFF 8FFFE-8FFFF \
    9FFFE-9FFFF AFFFE-AFFFF BFFFE-BFFFF CFFFE-CFFFF DFFFE-DFFFF E0001 E0020-E007F EFFFE-10FFFF";
/// A.1: what Unicode 3.2 did not have.
const UNASSIGNED: &str = include_str!("unassigned.txt");
/// D.1.
const RIGHT_TO_LEFT: &str = include_str!("right_to_left.txt");
/// D.2.
const LEFT_TO_RIGHT: &str = include_str!("left_to_right.txt");

/// The characters of Unicode 3.2 that NFKC replaces or joins with those before them.
const CHANGED: &str = include_str!("changed.txt");
/// Those that have a combining class. NFKC may swap two of them.
const MARKS: &str = include_str!("marks.txt");

/// A password that cannot be prepared.
#[derive(Debug, PartialEq, Eq)]
pub struct UnpreparedPassword;

/// Returns a password in the form in which it is compared. One that cannot be prepared is used as
/// it is, by the server and by its client.
pub fn saslprep(password: &str) -> Result<Cow<'_, str>, UnpreparedPassword> {
    if password.is_ascii() {
        return Ok(Cow::Borrowed(password));
    }
    let mapped = map_allowed(password).filter(|mapped| is_normal(mapped));
    mapped.map(|mapped| Cow::Owned(mapped.into_iter().collect())).ok_or(UnpreparedPassword)
}

/// Returns true for a password that the server compares in another form than [`saslprep`] returns.
pub fn needs_normalising(password: &str) -> bool {
    !password.is_ascii() && map_allowed(password).is_some_and(|mapped| !is_normal(&mapped))
}

/// Maps spaces and what is left out. Returns `None` for a password that the server uses as it is.
fn map_allowed(password: &str) -> Option<Vec<char>> {
    let map = |char| if is_in(SPACES, char) { ' ' } else { char };
    let mapped: Vec<char> =
        password.chars().map(map).filter(|char| !is_in(LEFT_OUT, *char)).collect();
    let is_allowed = |char: &char| !is_in(PROHIBITED, *char) && !is_in(UNASSIGNED, *char);
    let is_used = !mapped.is_empty() && mapped.iter().all(is_allowed) && !mixes_directions(&mapped);
    is_used.then_some(mapped)
}

/// Returns true if NFKC leaves a text as it is; maybe not for one that has two marks side by side.
fn is_normal(text: &[char]) -> bool {
    let are_marks = |pair: &[char]| pair.iter().all(|char| is_in(MARKS, *char));
    !text.iter().any(|char| is_in(CHANGED, *char)) && !text.windows(2).any(are_marks)
}

/// Returns true for a text with characters written from right to left that has others beside them,
/// or does not begin and end with such.
fn mixes_directions(text: &[char]) -> bool {
    let is_right_to_left = |char: &char| is_in(RIGHT_TO_LEFT, *char);
    text.iter().any(is_right_to_left)
        && (text.iter().any(|char| is_in(LEFT_TO_RIGHT, *char))
            || ![text.first(), text.last()].into_iter().flatten().all(is_right_to_left))
}

/// Returns true if a table has the character. A password has few, so the tables are read as they
/// are.
fn is_in(table: &str, char: char) -> bool {
    table.split_ascii_whitespace().any(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last] = [first, last].map(|code| u32::from_str_radix(code, 16));
        first.is_ok_and(|it| it <= char.into()) && last.is_ok_and(|it| it >= char.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_prepared_as_the_server_does() {
        let check = |password: &str, prepared: Option<&str>| {
            let found = saslprep(password).ok();
            assert_eq!(found.as_deref(), prepared, "{password:?}");
            assert!(!needs_normalising(password), "{password:?}");
        };
        for kept in ["", "pass-7431", "with\ttab", "naïve-ß", "пароль", "密码", "שלום", "שֱלום"]
        {
            check(kept, Some(kept));
        }
        // Spaces, and what is left out.
        check("I\u{ad}X", Some("IX"));
        check("a\u{a0}b\u{3000}c\u{200b}d", Some("a b c d"));
        check("a\u{feff}b\u{fe0f}", Some("ab"));
        // Nothing is left, a control character, a private one, and what came after Unicode 3.2.
        for used in ["\u{ad}", "é\u{7}", "\u{85}", "\u{e000}", "ﬁ😀", "\u{1f100}", "é\u{340}"]
        {
            check(used, None);
        }
        // Both directions, and a digit at an end.
        for mixed in ["שaש", "ש1", "1ש", "ﷺa", "\u{627}1"] {
            check(mixed, None);
        }
        check("ש1ש", Some("ש1ש"));
    }

    #[test]
    fn what_would_be_normalised_is_found() {
        for changed in ["nai\u{308}ve", "ﬁ", "Ⅸ", "①", "\u{212b}", "ａ", "ªb", "가\u{11a8}", "ﷺ"]
        {
            assert!(needs_normalising(changed), "{changed:?}");
            assert_eq!(saslprep(changed), Err(UnpreparedPassword), "{changed:?}");
        }
        // A dagesh and a vowel, in the order that is not the normal one.
        assert!(needs_normalising("ש\u{5bc}\u{5b0}ש"));
        assert!(!needs_normalising("ש\u{5b0}ש"));
    }

    #[test]
    fn tables_are_whole() {
        let is_range = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let code = |hex| u32::from_str_radix(hex, 16).unwrap();
            (code(first)..=code(last)).contains(&code(last)) && code(last) <= char::MAX.into()
        };
        let sizes = [
            (SPACES, 6),
            (LEFT_OUT, 8),
            (PROHIBITED, 34),
            (UNASSIGNED, 396),
            (CHANGED, 157),
            (MARKS, 63),
            (RIGHT_TO_LEFT, 34),
            (LEFT_TO_RIGHT, 360),
        ];
        for (table, count) in sizes {
            let ranges: Vec<&str> = table.split_ascii_whitespace().collect();
            assert!(ranges.iter().all(|range| is_range(range)), "{table}");
            assert_eq!(ranges.len(), count, "{table}");
        }
    }
}
