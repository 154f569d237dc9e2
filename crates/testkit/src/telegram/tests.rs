//! The fake against a plain client: what it refuses, keeps and breaks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;

use serde_json::{Value, json};

use super::*;

/// One call on a connection of its own: the HTTP status (0 for none) and the answer.
fn call(fake: &Telegram, method: &str, params: &Value) -> (u16, Value) {
    call_with(fake, fake.token(), method, params)
}

fn call_with(fake: &Telegram, token: &str, method: &str, params: &Value) -> (u16, Value) {
    post(fake, token, method, "application/json", params.to_string().as_bytes())
}

fn post(fake: &Telegram, token: &str, method: &str, kind: &str, body: &[u8]) -> (u16, Value) {
    let Ok(mut stream) = TcpStream::connect(fake.address) else { return (0, Value::Null) };
    let head = format!(
        "POST /bot{token}/{method} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn fake() -> Telegram {
    let fake = Telegram::start();
    fake.add_private(7, "Ada");
    fake.add_group(-100, "Team");
    fake
}

fn ok(fake: &Telegram, method: &str, params: &Value) -> Value {
    let (status, answer) = call(fake, method, params);
    assert_eq!((status, &answer["ok"]), (200, &json!(true)), "{method} {params}: {answer}");
    answer["result"].clone()
}

fn send(fake: &Telegram, text: &str, data: &str) -> i64 {
    let buttons = json!({"inline_keyboard": [[{"text": "Go", "callback_data": data}]]});
    let params = json!({"chat_id": 7, "text": text, "parse_mode": "HTML", "reply_markup": buttons});
    ok(fake, "sendMessage", &params)["message_id"].as_i64().unwrap()
}

#[track_caller]
fn check_refused(method: &str, params: &Value, expected: &str) {
    let fake = fake();
    let id = send(&fake, "<b>first</b>", "a:b");
    let params: Value =
        serde_json::from_str(&params.to_string().replace("\"ID\"", &id.to_string())).unwrap();
    let (status, answer) = call(&fake, method, &params);
    let description = answer["description"].as_str().unwrap_or_default();
    assert_eq!((status, answer["ok"].as_bool()), (400, Some(false)), "{answer}");
    assert!(description.starts_with(&format!("Bad Request: {expected}")), "{description}");
    let caught = std::panic::catch_unwind(|| fake.assert_nothing_refused());
    assert!(caught.is_err(), "the refusal is found");
}

#[test]
fn what_the_real_one_refuses_is_refused() {
    let long = "x".repeat(4097);
    let button = |button: Value| json!({"inline_keyboard": [[button]]});
    let with = |markup: Value| json!({"chat_id": 7, "text": "x", "reply_markup": markup});
    let send = "sendMessage";
    check_refused(
        send,
        &json!({"chat_id": 7, "text": "<b>x", "parse_mode": "HTML"}),
        "can't parse entities",
    );
    check_refused(send, &json!({"chat_id": 7, "text": long}), "message is too long");
    check_refused(send, &json!({"chat_id": 7, "text": " \n"}), "message text is empty");
    check_refused(send, &json!({"chat_id": 8, "text": "x"}), "chat not found");
    check_refused(send, &json!({"text": "x"}), "chat_id is empty");
    check_refused(send, &json!({"chat_id": "7", "text": "x"}), "parameter `chat_id` must be");
    check_refused(
        send,
        &json!({"chat_id": 7, "text": "x", "mode": 1}),
        "sendMessage has no parameter",
    );
    check_refused(
        send,
        &json!({"chat_id": 7, "text": "x", "reply_parameters": {"message_id": 9}}),
        "message to be replied",
    );
    check_refused(
        send,
        &with(button(json!({"text": "x", "callback_data": "y".repeat(65)}))),
        "BUTTON_DATA_INVALID",
    );
    check_refused(
        send,
        &with(button(json!({"text": "", "callback_data": "y"}))),
        "can't parse inline",
    );
    check_refused(send, &with(button(json!({"text": "x"}))), "can't parse inline");
    check_refused(send, &with(json!({"inline_keyboard": [[]]})), "can't parse inline");
    let many: Vec<Value> = (0..101).map(|_| json!([{"text": "x", "callback_data": "y"}])).collect();
    check_refused(send, &with(json!({"inline_keyboard": many})), "reply markup is too long");
    let edit = "editMessageText";
    let same = json!({"inline_keyboard": [[{"text": "Go", "callback_data": "a:b"}]]});
    check_refused(
        edit,
        &json!({"chat_id": 7, "message_id": "ID", "text": "<strong>first</strong>", "parse_mode": "HTML", "reply_markup": same}),
        "message is not modified",
    );
    check_refused(
        edit,
        &json!({"chat_id": 7, "message_id": 9, "text": "x"}),
        "message to edit not found",
    );
    check_refused(
        "editMessageReplyMarkup",
        &json!({"chat_id": 7, "message_id": "ID", "reply_markup": same}),
        "message is not modified",
    );
    check_refused("answerCallbackQuery", &json!({"callback_query_id": "1"}), "query is too old");
    check_refused(
        "setMyCommands",
        &json!({"commands": [{"command": "/x", "description": "y"}]}),
        "BOT_COMMAND_INVALID",
    );
    check_refused("getUpdates", &json!({"limit": 101}), "limit");
}

#[test]
fn tokens_and_methods() {
    let fake = fake();
    assert_eq!(ok(&fake, "getMe", &json!({}))["username"], BOT_NAME);
    let other = fake.token().replace("Fake", "Real");
    assert_eq!(call_with(&fake, &other, "getMe", &json!({})).0, 401);
    assert_eq!(call_with(&fake, "nonsense", "getMe", &json!({})).0, 404);
    assert_eq!(call(&fake, "getNothing", &json!({})).0, 404);
    fake.block(7);
    assert_eq!(call(&fake, "sendMessage", &json!({"chat_id": 7, "text": "x"})).0, 403);
}

#[test]
fn a_press_is_delivered_until_confirmed_and_answered_once() {
    let fake = fake();
    let message = send(&fake, "<b>May I?</b> <code>x &amp; y</code>", "q:allow");
    let press = fake.press(7, 7, message, "Go");
    let updates = ok(&fake, "getUpdates", &json!({"timeout": 50}));
    let query = &updates[0]["callback_query"];
    assert_eq!((&query["data"], &query["id"]), (&json!("q:allow"), &json!(press)));
    assert_eq!(query["message"]["text"], "May I? x & y");
    let code = json!({"type": "code", "offset": 7, "length": 5});
    assert_eq!(query["message"]["entities"][1], code);
    assert_eq!(query["from"]["first_name"], "Ada");
    assert_eq!(ok(&fake, "getUpdates", &json!({})), updates, "not confirmed");
    let next = updates[0]["update_id"].as_i64().unwrap() + 1;
    assert_eq!(ok(&fake, "getUpdates", &json!({"offset": next})), json!([]));
    assert_eq!(fake.look(|seen| seen.confirmed), next);
    let answer = json!({"callback_query_id": press, "text": "Yes", "show_alert": true});
    ok(&fake, "answerCallbackQuery", &answer);
    let toast = fake.look(|seen| seen.toast(&press).cloned()).unwrap();
    assert_eq!((toast.text.as_str(), toast.alert), ("Yes", true));
    assert_eq!(call(&fake, "answerCallbackQuery", &answer).0, 400, "the second answer");
    let old = fake.press_data(7, 8, message, "made up");
    fake.let_presses_grow_old();
    assert_eq!(call(&fake, "answerCallbackQuery", &json!({"callback_query_id": old})).0, 400);
}

#[test]
fn edits_keep_their_history_and_replies_carry_the_message() {
    let fake = fake();
    let message = send(&fake, "May I?", "q:allow");
    ok(&fake, "editMessageText", &json!({"chat_id": 7, "message_id": message, "text": "Yes"}));
    let seen = fake.look(|seen| seen.message(7, message).cloned()).unwrap();
    assert_eq!((seen.shape.text.as_str(), seen.past[0].text.as_str()), ("Yes", "May I?"));
    assert!(seen.labels().is_empty(), "an edit without a keyboard takes it away");
    fake.reply(7, 7, message, "why?");
    let update = ok(&fake, "getUpdates", &json!({}))[0]["message"].clone();
    assert_eq!(update["text"], "why?");
    assert_eq!(update["reply_to_message"]["text"], "Yes");
    assert_eq!(update["reply_to_message"]["from"]["id"], BOT);
}

#[test]
fn two_polls_are_a_conflict_for_the_older() {
    let fake = fake();
    thread::scope(|scope| {
        let older = scope.spawn(|| call(&fake, "getUpdates", &json!({"timeout": 50})));
        fake.wait_for("the first poll", |seen| seen.calls_of("getUpdates").next().map(drop));
        let newer = scope.spawn(|| call(&fake, "getUpdates", &json!({"timeout": 50})));
        let (status, answer) = older.join().unwrap();
        assert_eq!(status, 409, "{answer}");
        fake.send(7, 7, "hello");
        assert_eq!(newer.join().unwrap().1["result"][0]["message"]["text"], "hello");
    });
    fake.set_webhook();
    assert_eq!(call(&fake, "getUpdates", &json!({})).0, 409);
    ok(&fake, "deleteWebhook", &json!({}));
    assert_eq!(call(&fake, "getUpdates", &json!({})).0, 200);
}

#[test]
fn an_update_can_come_twice() {
    let fake = fake();
    fake.deliver_twice();
    fake.send(7, 7, "hello");
    let first = ok(&fake, "getUpdates", &json!({}));
    let next = json!({"offset": first[0]["update_id"].as_i64().unwrap() + 1});
    assert_eq!(ok(&fake, "getUpdates", &next), first);
    assert_eq!(ok(&fake, "getUpdates", &next), json!([]));
}

#[test]
fn faults_happen_in_order_and_only_where_they_should() {
    let fake = fake();
    let text = |chat: i64| json!({"chat_id": chat, "text": "x"});
    fake.fault("sendMessage", Fault::TooMany { seconds: 3 });
    fake.faults_in(-100, "*", 2, Fault::Status(502));
    fake.fault("sendMessage", Fault::BreakBefore);
    fake.fault("sendMessage", Fault::BreakAfter);
    let (status, answer) = call(&fake, "sendMessage", &text(7));
    assert_eq!((status, &answer["parameters"]["retry_after"]), (429, &json!(3)));
    assert_eq!(call(&fake, "sendMessage", &text(-100)), (502, Value::Null));
    assert_eq!(call(&fake, "sendMessage", &text(-100)).0, 502);
    assert_eq!(call(&fake, "sendMessage", &text(7)).0, 0);
    assert_eq!(fake.look(|seen| seen.chat(7).count()), 0);
    assert_eq!(call(&fake, "sendMessage", &text(7)).0, 0);
    assert_eq!(fake.look(|seen| seen.chat(7).count()), 1, "it was done all the same");
    assert_eq!(call(&fake, "sendMessage", &text(7)).0, 200);
    fake.assert_nothing_refused();
}

#[test]
fn a_held_call_waits_for_its_release() {
    let fake = fake();
    fake.fault("sendMessage", Fault::HoldAnswer);
    thread::scope(|scope| {
        let held = scope.spawn(|| call(&fake, "sendMessage", &json!({"chat_id": 7, "text": "x"})));
        fake.wait_for("the message", |seen| seen.chat(7).next().map(drop));
        assert!(!held.is_finished());
        fake.release();
        assert_eq!(held.join().unwrap().0, 200);
    });
}

#[test]
fn the_network_goes_and_comes_back() {
    let fake = fake();
    thread::scope(|scope| {
        let poll = scope.spawn(|| call(&fake, "getUpdates", &json!({"timeout": 50})));
        fake.wait_for("the poll", |seen| seen.calls_of("getUpdates").next().map(drop));
        fake.go_away();
        assert_eq!(poll.join().unwrap().0, 0);
    });
    assert_eq!(call(&fake, "getMe", &json!({})).0, 0);
    fake.come_back();
    assert_eq!(call(&fake, "getMe", &json!({})).0, 200);
}

#[test]
fn documents_come_as_forms() {
    let fake = fake();
    let part = |head: &str, content: &str| {
        format!("--B\r\nContent-Disposition: form-data;{head}\r\n\r\n{content}\r\n")
    };
    let body = [
        part(" name=\"chat_id\"", "7"),
        part(" name=\"caption\"", "12"),
        part(" name=\"document\"; filename=\"a.txt\"\r\nContent-Type: text/plain", "1\r\n2"),
        "--B--\r\n".to_owned(),
    ]
    .concat();
    let kind = "multipart/form-data; boundary=B";
    let (status, answer) = post(&fake, fake.token(), "sendDocument", kind, body.as_bytes());
    assert_eq!((status, &answer["result"]["caption"]), (200, &json!("12")), "{answer}");
    let message = fake.look(|seen| seen.chat(7).next().cloned()).unwrap();
    let document = message.document.unwrap();
    assert_eq!(
        (document.name.as_str(), document.bytes.as_slice()),
        ("a.txt", b"1\r\n2".as_slice())
    );
}
