//! `callgate chat` in a pseudo-terminal, with the strict fake of the Messages API behind the
//! runtime or with the offline engine.

mod chat_conversations;
mod chat_questions;
pub(crate) mod chat_screen;
mod chat_typing;
mod chat_window;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use callgate_testkit::messages::{Messages, Turn};
use callgate_testkit::proc;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::chat::chat_screen::Chat;
use crate::fixture::Setup;

const ANSWER: &str = "## The ledger\n\nIt keeps **every** decision in `callgate.db`:\n\n- asked\n- \
                      answered, with the person who did it and the moment at which it was done\n\n\
                      ```sh\ncallgate log --verify\n```\nThat is all.";

#[test]
fn an_answer_is_drawn_at_forty_columns_without_colours() {
    let fake = Messages::start([Turn::text(ANSWER).pieces(3)]);
    let mut chat = Chat::start(&Setup::on(&fake).env("NO_COLOR", "1"), 40);
    chat.say("What does it keep?");
    chat.see("That is all.");
    let screen = chat.screen();
    assert!(!screen.has_styles());
    let expected = "› What does it keep?\n\n## The ledger\n\nIt keeps every decision in\n\
                    `callgate.db`:\n\n• asked\n• answered, with the person who did it\n  and the \
                    moment at which it was done\n\n```sh\ncallgate log --verify\n```\nThat is all.";
    assert!(screen.text().contains(expected), "{}", screen.text());
    assert!(chat.quit().success());
}

#[test]
fn an_answer_is_drawn_at_a_hundred_columns_with_colours() {
    let fake = Messages::start([Turn::text(ANSWER).pieces(7)]);
    let mut chat = Chat::start(&Setup::on(&fake), 100);
    chat.say("What does it keep?");
    chat.see("That is all.");
    let screen = chat.screen();
    assert!(screen.has_styles());
    let expected = "\nThe ledger\n\nIt keeps every decision in callgate.db:\n\n• asked\n• answered, \
                    with the person who did it and the moment at which it was done\n";
    assert!(screen.text().contains(expected), "{}", screen.text());
    chat.see("claude");
    assert!(chat.quit().success());
}

#[test]
fn what_an_answer_changed_is_shown_and_put_back() {
    let setup = Setup::new().file("a.txt", "old\n");
    let mut chat = Chat::start(&setup, 80);
    chat.say("replace old with new in a.txt");
    chat.see("+new");
    chat.press_until("a", "Changed 1 file: /diff shows the changes, /undo puts the files back.");
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "new\n");
    chat.say("/diff");
    chat.see("Update a.txt");
    chat.say("/undo");
    chat.see("? put back a.txt");
    chat.press_until("a", "Put back 1 file.");
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "old\n");
    chat.say("/undo");
    chat.see("no turn of this conversation has changed a file");
    assert!(chat.quit().success());
}

#[test]
fn a_question_is_answered_by_a_key() {
    let writes =
        |name: &str| Turn::tool_use("write_file", json!({"path": name, "content": "milk\n"}));
    let fake = Messages::start([
        writes("a.txt"),
        writes("b.txt"),
        writes("c.txt"),
        Turn::text("So be it."),
    ]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::start(&setup, 60);
    chat.say("write them");
    chat.see("+milk");
    chat.press_until("a", "✓ Wrote a file · a.txt");
    chat.see("? write b.txt");
    chat.press_until("r", "why not›");
    chat.say("not this one");
    chat.see("? write c.txt");
    assert!(fake.last().tool_results().last().unwrap().text.contains("not this one"));
    chat.press_until("e", "\"path\": \"c.txt\"");
    // Ctrl-U and Backspace delete it line by line.
    chat.press(&"\x15\x7f".repeat(4));
    chat.say("{\"path\": \"d.txt\", \"content\": \"bread\"}");
    chat.see("So be it.");
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "milk\n");
    assert_eq!(fs::read_to_string(setup.work().join("d.txt")).unwrap(), "bread");
    assert!(!setup.work().join("b.txt").exists() && !setup.work().join("c.txt").exists());
    assert!(chat.quit().success());
}

#[test]
fn ctrl_c_cancels_the_answer_and_twice_quits() {
    let fake = Messages::start([
        Turn::text("It goes on and on and on.").stall_after(6),
        Turn::text("Fine."),
    ]);
    let mut chat = Chat::start(&Setup::on(&fake), 80);
    chat.say("tell me");
    chat.see("It goes");
    chat.press("\x03");
    chat.see("· cancelled");
    chat.say("and now?");
    chat.see("Fine.");
    chat.press("\x03\x03");
    assert_eq!(chat.end().code(), Some(130));
}

#[test]
fn live_output_and_a_plan_are_shown() {
    let items = json!({"items": [{"text": "build it", "status": "active"}, {"text": "ship it", "status": "pending"}]});
    let fake = Messages::start([
        Turn::tool_use("todo_write", items),
        Turn::tool_use("run_shell_command", json!({"command": "./slow"})),
        Turn::text("Done."),
    ]);
    let setup = Setup::on(&fake).runs().pipe("pipe");
    let setup = setup.script("slow", "echo begun; read line < pipe; echo $line");
    let mut chat = Chat::start(&setup, 80);
    chat.say("go");
    chat.see("● Run a command · ./slow begun");
    chat.see("▶ build it ☐ ship it");
    fs::write(setup.work().join("pipe"), "ended\n").unwrap();
    chat.see("✓ Ran a command · ./slow begun ended");
    chat.see("Done.");
    assert!(chat.quit().success());
}

#[test]
fn no_text_of_a_model_or_a_tool_moves_the_cursor() {
    let hostile = "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\u{202e}abc\r";
    let fake = Messages::start([
        Turn::tool_use("run_shell_command", json!({"command": "./hostile"})),
        Turn::text(format!("Look: {hostile}\n\n```\n{hostile}\n```\nover")).pieces(1),
    ]);
    let script = r"printf '\033[2J\033]0;title\007'; printf 'seen\r'";
    let mut chat = Chat::start(&Setup::on(&fake).runs().script("hostile", script), 80);
    chat.say("hello");
    chat.see("⟨U+001B⟩[2J⟨U+001B⟩]0;title⟨U+0007⟩seen");
    // The screen fails for every sequence that is not the chat's own.
    chat.see("over");
    chat.see("Look: ⟨U+001B⟩[2J⟨U+001B⟩]0;title⟨U+0007⟩⟨U+009B⟩31m⟨U+202E⟩abc");
    assert!(chat.quit().success());
}

#[test]
fn a_runtime_that_dies_is_started_again_and_the_conversation_goes_on() {
    let fake = Messages::start([
        Turn::text("The word is ledger."),
        Turn::text("I think and think").stall_after(6),
        Turn::text("As I said."),
    ]);
    let setup = Setup::on(&fake);
    let history = setup.home().join("talk.db");
    let setup = setup.arg("--history").arg(history.to_str().unwrap());
    let mut chat = Chat::start(&setup, 80);
    chat.say("which word?");
    chat.see("ledger.");
    chat.say("why?");
    chat.see("I think");
    let mark = format!("agent --history={}", history.display());
    let runtime =
        proc::all().into_iter().find(|process| proc::command_line(process.pid).contains(&mark));
    let pid = i32::try_from(runtime.unwrap().pid).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    chat.see("The runtime is gone");
    chat.see("the conversation goes on");
    chat.say("again, please");
    chat.see("As I said.");
    assert!(fake.last().body.to_string().contains("The word is ledger."));
    assert!(chat.quit().success());
}

#[test]
fn several_lines_are_pasted_files_completed_and_what_was_typed_is_kept() {
    let fake = Messages::start([Turn::text("One."), Turn::text("Two.")]);
    let setup = Setup::on(&fake).file("notes.txt", "the secret of the ledger");
    let mut chat = Chat::start(&setup, 80);
    chat.press("\x1b[200~first\rsecond\x1b[201~");
    chat.say(" @no\t");
    chat.see("One.");
    let body = fake.last().body.to_string();
    assert!(body.contains("first\\nsecond @notes.txt"), "{body}");
    assert!(body.contains("the secret of the ledger"), "{body}");
    assert!(chat.quit().success());
    let history = setup.home().join(".local/share/callgate/chat_history");
    assert_eq!(fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    let mut next = Chat::start(&setup, 80);
    next.press("\x1b[A");
    next.see("second @notes.txt");
    next.press("\r");
    next.see("Two.");
    assert!(next.quit().success());
}

#[test]
fn conversations_are_opened_again_without_a_model() {
    let setup = Setup::new().file("notes.txt", "milk");
    let mut chat = Chat::start(&setup, 60);
    chat.say("list files");
    chat.see("notes.txt (4 bytes)");
    chat.say("/rename The files");
    chat.see("is renamed");
    chat.say("/new");
    chat.see("A new conversation begins");
    chat.say("help");
    chat.see("You can say:");
    chat.say("/list");
    chat.see("2 The files");
    chat.say("/open 2");
    chat.see_times(2, "notes.txt (4 bytes)");
    chat.say("/delete");
    chat.see("for good?");
    chat.press("y");
    chat.see("The conversation is deleted.");
    assert!(chat.quit().success());
}
