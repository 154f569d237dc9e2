//! Newer rules at an address are taken while somebody follows it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;

use callgate_team::{RuleBundle, TeamRules, TeamSigner};
use callgate_testkit::process::DEADLINE;

use super::*;
use crate::config::{test_config, test_surroundings};

const RULES: &str = "[[rule]]\nname = \"x\"\ndecide = \"deny\"\ncommand = \"x\"\n";

/// Serves a text that the test changes. The thread ends with the test's process.
fn serve(text: &Arc<Mutex<String>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/team.bundle", listener.local_addr().unwrap());
    let text = Arc::clone(text);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The request has one line and few headers.
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let text = text.lock().unwrap().clone();
            let length = text.len();
            let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ";
            write!(stream, "{head}{length}\r\n\r\n{text}").ok();
        }
    });
    address
}

#[tokio::test]
async fn a_newer_bundle_is_taken_and_anything_else_is_told_once() {
    let home = tempfile::tempdir().unwrap();
    let around = test_surroundings(home.path(), &[]);
    let config = test_config(&around);
    let signer = TeamSigner::from_seed(&[1; 32]).unwrap();
    let bundle = |signer: &TeamSigner, serial| {
        RuleBundle::sign(signer, "acme", serial, 0, RULES).unwrap().to_json()
    };
    let file = TeamFile::beside(&config.database);
    file.change(|_| Ok(TeamRules::trusting(signer.public_key()))).unwrap();
    let text = Arc::new(Mutex::new(bundle(&signer, 3)));
    let address = serve(&text);
    let (warned_in, mut warned) = tokio::sync::mpsc::unbounded_channel();
    let warn: Warn = Arc::new(move |told: &str| warned_in.send(told.to_owned()).unwrap());
    let every = Duration::from_millis(5);
    let foreign = TeamSigner::from_seed(&[2; 32]).unwrap();
    let steps = async {
        let mut told = Vec::new();
        for next in [
            bundle(&signer, 2),
            bundle(&foreign, 9),
            bundle(&signer, 4).replace("deny", "allow"),
            "x".repeat(LARGEST_BUNDLE + 1),
            bundle(&signer, 4),
        ] {
            told.push(warned.recv().await.unwrap());
            *text.lock().unwrap() = next;
        }
        told.push(warned.recv().await.unwrap());
        told
    };
    let told = tokio::select! {
        told = steps => told,
        () = follow_address(&config, &address, every, &warn) => panic!("it has no end"),
    };
    let expected = [
        "Took 1 rule (team acme, rules 3, signed 1970-01-01T00:00:00Z)",
        "the team's rules stay as they are: it is older than the rules that apply",
        "the team's rules stay as they are: it is signed with another key than the team's",
        "the team's rules stay as they are: its signature is wrong",
        "the team's rules stay as they are: they cannot be fetched: the text is larger than",
        "Took 1 rule (team acme, rules 4, signed 1970-01-01T00:00:00Z)",
    ];
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}, not {expected}");
    }
    assert_eq!(file.read().unwrap().unwrap().bundle().unwrap().serial(), 4);
}

#[tokio::test]
async fn a_bundle_that_could_not_be_recorded_is_taken_later() {
    let home = tempfile::tempdir().unwrap();
    let config = test_config(&test_surroundings(home.path(), &[]));
    let signer = TeamSigner::from_seed(&[1; 32]).unwrap();
    let file = TeamFile::beside(&config.database);
    file.change(|_| Ok(TeamRules::trusting(signer.public_key()))).unwrap();
    std::fs::create_dir(&config.database).unwrap();
    let bundle = RuleBundle::sign(&signer, "acme", 1, 0, RULES).unwrap().to_json();
    let address = serve(&Arc::new(Mutex::new(bundle)));
    let (warned_in, mut warned) = tokio::sync::mpsc::unbounded_channel();
    let warn: Warn = Arc::new(move |told: &str| warned_in.send(told.to_owned()).unwrap());
    let every = Duration::from_millis(5);
    let steps = async {
        let told = warned.recv().await.unwrap();
        assert!(told.starts_with("the team's rules stay as they are: "), "{told}");
        std::fs::remove_dir(&config.database).unwrap();
        warned.recv().await.unwrap()
    };
    let told = tokio::select! {
        told = tokio::time::timeout(DEADLINE, steps) => told.expect("it is tried again"),
        () = follow_address(&config, &address, every, &warn) => panic!("it has no end"),
    };
    assert!(told.starts_with("Took 1 rule (team acme, rules 1, "), "{told}");
}
