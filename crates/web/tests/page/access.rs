//! Who gets in, and who does not.

use callgate_testkit::until::{until, until_or};
use callgate_wire::approval::Decision;
use callgate_wire::desk::DeskCommand;
use serde_json::{Value, json};

use crate::browser::{request, send};
use crate::house::{ASKED, House};

const JSON: &str = "Content-Type: application/json";

fn allow() -> Value {
    json!({ "id": "1", "kind": "press", "request_id": ASKED, "action": "allow" })
}

/// Waits until the question of [`House::ask`] is at the desk.
fn wait_for_question(house: &House) {
    until("the question", || house.status().open > 0);
}

#[test]
fn a_page_that_was_paired_answers_a_question() {
    let house = House::new();
    let key = house.page();
    let (mut stream, _) = house.events(&key, None);
    let asked = house.ask("make test");
    let (name, _, entry) = stream.event().unwrap();
    assert_eq!((name.as_str(), &entry["kind"]), ("entry", &json!("asked")));
    let mut answer = house.post(&key, &allow());
    assert_eq!((answer.status, &*answer.headers["content-type"]), (200, "application/x-ndjson"));
    let told = answer.json();
    assert_eq!(
        (&told["id"], &told["kind"], &told["done"]),
        (&json!("1"), &json!("told"), &json!(true))
    );
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Allow);
}

/// A request that carries a good key and would allow the question, with something wrong about it.
fn forged(house: &House, key: &str, line: &str, headers: &[&str]) -> u16 {
    let key = format!("Authorization: Bearer {key}");
    let mut all = vec![key.as_str()];
    all.extend_from_slice(headers);
    send(house.port, &request(line, &all, &allow().to_string())).status
}

#[test]
fn a_question_is_not_answered_from_elsewhere() {
    let house = House::new();
    let key = house.page();
    // Somebody can be asked.
    let _stream = house.events(&key, None);
    let asked = house.ask("rm -rf build");
    wait_for_question(&house);
    let (host, post) = (house.host(), "POST /api/desk");
    let check = |line: &str, headers: &[&str], expected: u16| {
        assert_eq!(forged(&house, &key, line, headers), expected, "{line} {headers:?}");
    };
    // A name of somebody else that leads to this machine.
    check(post, &[&format!("Host: evil.example:{}", house.port), JSON], 421);
    check(post, &[JSON], 421);
    // Another site, and another port of this machine.
    check(post, &[&host, JSON, "Origin: https://evil.example"], 403);
    check(post, &[&host, JSON, "Origin: http://127.0.0.1:3000"], 403);
    check(post, &[&host, JSON, "Sec-Fetch-Site: cross-site"], 403);
    check(post, &[&host, JSON, "Sec-Fetch-Site: same-site"], 403);
    // A form, and a request that a link can make.
    check(post, &[&host, "Content-Type: text/plain"], 415);
    check("GET /api/desk", &[&host], 405);
    check("HEAD /api/events", &[&host], 405);
    check("PUT /api/desk", &[&host], 405);
    check("OPTIONS /api/desk", &[&host, "Origin: https://evil.example"], 403);
    check("OPTIONS /api/desk", &[&host], 405);
    assert_eq!(house.status().open, 1, "nobody has answered");
    let deny = json!({ "id": "1", "kind": "press", "request_id": ASKED, "action": "deny" });
    assert_eq!(house.post(&key, &deny).json()["done"], true);
    assert_eq!(asked.join().unwrap().unwrap().decision, Decision::Deny);
}

#[test]
fn no_answer_lets_another_site_read_it() {
    let house = House::new();
    let key = house.page();
    for answer in [
        house.post(&key, &json!({ "id": "1", "kind": "status" })),
        house.pair("WRNGCDE2"),
        send(house.port, &request("GET /", &[&house.host()], "")),
    ] {
        assert!(!answer.headers.keys().any(|name| name.starts_with("access-control")));
        assert!(!answer.headers.contains_key("set-cookie"));
        assert_eq!(answer.headers["cross-origin-resource-policy"], "same-origin");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        let policy = &answer.headers["content-security-policy"];
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(policy.contains("require-trusted-types-for 'script'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
    }
}

#[test]
fn a_key_is_needed_and_belongs_to_its_origin() {
    let house = House::new();
    let key = house.page();
    let status = json!({ "id": "1", "kind": "status" });
    assert_eq!(house.post(&key, &status).status, 200);
    assert_eq!(house.post(&"0".repeat(64), &status).status, 401);
    assert_eq!(house.post("", &status).status, 401);
    assert_eq!(house.post(&"0".repeat(1000), &status).status, 401);
    let (local, bearer) =
        (format!("Host: localhost:{}", house.port), format!("Authorization: Bearer {key}"));
    let headers = [local.as_str(), &bearer, JSON];
    let elsewhere = send(house.port, &request("POST /api/desk", &headers, &status.to_string()));
    assert_eq!(elsewhere.status, 401, "it was paired at 127.0.0.1");
    let without = send(house.port, &request("GET /api/events", &[&house.host()], ""));
    assert_eq!(without.status, 401);
}

#[test]
fn the_sessions_of_another_port_are_void() {
    let mut house = House::new();
    let key = house.page();
    let status = json!({ "id": "1", "kind": "status" });
    house.stop_page();
    house.start_page();
    assert_eq!(house.post(&key, &status).status, 200, "the same port");
    house.stop_page();
    let taken = std::net::TcpListener::bind(("127.0.0.1", house.port)).unwrap();
    house.start_page();
    assert_ne!(taken.local_addr().unwrap().port(), house.port);
    assert_eq!(house.post(&key, &status).status, 401);
}

#[test]
fn a_page_cannot_make_keys_or_codes() {
    let house = House::new();
    let key = house.page();
    let zeros = "0".repeat(64);
    for body in [
        json!({ "id": "1", "kind": "code" }),
        json!({ "id": "1", "kind": "code", "page": true }),
        json!({ "id": "1", "kind": "watch" }),
        json!({ "id": "1", "kind": "unlock", "token": zeros }),
        json!({ "id": "1", "kind": "pair", "code": "7KQM2XWA", "name": "n" }),
        json!({ "id": "1", "kind": "gate", "value": zeros }),
    ] {
        assert_eq!(house.post(&key, &body).status, 403, "{body}");
    }
    for body in [json!([]), json!({ "kind": "status" }), json!({ "id": "1", "kind": "dance" })] {
        assert_eq!(house.post(&key, &body).status, 400, "{body}");
    }
}

/// Waits until the host refuses a key. The desk has locked the session before it says so to
/// anybody; the host hears of it on another connection.
fn assert_refused_soon(house: &House, key: &str) {
    let status = json!({ "id": "1", "kind": "status" });
    until("the end of the session", || house.post(key, &status).status == 401);
}

#[test]
fn a_code_that_is_used_twice_revokes_both_sessions() {
    let house = House::new();
    let owner = house.page();
    let (mut told, _) = house.events(&owner, None);
    let code = house.code();
    let mut first = house.pair(&code);
    let first = first.json()["token"].as_str().unwrap().to_owned();
    let status = json!({ "id": "1", "kind": "status" });
    assert_eq!(house.post(&first, &status).status, 200);
    let (mut stream, _) = house.events(&first, None);
    let second = house.pair(&code);
    assert_eq!(second.status, 403);
    let locked = std::iter::from_fn(|| stream.event()).find(|(name, ..)| name == "locked");
    assert!(locked.is_some(), "the first one is told");
    assert_refused_soon(&house, &first);
    assert_eq!(house.post(&owner, &status).status, 200, "others stay");
    let kinds = std::iter::from_fn(|| told.event()).map(|(_, _, entry)| entry["kind"].clone());
    assert!(kinds.into_iter().any(|kind| kind == "unpaired"), "it is recorded");
}

#[test]
fn a_session_that_was_revoked_is_over() {
    let house = House::new();
    let (owner, other) = (house.page_named("Mine"), house.page_named("Lost"));
    let (mut stream, _) = house.events(&other, None);
    let links = house.post(&owner, &json!({ "id": "1", "kind": "links" })).json();
    let lost = links["links"].as_array().unwrap().iter().find(|link| link["name"] == "Lost");
    let unpair = json!({ "id": "2", "kind": "unpair", "link": lost.unwrap()["link"] });
    assert_eq!(house.post(&owner, &unpair).json()["done"], true);
    assert_refused_soon(&house, &other);
    let status = json!({ "id": "3", "kind": "status" });
    assert_eq!(house.post(&owner, &status).status, 200);
    let locked = std::iter::from_fn(|| stream.event()).last().unwrap();
    assert_eq!(locked.0, "locked");
}

#[test]
fn no_key_or_code_is_in_a_file_or_a_warning() {
    let house = House::new();
    let code = house.code();
    let key = house.pair(&code).json()["token"].as_str().unwrap().to_owned();
    let wrong = "1".repeat(64);
    assert_eq!(house.post(&wrong, &json!({ "id": "1", "kind": "status" })).status, 401);
    assert_eq!(house.pair("WRNGCDE2").status, 403);
    assert_eq!(house.post(&key, &json!({ "id": "1", "kind": "status" })).status, 200);
    house.assert_hidden(&[&key, &code, &wrong, "WRNGCDE2"]);
}

#[test]
fn a_page_is_reachable_only_while_its_stream_is_open() {
    let house = House::new();
    let key = house.page();
    let wait_for = |expected: bool| {
        until_or(
            || format!("{:?}", house.status().reach),
            || (house.status().reach.viewers.paired > 0) == expected,
        );
    };
    house.post(&key, &json!({ "id": "1", "kind": "status" })).text();
    wait_for(false);
    let (stream, _) = house.events(&key, None);
    wait_for(true);
    // The stream and the requests have connections of their own, and the page is one viewer.
    let mut answer = house.post(&key, &json!({ "id": "1", "kind": "status" }));
    assert_eq!(answer.json()["status"]["reach"]["viewers"]["paired"], 1);
    drop(stream);
    wait_for(false);
}

#[test]
fn without_a_desk_the_page_says_so() {
    let mut house = House::new();
    let key = house.page();
    house.stop_desk();
    let mut answer = house.post(&key, &json!({ "id": "1", "kind": "status" }));
    assert_eq!(answer.status, 503);
    let words = answer.json()["error"].as_str().unwrap().to_owned();
    assert!(words.starts_with("the desk does not answer"), "{words}");
    assert_eq!(send(house.port, &request("GET /", &[&house.host()], "")).status, 200);
    house.start_desk();
    assert_eq!(house.post(&key, &json!({ "id": "1", "kind": "status" })).status, 200);
    // The desk has not forgotten the links either.
    let _ = house.ask_desk(Some(&key), DeskCommand::Status);
}
