//! Phones as a viewer sees them, and the codes that link them.

use std::time::Duration;

use callgate_approval::telegram::{BotSettings, BotToken};
use callgate_client::viewer::Viewer;
use callgate_testkit::telegram::{BOT_NAME, Fault, Telegram};
use callgate_testkit::until::until;
use callgate_wire::approval::Decision;
use callgate_wire::desk::{DeskCommand, PhoneStatus};

use crate::house::{DEADLINE, House, next_of, request, told};

const ADA: i64 = 7;
const TEAM: i64 = -100;
const BOB: i64 = 8;

fn settings(fake: &Telegram, token: &str) -> BotSettings {
    BotSettings {
        api_url: fake.url(),
        reach: DEADLINE,
        pause: Duration::from_millis(5),
        ..BotSettings::new(BotToken::new(token).unwrap())
    }
}

fn fake() -> Telegram {
    let fake = Telegram::start();
    fake.add_private(ADA, "Ada");
    fake.add_group(TEAM, "Team");
    fake.add_user(BOB, "Bob");
    fake
}

/// Waits until the phones are as wanted.
fn wait_for(viewer: &mut Viewer, wanted: impl Fn(&PhoneStatus) -> bool) -> PhoneStatus {
    until("the phones are as wanted", || viewer.status().unwrap().reach.telegram.filter(&wanted))
}

#[test]
fn the_status_tells_by_which_bot_phones_are_reached() {
    let house = House::new();
    assert_eq!(house.viewer().status().unwrap().reach.telegram, None, "none is configured");
    let fake = fake();
    let house = House::with(Some(settings(&fake, fake.token())));
    let phones = wait_for(&mut house.viewer(), |phones| phones.bot.is_some());
    assert_eq!(phones, PhoneStatus { bot: Some(BOT_NAME.to_owned()), trouble: None });
}

#[test]
fn the_status_tells_what_is_wrong_with_the_phones() {
    let fake = fake();
    let house = House::with(Some(settings(&fake, "1:wrong")));
    let phones = wait_for(&mut house.viewer(), |phones| phones.trouble.is_some());
    let trouble = phones.trouble.unwrap();
    assert!(trouble.contains("the token is wrong or was revoked"), "{trouble}");
    assert!(!trouble.contains("1:wrong"));
}

#[test]
fn phones_are_asked_again_once_telegram_knows_the_bot_again() {
    let fake = fake();
    fake.faults("getUpdates", usize::MAX, Fault::Refuse(401, "Unauthorized"));
    let house = House::asking(settings(&fake, fake.token()), ADA, Duration::from_hours(1));
    let mut viewer = house.viewer();
    wait_for(&mut viewer, |phones| phones.trouble.is_some());
    fake.heal();
    wait_for(&mut viewer, |phones| phones.trouble.is_none());
    let asked = house.ask(request("make"));
    let question = fake.wait_for("the question", |seen| seen.chat(ADA).next().cloned());
    fake.press(ADA, ADA, question.id, "Allow");
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Allow);
}

#[test]
fn an_outage_of_telegram_does_not_lose_a_patient_question() {
    let fake = fake();
    fake.faults("sendMessage", usize::MAX, Fault::TooMany { seconds: 0 });
    let house = House::asking(settings(&fake, fake.token()), ADA, Duration::from_hours(1));
    let asked = house.ask(request("make"));
    fake.wait_for("attempts", |seen| seen.calls_of("sendMessage").nth(3).map(drop));
    fake.heal();
    fake.faults("sendMessage", 4, Fault::Status(503));
    let question = fake.wait_for("the question", |seen| seen.chat(ADA).next().cloned());
    fake.press(ADA, ADA, question.id, "Allow");
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Allow);
}

#[test]
fn what_telegram_refuses_is_answered_with_timeout_at_once() {
    // The question would be open for an hour.
    for fault in [
        Fault::Refuse(400, "Bad Request: chat not found"),
        Fault::Refuse(401, "Unauthorized"),
        Fault::Refuse(403, "Forbidden: bot was blocked by the user"),
        Fault::Status(403),
    ] {
        let fake = fake();
        fake.faults("sendMessage", usize::MAX, fault);
        let house = House::asking(settings(&fake, fake.token()), ADA, Duration::from_hours(1));
        assert_eq!(
            house.ask(request("make")).join().unwrap().unwrap().decision,
            Decision::Timeout,
            "{fault:?}"
        );
        assert_eq!(fake.look(|seen| seen.calls_of("sendMessage").count()), 1, "{fault:?}");
    }
}

#[test]
fn a_code_links_a_chat_and_everybody_hears_of_it() {
    let fake = fake();
    let house = House::with(Some(settings(&fake, fake.token())));
    // Whoever is linked first may have the next codes.
    let (mut viewer, _) = house.paired("Ada's page");
    viewer.watch(None).unwrap();
    let (code, _) = viewer.code().unwrap();
    fake.send(ADA, ADA, &format!("/pair {}", code.reveal()));
    let (_, body) = next_of(&mut viewer, "paired");
    assert_eq!((&body["by"], &body["chat"]), (&"Ada".into(), &ADA.into()));

    let (code, _) = viewer.code().unwrap();
    fake.send(TEAM, BOB, &format!("/pair@{BOT_NAME} {}", code.reveal()));
    let (_, body) = next_of(&mut viewer, "paired");
    assert_eq!((&body["by"], &body["user"]), (&"Bob".into(), &BOB.into()));
    let hears = |text: &str| {
        fake.wait_for(text, |seen| {
            seen.chat(ADA).find(|message| message.shape.text.contains(text)).map(drop)
        });
    };
    hears("“Bob” (Telegram user 8, in groups), in the chat -100, was linked.");
    house.paired("The page");
    hears("“The page” (viewer ");

    let links: Vec<(String, String)> =
        viewer.links().unwrap().into_iter().map(|it| (it.link, it.name)).collect();
    let expected = [("chat/-100", "Bob"), ("chat/7", "Ada"), ("user/8", "Bob")];
    let expected = expected.map(|(link, name)| (link.to_owned(), name.to_owned()));
    assert_eq!(links[..3], expected);
    assert!(links[3].0.starts_with("viewer/"));
    for (link, _) in links.into_iter().filter(|(_, name)| name != "Ada's page") {
        assert!(told(&mut viewer, DeskCommand::Unpair { link }).0);
    }
    assert_eq!(viewer.links().unwrap().len(), 1);
    hears("“Ada” (Telegram chat 7) was unlinked by Ada's page.");
    // Ada is a stranger again.
    fake.send(ADA, ADA, "/status");
    hears("This chat is not linked.");
    fake.assert_nothing_refused();
}
