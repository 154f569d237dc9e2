//! What viewers may not do, and what holds when they try.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command as Program, Stdio};

use callgate_approval::asker::fresh_id;
use callgate_client::DeskError;
use callgate_testkit::process::{DEADLINE as LIMIT, run};
use callgate_wire::approval::Action;
use callgate_wire::desk::MAX_LINE;
use rustix::process::geteuid;
use serde_json::Value;

use crate::house::{DEADLINE, House, Plain, button};

/// Nobody's user id on Debian.
const NOBODY: u32 = 65534;

/// Sends lines and reads one answer for each.
fn exchange(house: &House, lines: &[&str]) -> Vec<Value> {
    let mut plain = Plain::connect(house);
    let answer = |line: &&str| {
        plain.send(format!("{line}\n").as_bytes());
        serde_json::from_slice(&plain.receive()).unwrap()
    };
    lines.iter().map(answer).collect()
}

#[test]
fn what_is_no_request_is_answered_and_the_connection_stays() {
    let house = House::new();
    let long = format!(r#"{{"id":"4","kind":"status","x":"{}"}}"#, "x".repeat(MAX_LINE));
    let answers = exchange(
        &house,
        &[
            "no JSON",
            r#"{"id":"1","kind":"fly"}"#,
            r#"{"id":"2","kind":"press","request_id":"7","action":"allow"}"#,
            r#"{"kind":"status"}"#,
            &long,
            r#"{"id":"5","kind":"status"}"#,
        ],
    );
    let text = |at: usize| answers[at]["text"].as_str().unwrap();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(
        ids,
        [&Value::Null, &"1".into(), &"2".into(), &Value::Null, &"4".into(), &"5".into()]
    );
    assert!(answers[..5].iter().all(|answer| answer["kind"] == "error"), "{answers:?}");
    assert_eq!(text(0), "the line is not one JSON object (read 0 bytes of it)");
    assert_eq!(text(1), "unknown kind of message \"fly\"");
    assert_eq!(text(2), "`request_id` must be a UUID of version 4");
    let expected = format!("the line has {} bytes: at most {MAX_LINE} are read", long.len());
    assert_eq!(text(4), expected);
    assert_eq!(answers[5]["kind"], "status");
}

#[test]
fn the_status_tells_how_the_desk_is() {
    let house = House::new();
    let (mut viewer, _) = house.paired("Ada");
    let _other = house.viewer();
    let mut status = viewer.status().unwrap();
    while status.reach.viewers.connected < 2 {
        status = viewer.status().unwrap();
    }
    assert_eq!(status.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(status.pid, std::process::id());
    assert_eq!((status.open, status.head), (0, 3), "started, code, paired");
    assert_eq!(status.socket, house.socket().display().to_string());
    assert_eq!(status.database, house.database().canonicalize().unwrap().display().to_string());
    assert!(!status.reach.terminal);
    assert_eq!((status.reach.viewers.connected, status.reach.viewers.paired), (2, 1));
}

#[test]
fn one_viewer_too_many_is_told_so() {
    let house = House::new();
    let mut viewers: Vec<_> = (0..256).map(|_| house.viewer()).collect();
    // Each has its seat once it is answered.
    for viewer in &mut viewers {
        viewer.status().unwrap();
    }
    let mut late = UnixStream::connect(house.desk_socket()).unwrap();
    late.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut heard = String::new();
    late.read_to_string(&mut heard).unwrap();
    assert!(heard.contains("256 viewers are connected already: close one"), "{heard}");
    viewers.pop();
    loop {
        match house.viewer().status() {
            Ok(status) => break assert_eq!(status.reach.viewers.connected, 256),
            // The desk has not yet seen the other one go.
            Err(DeskError::Refused(_) | DeskError::Closed(_) | DeskError::Io(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn viewers_that_say_nothing_keep_nobody_out() {
    let house = House::new();
    let mut speaks = house.viewer();
    speaks.status().unwrap();
    let _silent: Vec<_> = (0..512).map(|_| house.viewer()).collect();
    assert_eq!(house.viewer().status().unwrap().reach.viewers.connected, 256);
    speaks.status().unwrap();
}

#[test]
fn a_viewer_that_never_hears_its_answers_is_shown_out() {
    let house = House::new();
    let mut deaf = house.viewer();
    // Far more answers than its socket and its queue hold.
    let mut count = 0;
    let shown_out = loop {
        if let Err(error) = deaf.send(button(&fresh_id(), Action::Allow)) {
            break error;
        }
        count += 1;
        assert!(count < 100_000, "nobody stops it");
    };
    assert!(matches!(shown_out, DeskError::Io(_)), "{shown_out}");
    let mut viewer = house.viewer();
    while viewer.status().unwrap().reach.viewers.connected != 1 {
        std::thread::yield_now();
    }
}

#[test]
fn whoever_has_said_all_still_hears_the_answer() {
    let house = House::new();
    let mut stream = UnixStream::connect(house.desk_socket()).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(b"{\"id\":\"1\",\"kind\":\"status\"}\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    assert!(heard.contains("\"kind\":\"status\""), "{heard}");
}

#[test]
fn the_socket_is_its_owners_alone_and_goes_with_the_daemon() {
    let mut house = House::new();
    let mode = fs::symlink_metadata(house.desk_socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut viewer = house.viewer();
    viewer.watch(Some(1)).unwrap();
    house.stop();
    assert!(!house.desk_socket().exists());
    loop {
        match viewer.next(std::time::Instant::now() + DEADLINE) {
            Ok(Some(_)) => {}
            Err(DeskError::Closed(_)) => break,
            other => panic!("{other:?}"),
        }
    }
    let error = callgate_client::viewer::Viewer::connect(&house.desk_socket()).unwrap_err();
    assert!(matches!(error, DeskError::NoDesk(_)), "{error}");
    assert!(error.to_string().contains("start one with `callgate up`"));
}

#[test]
fn another_users_process_hears_nothing() {
    if !geteuid().is_root() {
        assert!(std::env::var_os("CI").is_none(), "CI runs these tests as root");
        eprintln!("skipped: only root can start a process of another user");
        return;
    }
    let house = House::new();
    for path in [house.folder.path(), &house.desk_socket()] {
        // Without this the kernel already refuses: the file is its owner's alone.
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    let script = "import socket, sys\n\
                  s = socket.socket(socket.AF_UNIX)\n\
                  s.connect(sys.argv[1])\n\
                  try:\n\
                  \x20   s.sendall(b'{\"id\":\"1\",\"kind\":\"status\"}\\n')\n\
                  \x20   print(s.recv(100))\n\
                  except (BrokenPipeError, ConnectionResetError):\n\
                  \x20   print(b'')\n";
    let mut command = Program::new("/usr/bin/python3");
    command.args(["-c", script]).arg(house.desk_socket());
    command.uid(NOBODY).gid(NOBODY).current_dir("/").stdin(Stdio::null());
    assert_eq!(run(command, LIMIT).success().stdout, "b''\n");
}
