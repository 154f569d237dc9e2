//! `--follow`: new entries are shown until the reader is gone.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use callgate_store::Store;
use callgate_testkit::process::Piped;
use rustix::process::Signal;
use serde_json::json;

use crate::ledger::{BUILD, LIMIT, Ledger, callgate_log, seq};

fn follow(mut command: Command) -> Piped {
    command.arg("--follow");
    Piped::spawn(command).deadline(LIMIT)
}

#[test]
fn what_is_added_is_shown_as_it_comes() {
    let mut ledger = Ledger::told();
    let mut log = follow(ledger.command(&["--json", "--limit", "2"]));
    assert_eq!(seq(&log.recv()), 9);
    assert_eq!(seq(&log.recv()), 10);
    for number in 11..15 {
        ledger.tell("ran", None, &json!({ "number": number }));
        assert_eq!(seq(&log.recv()), number);
    }
    // Many at once, more than are read at a time, and none twice.
    let mut store = Store::open(&ledger.path()).unwrap();
    let draft = callgate_store::EntryDraft {
        at_ms: 0,
        kind: "ran".to_owned(),
        question: None,
        body: "{}".to_owned(),
    };
    store.append_entries(&vec![draft; 500]).unwrap();
    for number in 15..515 {
        assert_eq!(seq(&log.recv()), number);
    }
    log.signal(Signal::INT);
    let status = log.wait_exit(LIMIT);
    assert!(status.code() == Some(0) || status.signal() == Some(2), "{status}");
    assert_eq!(log.stderr(), "");
}

#[test]
fn only_what_matches_is_shown() {
    let mut ledger = Ledger::told();
    let mut log = follow(ledger.command(&["--tool", "Bash", "-n", "1"]));
    assert!(log.recv_line().starts_with("TIME"));
    assert!(log.recv_line().contains("deny"));
    ledger.tell("ran", None, &json!({ "tool": "Write" }));
    ledger.tell("delivered", Some(BUILD), &json!({}));
    ledger.tell("ran", Some(BUILD), &json!({ "tool": "Bash", "summary": "make test" }));
    assert!(log.recv_line().ends_with("Bash: make test"));
}

#[test]
fn it_waits_for_a_ledger_that_is_not_there_yet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("later/callgate.db");
    let mut command = callgate_log(folder.path());
    command.arg("--database").arg(&path).arg("--follow").arg("--json");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = [0; 9];
    child.stderr.take().unwrap().read_exact(&mut said).unwrap();
    assert_eq!(&said, b"callgate:");
    let mut store = Store::open(&path).unwrap();
    let draft = callgate_store::EntryDraft {
        at_ms: 0,
        kind: "started".to_owned(),
        question: None,
        body: "{}".to_owned(),
    };
    store.append_entries(&[draft]).unwrap();
    let first = BufReader::new(child.stdout.take().unwrap()).split(b'\n').next().unwrap().unwrap();
    assert!(first.starts_with(b"{\"seq\":1,"));
    child.wait().unwrap();
}

#[test]
fn it_ends_when_nobody_reads_it_even_if_nothing_comes() {
    let ledger = Ledger::told();
    let mut command = ledger.command(&["--json", "--follow"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
