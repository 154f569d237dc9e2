//! What goes wrong on the way, and that it is neither lost nor told too loudly.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_approval::channel::{ChannelOrder, ChannelReport, CopyPart, MarkState, QuestionCopy};
use callgate_approval::telegram::{BotSettings, TelegramReport};
use callgate_testkit::process::DEADLINE;
use callgate_testkit::telegram::Fault;

use crate::rig::*;

fn debug(report: &TelegramReport) -> String {
    format!("{report:?}\n")
}

/// Shows a question that is open for so long.
fn show_within(rig: &Rig, number: u8, chat: i64, within: Duration) {
    rig.order(ChannelOrder::Show { card: bash(number), chats: vec![chat], within });
}

#[test]
fn passing_faults_are_tried_again() {
    let fake = fake();
    for fault in [
        Fault::Status(500),
        Fault::Status(502),
        Fault::Status(408),
        Fault::Refuse(500, "Internal Server Error"),
        Fault::BreakBefore,
        Fault::Garbage,
        Fault::TooMany { seconds: 0 },
        Fault::Delay(Duration::from_millis(20)),
    ] {
        fake.faults("sendMessage", 2, fault);
        fake.faults("editMessageText", 2, fault);
        fake.faults("answerCallbackQuery", 2, fault);
        let rig = Rig::start(&fake);
        let card = bash(1);
        let copy = rig.show(&card, ADA);
        let press = fake.press(ADA, ADA, copy.message, "Allow");
        let (_, reply_to) = pressed(rig.news());
        rig.order(tell(reply_to, "Allowed"));
        fake.wait_for("the answer", |seen| seen.toast(&press).map(drop));
        rig.order(mark(&card, [&copy], MarkState::Allowed, "Allowed by Ada"));
        wait_for_text(&fake, &copy, "Allowed by Ada");
    }
    fake.assert_nothing_refused();
}

#[test]
fn quiet_is_kept_for_as_long_as_it_is_wanted() {
    let fake = fake();
    fake.fault("sendMessage", Fault::TooMany { seconds: 1 });
    let rig = Rig::start(&fake);
    let begun = Instant::now();
    rig.show(&bash(1), ADA);
    assert!(begun.elapsed() >= Duration::from_secs(1), "no earlier than was asked for");
    assert_eq!(fake.look(|seen| seen.calls_of("sendMessage").count()), 2);
}

#[test]
fn quiet_in_one_chat_is_none_in_another() {
    let fake = fake();
    fake.faults_in(ADA, "sendMessage", usize::MAX, Fault::TooMany { seconds: 1_000 });
    let rig = Rig::start(&fake);
    for number in 1..3 {
        rig.order(ChannelOrder::Show {
            card: bash(number),
            chats: vec![ADA, TEAM],
            within: DEADLINE,
        });
        let mut told = [rig.news(), rig.news()];
        told.sort_by_key(|news| matches!(news, ChannelReport::Shown(_)));
        assert!(matches!(told[0], ChannelReport::Unsendable { chat: ADA, .. }), "{told:?}");
        assert!(
            matches!(told[1], ChannelReport::Shown(QuestionCopy { chat: TEAM, .. })),
            "{told:?}"
        );
    }
}

#[test]
fn a_server_that_holds_no_poll_is_not_asked_without_end() {
    let fake = fake();
    let pause = Duration::from_secs(1_000);
    let settings =
        BotSettings { poll: Duration::ZERO, pause, ..settings(&fake.url(), fake.token()) };
    let rig = Rig::with(settings);
    fake.wait_for("a poll", |seen| seen.calls_of("getUpdates").next().map(drop));
    rig.say_and_see(&fake, "one");
    rig.say_and_see(&fake, "two");
    assert_eq!(fake.look(|seen| seen.calls_of("getUpdates").count()), 1);
}

#[test]
fn a_question_that_reaches_nobody_in_time_is_given_up() {
    let fake = fake();
    fake.faults("sendMessage", usize::MAX, Fault::Status(502));
    let rig = Rig::start(&fake);
    show_within(&rig, 1, ADA, Duration::from_millis(100));
    let ChannelReport::Unsendable { question, chat, why } = rig.news() else { panic!() };
    assert_eq!((question, chat), (id(1), ADA));
    // A machine that is busy enough does not even begin in time.
    assert!(why.contains("502") || why.contains("queued for it"), "{why}");
}

#[test]
fn an_outage_is_waited_out_for_as_long_as_the_question_is_open() {
    let fake = fake();
    for fault in [
        Fault::TooMany { seconds: 0 },
        Fault::Status(500),
        Fault::Status(503),
        Fault::Refuse(504, "Gateway Timeout"),
        Fault::BreakBefore,
    ] {
        let before = fake.look(|seen| seen.calls_of("sendMessage").count());
        fake.faults("sendMessage", usize::MAX, fault);
        // What a run may take to end has nothing to do with it.
        let reach = Duration::ZERO;
        let rig = Rig::with(BotSettings { reach, ..settings(&fake.url(), fake.token()) });
        rig.order(ChannelOrder::Show { card: bash(1), chats: vec![ADA], within: DEADLINE });
        fake.wait_for("attempts", |seen| seen.calls_of("sendMessage").nth(before + 4).map(drop));
        fake.heal();
        assert!(matches!(rig.news(), ChannelReport::Shown(_)), "{fault:?}");
    }
}

#[test]
fn a_longer_wait_than_there_is_time_is_not_begun() {
    let fake = fake();
    fake.faults("sendMessage", usize::MAX, Fault::TooMany { seconds: 1_000 });
    let rig = Rig::start(&fake);
    for number in 1..3 {
        rig.order(ChannelOrder::Show { card: bash(number), chats: vec![TEAM], within: DEADLINE });
        let ChannelReport::Unsendable { why, .. } = rig.news() else { panic!() };
        assert!(why.contains("a pause of 1000 s") || why.contains("a pause in this chat"), "{why}");
    }
    assert_eq!(fake.look(|seen| seen.calls_of("sendMessage").count()), 1, "and quiet is kept");
}

#[test]
fn refusals_are_told_at_once() {
    let fake = fake();
    fake.block(TEAM);
    let rig = Rig::start(&fake);
    for (chat, expected) in [(TEAM, "bot was kicked"), (12345, "chat not found")] {
        rig.order(ChannelOrder::Show { card: bash(1), chats: vec![chat], within: DEADLINE });
        let ChannelReport::Unsendable { chat: told, why, .. } = rig.news() else { panic!() };
        assert_eq!(told, chat);
        assert!(why.contains(expected), "{why}");
    }
    let sends = fake.look(|seen| seen.calls_of("sendMessage").count());
    assert_eq!(sends, 2, "neither was tried again");
    for fault in [
        Fault::Refuse(400, "Bad Request: no"),
        Fault::Refuse(401, "Unauthorized"),
        Fault::Refuse(403, "Forbidden: no"),
        Fault::Status(400),
        Fault::Status(401),
        Fault::Status(403),
    ] {
        fake.fault("sendMessage", fault);
        rig.order(ChannelOrder::Show { card: bash(2), chats: vec![ADA], within: DEADLINE });
        assert!(matches!(rig.news(), ChannelReport::Unsendable { chat: ADA, .. }), "{fault:?}");
    }
}

#[test]
fn a_mark_that_overtakes_its_question_is_applied_right_after() {
    let fake = fake();
    fake.fault("sendMessage", Fault::HoldAnswer);
    let rig = Rig::start(&fake);
    let card = bash(1);
    rig.order(ChannelOrder::Show { card: Arc::clone(&card), chats: vec![ADA], within: DEADLINE });
    let message = fake.wait_for("the message", |seen| seen.chat(ADA).next().cloned());
    rig.order(mark(&card, [], MarkState::Waiting, "Allowed by Bob"));
    rig.order(mark(&card, [], MarkState::Allowed, "Allowed by Bob, at the terminal"));
    // Only once a later order is begun has the mark been.
    rig.say_and_see(&fake, "a note");
    fake.release();
    let copy =
        QuestionCopy { question: id(1), chat: ADA, message: message.id, part: CopyPart::Question };
    let message = wait_for_text(&fake, &copy, "at the terminal");
    assert!(message.labels().is_empty());
    assert_eq!(message.past.len(), 1, "only the newest look was sent");
    assert_eq!(rig.news(), ChannelReport::Shown(copy));
    rig.finish();
    fake.assert_nothing_refused();
}

#[test]
fn a_question_that_is_over_before_it_could_be_sent_disturbs_nobody() {
    let fake = fake();
    let rig = Rig::start(&fake);
    rig.say_and_see(&fake, "here");
    fake.faults("sendMessage", usize::MAX, Fault::Status(502));
    let card = bash(1);
    rig.order(ChannelOrder::Show { card: Arc::clone(&card), chats: vec![ADA], within: DEADLINE });
    fake.wait_for("an attempt", |seen| seen.calls_of("sendMessage").nth(2).map(drop));
    rig.order(mark(&card, [], MarkState::Settled, "Answered at the terminal"));
    rig.order(ChannelOrder::Retire {
        copy: QuestionCopy { question: id(2), chat: ADA, message: 5, part: CopyPart::Question },
        text: "x".into(),
    });
    fake.wait_for("a later order", |seen| seen.calls_of("editMessageText").next().map(drop));
    fake.heal();
    let rest = rig.finish();
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(fake.look(|seen| seen.chat(ADA).count()), 1, "the note only");
}

#[test]
fn edits_that_change_nothing_or_find_nothing_end() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let card = bash(1);
    let copy = rig.show(&card, ADA);
    let gone = QuestionCopy { message: 9_999, ..copy.clone() };
    for _ in 0..2 {
        rig.order(mark(&card, [&copy, &gone], MarkState::Denied, "Denied by Ada"));
        wait_for_text(&fake, &copy, "Denied by Ada");
        fake.wait_for("both edits", |seen| {
            let calls = |copy: &QuestionCopy| {
                seen.calls_of("editMessageText")
                    .filter(|c| c.params["message_id"] == copy.message)
                    .count()
            };
            (calls(&copy) > 0 && calls(&gone) > 0).then_some(())
        });
    }
    rig.finish();
    let edits = fake.look(|seen| seen.calls_of("editMessageText").count());
    assert!(edits <= 4, "none was tried again: {edits}");
    fake.assert_refused_only(&["not modified", "message to edit not found"]);
}

#[test]
fn a_copy_that_needed_no_change_takes_the_next_one() {
    let fake = fake();
    let rig = Rig::start(&fake);
    let card = bash(1);
    let copy = rig.show(&card, ADA);
    let picked = ChannelOrder::Redraw { card: Arc::clone(&card), copies: vec![], picks: vec![] };
    rig.order(picked);
    fake.wait_for("an edit", |seen| seen.calls_of("editMessageText").next().map(drop));
    rig.order(mark(&card, [], MarkState::Denied, "Denied by Ada"));
    wait_for_text(&fake, &copy, "Denied by Ada");
    fake.assert_refused_only(&["not modified"]);
}

#[test]
fn the_network_may_be_absent_at_the_start_and_go_later() {
    let fake = fake();
    fake.go_away();
    let rig = Rig::start(&fake);
    let TelegramReport::Troubled { why } = rig.report() else { panic!() };
    assert!(why.contains("cannot be reached") && why.ends_with("trying again"), "{why}");
    rig.order(ChannelOrder::Show { card: bash(1), chats: vec![ADA], within: DEADLINE });
    fake.come_back();
    let mut heard = [rig.report(), rig.report()].map(|report| format!("{report:?}"));
    heard.sort();
    assert!(heard[0].starts_with("Heard { news: Shown"), "{heard:?}");
    assert!(heard[1].starts_with("Works"), "{heard:?}");
    fake.go_away();
    assert!(matches!(rig.report(), TelegramReport::Troubled { .. }));
    fake.come_back();
    assert!(matches!(rig.report(), TelegramReport::Works { .. }), "an outage is told once");
    fake.send(ADA, ADA, "/status");
    assert!(matches!(rig.news(), ChannelReport::Command { .. }));
}

#[test]
fn a_wrong_token_is_told_once_with_what_to_do_and_without_the_token() {
    let fake = fake();
    let wrong = fake.token().replace("Fake", "Real");
    for token in [wrong.as_str(), "nonsense"] {
        let pause = Duration::from_secs(1_000);
        let rig = Rig::with(BotSettings { pause, ..settings(&fake.url(), token) });
        let told = rig.report();
        let TelegramReport::Heard { news: ChannelReport::Broken { why }, .. } = &told else {
            panic!("{told:?}")
        };
        assert!(why.contains("@BotFather") && !why.contains(token), "{why}");
        rig.order(ChannelOrder::Show { card: bash(1), chats: vec![ADA], within: DEADLINE });
        let ChannelReport::Unsendable { why, .. } = rig.news() else { panic!() };
        assert!(why.contains("@BotFather") && !why.contains(token), "{why}");
    }
    assert_eq!(fake.look(|seen| seen.calls.len()), 4, "one poll and one send for each");
}

#[test]
fn an_address_that_is_none_is_told_and_nothing_hangs() {
    let rig = Rig::with(settings("ftp://example.test", "1:x"));
    let ChannelReport::Broken { why } = rig.news() else { panic!() };
    assert!(why.contains("api_url"), "{why}");
    rig.order(ChannelOrder::Show { card: bash(1), chats: vec![ADA], within: DEADLINE });
    assert!(matches!(rig.news(), ChannelReport::Unsendable { .. }));
    rig.finish();
}

#[test]
fn another_listener_is_told() {
    let fake = fake();
    fake.fault(
        "getUpdates",
        Fault::Refuse(409, "Conflict: terminated by other getUpdates request"),
    );
    let rig = Rig::start(&fake);
    assert!(matches!(rig.report(), TelegramReport::Works { .. }));
    let TelegramReport::Troubled { why } = rig.report() else { panic!() };
    assert!(why.contains("another program uses"), "{why}");
    assert!(matches!(rig.report(), TelegramReport::Works { .. }), "and it goes on");
}

#[test]
fn a_webhook_is_deleted() {
    let fake = fake();
    fake.set_webhook();
    let rig = Rig::start(&fake);
    assert!(matches!(rig.report(), TelegramReport::Works { .. }));
    let TelegramReport::Troubled { why } = rig.report() else { panic!() };
    assert!(why.contains("webhook"), "{why}");
    assert!(matches!(rig.report(), TelegramReport::Works { .. }));
    fake.send(ADA, ADA, "/status");
    assert!(matches!(rig.news(), ChannelReport::Command { .. }));
}

#[test]
fn a_missing_menu_harms_nothing() {
    let fake = fake();
    fake.faults("setMyCommands", usize::MAX, Fault::Status(500));
    let rig = Rig::start(&fake);
    assert!(matches!(rig.report(), TelegramReport::Works { .. }));
}

#[test]
fn the_token_is_in_no_report() {
    let fake = fake();
    let settings = settings(&fake.url(), fake.token());
    assert!(!format!("{settings:?}").contains(fake.token()));
    let mut told = String::new();
    for fault in [Fault::Garbage, Fault::Status(500), Fault::BreakBefore] {
        let fake = crate::rig::fake();
        fake.fault("getUpdates", fault);
        let rig = Rig::start(&fake);
        for _ in 0..3 {
            told.push_str(&debug(&rig.report()));
        }
    }
    let rig = Rig::with(settings);
    assert!(matches!(rig.report(), TelegramReport::Works { .. }));
    fake.go_away();
    show_within(&rig, 1, ADA, Duration::from_millis(100));
    for _ in 0..2 {
        told.push_str(&debug(&rig.report()));
    }
    let secret = fake.token().split(':').nth(1).unwrap();
    assert!(told.contains("Unsendable") && told.contains("Troubled"), "{told}");
    assert!(!told.contains(secret), "{told}");
}

#[test]
fn orders_are_taken_while_nobody_takes_reports() {
    let fake = fake();
    let rig = Rig::start(&fake);
    // More than any queue between us holds.
    for number in 0..90 {
        rig.order(ChannelOrder::Show { card: bash(number), chats: vec![ADA], within: DEADLINE });
    }
    fake.wait_for("all questions", |seen| (seen.chat(ADA).count() == 90).then_some(()));
    rig.finish();
    fake.assert_nothing_refused();
}
