//! Updates as they come, and as nobody should send them.

use callgate_wire::approval::Action;
use serde_json::json;

use super::*;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

fn me() -> BotIdentity {
    BotIdentity::from_answer(&json!({"id": 42, "username": "Gate_bot"}))
}

/// A message of ours with these marks.
fn ours(text: &str, marks: &Value) -> Value {
    json!({"message_id": 5, "from": {"id": 42, "is_bot": true}, "text": text, "entities": marks})
}

/// The unseen link to a question, as the API gives it.
fn link(id: &str) -> Value {
    let url = format!("https://callgate.invalid/question/{id}");
    json!([
        {"type": "text_link", "offset": 0, "length": 1, "url": url},
        {"type": "bold", "offset": 1, "length": 2},
    ])
}

/// A message of ours about the question.
fn about() -> Value {
    ours("\u{200b}😀 may I?", &link(ID))
}

#[track_caller]
fn check_question(message: &Value, found: bool) {
    let expected = found.then(|| RequestId::parse(ID).unwrap());
    assert_eq!(question_of(message), expected, "{message}");
}

#[test]
fn the_question_is_named_by_the_unseen_link_at_the_beginning_alone() {
    check_question(&about(), true);
    let text = "\u{200b}😀 may I?";
    let changed = |name: &str, value: Value| {
        let mut marks = link(ID);
        marks[0][name] = value;
        ours(text, &marks)
    };
    check_question(&changed("offset", json!(1)), false);
    check_question(&changed("length", json!(2)), false);
    check_question(&changed("type", json!("url")), false);
    check_question(&changed("url", json!(format!("https://evil.test/question/{ID}"))), false);
    check_question(&changed("url", json!("https://callgate.invalid/question/7")), false);
    check_question(&changed("url", json!(null)), false);
    check_question(&ours(text, &json!([])), false);
    // Somebody's own text in the place of what nobody sees.
    check_question(&ours("x may I?", &link(ID)), false);
    check_question(&ours("", &link(ID)), false);
    let caption = json!({"caption": text, "caption_entities": link(ID)});
    check_question(&caption, true);
    check_question(&json!(null), false);
}

fn wrote(text: &str, to: &Value) -> Value {
    json!({"update_id": 1, "message": {
        "message_id": 9, "text": text, "reply_to_message": to,
        "from": {"id": 7, "first_name": " Ada ", "last_name": "L."},
        "chat": {"id": -5, "type": "group"},
    }})
}

#[test]
fn words_count_only_in_reply_to_the_bot_itself() {
    let ours = about();
    let Some(TelegramUpdate::Message(ChannelReport::Pressed { who, press, .. })) =
        parse_update(&wrote("no", &ours), &me())
    else {
        panic!("words");
    };
    assert_eq!(press, Press::Words("no".into()));
    assert_eq!(who.name, "Ada L.");
    assert_eq!(who.place, PersonPlace::Telegram { chat: -5, user: 7, private: false });
    let mut other = ours.clone();
    other["from"]["id"] = json!(43);
    assert_eq!(parse_update(&wrote("no", &other), &me()), None);
    assert_eq!(
        parse_update(&wrote("no", &ours), &BotIdentity::default()),
        None,
        "not before we know who we are"
    );
    let mut plain = wrote("no", &json!(null));
    assert_eq!(parse_update(&plain, &me()), None, "people talk to each other in a group");
    plain["message"]["chat"]["type"] = json!("private");
    let plain = parse_update(&plain, &me());
    let Some(TelegramUpdate::Message(ChannelReport::Wrote { text, .. })) = plain else {
        panic!("{plain:?}")
    };
    assert_eq!(text, "no");
}

#[test]
fn commands() {
    let check = |text: &str, expected: Option<(&str, &str)>| {
        let told = match parse_update(&wrote(text, &json!(null)), &me()) {
            Some(TelegramUpdate::Message(ChannelReport::Command { name, rest, .. })) => {
                Some((name, rest))
            }
            None => None,
            other => panic!("{other:?}"),
        };
        let expected = expected.map(|(name, rest)| (name.to_owned(), rest.to_owned()));
        assert_eq!(told, expected, "{text}");
    };
    check("/status", Some(("status", "")));
    check("/Status@gate_BOT  a b ", Some(("status", "a b")));
    check("/status@other_bot", None);
    check("/", None);
    check("/@gate_bot", None);
    check("status", None);
}

#[test]
fn presses() {
    let press = |data: &str, message: Value| json!({"callback_query": {"id": "77", "from": {"id": 7, "username": "ada"}, "data": data, "message": message}});
    let mut message = about();
    message["chat"] = json!({"id": 7, "type": "private"});
    let honest = parse_update(&press(&format!("{ID}:always2"), message.clone()), &me());
    let Some(TelegramUpdate::Press { callback, presser, news }) = honest else {
        panic!("{honest:?}")
    };
    assert_eq!((callback.as_str(), presser.message), ("77", Some(5)));
    let ChannelReport::Pressed { who, press: Press::Button(Action::Always(2)), copy, .. } = news
    else {
        panic!("{news:?}");
    };
    let copy = copy.unwrap();
    assert_eq!((copy.question.as_str(), copy.chat, copy.message), (ID, 7, 5));
    assert_eq!(who.name, "@ada");
    let other = ID.replace("550e", "551e");
    let forged = parse_update(&press(&format!("{other}:allow"), message), &me());
    assert!(matches!(
        forged,
        Some(TelegramUpdate::Press { news: ChannelReport::Forged { .. }, .. })
    ));
    let bare = json!({"message_id": 5, "chat": {"id": 7, "type": "private"}, "date": 0});
    let old = parse_update(&press(&format!("{other}:allow"), bare), &me());
    assert!(matches!(
        old,
        Some(TelegramUpdate::Press { news: ChannelReport::Pressed { copy: None, .. }, .. })
    ));
}

#[test]
fn names_are_safe_and_short() {
    let check = |user: Value, expected: &str| assert_eq!(name_of(&user), expected);
    check(json!({"id": 7}), "user 7");
    check(json!({"id": 7, "first_name": "  ", "username": "ada"}), "@ada");
    check(json!({"id": 7, "first_name": "A".repeat(100)}), &"A".repeat(64));
    let tricky = name_of(&json!({"id": 7, "first_name": "a\u{202e}b\nc"}));
    assert!(!tricky.contains(['\u{202e}', '\n']), "{tricky:?}");
}
