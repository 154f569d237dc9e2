//! Conversations in the chat: steering, modes, engines, copies and the list.

use std::fs;

use callgate_testkit::chat::{Chat as ChatService, ChatReply, Dialect};
use callgate_testkit::messages::{Messages, Turn};
use serde_json::json;

use crate::chat::chat_screen::Chat;
use crate::fixture::Setup;

#[test]
fn a_message_during_an_answer_steers_it() {
    let fake = Messages::start([
        Turn::tool_use("run_shell_command", json!({"command": "./slow"})),
        Turn::text("Both, then."),
    ]);
    let setup = Setup::on(&fake).runs().pipe("pipe");
    let setup = setup.script("slow", "echo begun; read line < pipe; echo $line");
    let mut chat = Chat::start(&setup, 80);
    chat.say("do it");
    chat.see("● Run a command · ./slow begun");
    chat.say("and the other thing");
    chat.see("› and the other thing");
    chat.see("working +1");
    fs::write(setup.work().join("pipe"), "ended\n").unwrap();
    chat.see("Both, then.");
    chat.see("/help · claude");
    assert!(fake.last().body.to_string().contains("and the other thing"));
    chat.see_times(1, "› and the other thing");
    assert_eq!(fake.requests().len(), 2);
    assert!(chat.quit().success());
}

#[test]
fn the_mode_decides_who_is_asked() {
    let writes = || Turn::tool_use("write_file", json!({"path": "a.txt", "content": "x"}));
    let fake = Messages::start([
        writes(),
        Turn::text("I only plan."),
        writes(),
        Turn::text("It is forbidden."),
        writes(),
        Turn::text("It is written."),
    ]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::start(&setup, 80);
    chat.say("/mode");
    chat.see("The mode is ask. The modes are ask, plan, auto");
    chat.say("/mode plan");
    chat.see("/help · plan · claude");
    chat.say("write it");
    chat.see("I only plan.");
    chat.see("✗ Write a file · a.txt not run: the conversation is in plan mode");
    chat.say("/mode auto");
    chat.see("/help · auto · claude");
    chat.say("write it");
    chat.see("It is forbidden.");
    assert!(!setup.work().join("a.txt").exists());
    chat.say("/mode ask");
    chat.see("The mode is ask from now on.");
    chat.say("write it");
    chat.see("? write a.txt");
    chat.press_until("a", "It is written.");
    assert!(setup.work().join("a.txt").exists());
    assert!(chat.quit().success());
}

#[test]
fn exchanges_are_taken_away_copied_repeated_and_changed() {
    let words = ["One.", "Two.", "Three.", "Four.", "Five."];
    let fake = Messages::start(words.map(Turn::text));
    let mut chat = Chat::start(&Setup::on(&fake), 80);
    for (message, answer) in [("first", "One."), ("zebra", "Two.")] {
        chat.say(message);
        chat.see(answer);
        chat.see("/help · claude");
    }
    chat.say("/rewind");
    chat.see("The conversation has 2 messages now.");
    chat.say("third");
    chat.see("Three.");
    let body = fake.last().body.to_string();
    assert!(body.contains("first") && !body.contains("zebra"), "{body}");
    chat.say("/rewind 9");
    chat.see("The conversation has only 2 exchanges.");
    chat.say("/rewind many");
    chat.see("Give a number of exchanges");
    chat.say("/fork 1");
    chat.see("This is a copy of the conversation, with 2 messages.");
    chat.say("/list");
    chat.see(" 2 first");
    chat.say("/open 2");
    chat.see_times(2, "Three.");
    chat.say("/regenerate");
    chat.see("Four.");
    chat.see("/help · claude");
    assert!(!fake.last().body.to_string().contains("Three."));
    chat.say("/edit");
    chat.see("edit› third");
    chat.say(" time");
    chat.see("Five.");
    assert!(fake.last().user_text().contains("third time"));
    chat.say("/cost");
    chat.see("tokens in,");
    chat.say("/clear");
    chat.see("The conversation is empty now.");
    assert!(chat.quit().success());
}

#[test]
fn conversations_are_found_by_words_of_their_titles_and_messages() {
    let mut chat = Chat::start(&Setup::new(), 80);
    for title in ["The ledger", "Cheese", "The old ledger"] {
        chat.say(&format!("/new {title}"));
        chat.say(if title == "Cheese" { "read brie.txt" } else { "help" });
        chat.say(&format!("/rename {title}"));
    }
    chat.see_times(3, "The conversation is renamed.");
    chat.say("/list LEDGER");
    chat.see("› 1 The old ledger");
    chat.see(" 2 The ledger");
    assert!(!chat.shows(" 2 Cheese") && !chat.shows(" 3 "));
    chat.say("/list Brie");
    chat.see(" 1 Cheese");
    chat.say("/list zebra");
    chat.see("No conversation contains that.");
    chat.say("/open 1");
    chat.see("/list shows them");
    assert!(chat.quit().success());
}

#[test]
fn engines_and_models_are_listed_and_chosen() {
    let fake = Messages::start([Turn::text("From the cloud.")]);
    let local = ChatService::start(
        Dialect::ChatCompletions,
        [ChatReply::Text("From this machine.".to_owned())],
    )
    .local(["qwen", "llama"]);
    let setup = Setup::on(&fake).env("CALLGATE_AGENT_LOCAL_PORTS", &local.port().to_string());
    let mut chat = Chat::start(&setup, 80);
    chat.say("hello");
    chat.see("From the cloud.");
    chat.say("/model");
    chat.see("This conversation uses anthropic with claude");
    chat.see(" llama ");
    // The model chooses its engine.
    chat.say("/model llama");
    chat.see("openai answers from now on, with llama.");
    chat.see("/help · llama");
    chat.say("and now?");
    chat.see("From this machine.");
    assert_eq!(local.bodies()[0]["model"], "llama");
    chat.say("/engine offline");
    chat.see("/help · offline");
    chat.say("help");
    chat.see("You can say:");
    chat.say("/engine steam");
    chat.see("there is no such engine");
    assert!(chat.quit().success());
}

#[test]
fn a_runtime_is_started_again_on_request_and_unknown_commands_are_named() {
    let fake = Messages::start([Turn::text("One."), Turn::text("Two.")]);
    let setup = Setup::on(&fake);
    let mut chat = Chat::start(&setup, 80);
    chat.say("first");
    chat.see("One.");
    chat.say("/restart");
    chat.say("/dance");
    chat.see("There is no command /dance: /help lists them.");
    chat.say("second");
    chat.see("Two.");
    assert!(fake.last().body.to_string().contains("One."));
    chat.say("/quit");
    assert!(chat.end().success());
}
