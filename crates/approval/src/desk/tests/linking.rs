//! Commands from a chat, and pairing by a code.

use callgate_wire::approval::{Action, Decision, Press};

use super::super::pairing_codes::{SPAN, WRONG_CODES, WRONG_CODES_OF_ALL};
use super::super::{DeskInput, DeskOutput};
use super::cases::{Table, answer, is_shown, told};
use super::{ADA, ada, id, request, stranger};
use crate::channel::{ChannelOrder, ChannelReport, Person, PersonPlace, ReplyTo};

fn command(table: &mut Table, who: Person, name: &str, rest: &str) -> Vec<DeskOutput> {
    let (name, rest) = (name.to_owned(), rest.to_owned());
    let reply_to = ReplyTo::Message { chat: ADA, message: 9 };
    table.give(DeskInput::News(ChannelReport::Command { who, name, rest, reply_to }))
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

/// What a chat asks for can be allowed there, though it was not shown there by itself.
#[test]
fn what_is_listed_can_be_allowed() {
    let mut table = Table::new();
    command(&mut table, ada(), "mute", "30m");
    let group = PersonPlace::Telegram { chat: -100, user: ADA, private: false };
    command(&mut table, Person::new(group, "Ada"), "mute", "30m");
    table.give(DeskInput::Viewers(1));
    table.ask(1, request(1, "make"));
    assert!(is_shown(&command(&mut table, ada(), "pending", "")));
    assert_eq!(answer(&table.button(1, Action::Allow)).decision, Decision::Allow);
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
    let other = Person::new(PersonPlace::Telegram { chat: 9, user: 9, private: true }, "Eve");
    assert!(told(&command(&mut table, other, "pair", "K7QX-2M9P"))[0].contains("not valid"));
}

fn user(id: i64) -> Person {
    let place = PersonPlace::Telegram { chat: id, user: id, private: true };
    Person::new(place, "Mallory")
}

#[test]
fn a_code_does_not_live_long() {
    let mut table = Table::new();
    table.give(new_code("K7QX2M9P"));
    table.wait(600);
    assert!(told(&command(&mut table, stranger(), "pair", "K7QX2M9P"))[0].contains("not valid"));
}

#[test]
fn a_sender_has_few_tries_and_cannot_void_the_code_of_others() {
    let mut table = Table::new();
    table.give(new_code("K7QX2M9P"));
    for _ in 0..WRONG_CODES {
        assert!(told(&command(&mut table, stranger(), "pair", "GUESS"))[0].contains("not valid"));
    }
    let refused = command(&mut table, stranger(), "pair", "K7QX2M9P");
    assert!(told(&refused)[0].contains("Too many wrong codes"), "{refused:?}");
    assert!(told(&command(&mut table, user(9), "pair", "K7QX2M9P"))[0].starts_with("Linked."));
    // A new code is a new chance.
    table.give(new_code("K7QX2M9Q"));
    assert!(told(&command(&mut table, stranger(), "pair", "K7QX2M9Q"))[0].starts_with("Linked."));
}

#[test]
fn many_senders_slow_each_other_down_and_void_nothing() {
    let mut table = Table::new();
    table.give(new_code("K7QX2M9P"));
    for id in 1_000..1_000 + i64::from(WRONG_CODES_OF_ALL) {
        command(&mut table, user(id), "pair", "GUESS");
    }
    let refused = command(&mut table, user(9), "pair", "K7QX2M9P");
    assert!(told(&refused)[0].contains("Too many wrong codes"), "{refused:?}");
    table.wait(SPAN.as_secs());
    assert!(told(&command(&mut table, user(9), "pair", "K7QX2M9P"))[0].starts_with("Linked."));
}

/// Viewers have no names of their own, and are only slowed down.
#[test]
fn viewers_cannot_void_a_code() {
    let mut table = Table::new();
    table.give(new_code("K7QX2M9P"));
    let pair = |table: &mut Table, code: &str| {
        let reply_to = ReplyTo::Message { chat: ADA, message: 9 };
        let (code, name) = (code.to_owned(), "Firefox".to_owned());
        table.give(DeskInput::PairViewer { code, name, token_hash: "h".into(), reply_to })
    };
    for _ in 0..WRONG_CODES_OF_ALL {
        assert!(told(&pair(&mut table, "GUESS"))[0].contains("not valid"));
    }
    assert!(told(&pair(&mut table, "K7QX2M9P"))[0].contains("Too many wrong codes"));
    table.wait(SPAN.as_secs());
    assert_eq!(told(&pair(&mut table, "K7QX2M9P")), ["Linked."]);
}
