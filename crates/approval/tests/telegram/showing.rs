//! What people see, and what comes of it.

use std::sync::Arc;

use callgate_approval::channel::{
    ChannelOrder, ChannelReport, MarkState, QuestionCopy, QuestionMark, ReplyTo,
};
use callgate_approval::telegram::TelegramReport;
use callgate_testkit::process::DEADLINE;
use callgate_testkit::telegram::{BOT_NAME, Fault, Message};
use callgate_wire::approval::Action;
use serde_json::json;

use crate::rig::*;

/// A reply to the message finds its question, and nobody has to read the id.
#[track_caller]
fn assert_names(message: &Message, number: u8) {
    let (address, id) = (&message.shape.entities[0]["url"], id(number));
    assert!(address.as_str().unwrap().ends_with(id.as_str()), "{address}");
    assert!(!message.shape.text.contains(id.as_str()), "{}", message.shape.text);
}

#[test]
fn a_question_goes_to_every_chat_and_is_marked_on_every_copy() {
    let fake = fake();
    let rig = Rig::start(&fake);
    assert!(matches!(rig.report(), TelegramReport::Works { bot } if bot == BOT_NAME));
    let question =
        card(1, "Bash", &json!({"command": "make build <x> & y", "description": "Build"}));
    rig.order(ChannelOrder::Show {
        card: Arc::clone(&question),
        chats: vec![ADA, TEAM],
        within: DEADLINE,
    });
    let mut copies: Vec<QuestionCopy> = (0..2)
        .map(|_| match rig.news() {
            ChannelReport::Shown(copy) => copy,
            other => panic!("{other:?}"),
        })
        .collect();
    copies.sort_by_key(|copy| copy.chat);
    assert_eq!(copies.iter().map(|copy| copy.chat).collect::<Vec<_>>(), [TEAM, ADA]);
    for copy in &copies {
        let message = message_of(&fake, copy);
        for part in
            ["Claude Code", "/home/ada/engine", "34fb81ac", "make build <x> & y", "Build", "5 min"]
        {
            assert!(message.shape.text.contains(part), "{part:?} in {}", message.shape.text);
        }
        assert_names(&message, 1);
        assert_eq!(message.labels(), ["✅ Allow", "❌ Deny", "⏹ Deny and stop", "✍️ Reply"]);
        assert_eq!(message.button("Allow").unwrap().data, data(1, Action::Allow));
        assert!(message.button("Stop").is_none() && message.button("stop").is_some());
    }

    let press = fake.press(ADA, ADA, copies[1].message, "Allow");
    let (what, reply_to) = pressed(rig.news());
    assert_eq!(what, "Ada (7) in private 7: allow for 01");
    assert_eq!(reply_to, ReplyTo::Callback(press.clone()));
    rig.order(tell(reply_to, "Allowed"));
    rig.order(mark(&question, &copies, MarkState::Allowed, "Allowed by Ada"));
    let toast = fake.wait_for("the answer", |seen| seen.toast(&press).cloned());
    assert_eq!(toast.text, "Allowed");
    for copy in &copies {
        let message = wait_for_text(&fake, copy, "Allowed by Ada");
        let text = message.shape.text.trim_start_matches('\u{200b}');
        assert!(text.starts_with("✅ Allowed by Ada"), "{text}");
        assert!(message.shape.text.contains("make build"), "what it was about stays");
        assert_names(&message, 1);
        assert!(message.labels().is_empty(), "the buttons are gone");
        assert_eq!(message.past.len(), 1);
    }
    rig.finish();
    fake.assert_nothing_refused();
}

#[test]
fn presses_in_a_group_say_who_and_forged_ones_are_told() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), TEAM);
    let other = rig.show(&bash(2), TEAM);
    fake.press(TEAM, 8, copy.message, "Deny");
    assert_eq!(pressed(rig.news()).0, "Bob (8) in group -100: deny for 01");
    for made_up in ["", "nonsense", "550e8400-e29b-41d4-a716-446655440001:explode"] {
        let press = fake.press_data(TEAM, 9, copy.message, made_up);
        let ChannelReport::Forged { who: person, reply_to } = rig.news() else {
            panic!("{made_up}")
        };
        assert_eq!(who(&person), "User 9 (9) in group -100");
        rig.order(tell(reply_to, "No"));
        fake.wait_for("the answer", |seen| seen.toast(&press).map(drop));
    }
    // The button of one question on the message of another.
    fake.press_data(TEAM, 8, other.message, &data(1, Action::Allow));
    assert!(matches!(rig.news(), ChannelReport::Forged { .. }));
    // An old message of which Telegram gives no text is believed.
    fake.press_data(TEAM, 8, 55, &data(1, Action::Allow));
    assert_eq!(pressed(rig.news()).0, "Bob (8) in group -100: allow for 01");
}

#[test]
fn picks_show_on_the_buttons() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let options = json!([{"label": "Red", "description": "warm"}, {"label": "Blue"}]);
    let question = json!({"question": "Which colours?", "options": options, "multiSelect": true});
    let card = card(1, "AskUserQuestion", &json!({"questions": [question]}));
    let copy = rig.show(&card, ADA);
    let message = message_of(&fake, &copy);
    let labels = ["Red", "Blue", "✅ Done", "❌ Deny", "⏹ Deny and stop"];
    assert_eq!(message.labels()[..5], labels);
    assert_eq!(message.labels()[5], "✍️ Reply with your answer");
    assert!(message.shape.text.contains("Red — warm"), "{}", message.shape.text);
    fake.press(ADA, ADA, copy.message, "Blue");
    assert_eq!(pressed(rig.news()).0, "Ada (7) in private 7: pick0.1 for 01");
    let picks = vec![vec![1]];
    rig.order(ChannelOrder::Redraw { card: Arc::clone(&card), copies: vec![copy.clone()], picks });
    let message = wait_for_text(&fake, &copy, "✓ Blue");
    assert_eq!(message.labels()[..2], ["Red", "✓ Blue"]);
    fake.press(ADA, ADA, copy.message, "Done");
    assert_eq!(pressed(rig.news()).0, "Ada (7) in private 7: done for 01");
    rig.order(mark(&card, [&copy], MarkState::Waiting, "Answered by Ada"));
    wait_for_text(&fake, &copy, "⏳ Answered by Ada");
    rig.order(mark(&card, [&copy], MarkState::Allowed, "Blue, by Ada"));
    wait_for_text(&fake, &copy, "✅ Blue, by Ada");
    rig.finish();
    fake.assert_nothing_refused();
}

/// Whether this is where a question in full ends: with the end of its input.
fn is_last(message: &Message) -> bool {
    let file = message.document.as_ref().map(|file| String::from_utf8_lossy(&file.bytes));
    let text = file.unwrap_or(std::borrow::Cow::Borrowed(&message.shape.text));
    text.contains("echo the end")
}

#[test]
fn what_was_cut_is_shown_in_full_as_pages_or_as_a_file() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let line = "echo a line of a long script\n";
    for (number, lines) in [(1, 250), (2, 2_500)] {
        let command = format!("{}echo the end", line.repeat(lines));
        let card = card(number, "Bash", &json!({"command": command}));
        let copy = rig.show(&card, ADA);
        let message = message_of(&fake, &copy);
        assert!(message.shape.text.contains("more characters"), "{}", message.shape.text);
        let press = fake.press(ADA, ADA, copy.message, "Show in full");
        let (what, reply_to) = pressed(rig.news());
        assert_eq!(what, format!("Ada (7) in private 7: more for 0{number}"));
        rig.order(ChannelOrder::Full { card: Arc::clone(&card), reply_to, chat: ADA });
        fake.wait_for("the answer", |seen| seen.toast(&press).map(drop));
        let last = fake.wait_for("the end", |seen| {
            seen.chat(ADA).find(|m| m.id > copy.message && is_last(m)).cloned()
        });
        assert_names(&last, number);
        assert!(message.button("Allow").is_none(), "not under what is cut");
        assert!(message.shape.text.contains("echo the end"), "its end is shown all the same");
        let shown = rig.news();
        assert_eq!(shown, ChannelReport::ShownInFull { question: id(number), chat: ADA });
        let ChannelReport::Shown(end) = rig.news() else { panic!("the buttons are a copy") };
        assert!(message_of(&fake, &end).button("Allow").is_some());
        let all = match &last.document {
            Some(file) => String::from_utf8(file.bytes.clone()).unwrap(),
            None => fake.look(|seen| {
                let pages = seen.chat(ADA).filter(|page| page.id > copy.message);
                pages.map(|page| page.shape.text.as_str()).collect::<String>()
            }),
        };
        assert_eq!(last.document.is_some(), number == 2);
        let count = all.matches("echo a line of a long script").count();
        assert_eq!(count, lines, "nothing is missing, and nothing is there twice");
        assert_eq!(all.matches("echo the end").count(), 1);
        // Its end is shown below, without the question that stands above.
        let mark = QuestionMark { state: MarkState::Allowed, text: "Allowed by Ada".to_owned() };
        let copies = vec![copy.clone(), end.clone()];
        rig.order(ChannelOrder::Mark { card, copies, mark });
        let below = wait_for_text(&fake, &end, "Allowed by Ada");
        assert!(!below.shape.text.contains("echo"), "{}", below.shape.text);
        let above = wait_for_text(&fake, &copy, "Allowed by Ada");
        assert!(above.shape.text.contains("echo the end"), "{}", above.shape.text);
    }
    rig.finish();
    fake.assert_nothing_refused();
}

#[test]
fn short_questions_have_no_button_for_more() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), ADA);
    assert!(message_of(&fake, &copy).button("full").is_none());
}

#[test]
fn a_copy_of_which_nothing_is_known_is_retired() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), ADA);
    rig.order(ChannelOrder::Retire { copy: copy.clone(), text: "Denied by Bob".into() });
    let message = wait_for_text(&fake, &copy, "Denied by Bob");
    assert!(message.labels().is_empty());
    assert_names(&message, 1);
}

#[test]
fn copies_of_an_earlier_run_are_marked_too() {
    let fake = fake();
    let first = Rig::start(&fake);
    let question = bash(1);
    let copy = first.show(&question, ADA);
    first.kill();
    let second = Rig::start(&fake);
    second.order(mark(&question, [&copy], MarkState::Expired, "Nobody answered"));
    wait_for_text(&fake, &copy, "⌛ Nobody answered");
    second.finish();
    fake.assert_nothing_refused();
}

#[test]
fn a_question_that_is_asked_anew_is_open_again() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let question = bash(1);
    let copy = rig.show(&question, ADA);
    fake.fault("editMessageText", Fault::Hold);
    rig.order(mark(&question, [&copy], MarkState::Expired, "Nobody answered"));
    fake.wait_for("the edit", |seen| seen.calls_of("editMessageText").next().map(drop));
    let second = rig.show(&question, TEAM);
    assert!(message_of(&fake, &second).button("Allow").is_some());
    fake.release();
    fake.wait_for("the first copy open again", |seen| {
        let message = seen.message(copy.chat, copy.message)?;
        (message.past.len() == 2 && message.button("Allow").is_some()).then_some(())
    });
}

#[test]
fn an_answer_to_a_press_passes_edits_that_hang() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let question = bash(1);
    let copy = rig.show(&question, ADA);
    fake.faults("editMessageText", usize::MAX, Fault::Hold);
    rig.order(mark(&question, [&copy], MarkState::Denied, "Denied by Ada"));
    fake.wait_for("the edit", |seen| seen.calls_of("editMessageText").next().map(drop));
    let press = fake.press(ADA, ADA, copy.message, "Allow");
    let (_, reply_to) = pressed(rig.news());
    rig.order(tell(reply_to, "Too late"));
    fake.wait_for("the answer", |seen| seen.toast(&press).map(drop));
    assert_eq!(message_of(&fake, &copy).past.len(), 0, "the edit still hangs");
    fake.heal();
    fake.release();
    wait_for_text(&fake, &copy, "Denied by Ada");
}

#[test]
fn answers_and_notes_are_cut_to_what_telegram_takes() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let copy = rig.show(&bash(1), ADA);
    let press = fake.press(ADA, ADA, copy.message, "Allow");
    let (_, reply_to) = pressed(rig.news());
    rig.order(tell(reply_to, &"😀".repeat(300)));
    let toast = fake.wait_for("the answer", |seen| seen.toast(&press).cloned());
    assert!(toast.text.ends_with('…') && toast.text.encode_utf16().count() <= 200);
    let note = fake.send(ADA, ADA, "/status");
    assert!(matches!(rig.news(), ChannelReport::Command { .. }));
    rig.order(tell(ReplyTo::Message { chat: ADA, message: note }, &"long ".repeat(2_000)));
    let answer = fake.wait_for("the answer", |seen| {
        seen.chat(ADA).find(|message| message.reply_to == Some(note)).cloned()
    });
    assert!(answer.shape.text.ends_with('…'));
    rig.order(ChannelOrder::Say { chats: vec![ADA, TEAM], text: "words ".repeat(1_000) });
    fake.wait_for("both pages in both chats", |seen| {
        let pages = |chat| seen.chat(chat).filter(|m| m.shape.text.starts_with("words")).count();
        (pages(ADA) == 2 && pages(TEAM) == 2).then_some(())
    });
    rig.finish();
    fake.assert_nothing_refused();
}
