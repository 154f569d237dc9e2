//! What may be sent, how fast, and by how many.

use std::io::Write;
use std::time::Duration;

use callgate_testkit::until::until;
use callgate_web::PageLimits;
use serde_json::json;

use crate::browser::{Response, connect, request, send};
use crate::house::House;

const JSON: &str = "Content-Type: application/json";

#[test]
fn wrong_keys_are_limited_and_a_good_one_is_not() {
    let house = House::new();
    let key = house.page();
    let status = json!({ "id": "1", "kind": "status" });
    assert_eq!(house.post(&key, &status).status, 200);
    let mut refused = None;
    // One is forgiven every 3 seconds, so a slow machine needs some more.
    for number in 0..1_000 {
        let answer = house.post(&format!("{number:064}"), &status);
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        assert_eq!(answer.status, 401);
    }
    let mut refused = refused.expect("they are limited at some point");
    let wait: u64 = refused.headers["retry-after"].parse().unwrap();
    assert!((1..=3).contains(&wait), "{wait}");
    assert_eq!(refused.json()["error"], "too many wrong keys were tried: wait a little");
    assert_eq!(house.post(&key, &status).status, 200, "the page goes on");
}

#[test]
fn wrong_codes_are_limited_and_do_not_void_the_code() {
    let house = House::new();
    let code = house.code();
    for _ in 0..5 {
        assert_eq!(house.pair("WRNGCDE2").status, 403);
    }
    assert_eq!(house.pair(&code).status, 200, "the right one is still valid");
    let limited = (0..1_000).any(|_| house.pair("WRNGCDE2").status == 429);
    assert!(limited);
}

#[test]
fn a_large_request_is_refused_before_it_is_read() {
    let house = House::new();
    let bearer = format!("Authorization: Bearer {}", house.page());
    let host = house.host();
    let head = |more: &str| {
        format!("POST /api/desk HTTP/1.1\r\n{host}\r\n{bearer}\r\n{JSON}\r\n{more}\r\n\r\n")
    };
    let announced = send(house.port, head("Content-Length: 1048577").as_bytes());
    assert_eq!(announced.status, 413);
    // One that does not say how large it is.
    let mut stream = connect(house.port);
    stream.write_all(head("Transfer-Encoding: chunked").as_bytes()).unwrap();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for _ in 0..17 {
        // It may be refused before all is sent.
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    assert_eq!(Response::read(stream).status, 413);
    let body = "x".repeat(4097);
    let pair = request("POST /api/pair", &[&house.host(), JSON], &body);
    assert_eq!(send(house.port, &pair).status, 413);
    let header = format!("X-Long: {}", "x".repeat(20_000));
    assert_eq!(send(house.port, &request("GET /", &[&house.host(), &header], "")).status, 431);
}

#[test]
fn whoever_sends_slowly_is_disconnected() {
    let limits = PageLimits {
        head_within: Duration::from_millis(200),
        body_within: Duration::from_millis(200),
        ..PageLimits::default()
    };
    let house = House::with(limits);
    let mut head = connect(house.port);
    head.write_all(b"GET / HTTP/1.1\r\nHost: 127").unwrap();
    let silent = connect(house.port);
    for mut stream in [head, silent] {
        let mut rest = Vec::new();
        // The connection ends, with or without an answer.
        std::io::Read::read_to_end(&mut stream, &mut rest).ok();
        assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    }
    let mut body = connect(house.port);
    let text = format!(
        "POST /api/pair HTTP/1.1\r\n{}\r\n{JSON}\r\nContent-Length: 9\r\n\r\n{{",
        house.host()
    );
    body.write_all(text.as_bytes()).unwrap();
    assert_eq!(Response::read(body).status, 408);
}

#[test]
fn many_connections_do_not_lock_the_page_out() {
    let limits = PageLimits { connections: 8, ..PageLimits::default() };
    let house = House::with(limits);
    let key = house.page();
    let (mut stream, head) = house.events(&key, None);
    let silent: Vec<_> = (0..100).map(|_| connect(house.port)).collect();
    for _ in 0..10 {
        assert_eq!(house.post(&key, &json!({ "id": "1", "kind": "status" })).status, 200);
    }
    house.code();
    let (_, id, _) = stream.event().unwrap();
    assert_eq!(id, Some(head + 1), "the stream had shown its key and stayed");
    drop(silent);
}

#[test]
fn there_are_so_many_streams_and_a_closed_one_makes_room() {
    let limits = PageLimits { streams: 2, ..PageLimits::default() };
    let house = House::with(limits);
    let key = house.page();
    let (first, _) = house.events(&key, None);
    let _second = house.events(&key, None);
    let (host, bearer) = (house.host(), format!("Authorization: Bearer {key}"));
    let third = || send(house.port, &request("GET /api/events", &[&host, &bearer], ""));
    assert_eq!(third().status, 503);
    drop(first);
    // The host notices the end in its own time.
    until("room", || third().status == 200);
}

#[test]
fn a_quiet_stream_shows_that_it_lives() {
    let limits = PageLimits { heartbeat: Duration::from_millis(50), ..PageLimits::default() };
    let house = House::with(limits);
    let (mut stream, _) = house.events(&house.page(), None);
    for _ in 0..3 {
        assert_eq!(stream.chunk().unwrap(), b":\n\n");
    }
}
