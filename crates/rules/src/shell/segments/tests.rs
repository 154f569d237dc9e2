//! Tests of the pieces of commands.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// Shows the pieces of a command, one a line; those that begin a line with an arrow.
#[allow(clippy::needless_pass_by_value, reason = "every caller makes it in place")]
fn check(text: &str, expected: Expect) {
    let shown = |segment: &CommandSegment| {
        let arrow = if segment.breaks { ">" } else { "-" };
        let style = format!("{:?}", segment.style).to_lowercase();
        format!("{arrow}{style:<8} {:?}\n", segment.text)
    };
    expected.assert_eq(&split_into_segments(text).iter().map(shown).collect::<String>());
}

#[test]
fn a_list_breaks_at_its_operators() {
    check(
        "cd /srv && rm -rf 'old data' | tee log; echo $HOME # done",
        expect![[r##"
            -program  "cd"
            -word     " "
            -path     "/srv"
            -word     " "
            >operator "&&"
            -word     " "
            -program  "rm"
            -word     " "
            -option   "-rf"
            -word     " "
            -string   "'old data'"
            -word     " "
            >operator "|"
            -word     " "
            -program  "tee"
            -word     " log"
            >operator ";"
            -word     " "
            -program  "echo"
            -word     " "
            -variable "$HOME"
            -word     " "
            -comment  "# done"
        "##]],
    );
}

#[test]
fn operators_within_a_command_break_nothing() {
    check(
        "(a && b); echo \"$(c | d)\" &",
        expect![[r#"
            -operator "("
            -program  "a"
            -word     " "
            -operator "&&"
            -word     " "
            -program  "b"
            -operator ")"
            >operator ";"
            -word     " "
            -program  "echo"
            -word     " "
            -string   "\""
            -operator "$("
            -program  "c"
            -variable " "
            -operator "|"
            -variable " "
            -program  "d"
            -operator ")"
            -string   "\""
            -word     " "
            -operator "&"
        "#]],
    );
}

#[test]
fn redirects_and_documents_have_their_styles() {
    check(
        "cat <<EOF >out.txt 2>&1\nhello $x\nEOF\nls ..",
        expect![[r#"
            -program  "cat"
            -word     " "
            -operator "<<"
            -path     "EOF"
            -word     " "
            -operator ">"
            -path     "out.txt"
            -word     " "
            -operator "2>&"
            -path     "1"
            -word     "\n"
            -string   "hello $x\nEOF\n"
            -program  "ls"
            -word     " "
            -path     ".."
        "#]],
    );
}

#[test]
fn a_placeholder_is_one_hidden_word() {
    check(
        "[hidden 1: token] -H 'a: [hidden 2: token]' x⟨U+202E⟩y",
        expect![[r#"
            -hidden   "[hidden 1: token]"
            -word     " "
            -option   "-H"
            -word     " "
            -string   "'a: "
            -hidden   "[hidden 2: token]"
            -string   "'"
            -word     " x"
            -hidden   "⟨U+202E⟩"
            -word     "y"
        "#]],
    );
}

#[test]
fn what_is_not_understood_stands_out() {
    check(
        "echo 'open",
        expect![[r#"
            -program  "echo"
            -word     " "
            -unclear  "'open"
        "#]],
    );
    check(
        "écho a!b",
        expect![[r#"
            -unclear  "é"
            -program  "cho"
            -word     " a"
            -unclear  "!"
            -word     "b"
        "#]],
    );
    check(
        "LANG=C if `date`; then {a,b} ${x:-y}; fi",
        expect![[r#"
            -word     "LANG=C "
            -program  "if"
            -word     " "
            -variable "`date`"
            >operator ";"
            -word     " "
            -operator "then"
            -word     " "
            -variable "{"
            -program  "a,b}"
            -word     " "
            -variable "${x:-y}"
            >operator ";"
            -word     " "
            -program  "fi"
        "#]],
    );
}

#[test]
fn there_are_no_more_pieces_than_are_shown() {
    let long = "a 'b' ".repeat(MOST_SEGMENTS);
    let pieces = split_into_segments(&long);
    assert_eq!(pieces.len(), MOST_SEGMENTS + 1);
    assert_eq!(pieces.iter().map(|piece| piece.text.as_str()).collect::<String>(), long);
}

proptest! {
    #[test]
    fn the_pieces_joined_are_the_command(
        text in "([ -~]|[é⟨⟩\u{202e}\n\t]|\\[hidden 1: a\\]|⟨U\\+202E⟩|\\$\\(|<<E\n|&&|\"|'|`|\\$\\{a:-){0,60}",
    ) {
        let pieces = split_into_segments(&text);
        let joined: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
        prop_assert_eq!(joined, text);
        prop_assert!(pieces.iter().all(|piece| !piece.text.is_empty()));
        prop_assert!(
            pieces.iter().all(|piece| !piece.breaks || piece.style == SegmentStyle::Operator)
        );
    }
}
