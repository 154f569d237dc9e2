//! Phones as a viewer sees them, and the codes that link them.

use std::time::Duration;

use callgate_approval::telegram::{Settings, Token};
use callgate_approval::viewer::Viewer;
use callgate_testkit::telegram::{BOT_NAME, Telegram};
use callgate_wire::desk::{Command, Phones};

use crate::house::{DEADLINE, House, next_of, told};

const ADA: i64 = 7;
const TEAM: i64 = -100;
const BOB: i64 = 8;

fn settings(fake: &Telegram, token: &str) -> Settings {
    Settings {
        api_url: fake.url(),
        reach: DEADLINE,
        pause: Duration::from_millis(5),
        ..Settings::new(Token::new(token).unwrap())
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
fn wait_for(viewer: &mut Viewer, wanted: impl Fn(&Phones) -> bool) -> Phones {
    loop {
        let phones = viewer.status().unwrap().reach.telegram.unwrap();
        if wanted(&phones) {
            return phones;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_status_tells_by_which_bot_phones_are_reached() {
    let house = House::new();
    assert_eq!(house.viewer().status().unwrap().reach.telegram, None, "none is configured");
    let fake = fake();
    let house = House::with(Some(settings(&fake, fake.token())));
    let phones = wait_for(&mut house.viewer(), |phones| phones.bot.is_some());
    assert_eq!(phones, Phones { bot: Some(BOT_NAME.to_owned()), trouble: None });
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
        assert!(told(&mut viewer, Command::Unpair { link }).0);
    }
    assert_eq!(viewer.links().unwrap().len(), 1);
    hears("“Ada” (Telegram chat 7) was unlinked by Ada's page.");
    // Ada is a stranger again.
    fake.send(ADA, ADA, "/status");
    hears("This chat is not linked.");
    fake.assert_nothing_refused();
}
