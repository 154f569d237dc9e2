//! The chat in a window whose size changes, and in a shell that stops and continues it.

use std::fs;
use std::process::Command;
use std::sync::mpsc;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::terminal::Terminal;
use serde_json::json;

use crate::chat::chat_screen::Chat;
use crate::fixture::Setup;

/// The answer pauses while the size changes: a terminal draws in its new size what was written for
/// the old one and is on its way, which no program can know of.
#[test]
fn text_that_streams_survives_other_sizes() {
    let words: Vec<String> = (0..600).map(|number| format!("word{number:03}")).collect();
    let lines: Vec<String> = words.chunks(40).map(|line| line.join(" ")).collect();
    let (go_on, waits) = mpsc::channel();
    // Each event after the first two is one word.
    let pauses = [2 + 22, 2 + 202];
    let answer = Turn::text(lines.join("\n")).pieces(8).pings(false).pause_after(&pauses, waits);
    let fake = Messages::start([answer]);
    let mut chat = Chat::start(&Setup::on(&fake), 100);
    chat.say("count");
    chat.see("word021");
    chat.resize(44, 20);
    go_on.send(()).unwrap();
    chat.see("word201");
    chat.resize(120, 40);
    go_on.send(()).unwrap();
    chat.see("word599");
    chat.see("/help · claude");
    // Each word is there once, in order, wherever it is wrapped.
    let text = chat.screen().text();
    let shown: Vec<&str> =
        text.split_whitespace().filter(|word| word.starts_with("word")).collect();
    assert_eq!(shown, words, "{text}");
    chat.say("/help");
    chat.see("/quit ends the chat");
    assert!(chat.quit().success());
}

#[test]
fn a_question_stays_whole_in_another_size() {
    let content = "milk and bread and cheese and butter";
    let write = Turn::tool_use("write_file", json!({"path": "a.txt", "content": content}));
    let fake = Messages::start([write, Turn::text("Written.")]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::start(&setup, 100);
    chat.say("write it");
    chat.see("? write a.txt");
    chat.resize(40, 20);
    chat.see_times(1, "? write a.txt");
    chat.resize(90, 12);
    chat.see_times(1, "? write a.txt");
    // In a window that has become too small for it, it cannot be allowed unseen.
    chat.resize(40, 7);
    chat.see("… f shows all of it");
    chat.press_until("a", "Not all of it is shown");
    chat.resize(80, 30);
    chat.press_until("a", "Written.");
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), content);
    assert!(chat.quit().success());
}

/// A shell in the surroundings of a chat, with job control.
fn shell(setup: &Setup) -> Command {
    let program = setup.program(&[]);
    let mut shell = Command::new("/bin/dash");
    shell.arg("-i").current_dir(setup.work()).env("PS1", "shell> ").env("ENV", "");
    shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("CHAT", program.get_program());
    shell
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_again() {
    let fake = Messages::start([Turn::text("Hello to you."), Turn::text("Still here.")]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::run(&setup, &shell(&setup), 80);
    chat.see("shell>");
    chat.press("$CHAT chat\r");
    chat.see("/help lists");
    chat.say("hello");
    chat.see("Hello to you.");
    chat.press("half a mess");
    chat.see("› half a mess");
    chat.press("\x1a");
    chat.see("Stopped");
    chat.press("echo $((6 * 7))\r");
    chat.see(" 42 ");
    // In the background it draws nothing, whatever happens.
    chat.press("bg\r");
    chat.press("echo $((7 * 7))\r");
    chat.see(" 49 shell>");
    chat.resize(70, 30);
    chat.press("echo $((8 * 8))\r");
    chat.see(" 64 shell>");
    chat.press("fg\r");
    chat.see_times(2, "› half a mess");
    chat.press("age\r");
    chat.see("› half a message");
    chat.see("Still here.");
    chat.press("\x04");
    chat.see_times(7, "shell>");
    // The shell has its modes again: it echoes and reads lines.
    chat.press("exit 3\r");
    assert_eq!(chat.end().code(), Some(3));
    assert!(fake.last().user_text().contains("half a message"));
}

/// What is drawn goes to another terminal, so that drawing fails while the keys are still there.
#[test]
fn a_chat_that_cannot_draw_any_more_gives_the_terminal_back() {
    let setup = Setup::new();
    let mut other = Command::new("/bin/sh");
    other.args(["-c", "tty; exec sleep 1000"]);
    let other = Terminal::spawn(&other);
    other.wait_for("\n");
    let device = other.written().trim().to_owned();
    let chat = setup.program(&["chat"]);
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(format!("{} chat > {device}; stty -a", chat.get_program().display()));
    shell.current_dir(setup.work());
    shell.envs(chat.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut keys = Terminal::spawn(&shell);
    other.wait_for("/help");
    drop(other);
    keys.press("x");
    keys.wait_for("icanon");
    let modes = keys.written();
    let has = |mode: &str| modes.split_whitespace().any(|word| word.trim_end_matches(';') == mode);
    assert!(has("icanon") && has("echo") && has("isig") && has("icrnl"), "{modes}");
    assert!(keys.end().success());
}
