//! Near words are suggested.

use super::*;

#[test]
fn near_words_are_found() {
    for (word, expected) in [
        ("comand", "; did you mean `command`?"),
        ("commadn", "; did you mean `command`?"),
        ("Tool", "; did you mean `tool`?"),
        ("utnil", "; did you mean `until`?"),
        ("colour", "; known are command, tool, until"),
    ] {
        assert_eq!(nearest_word_hint(word, &["command", "tool", "until"]), expected, "{word}");
    }
}
