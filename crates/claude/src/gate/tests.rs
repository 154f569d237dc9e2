//! Tests of the registration at the desk.

use std::io::{BufReader, Read};
use std::os::unix::net::UnixListener;
use std::thread;

use super::*;

/// What a desk hears that answers so, and whether the value counts as registered.
fn check(answer: &'static str, expected: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("desk.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let desk = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let bytes = BufReader::new(stream.try_clone().unwrap()).bytes().map(Result::unwrap);
        let line: Vec<u8> = bytes.take_while(|byte| *byte != b'\n').collect();
        // Whoever asks may have gone.
        stream.write_all(answer.as_bytes()).ok();
        line
    });
    let gate = GateRegistration::register(&path);
    assert_eq!(gate.is_some(), expected, "{answer}");
    let heard: serde_json::Value = serde_json::from_slice(&desk.join().unwrap()).unwrap();
    assert_eq!(heard["kind"], "gate");
    if let Some(gate) = gate {
        assert_eq!(heard["value"], gate.value());
        assert_eq!(gate.value().len(), 64);
    }
}

#[test]
fn a_value_counts_only_when_the_desk_has_taken_it() {
    check("{\"id\":\"1\",\"kind\":\"told\",\"done\":true,\"text\":\"\"}\n", true);
    check("{\"id\":\"1\",\"kind\":\"told\",\"done\":false,\"text\":\"\"}\n", false);
    check("{\"id\":\"1\",\"kind\":\"error\",\"text\":\"unknown\"}\n", false);
    check("", false);
    assert!(GateRegistration::register(Path::new("/nowhere/desk.sock")).is_none());
}
