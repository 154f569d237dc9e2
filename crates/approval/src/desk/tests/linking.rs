//! Commands from a chat, and pairing by a code.

use callgate_wire::approval::{Action, Decision, Press};

use super::super::commands::WRONG_CODES;
use super::super::{DeskInput, DeskOutput};
use super::cases::{Table, answer, is_shown, told};
use super::{ADA, ada, id, request, stranger};
use crate::channel::{ChannelOrder, News, Person, PersonPlace, ReplyTo};

fn command(table: &mut Table, who: Person, name: &str, rest: &str) -> Vec<DeskOutput> {
    let (name, rest) = (name.to_owned(), rest.to_owned());
    let reply_to = ReplyTo::Message { chat: ADA, message: 9 };
    table.give(DeskInput::News(News::Command { who, name, rest, reply_to }))
}

#[test]
fn commands_tell_list_and_mute() {
    let mut table = Table::new();
    assert_eq!(told(&command(&mut table, ada(), "status", "")), ["No question is open."]);
    table.ask(1, request(1, "make"));
    assert!(is_shown(&command(&mut table, ada(), "pending", "")));
    assert!(told(&command(&mut table, stranger(), "pending", ""))[0].contains("Its id is 8"));
    assert!(told(&command(&mut table, ada(), "mute", "soon"))[0].starts_with("For how long?"));
    command(&mut table, ada(), "mute", "30m");
    let outputs = table.ask(2, request(2, "make"));
    let to: Vec<i64> = outputs
        .iter()
        .filter_map(|output| match output {
            DeskOutput::Phones(ChannelOrder::Show { chats, .. }) => Some(chats.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(to, [-100]);
    table.restart();
    assert!(told(&command(&mut table, ada(), "status", ""))[0].contains("muted"));
    command(&mut table, ada(), "unmute", "");
    assert_eq!(told(&command(&mut table, ada(), "status", "")), ["2 questions are open."]);
}

/// A code that somebody who is linked has asked for.
fn new_code(code: &str) -> DeskInput {
    let reply_to = ReplyTo::Viewer { viewer: 1, id: "1".to_owned() };
    DeskInput::NewCode {
        code: code.to_owned(),
        id: id(99),
        who: ada(),
        is_for_page: false,
        is_first: false,
        reply_to,
    }
}

#[test]
fn a_code_links_a_chat_once() {
    let mut table = Table::new();
    table.give(new_code("K7QX-2M9P"));
    assert!(told(&command(&mut table, stranger(), "pair", "wrong"))[0].contains("not valid"));
    let outputs = command(&mut table, stranger(), "pair", " k7qx2m9p ");
    assert!(told(&outputs)[0].starts_with("Linked."));
    table.restart();
    table.ask(1, request(1, "make"));
    let outputs = table.press(stranger(), 1, Press::Button(Action::Allow));
    assert_eq!(answer(&outputs).decision, Decision::Allow);
    let other = Person {
        place: PersonPlace::Telegram { chat: 9, user: 9, private: true },
        name: "Eve".to_owned(),
    };
    assert!(told(&command(&mut table, other, "pair", "K7QX-2M9P"))[0].contains("not valid"));
}

#[test]
fn a_code_cannot_be_guessed_and_does_not_live_long() {
    let mut table = Table::new();
    table.give(new_code("K7QX2M9P"));
    for _ in 0..WRONG_CODES {
        command(&mut table, stranger(), "pair", "GUESS");
    }
    assert!(told(&command(&mut table, stranger(), "pair", "K7QX2M9P"))[0].contains("not valid"));
    table.give(new_code("K7QX2M9P"));
    table.wait(600);
    assert!(told(&command(&mut table, stranger(), "pair", "K7QX2M9P"))[0].contains("not valid"));
}
