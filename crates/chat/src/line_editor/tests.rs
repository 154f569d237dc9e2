//! Typing, moving, deleting, and where the cursor is drawn.

use super::*;
use crate::styled_text::tests::page;

/// Types into an editor that has `before`, with the cursor at the bar, and returns it likewise.
fn after(before: &str, keys: &[KeyStroke]) -> String {
    let mut editor = LineEditor::with_text(before.replace('|', ""));
    editor.cursor = before.find('|').unwrap();
    for key in keys {
        editor.handle_key(*key);
    }
    let mut text = editor.text.clone();
    text.insert(editor.cursor, '|');
    text
}

#[test]
fn every_kind_of_line_end_is_pasted_as_one() {
    let pasted = |text: &str| after("|", &text.chars().map(KeyStroke::Pasted).collect::<Vec<_>>());
    assert_eq!(pasted("a\rb\nc\r\nd\r\r\n\n"), "a\nb\nc\nd\n\n\n|");
}

#[test]
fn keys_move_and_edit() {
    use KeyStroke as Key;
    let check = |before: &str, key: Key, expected: &str| {
        assert_eq!(after(before, &[key]), expected, "{before} {key:?}");
    };
    check("ab|", Key::Char('c'), "abc|");
    check("a|b", Key::LineFeed, "a\n|b");
    check("a|b", Key::Pasted('\r'), "a\n|b");
    check("ab|c", Key::Backspace, "a|c");
    check("|abc", Key::Backspace, "|abc");
    check("a|bc", Key::Delete, "a|c");
    check("one two|", Key::Ctrl('w'), "one |");
    check("one, two |three", Key::AltBackspace, "one, |three");
    check("one\ntwo| three", Key::Ctrl('u'), "one\n| three");
    check("one| two\nthree", Key::Ctrl('k'), "one|\nthree");
    check("one two|", Key::WordLeft, "one |two");
    check("|one two", Key::WordRight, "one| two");
    check("a\nbc|d", Key::Home, "a\n|bcd");
    check("a|b\ncd", Key::End, "ab|\ncd");
    check("abc\nd|e", Key::Up, "a|bc\nde");
    check("abc|\nde", Key::Down, "abc\nde|");
    check("漢字|漢\nabcdef", Key::Down, "漢字漢\nabcd|ef");
    check("漢字漢\nabc|def", Key::Up, "漢|字漢\nabcdef");
    check("a|b\n\tc", Key::Down, "ab\n|\tc");
    check("👩\u{200d}👩|x", Key::Left, "|👩\u{200d}👩x");
    check("|e\u{301}x", Key::Right, "e\u{301}|x");
    check("e\u{301}|x", Key::Backspace, "|x");
}

#[test]
fn the_first_and_the_last_line_are_left_to_the_history() {
    let mut editor = LineEditor::with_text("one\ntwo".to_owned());
    assert!(!editor.handle_key(KeyStroke::Down));
    assert!(editor.handle_key(KeyStroke::Up));
    assert!(!editor.handle_key(KeyStroke::Up));
    assert!(!editor.handle_key(KeyStroke::Tab));
}

#[test]
fn the_cursor_is_where_the_next_character_goes() {
    let check = |text: &str, width: usize, rows: &[&str], cursor: (usize, usize)| {
        let mut editor = LineEditor::with_text(text.replace('|', ""));
        editor.cursor = text.find('|').unwrap();
        let (drawn, place) = editor.rows(&page(width), "> ");
        assert_eq!(
            (drawn.iter().map(String::as_str).collect::<Vec<_>>(), place),
            (rows.to_vec(), cursor)
        );
    };
    check("|", 10, &["> "], (0, 2));
    check("ab|c", 10, &["> abc"], (0, 4));
    check("abcdefgh|", 10, &["> abcdefgh", "  "], (1, 2));
    check("abcdefgh|ij", 10, &["> abcdefgh", "  ij"], (1, 2));
    check("ab\ncd|", 10, &["> ab", "  cd"], (1, 4));
    check("漢|字", 10, &["> 漢字"], (0, 4));
    check("\u{202e}|x", 30, &["> ⟨U+202E⟩x"], (0, 10));
    check("⚠️|x", 10, &["> ⚠️x"], (0, 4));
}

/// A row that is wider would be two on the screen, and the next frame would be drawn over others.
#[test]
fn no_row_is_wider_than_a_narrow_window() {
    for (width, prompt) in (4..12).flat_map(|width| [(width, "search› "), (width, "› ")]) {
        let editor = LineEditor::with_text("ab漢字漢字⚠️⚠️\n\tcd".to_owned());
        let (rows, (row, column)) = editor.rows(&page(width), prompt);
        assert!(rows.iter().all(|row| column_width(row) <= width), "{width} {prompt}: {rows:?}");
        assert!(row < rows.len() && column <= width, "{width} {prompt}: {row} {column}");
    }
}
