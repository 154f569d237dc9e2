//! What comes in: nothing lost, nothing twice.

use std::sync::Arc;

use callgate_approval::channel::{ChannelOrder, ChannelReport, CopyPart, MarkState, QuestionCopy};
use callgate_testkit::process::DEADLINE;
use callgate_testkit::telegram::{BOT_NAME, Fault};
use callgate_wire::approval::Action;
use serde_json::json;

use crate::rig::*;

/// The copy that a press names.
fn copy_of(news: &ChannelReport) -> Option<QuestionCopy> {
    match news {
        ChannelReport::Pressed { copy, .. } => copy.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_press_is_confirmed_only_after_the_desk_has_taken_it() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), ADA);
    fake.press(ADA, ADA, copy.message, "Allow");
    let (news, taken) = rig.untaken();
    assert_eq!(pressed(news).0, "Ada (7) in private 7: allow for 01");
    let polls = fake.look(|seen| seen.calls_of("getUpdates").count());
    rig.say_and_see(&fake, "something else goes on");
    assert_eq!(fake.look(|seen| seen.calls_of("getUpdates").count()), polls, "no poll meanwhile");
    assert_eq!(fake.look(|seen| seen.confirmed), 0);
    taken.unwrap().send(()).unwrap();
    fake.wait_for("the confirmation", |seen| (seen.confirmed > 0).then_some(()));
}

#[test]
fn a_press_that_was_not_taken_comes_again_after_a_kill() {
    let fake = fake();
    let first = Rig::start(&fake);
    let copy = first.show(&bash(1), ADA);
    fake.press(ADA, ADA, copy.message, "Allow");
    let (_, taken) = first.untaken();
    first.kill();
    drop(taken);
    let second = Rig::start(&fake);
    // This run does not know the copy, so the press tells it.
    let news = second.news();
    assert_eq!(copy_of(&news), Some(copy));
    assert_eq!(pressed(news).0, "Ada (7) in private 7: allow for 01");
}

#[test]
fn what_the_desk_drops_comes_again_and_what_it_took_does_not() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), ADA);
    for button in ["Allow", "Deny", "Reply"] {
        fake.press(ADA, ADA, copy.message, button);
    }
    let mut heard = Vec::new();
    while heard.len() < 4 {
        let (news, taken) = rig.untaken();
        let what = pressed(news).0.split(' ').nth(5).unwrap().to_owned();
        if what == "deny" && !heard.contains(&what) {
            drop(taken);
        } else {
            taken.unwrap().send(()).unwrap();
        }
        heard.push(what);
    }
    heard.sort();
    assert_eq!(heard, ["allow", "deny", "deny", "reply"]);
    fake.send(ADA, ADA, "/status");
    assert!(matches!(rig.news(), ChannelReport::Command { .. }), "and nothing else came again");
}

#[test]
fn a_repeated_update_is_handed_on_once() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), ADA);
    fake.deliver_twice();
    fake.press(ADA, ADA, copy.message, "Allow");
    assert!(pressed(rig.news()).0.contains("allow"));
    fake.press(ADA, ADA, copy.message, "Deny");
    assert!(pressed(rig.news()).0.contains("deny"), "and not allow once more");
    fake.send(ADA, ADA, "/status");
    assert!(matches!(rig.news(), ChannelReport::Command { .. }));
}

#[test]
fn a_press_may_come_before_our_own_send_returns() {
    let fake = fake();
    let rig = Rig::start(&fake);
    fake.fault("sendMessage", Fault::HoldAnswer);
    rig.order(ChannelOrder::Show { card: bash(1), chats: vec![ADA], within: DEADLINE });
    let message = fake.wait_for("the message", |seen| seen.chat(ADA).next().cloned());
    fake.press(ADA, ADA, message.id, "Allow");
    let copy =
        QuestionCopy { question: id(1), chat: ADA, message: message.id, part: CopyPart::Question };
    let news = rig.news();
    assert_eq!(copy_of(&news), Some(copy.clone()));
    assert!(pressed(news).0.contains("allow for 01"));
    rig.order(mark(&bash(1), [&copy], MarkState::Allowed, "Allowed by Ada"));
    wait_for_text(&fake, &copy, "Allowed by Ada");
    fake.release();
    assert_eq!(rig.news(), ChannelReport::Shown(copy));
    assert!(rig.finish().is_empty());
    fake.assert_nothing_refused();
}

#[test]
fn a_slow_send_delays_no_press() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), ADA);
    fake.faults("sendMessage", usize::MAX, Fault::Hold);
    for number in 2..12 {
        rig.order(ChannelOrder::Show { card: bash(number), chats: vec![ADA], within: DEADLINE });
    }
    fake.wait_for("a held send", |seen| seen.calls_of("sendMessage").nth(1).map(drop));
    let press = fake.press(ADA, ADA, copy.message, "Allow");
    let (what, reply_to) = pressed(rig.news());
    assert!(what.contains("allow for 01"));
    rig.order(tell(reply_to, "Allowed"));
    fake.wait_for("the answer", |seen| seen.toast(&press).map(drop));
    rig.order(mark(&bash(1), [&copy], MarkState::Allowed, "Allowed by Ada"));
    wait_for_text(&fake, &copy, "Allowed by Ada");
    fake.heal();
    fake.release();
}

#[test]
fn commands_are_told_apart_from_answers() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let known = |commands: &Vec<String>| !commands.is_empty();
    let commands = fake.wait_for("the menu", |seen| Some(seen.commands.clone()).filter(known));
    assert_eq!(commands, ["pending", "status", "mute", "unmute", "pair", "help"]);
    let ours = format!("/Pending@{} now", BOT_NAME.to_uppercase());
    for (chat, text, expected) in [
        (ADA, "/status", ("status", "")),
        (ADA, "/start ABC-123", ("start", "ABC-123")),
        (TEAM, ours.as_str(), ("pending", "now")),
        (TEAM, "/mute\n10  min ", ("mute", "10  min")),
    ] {
        fake.send(TEAM, 8, "/pending@another_bot");
        fake.send(TEAM, 8, "just talking");
        let number = fake.send(chat, 8, text);
        let ChannelReport::Command { name, rest, reply_to, who: person } = rig.news() else {
            panic!("{text}")
        };
        assert_eq!((name.as_str(), rest.as_str()), expected);
        let doing_here = callgate_approval::channel::ReplyTo::Message { chat, message: number };
        assert_eq!(reply_to, doing_here);
        assert!(who(&person).starts_with("Bob (8)"));
        rig.order(tell(reply_to, "as you say"));
        fake.wait_for("the answer", |seen| {
            seen.chat(chat).find(|m| m.reply_to == Some(number)).map(drop)
        });
    }
}

#[test]
fn what_is_strange_is_passed_over() {
    let fake = fake();
    let rig = Rig::start(&fake);
    for update in [
        json!({"message": {"message_id": 1}}),
        json!({"message": {"message_id": 1, "chat": {"id": 7}, "from": {"id": 7}, "photo": []}}),
        json!({"message": {"from": {"id": 1, "is_bot": true}, "chat": {"id": 7}, "message_id": 2, "text": "/status"}}),
        json!({"callback_query": {"id": "1", "from": {"id": 7}}}),
        json!({"callback_query": 7}),
    ] {
        fake.push_update(update);
    }
    // An id that is a number, no name, no type of chat, no chat_instance.
    fake.push_update(json!({"callback_query": {
        "id": 77, "from": {"id": 7}, "data": data(1, Action::Deny),
        "message": {"message_id": 3, "chat": {"id": 7}},
    }}));
    assert_eq!(pressed(rig.news()).0, "user 7 (7) in group 7: deny for 01");
    fake.wait_for("the confirmation", |seen| (seen.confirmed > 6).then_some(()));
}

#[test]
fn another_copy_than_ours_is_told_with_its_press_alone() {
    let fake = fake();
    let rig = Rig::start(&fake);
    // The first attempt arrives, but we never learn of it.
    fake.fault("sendMessage", Fault::BreakAfter);
    let card = bash(1);
    let copy = rig.show(&card, ADA);
    let ghost = fake.look(|seen| seen.chat(ADA).next().unwrap().id);
    assert_ne!(ghost, copy.message);
    fake.press(ADA, ADA, ghost, "Deny");
    let ghost = QuestionCopy { message: ghost, ..copy.clone() };
    let news = rig.news();
    assert_eq!(copy_of(&news), Some(ghost.clone()), "and by nothing else");
    assert!(pressed(news).0.contains("deny for 01"));
    let copies = [copy, ghost];
    rig.order(mark(&Arc::clone(&card), &copies, MarkState::Denied, "Denied by Ada"));
    for copy in &copies {
        wait_for_text(&fake, copy, "❌ Denied by Ada");
    }
}
