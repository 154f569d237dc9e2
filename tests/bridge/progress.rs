//! Progress: the host's, and the heartbeat of a long call.

use callgate_testkit::process::Piped;
use serde_json::{Value, json};

use crate::fixture::{Stage, call, call_with_token, settle, text_of};

fn progress(bridge: &mut Piped) -> Value {
    let mut notification = bridge.recv();
    assert_eq!(notification["method"], "notifications/progress", "{notification}");
    notification["params"].take()
}

#[test]
fn a_client_that_waits_is_told_that_the_call_is_under_way() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&["--heartbeat-ms", "5"]);
    bridge.send(call_with_token(1, "first"));
    bridge.send(call_with_token(2, "second"));
    bridge.send(call(3, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    let mut last = [0.0, 0.0];
    let mut beats = [0, 0];
    while beats.iter().any(|beats| *beats < 3) {
        let params = progress(&mut bridge);
        let which = usize::from(params["progressToken"] == "second");
        assert!(which == 1 || params["progressToken"] == "first", "{params}");
        let progress = params["progress"].as_f64().unwrap();
        assert!(progress > last[which], "{params}");
        last[which] = progress;
        beats[which] += 1;
    }
    peer.answer("done");
    // What was under way when the answer came was written before it.
    let answer = loop {
        let line = bridge.recv();
        if line["id"] == 1 {
            break line;
        }
        assert_eq!(line["method"], "notifications/progress");
    };
    assert_eq!(text_of(&answer, 1), "done");
    for _ in 0..5 {
        assert_eq!(progress(&mut bridge)["progressToken"], "second");
    }
}

#[test]
fn a_hosts_progress_reaches_the_client_as_long_as_it_grows() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call_with_token(1, "t"));
    let mut peer = stage.accept();
    peer.request();
    // The first report may say that nothing is done yet.
    peer.send(r#"{"progress":{"progress":0,"total":4}}"#);
    let begun = json!({"progressToken": "t", "progress": 0.0, "total": 4.0});
    assert_eq!(progress(&mut bridge), begun);
    peer.send(r#"{"progress":{"progress":0}}"#);
    peer.send(r#"{"progress":{"progress":1,"total":4,"message":"one of four"}}"#);
    let told =
        json!({"progressToken": "t", "progress": 1.0, "total": 4.0, "message": "one of four"});
    assert_eq!(progress(&mut bridge), told);
    peer.send(r#"{"progress":{"progress":1}}"#);
    peer.send(r#"{"progress":{"progress":0.5}}"#);
    peer.send(r#"{"progress":{"progress":2}}"#);
    assert_eq!(progress(&mut bridge), json!({"progressToken": "t", "progress": 2.0}));
    peer.answer("done");
    assert_eq!(text_of(&bridge.recv(), 1), "done");
}

#[test]
fn a_client_that_did_not_ask_hears_nothing_of_progress() {
    let stage = Stage::new();
    let mut bridge = stage.bridge(&["--heartbeat-ms", "1"]);
    bridge.send(call(1, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    peer.send(r#"{"progress":{"progress":1}}"#);
    for _ in 0..20 {
        settle(&mut bridge);
    }
    peer.answer("done");
    assert_eq!(text_of(&bridge.recv(), 1), "done");
}
