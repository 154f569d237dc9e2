//! The ledger as events: nothing is lost and nothing comes twice.

use serde_json::json;

use crate::browser::{Response, request, send};
use crate::house::House;

/// Reads the next entry's number, which is its event's id, too.
fn entry(stream: &mut Response) -> u64 {
    let (name, id, data) = stream.event().unwrap();
    assert_eq!((name.as_str(), id), ("entry", data["seq"].as_u64()));
    id.unwrap()
}

#[test]
fn a_new_page_begins_after_the_present_end() {
    let house = House::new();
    let key = house.page();
    let (host, bearer) = (house.host(), format!("Authorization: Bearer {key}"));
    let mut stream = send(house.port, &request("GET /api/events", &[&host, &bearer], ""));
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    let (name, id, data) = stream.event().unwrap();
    assert_eq!((name.as_str(), id), ("watching", data["head"].as_u64()));
    house.code();
    assert_eq!(entry(&mut stream), id.unwrap() + 1);
}

#[test]
fn a_stream_goes_on_where_it_was_after_everything_was_restarted() {
    let mut house = House::new();
    let key = house.page();
    let (mut stream, head) = house.events(&key, Some(0));
    let mut seen: Vec<u64> = (0..head).map(|_| entry(&mut stream)).collect();
    for round in 0..3 {
        // Some of it is written while nobody reads.
        house.code();
        if round == 1 {
            seen.push(entry(&mut stream));
        }
        drop(stream);
        house.code();
        house.stop_page();
        house.stop_desk();
        house.start_desk();
        house.start_page();
        house.code();
        let head;
        (stream, head) = house.events(&key, seen.last().copied());
        while *seen.last().unwrap() < head {
            seen.push(entry(&mut stream));
        }
    }
    let written: Vec<u64> = house.entries().iter().map(|entry| entry.seq).collect();
    assert_eq!(seen, written);
}

#[test]
fn two_pages_see_the_same() {
    let house = House::new();
    let (one, other) = (house.page(), house.page());
    let (mut first, head) = house.events(&one, None);
    let (mut second, _) = house.events(&other, Some(head));
    for _ in 0..5 {
        house.code();
        assert_eq!(entry(&mut first), entry(&mut second));
    }
}

#[test]
fn a_stream_that_ends_does_not_end_the_others_of_its_session() {
    let house = House::new();
    let key = house.page();
    let (first, _) = house.events(&key, None);
    let (mut second, head) = house.events(&key, None);
    drop(first);
    assert_eq!(house.post(&key, &json!({ "id": "1", "kind": "status" })).status, 200);
    house.code();
    assert_eq!(entry(&mut second), head + 1);
}

#[test]
fn an_event_id_that_is_none_is_refused() {
    let house = House::new();
    let bearer = format!("Authorization: Bearer {}", house.page());
    let headers = [house.host(), bearer, "Last-Event-ID: all".to_owned()];
    let headers: Vec<&str> = headers.iter().map(|header| &**header).collect();
    assert_eq!(send(house.port, &request("GET /api/events", &headers, "")).status, 400);
}
