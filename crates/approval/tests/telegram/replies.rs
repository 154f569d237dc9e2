//! Words of one's own: bound to their question, and never taken from anything else.

use std::sync::Arc;

use callgate_approval::card::Card;
use callgate_approval::channel::{ChannelOrder, ChannelReport, ReplyPurpose, ReplyTo};
use callgate_testkit::telegram::{Message, Telegram};

use crate::rig::*;

/// Presses "Reply" under a question and gives the message to which the person is to reply.
fn ask_words(fake: &Telegram, rig: &Rig, card: &Arc<Card>, chat: i64, message: i64) -> Message {
    let press = fake.press(chat, 8, message, "Reply");
    let (_, reply_to) = pressed(rig.news());
    rig.order(ChannelOrder::AskWords {
        card: Arc::clone(card),
        reply_to,
        chat,
        purpose: ReplyPurpose::Deny,
    });
    fake.wait_for("the answer to the press", |seen| seen.toast(&press).map(drop));
    fake.wait_for("the message to reply to", |seen| {
        seen.chat(chat).find(|m| m.force_reply && m.reply_to == Some(message)).cloned()
    })
}

#[test]
fn words_are_bound_to_their_question_when_several_are_open() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let (one, two) = (bash(1), bash(2));
    let (first, second) = (rig.show(&one, ADA).message, rig.show(&two, ADA).message);
    let asked_one = ask_words(&fake, &rig, &one, ADA, first);
    let asked_two = ask_words(&fake, &rig, &two, ADA, second);
    assert!(asked_one.shape.text.contains("make build-1"), "{}", asked_one.shape.text);
    let number = fake.reply(ADA, ADA, asked_two.id, "only the tests");
    let (what, reply_to) = pressed(rig.news());
    assert_eq!(what, "Ada (7) in private 7: \"only the tests\" for 02");
    assert_eq!(reply_to, ReplyTo::Message { chat: ADA, message: number });
    fake.reply(ADA, ADA, asked_one.id, "not now");
    assert_eq!(pressed(rig.news()).0, "Ada (7) in private 7: \"not now\" for 01");
    // Without having been asked, a reply to the question itself is as good.
    fake.reply(ADA, ADA, first, "use the script");
    assert_eq!(pressed(rig.news()).0, "Ada (7) in private 7: \"use the script\" for 01");
    rig.finish();
    fake.assert_nothing_refused();
}

#[test]
fn words_find_their_question_after_a_restart() {
    let fake = fake();
    let first = Rig::start(&fake);
    let card = bash(1);
    let message = first.show(&card, ADA).message;
    let asked = ask_words(&fake, &first, &card, ADA, message);
    first.kill();
    let second = Rig::start(&fake);
    fake.reply(ADA, ADA, asked.id, "after the restart");
    assert_eq!(pressed(second.news()).0, "Ada (7) in private 7: \"after the restart\" for 01");
}

#[test]
fn nothing_else_is_taken_for_words() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let card = bash(1);
    let message = rig.show(&card, ADA).message;
    let asked = ask_words(&fake, &rig, &card, ADA, message);
    // Words that are no reply: the desk knows whether they were asked for.
    fake.send(ADA, ADA, "yes, do it");
    let ChannelReport::Wrote { text, .. } = rig.news() else { panic!("they reach the desk") };
    assert_eq!(text, "yes, do it");
    fake.send(TEAM, ADA, "what people say to each other");
    // A reply to somebody else's message, even if it ends like ours.
    let imitation = fake.send(TEAM, ADA, &format!("May I?\n{}", id(1)));
    fake.reply(TEAM, ADA, imitation, "yes");
    // A reply to a note of ours that ends with an id which is merely text.
    let note = format!("Look at\n{}", id(1));
    rig.say_and_see(&fake, &note);
    let note = fake.look(|seen| seen.chat(ADA).next_back().unwrap().id);
    fake.reply(ADA, ADA, note, "yes");
    // A command, even as a reply.
    fake.reply(ADA, ADA, asked.id, "/status");
    let ChannelReport::Command { name, .. } = rig.news() else {
        panic!("the command is the first news")
    };
    assert_eq!(name, "status");
    fake.reply(ADA, ADA, asked.id, "these are the words");
    assert!(pressed(rig.news()).0.contains("these are the words"));
}

#[test]
fn in_a_group_only_who_pressed_is_asked() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let card = bash(1);
    let message = rig.show(&card, TEAM).message;
    let asked = ask_words(&fake, &rig, &card, TEAM, message);
    assert!(asked.shape.sent.contains("tg://user?id=8\">Bob</a>"), "{}", asked.shape.sent);
    let markup = fake.look(|seen| {
        let call = seen.calls_of("sendMessage").next_back().unwrap();
        call.params["reply_markup"].clone()
    });
    assert_eq!(markup["selective"], true);
    fake.reply(TEAM, 9, asked.id, "from somebody else");
    // Who may answer is the desk's to say.
    assert_eq!(pressed(rig.news()).0, "User 9 (9) in group -100: \"from somebody else\" for 01");
    fake.assert_nothing_refused();
}
