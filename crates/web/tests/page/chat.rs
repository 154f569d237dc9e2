//! The chat: one runtime for all pages, which ends after the last of them.

use std::fs;
use std::time::Duration;

use callgate_testkit::until::until;
use callgate_web::PageLimits;
use serde_json::{Value, json};

use crate::browser::{Response, request, send};
use crate::house::House;

/// Sends a request about the chat.
fn post(house: &House, key: &str, path: &str, body: &Value) -> Response {
    let headers = [
        house.host(),
        format!("Authorization: Bearer {key}"),
        "Content-Type: application/json".to_owned(),
    ];
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    send(house.port, &request(&format!("POST {path}"), &headers, &body.to_string()))
}

fn start(house: &House, key: &str) -> Value {
    let folder = house.folder.path().to_str().unwrap();
    let mut answer = post(house, key, "/api/chat/start", &json!({ "folder": folder }));
    assert_eq!(answer.status, 200);
    answer.json()
}

fn say(house: &House, key: &str, text: &str) -> String {
    let body = json!({ "id": "x", "kind": "user_message", "message": text });
    let mut answer = post(house, key, "/api/chat", &body);
    assert_eq!(answer.status, 200);
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// Opens the events of the chat, after one that was seen.
fn events(house: &House, key: &str, seen: Option<(&str, u64)>) -> Response {
    let mut headers = vec![house.host(), format!("Authorization: Bearer {key}")];
    let mut path = "/api/chat/events".to_owned();
    if let Some((session, seq)) = seen {
        headers.push(format!("Last-Event-ID: {seq}"));
        path = format!("{path}?session={session}");
    }
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    send(house.port, &request(&format!("GET {path}"), &headers, ""))
}

/// Reads events up to the end of a request. Returns its words and the number of its end.
fn answer(stream: &mut Response, id: &str) -> (String, u64) {
    let mut words = String::new();
    loop {
        let (name, seq, data) = stream.event().unwrap();
        if name != "reply" || data["id"] != id {
            continue;
        }
        if data["type"] == "token" {
            words.push_str(data["token"].as_str().unwrap());
        } else if data["type"] == "done" {
            return (words, seq.unwrap());
        }
    }
}

/// The process ids of the runtimes that were started.
fn started(house: &House) -> Vec<String> {
    written(house, "runtimes")
}

/// What runtimes have written into a file of the house, line by line.
fn written(house: &House, name: &str) -> Vec<String> {
    let lines = fs::read_to_string(house.folder.path().join(name)).unwrap_or_default();
    lines.lines().map(str::to_owned).collect()
}

fn is_running(id: &str) -> bool {
    fs::metadata(format!("/proc/{id}")).is_ok()
}

#[test]
fn all_pages_talk_to_one_runtime_and_a_reload_loses_nothing() {
    let house = House::new();
    let (one, two) = (house.page(), house.page_named("Another"));
    let missing = post(&house, &one, "/api/chat", &json!({ "id": "1", "kind": "get_status" }));
    assert_eq!(missing.status, 409, "there is no runtime yet");
    let session = start(&house, &one)["session"].as_str().unwrap().to_owned();
    assert_eq!(start(&house, &two)["session"], session.as_str());
    let (mut first, mut second) = (events(&house, &one, None), events(&house, &two, None));
    let id = say(&house, &one, "Good morning");
    let (words, seq) = answer(&mut first, &id);
    assert_eq!((words.as_str(), answer(&mut second, &id)), ("Hello.", ("Hello.".to_owned(), seq)));
    drop(first);
    let id = say(&house, &two, "And again");
    // What was said meanwhile is there, once; what was seen is not repeated.
    let mut again = events(&house, &one, Some((&session, seq)));
    assert_eq!(again.event().unwrap().0, "session");
    let (name, next, data) = again.event().unwrap();
    assert_eq!(
        (name.as_str(), next, &data["message"]),
        ("request", Some(seq + 1), &json!("And again"))
    );
    assert_eq!(answer(&mut again, &id).0, "Hello.");
    // Another session has other numbers: everything is sent.
    let mut other = events(&house, &one, Some(("another", seq)));
    assert_eq!(other.event().unwrap().0, "session");
    assert_eq!(other.event().unwrap().1, Some(1));
    assert_eq!(started(&house).len(), 1);
}

#[test]
fn the_runtime_ends_after_the_last_page_and_never_at_work() {
    let limits = PageLimits { linger: Duration::from_millis(50), ..PageLimits::default() };
    let house = House::with(limits);
    let key = house.page();
    let other = House::with(limits);
    let others = other.page();
    let busy = house.folder.path().join("busy");
    fs::write(&busy, "").unwrap();
    start(&house, &key);
    let mut stream = events(&house, &key, None);
    let id = say(&house, &key, "Work");
    answer(&mut stream, &id);
    let runtime = started(&house).remove(0);
    drop(stream);
    // Each time the patience is over it is asked, and stays because it is at work.
    let asked = written(&house, "asked").len();
    until("five ends of the patience", || written(&house, "asked").len() >= asked + 5);
    assert!(is_running(&runtime), "it was ended at work");
    fs::remove_file(&busy).unwrap();
    until("its end", || !is_running(&runtime));
    let gone = events(&house, &key, None);
    assert_eq!(gone.status, 204);
    // The next page starts another one, which stays as long as the page does. It is at work until
    // the page watches it, since the patience may be over before.
    fs::write(&busy, "").unwrap();
    start(&house, &key);
    let mut next = events(&house, &key, None);
    assert_eq!(next.status, 200);
    fs::remove_file(&busy).unwrap();
    // Elsewhere, one that no page uses is started later and has ended.
    start(&other, &others);
    until("the other's start", || !started(&other).is_empty());
    until("the other's end", || !is_running(&started(&other)[0]));
    let id = say(&house, &key, "Still there?");
    assert_eq!(answer(&mut next, &id).0, "Hello.");
    assert_eq!(started(&house).len(), 2);
}

#[test]
fn a_folder_that_is_none_and_a_key_that_is_wrong_start_nothing() {
    let house = House::new();
    let key = house.page();
    for folder in ["/nowhere/at/all", "relative", "/etc/hostname", ""] {
        let answer = post(&house, &key, "/api/chat/start", &json!({ "folder": folder }));
        assert_eq!(answer.status, 400, "{folder}");
    }
    let body = json!({ "folder": "/usr" });
    assert_eq!(post(&house, "wrong", "/api/chat/start", &body).status, 401);
    assert_eq!(events(&house, "wrong", None).status, 401);
    assert_eq!(started(&house), Vec::<String>::new());
    // At work, the runtime stays in its folder.
    start(&house, &key);
    fs::write(house.folder.path().join("busy"), "").unwrap();
    assert_eq!(post(&house, &key, "/api/chat/start", &body).status, 409);
    fs::remove_file(house.folder.path().join("busy")).unwrap();
    let mut moved = post(&house, &key, "/api/chat/start", &body);
    assert_eq!((moved.status, &moved.json()["folder"]), (200, &json!("/usr")));
}

#[test]
fn a_page_that_names_no_folder_gets_the_runtime_that_runs_or_one_in_the_home_folder() {
    let house = House::new();
    let key = house.page();
    let mut first = post(&house, &key, "/api/chat/start", &json!({ "folder": null }));
    let home = house.folder.path().canonicalize().unwrap();
    assert_eq!((first.status, &first.json()["folder"]), (200, &json!(home)));
    assert_eq!(post(&house, &key, "/api/chat/start", &json!({ "folder": "/usr" })).status, 200);
    let mut next = post(&house, &key, "/api/chat/start", &json!({}));
    assert_eq!((next.status, &next.json()["folder"]), (200, &json!("/usr")));
    assert_eq!(post(&house, &key, "/api/chat/start", &json!({ "folder": 7 })).status, 400);
}

#[test]
fn a_runtime_is_started_again_when_a_page_asks_for_it() {
    let house = House::new();
    let key = house.page();
    assert_eq!(post(&house, &key, "/api/chat/restart", &json!({})).status, 409);
    start(&house, &key);
    let mut stream = events(&house, &key, None);
    let id = say(&house, &key, "Good morning");
    answer(&mut stream, &id);
    assert_eq!(post(&house, "wrong", "/api/chat/restart", &json!({})).status, 401);
    assert_eq!(post(&house, &key, "/api/chat/restart", &json!({})).status, 200);
    let id = say(&house, &key, "And again");
    assert_eq!(answer(&mut stream, &id).0, "Hello.");
    assert_eq!(started(&house).len(), 2);
}
