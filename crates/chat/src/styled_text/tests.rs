//! Wrapping, widths, and what never reaches the terminal.

use proptest::prelude::*;

use super::*;

pub(crate) fn page(width: usize) -> ChatPage {
    ChatPage { width, height: 24, colours: false }
}

fn plain(text: &str) -> StyledText {
    StyledText::new(text, TextStyle::PLAIN)
}

#[test]
fn lines_are_wrapped_between_words() {
    let check = |text: &str, width: usize, expected: &[&str]| {
        assert_eq!(plain(text).rows(&page(width), WrapAt::Words), expected, "{text:?}");
    };
    check("", 10, &[""]);
    check("one two three", 10, &["one two", "three"]);
    check("one two th", 10, &["one two th"]);
    check("exactly ten", 10, &["exactly", "ten"]);
    check("a-word-that-is-too-long here", 10, &["a-word-tha", "t-is-too-l", "ong here"]);
    check("  indented words stay", 10, &["  indented", "words stay"]);
    check("漢字漢字漢字", 8, &["漢字漢字", "漢字"]);
    check("a\tb", 10, &["a    b"]);
    // Some terminals draw the sign with its selector in two columns.
    check("12345678⚠️", 9, &["12345678", "⚠️"]);
    check("1234567⚠️", 9, &["1234567⚠️"]);
}

#[test]
fn a_hanging_indent_goes_before_every_row() {
    let (first, rest) = (plain("- "), plain("  "));
    let rows = plain("one two three").hanging_rows(&page(9), WrapAt::Words, &first, &rest);
    assert_eq!(rows, ["- one two", "  three"]);
    let rows = plain("one two").hanging_rows(&page(8), WrapAt::Columns, &first, &rest);
    assert_eq!(rows, ["- one tw", "  o"]);
}

#[test]
fn styles_begin_and_end_in_each_row_and_go_without_colours() {
    let line = plain("one ").and_text("two three", TextStyle::BOLD | TextStyle::RED);
    let colours = ChatPage { colours: true, ..page(8) };
    let rows = line.rows(&colours, WrapAt::Words);
    assert_eq!(rows, ["one \u{1b}[1;31mtwo\u{1b}[0m", "\u{1b}[1;31mthree\u{1b}[0m"]);
    assert_eq!(line.rows(&page(8), WrapAt::Words), ["one two", "three"]);
}

#[test]
fn a_row_is_cut_to_the_page() {
    assert_eq!(plain("a long headline").row(&page(10)), "a long he…");
    assert_eq!(plain("漢字漢字漢字").row(&page(8)), "漢字漢…");
    assert_eq!(plain("fits here").row(&page(10)), "fits here");
}

#[test]
fn escape_sequences_are_shown_and_do_nothing() {
    let text = "a\u{1b}[31mred\u{7}\r\n\u{9b}2J\u{202e}x\u{0}";
    let rows = plain(text).rows(&page(200), WrapAt::Words);
    assert_eq!(rows.len(), 1);
    assert!(rows[0].contains("a⟨U+001B⟩[31mred⟨U+0007⟩"), "{rows:?}");
    assert!(rows[0].contains("⟨U+009B⟩2J⟨U+202E⟩x⟨U+0000⟩"), "{rows:?}");
}

proptest! {
    #[test]
    fn no_row_is_wider_than_the_page_or_has_a_control_character(
        text in any::<String>(),
        width in 8..60_usize,
        by_words in any::<bool>(),
    ) {
        let at = if by_words { WrapAt::Words } else { WrapAt::Columns };
        let indent = plain("  ");
        for row in plain(&text).hanging_rows(&page(width), at, &indent, &indent) {
            prop_assert!(column_width(&row) <= width, "{row:?}");
            prop_assert!(!row.contains(char::is_control), "{row:?}");
        }
        prop_assert!(column_width(&plain(&text).row(&page(width))) <= width);
    }
}
