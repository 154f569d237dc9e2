//! When the bridge connects, what it sends when, and what a broken connection does to a call.

use std::fs;
use std::io::Write;

use serde_json::json;

use crate::fixture::{EchoHost, Stage, call, cancelled, dial_for, error_of, ping, settle, text_of};

#[test]
fn it_dials_on_the_first_call_and_keeps_the_connection() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    settle(&mut bridge);
    stage.assert_not_dialled();
    bridge.send(call(1, &json!({"n": 1})));
    let mut peer = stage.accept();
    for id in 1..=5 {
        assert!(peer.request().contains(&format!(r#"{{"n":{id}}}"#)));
        peer.answer(&format!("answer {id}"));
        assert_eq!(text_of(&bridge.recv(), id), format!("answer {id}"));
        bridge.send(call(id + 1, &json!({"n": id + 1})));
    }
    stage.assert_not_dialled();
}

/// The host may answer before the thread that has sent the last part of a call runs again. Now and
/// then it does, so there are many calls.
#[test]
fn large_calls_keep_the_connection() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let text = "a".repeat(300_000);
    bridge.send(call(1, &json!({ "text": text })));
    let mut peer = stage.accept();
    for id in 1..=100 {
        peer.request();
        peer.answer("read");
        assert_eq!(text_of(&bridge.recv(), id), "read");
        bridge.send(call(id + 1, &json!({ "text": text })));
    }
    stage.assert_not_dialled();
}

#[test]
fn calls_at_once_go_one_after_the_other_and_each_gets_its_own_answer() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    for id in 1..=20 {
        bridge.send(call(id, &json!({"n": id})));
    }
    settle(&mut bridge);
    let mut peer = stage.accept();
    for id in 1..=20 {
        assert!(peer.request().contains(&format!(r#"{{"n":{id}}}"#)));
        peer.assert_silent();
        peer.answer(&format!("answer {id}"));
        assert_eq!(text_of(&bridge.recv(), id), format!("answer {id}"));
    }
    stage.assert_not_dialled();
}

#[test]
fn with_more_connections_that_many_calls_run_at_once() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&["--connections", "3"]);
    let mut peers = Vec::new();
    for id in 1..=4 {
        bridge.send(call(id, &json!({"n": id})));
    }
    settle(&mut bridge);
    for id in 1..=3 {
        let mut peer = stage.accept();
        assert!(peer.request().contains(&format!(r#"{{"n":{id}}}"#)));
        peers.push(peer);
    }
    stage.assert_not_dialled();
    peers[1].answer("second");
    assert_eq!(text_of(&bridge.recv(), 2), "second");
    assert!(peers[1].request().contains(r#"{"n":4}"#), "the call that waited");
    peers[1].answer("fourth");
    peers[2].answer("third");
    peers[0].answer("first");
    let mut answers: Vec<_> = (0..3).map(|_| bridge.recv()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    for (answer, (id, text)) in answers.iter().zip([(1, "first"), (3, "third"), (4, "fourth")]) {
        assert_eq!(text_of(answer, id), text);
    }
}

#[test]
fn cancelling_the_running_call_frees_the_line_and_tells_the_host() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    bridge.send(call(2, &json!({"n": 2})));
    let mut first = stage.accept();
    first.request();
    bridge.send(cancelled(1));
    let mut second = stage.accept();
    first.assert_closed();
    assert!(second.request().contains(r#"{"n":2}"#));
    second.answer("its own");
    assert_eq!(text_of(&bridge.recv(), 2), "its own");
    settle(&mut bridge);
}

#[test]
fn an_answer_to_a_cancelled_call_is_never_taken_for_the_next_ones() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    let mut first = stage.accept();
    first.request();
    bridge.send(cancelled(1));
    bridge.send(call(2, &json!({"n": 2})));
    let mut second = stage.accept();
    second.request();
    // An error is as good: the bridge does not listen here any more.
    first.0.write_all(b"\0\0\0\x1b{\"result\":{\"content\":[1]}}").ok();
    settle(&mut bridge);
    second.answer("its own");
    assert_eq!(text_of(&bridge.recv(), 2), "its own");
}

#[test]
fn answers_that_cross_cancellations_stay_with_their_calls() {
    const ROUNDS: u64 = 200;
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let host = EchoHost::start(&stage);
    for id in 1..=ROUNDS {
        bridge.send(call(2 * id, &json!({"n": 2 * id})));
        bridge.send(cancelled(2 * id));
        bridge.send(call(2 * id + 1, &json!({"n": 2 * id + 1})));
    }
    let mut kept = 0;
    while kept < ROUNDS {
        let answer = bridge.recv();
        let id = answer["id"].as_u64().unwrap();
        assert!(text_of(&answer, id).contains(&format!(r#""arguments":{{"n":{id}}}"#)), "{answer}");
        kept += id % 2;
    }
    settle(&mut bridge);
    drop(bridge);
    host.stop();
}

#[test]
fn a_call_cancelled_while_it_waits_never_reaches_the_host() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    for id in 1..=3 {
        bridge.send(call(id, &json!({"n": id})));
    }
    bridge.send(cancelled(2));
    bridge.send(cancelled(77));
    settle(&mut bridge);
    let mut peer = stage.accept();
    for id in [1, 3] {
        assert!(peer.request().contains(&format!(r#"{{"n":{id}}}"#)));
        peer.answer("done");
        assert_eq!(text_of(&bridge.recv(), id), "done");
    }
    settle(&mut bridge);
    peer.assert_silent();
}

#[test]
fn a_host_that_goes_away_in_the_middle_fails_its_calls_and_all_later_ones() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    bridge.send(call(2, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    drop(peer);
    let error = error_of(&bridge.recv(), 1);
    assert!(error.starts_with("IPCConnectionError: "), "{error}");
    assert!(error.contains("closed the connection before it answered"), "{error}");
    for id in 2..=3 {
        let error = error_of(&bridge.recv(), id);
        assert!(error.starts_with("IPCConnectionError: "), "{error}");
        assert!(error.contains("has closed the connection"), "{error}");
        bridge.send(call(id + 1, &json!({})));
    }
    bridge.recv();
    stage.assert_not_dialled();
    settle(&mut bridge);
}

#[test]
fn a_host_that_cuts_its_answer_short_fails_the_call() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    peer.0.write_all(b"\0\0\0\x20{\"result\"").unwrap();
    drop(peer);
    assert!(error_of(&bridge.recv(), 1).starts_with("IPCConnectionError: "));
}

#[test]
fn a_host_that_goes_away_between_calls_fails_the_next_one_at_once() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let peer = dial_for(&stage, &mut bridge, 1);
    drop(peer);
    let mut id = 2;
    // The bridge may not have seen the end yet; then the call itself runs into it.
    loop {
        bridge.send(call(id, &json!({})));
        let error = error_of(&bridge.recv(), id);
        assert!(error.starts_with("IPCConnectionError: "), "{error}");
        if error.contains("has closed the connection") {
            break;
        }
        id += 1;
    }
    stage.assert_not_dialled();
}

#[test]
fn with_several_connections_the_others_go_on_when_one_is_lost() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&["--connections", "2"]);
    bridge.send(call(1, &json!({})));
    bridge.send(call(2, &json!({})));
    let (mut first, mut second) = (stage.accept(), stage.accept());
    first.request();
    second.request();
    drop(first);
    assert!(error_of(&bridge.recv(), 1).starts_with("IPCConnectionError: "));
    bridge.send(call(3, &json!({})));
    let error = error_of(&bridge.recv(), 3);
    assert!(error.contains("has closed the connection"), "{error}");
    second.answer("two");
    assert_eq!(text_of(&bridge.recv(), 2), "two");
    bridge.send(call(4, &json!({})));
    second.request();
    second.answer("four");
    assert_eq!(text_of(&bridge.recv(), 4), "four");
}

#[test]
fn a_socket_that_is_not_there_is_an_error_for_the_call_alone() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let away = stage.folder.path().join("away.sock");
    fs::rename(&stage.socket, &away).unwrap();
    bridge.send(call(1, &json!({})));
    let error = error_of(&bridge.recv(), 1);
    assert!(error.starts_with("IPCConnectionError: cannot connect to "), "{error}");
    assert!(error.ends_with("is the program that owns the tools running?"), "{error}");
    fs::rename(&away, &stage.socket).unwrap();
    drop(dial_for(&stage, &mut bridge, 2));
}

#[test]
fn a_frame_that_nobody_asked_for_ends_the_connection_and_the_next_call_dials_anew() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({})));
    let mut first = stage.accept();
    first.request();
    first.answer("one");
    first.answer("stray");
    assert_eq!(text_of(&bridge.recv(), 1), "one");
    first.assert_closed();
    drop(dial_for(&stage, &mut bridge, 2));
}

#[test]
fn a_thousand_small_calls_may_wait() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    for id in 1..=1000 {
        bridge.send(call(id, &json!({})));
    }
    let mut peer = stage.accept();
    for id in 1..=1000 {
        peer.request();
        peer.answer("done");
        assert_eq!(text_of(&bridge.recv(), id), "done");
    }
}

#[test]
fn too_many_waiting_calls_are_refused_and_the_rest_is_answered() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    // One is sent and read, nine wait, and then there is no room for as much again.
    let large = json!({"text": "x".repeat(7_000_000)});
    bridge.send(call(1, &large));
    let mut peer = stage.accept();
    peer.request();
    for id in 2..=11 {
        bridge.send(call(id, &large));
    }
    let error = error_of(&bridge.recv(), 11);
    assert!(error.contains("too many calls are waiting"), "{error}");
    for id in 1..=10 {
        if id > 1 {
            peer.request();
        }
        peer.answer("done");
        assert_eq!(text_of(&bridge.recv(), id), "done");
    }
    bridge.send(ping(3));
    assert_eq!(bridge.recv()["id"], 3);
}

#[test]
fn an_answer_that_comes_twice_is_not_given_to_the_next_call() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    for id in 1..=3 {
        bridge.send(call(id, &json!({"n": id})));
    }
    settle(&mut bridge);
    let mut peer = stage.accept();
    peer.request();
    let answer = br#"{"result":{"content":[{"type":"text","text":"one"}]}}"#;
    let frame = [&u32::try_from(answer.len()).unwrap().to_be_bytes()[..], answer].concat();
    peer.0.write_all(&[&frame[..], &frame].concat()).unwrap();
    assert_eq!(text_of(&bridge.recv(), 1), "one");
    peer.assert_closed();
    let mut peer = stage.accept();
    for id in 2..=3 {
        assert!(peer.request().contains(&format!(r#"{{"n":{id}}}"#)));
        peer.answer(&format!("answer {id}"));
        assert_eq!(text_of(&bridge.recv(), id), format!("answer {id}"));
    }
}

#[test]
fn an_answer_before_the_end_of_a_large_call_does_not_let_the_next_one_into_its_middle() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({"x": "a".repeat(5_000_000)})));
    bridge.send(call(2, &json!({"n": 2})));
    let mut first = stage.accept();
    first.answer("early");
    assert_eq!(text_of(&bridge.recv(), 1), "early");
    let mut second = stage.accept();
    assert!(second.request().contains(r#"{"n":2}"#));
    second.answer("its own");
    assert_eq!(text_of(&bridge.recv(), 2), "its own");
}

#[test]
fn a_host_that_does_not_read_any_more_fails_the_call() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    let peer = dial_for(&stage, &mut bridge, 1);
    peer.0.shutdown(std::net::Shutdown::Read).unwrap();
    bridge.send(call(2, &json!({})));
    let error = error_of(&bridge.recv(), 2);
    assert!(error.starts_with("IPCConnectionError: "), "{error}");
}
