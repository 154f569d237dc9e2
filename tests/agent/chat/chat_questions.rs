//! Questions in the chat: what each key does.

use std::fs;

use callgate_testkit::messages::{Messages, Turn};
use serde_json::{Value, json};

use crate::chat::chat_screen::Chat;
use crate::fixture::Setup;

fn writes(name: &str, content: &str) -> Turn {
    Turn::tool_use("write_file", json!({"path": name, "content": content}))
}

fn runs(command: &str, args: &Value) -> Turn {
    Turn::tool_use("run_shell_command", json!({"command": command, "args": args}))
}

#[test]
fn always_allows_the_same_call_from_then_on_and_nothing_else() {
    let greet = || runs("./greet", &json!([]));
    let other = runs("./greet", &json!(["again"]));
    let fake = Messages::start([greet(), greet(), other, Turn::text("Enough.")]);
    let setup = Setup::on(&fake).script("greet", "echo hello >> greeted");
    let mut chat = Chat::start(&setup, 80);
    chat.say("greet");
    chat.see("always: run_shell_command(./greet) (for this session) a allow w always d deny");
    chat.press_until("w", "? ./greet again");
    assert_eq!(fs::read_to_string(setup.work().join("greeted")).unwrap(), "hello\nhello\n");
    chat.press_until("d", "Enough.");
    assert_eq!(fs::read_to_string(setup.work().join("greeted")).unwrap(), "hello\nhello\n");
    assert!(fake.last().tool_results().last().unwrap().is_error);
    assert!(chat.quit().success());
}

#[test]
fn what_touches_callgate_is_never_allowed_for_good() {
    let fake =
        Messages::start([runs("sh", &json!(["-c", "callgate log"])), Turn::text("Then not.")]);
    let mut chat = Chat::start(&Setup::on(&fake), 80);
    chat.say("look");
    chat.see("a allow d deny r deny with words e edit");
    chat.press_until("w", "\"Always\" is not available for this call.");
    // Any other key takes the hint away.
    chat.press("x");
    chat.see_gone("is not on offer");
    chat.press_until("d", "Then not.");
    assert!(chat.quit().success());
}

#[test]
fn a_question_that_is_cut_is_allowed_only_after_all_of_it_was_shown() {
    let lines: Vec<String> = (0..60).map(|number| format!("line {number} of it")).collect();
    let content = lines.join("\n");
    let fake = Messages::start([writes("long.txt", &content), Turn::text("Written.")]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::start(&setup, 60);
    chat.say("write it");
    chat.see("… f shows all of it");
    assert!(!chat.shows("line 59 of it"));
    chat.press_until("a", "Not all of it is shown: press f first.");
    assert!(!setup.work().join("long.txt").exists());
    chat.press_until("f", "line 59 of it");
    chat.press_until("a", "Written.");
    assert_eq!(fs::read_to_string(setup.work().join("long.txt")).unwrap(), content);
    assert!(chat.quit().success());
}

#[test]
fn words_and_changed_arguments_can_be_left_again() {
    let fake = Messages::start([writes("a.txt", "milk"), Turn::text("Written.")]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::start(&setup, 60);
    chat.say("write it");
    chat.see("? write a.txt");
    chat.press_until("r", "why not›");
    chat.press("because\x1b");
    chat.see_gone("why not›");
    chat.press_until("e", "\"content\": \"milk\"");
    chat.press(" oops\r");
    chat.see("This is not JSON");
    chat.press("\x1b");
    chat.see_gone("This is not JSON");
    chat.press_until("a", "Written.");
    assert_eq!(fs::read_to_string(setup.work().join("a.txt")).unwrap(), "milk");
    assert!(chat.quit().success());
}

#[test]
fn a_key_that_is_typed_on_answers_nothing_and_ctrl_c_withdraws_the_question() {
    let fake = Messages::start([writes("a.txt", "milk"), Turn::text("Yes?")]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::start(&setup, 60);
    // Whoever goes on typing has not read the question.
    chat.say("write it");
    chat.press("aaaa");
    chat.see("? write a.txt");
    chat.press("aaaa\x03");
    chat.see("· cancelled");
    chat.see_gone("? write a.txt");
    assert!(!setup.work().join("a.txt").exists());
    // What was typed before the question came is still there.
    chat.press("\x15");
    chat.say("hello");
    chat.see("Yes?");
    assert!(chat.quit().success());
}

#[test]
fn the_input_of_a_tool_is_drawn_while_the_model_writes_it() {
    let input = json!({"path": "notes.txt", "content": "milk\nbread\nand a lot of cheese"});
    let half = Turn::tool_use("write_file", input).pieces(6).pings(false).stall_after(9);
    let fake = Messages::start([half, Turn::text("Fine.")]);
    let mut chat = Chat::start(&Setup::on(&fake), 60);
    chat.say("write it");
    chat.see("○ Write a file");
    chat.press("\x03");
    chat.see("(not finished)");
    chat.see("· cancelled");
    chat.see_gone("○ Write a file");
    chat.say("and now?");
    chat.see("Fine.");
    assert!(chat.quit().success());
}
