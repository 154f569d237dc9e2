//! Typing in the chat: lines, files, and what was typed before.

use callgate_testkit::messages::{Messages, Turn};
use serde_json::json;

use crate::chat::chat_screen::Chat;
use crate::fixture::Setup;

#[test]
fn every_way_to_begin_a_line_makes_one_message() {
    let fake = Messages::start([Turn::text("Six.")]);
    let mut chat = Chat::start(&Setup::on(&fake), 60);
    // A backslash, Alt-Enter, Ctrl-J, and a paste with each kind of line end.
    chat.press("one\\\rtwo\x1b\rthree\nfour\x1b[200~\r\nfive\nsix\x1b[201~");
    chat.see("› one two three four five six");
    chat.press("\r");
    chat.see("Six.");
    let text = fake.last().user_text();
    assert!(text.contains("one\ntwo\nthree\nfour\nfive\nsix"), "{text:?}");
    assert!(chat.quit().success());
}

#[test]
fn files_and_commands_are_completed() {
    let fake = Messages::start([Turn::text("Read.")]);
    let setup = Setup::on(&fake)
        .file("notes.txt", "the milk")
        .file("notes.md", "the bread")
        .file("my list.txt", "the cheese")
        .file("deep/down.txt", "the butter");
    let mut chat = Chat::start(&setup, 80);
    chat.press("see @no\t");
    chat.see("› see @notes.");
    chat.press("\t");
    chat.see("@notes.md @notes.txt");
    chat.press("t\t@my\t@de\td\t@zebra\t");
    chat.see("› see @notes.txt @\"my list.txt\" @deep/down.txt @zebra");
    chat.see("No file here begins like that.");
    chat.press("\r");
    chat.see("Read.");
    chat.see("+ ");
    let body = fake.last().body.to_string();
    for content in ["the milk", "the cheese", "the butter"] {
        assert!(body.contains(content), "{body}");
    }
    assert!(!body.contains("the bread"), "{body}");
    chat.press("/rew\t");
    chat.see("› /rewind");
    // A slash opens the menu, from which a command is taken.
    chat.press("\x15/re");
    chat.see("› /rename TITLE renames this conversation /regenerate asks for another answer");
    chat.press("\x1b[B\t");
    chat.see("› /regenerate /help");
    chat.press("\x03");
    assert!(chat.quit().success());
}

#[test]
fn ctrl_c_clears_what_is_typed_before_it_quits() {
    let mut chat = Chat::start(&Setup::new(), 60);
    chat.press("a draft");
    chat.see("› a draft");
    chat.press("\x03");
    chat.see_gone("› a draft");
    chat.press("\x03");
    chat.see("Ctrl-C again quits.");
    chat.press("x");
    chat.see_gone("Ctrl-C again quits.");
    // Ctrl-D quits only without a draft.
    chat.press("\x04");
    chat.press("\x15\x04");
    assert!(chat.end().success());
}

#[test]
fn history_is_walked_and_a_draft_kept() {
    let mut chat = Chat::start(&Setup::new(), 60);
    chat.say("help");
    chat.see("You can say:");
    chat.say("/mode");
    chat.see("The mode is ask.");
    chat.press("a draft\x1b[A");
    chat.see("› /mode");
    chat.press("\x1b[A");
    chat.see_times(2, "› help");
    chat.press("\x1b[B\x1b[B");
    chat.see("› a draft");
    chat.press("\x15");
    assert!(chat.quit().success());
}

#[test]
fn what_was_typed_before_is_found_and_escape_interrupts() {
    let fake = Messages::start([
        Turn::text("One."),
        Turn::text("It goes on\nand on.").stall_after(6),
        Turn::text("Three."),
    ]);
    let mut chat = Chat::start(&Setup::on(&fake), 60);
    chat.say("the first message");
    chat.see("One.");
    chat.say("and another");
    chat.see("Esc interrupts");
    chat.press("\x1b");
    chat.see("· cancelled");
    chat.press("\x12FIRST");
    chat.see("the first message search› FIRST");
    chat.press("\r");
    chat.see_times(2, "› the first message");
    chat.press("\r");
    chat.see("Three.");
    assert!(fake.last().user_text().contains("the first message"));
    assert!(chat.quit().success());
}

#[test]
fn a_dumb_terminal_is_served_line_by_line() {
    let fake = Messages::start([
        Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"})),
        Turn::text("It is **written**.\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ]);
    let setup = Setup::on(&fake).env("TERM", "dumb");
    let mut chat = Chat::start(&setup, 60);
    chat.see("lists the commands. >");
    chat.say("write it");
    chat.see("? write a.txt");
    chat.answer_line("a", "It is written.");
    chat.see("a │ b");
    assert!(setup.work().join("a.txt").exists());
    chat.say("/mode");
    chat.see("The mode is ask.");
    let written = chat.written();
    assert!(!written.contains('\u{1b}'), "{written:?}");
    assert!(chat.quit().success());
}

#[test]
fn a_flood_of_output_neither_blocks_the_keys_nor_fills_the_screen() {
    let fake = Messages::start([
        Turn::tool_use("run_shell_command", json!({"command": "./flood"})),
        Turn::text("Enough of it."),
    ]);
    let script = "yes 'a line of a flood' | head -c 8000000; printf '%4000000s' x; echo; echo end";
    let mut chat = Chat::start(&Setup::on(&fake).runs().script("flood", script), 60);
    chat.say("flood me");
    chat.press("typed meanwhile");
    chat.see("› typed meanwhile");
    chat.see("Enough of it.");
    chat.see("› typed meanwhile");
    assert!(chat.screen().text().lines().count() < 60, "{}", chat.screen().text());
    chat.press("\x15");
    assert!(chat.quit().success());
}

#[test]
fn bytes_that_are_no_text_and_a_tiny_window_do_no_harm() {
    let fake = Messages::start([Turn::text("Here I am.")]);
    let mut chat = Chat::start(&Setup::on(&fake), 60);
    // An unknown sequence, a null, and a wide character, then a window in which nothing fits.
    chat.press("\x1b[?99;1z\0\x1bOQ漢字");
    chat.see("› 漢字");
    for (columns, lines) in [(1, 1), (3, 2), (200, 3), (60, 30)] {
        chat.resize(columns, lines);
    }
    chat.press("\r");
    chat.see("Here I am.");
    assert!(fake.last().user_text().contains("漢字"));
    assert!(chat.quit().success());
}
