//! Frames on a small terminal: the screen shows what the frame says, and nothing above it changes.

use callgate_testkit::drawn_screen::DrawnScreen;
use proptest::prelude::*;

use super::*;

fn frame(final_rows: &[&str], live_rows: &[&str], cursor: (usize, usize)) -> ScreenFrame {
    let owned = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect();
    ScreenFrame { final_rows: owned(final_rows), live_rows: owned(live_rows), cursor }
}

#[test]
fn only_what_differs_is_written() {
    let mut screen = InlineScreen::default();
    screen.draw(frame(&[], &["text", "", "› "], (2, 2)));
    assert_eq!(screen.draw(frame(&[], &["text", "", "› "], (2, 2))), "");
    assert_eq!(screen.draw(frame(&[], &["text", "", "› a"], (2, 3))), "\r\u{1b}[J› a\r\u{1b}[3C");
    // A line that has become final is not written again.
    let text = screen.draw(frame(&["text"], &["more", "", "› a"], (2, 3)));
    assert_eq!(text, "\u{1b}[1A\r\u{1b}[Jmore\r\n\r\n› a\r\u{1b}[3C");
    assert_eq!(screen.draw(frame(&[], &["more", "", "› a"], (2, 1))), "\r\u{1b}[1C");
}

#[test]
fn a_new_width_wipes_what_was_wrapped() {
    let mut screen = InlineScreen::default();
    let mut terminal = DrawnScreen::new(4, 10);
    terminal.feed("abc\r\n");
    // As a terminal shows it that has become narrower: each row takes two.
    terminal.feed("onetw\r\nthree\r\n\u{1b}[1A\r");
    screen.draw(frame(&[], &["onetw", "\u{1b}[1mthree\u{1b}[0m", ""], (1, 4)));
    terminal.feed(&screen.wipe(4));
    assert_eq!(terminal.text(), "abc");
}

#[test]
fn the_shell_goes_on_below() {
    let mut screen = InlineScreen::default();
    let mut terminal = DrawnScreen::new(20, 5);
    terminal.feed(&screen.draw(frame(&["said"], &["", "› ", "status"], (1, 2))));
    terminal.feed(&screen.leave());
    terminal.feed("$ ");
    assert_eq!(terminal.text(), "said\n\n›\nstatus\n$");
}

fn rows(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-c]{0,3}", count)
}

proptest! {
    #[test]
    fn the_terminal_shows_all_final_rows_and_the_live_ones(
        frames in prop::collection::vec((rows(0..5), rows(1..6), 0..6_usize, 0..4_usize), 1..12),
    ) {
        let mut screen = InlineScreen::default();
        let mut terminal = DrawnScreen::new(8, 7);
        terminal.feed("$ callgate chat\r\n");
        let mut expected = "$ callga\nte chat\n".to_owned();
        for (final_rows, live_rows, row, column) in frames {
            let cursor = (row.min(live_rows.len() - 1), column);
            for row in &final_rows {
                expected = expected + row + "\n";
            }
            let live = live_rows.join("\n");
            let above = expected.lines().count();
            terminal.feed(&screen.draw(ScreenFrame { final_rows, live_rows, cursor }));
            let shown = expected.clone() + &live;
            prop_assert_eq!(terminal.text(), shown.trim_end());
            prop_assert_eq!(terminal.cursor(), (above + cursor.0, cursor.1));
        }
    }
}
