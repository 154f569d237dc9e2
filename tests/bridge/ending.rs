//! The bridge ends at once, with success, when its client ends it or is gone.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use callgate_testkit::process::{DEADLINE, Group, Piped};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::fixture::{EchoHost, Peer, Stage, call, ping, settle};

const PONG: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

const LISTEN: &str = r#"{"jsonrpc":"2.0","id":"listen:0","method":"subscriptions/listen","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

/// A bridge with a call on its way, another waiting, and an open `listen`.
fn busy(stage: &Stage) -> (Piped, Peer) {
    let mut bridge = stage.bridge(&[]);
    bridge.send(LISTEN);
    assert_eq!(bridge.recv()["method"], "notifications/subscriptions/acknowledged");
    bridge.send(call(1, &json!({})));
    bridge.send(call(2, &json!({})));
    let mut peer = stage.accept();
    peer.request();
    (bridge, peer)
}

fn assert_ends_well(bridge: &mut Piped) {
    let status = bridge.wait_exit(DEADLINE);
    assert_eq!(status.code(), Some(0), "{status}: {}", bridge.stderr());
    assert_eq!(bridge.stderr(), "");
}

#[test]
fn the_end_of_its_input_ends_it() {
    let stage = Stage::new();
    let mut idle = stage.bridge(&[]);
    settle(&mut idle);
    idle.close_stdin();
    assert_ends_well(&mut idle);
    let (mut busy, mut peer) = busy(&stage);
    busy.close_stdin();
    assert_ends_well(&mut busy);
    peer.assert_closed();
}

#[test]
fn signals_end_it() {
    let stage = Stage::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut idle = stage.bridge(&[]);
        settle(&mut idle);
        idle.signal(signal);
        assert_ends_well(&mut idle);
        let (mut busy, mut peer) = busy(&stage);
        busy.signal(signal);
        assert_ends_well(&mut busy);
        peer.assert_closed();
    }
}

#[test]
fn what_was_asked_before_the_end_of_the_input_is_answered() {
    let stage = Stage::new();
    let description = "x".repeat(200_000);
    let tool =
        json!({"name": "long", "description": description, "input_schema": {"type": "object"}});
    fs::write(&stage.schema, json!([tool]).to_string()).unwrap();
    let mut bridge = stage.bridge(&[]);
    bridge.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    bridge.send_bytes(ping(2).into_bytes());
    bridge.close_stdin();
    assert_eq!(bridge.recv()["id"], 1);
    assert_eq!(bridge.recv()["id"], 2);
    bridge.recv_end();
    assert_ends_well(&mut bridge);
}

#[test]
fn a_socket_pair_serves_as_well_as_pipes() {
    let stage = Stage::new();
    let (mut client, bridges) = UnixStream::pair().unwrap();
    client.set_read_timeout(Some(DEADLINE)).unwrap();
    let input = OwnedFd::from(bridges.try_clone().unwrap());
    let mut command = stage.command(&[]);
    command.stdin(input).stdout(OwnedFd::from(bridges)).stderr(Stdio::inherit());
    let mut bridge = Group::spawn(command);
    client.write_all((ping(1) + "\n").as_bytes()).unwrap();
    let mut answer = vec![0; PONG.len()];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(String::from_utf8(answer).unwrap(), PONG);
    drop(client);
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
}

#[test]
fn pipes_in_non_blocking_mode_serve_as_well() {
    let stage = Stage::new();
    let (reader, mut requests) = std::io::pipe().unwrap();
    let (mut answers, writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&reader, true).unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    let mut command = stage.command(&[]);
    command.stdin(reader).stdout(writer);
    let mut bridge = Group::spawn(command);
    let host = EchoHost::start(&stage);
    requests.write_all((ping(1) + "\n").as_bytes()).unwrap();
    let mut pong = vec![0; PONG.len()];
    answers.read_exact(&mut pong).unwrap();
    assert_eq!(String::from_utf8(pong).unwrap(), PONG);
    // Larger than a pipe: the answer has to wait for its reader.
    requests.write_all((call(2, &json!({"x": "x".repeat(500_000)})) + "\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\n") {
        let mut chunk = [0; 4096];
        let count = answers.read(&mut chunk).unwrap();
        assert!(count > 0, "the bridge has ended");
        answer.extend_from_slice(&chunk[..count]);
    }
    assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap()["id"], 2);
    drop(requests);
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
    host.stop();
}

#[test]
fn requests_from_a_file_are_all_answered_before_it_ends() {
    let stage = Stage::new();
    let host = EchoHost::start(&stage);
    let requests = stage.folder.path().join("requests");
    fs::write(&requests, [ping(1), call(2, &json!({})), call(3, &json!({}))].join("\n")).unwrap();
    let mut command = stage.command(&[]);
    let answers = stage.folder.path().join("answers");
    command.stdin(File::open(&requests).unwrap()).stdout(File::create(&answers).unwrap());
    let mut bridge = Group::spawn(command);
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
    let ids: Vec<u64> = fs::read_to_string(&answers)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, [1, 2, 3]);
    host.stop();
}

#[test]
fn requests_from_a_file_are_all_answered_also_when_the_host_dies() {
    const CALLS: u64 = 200;
    let stage = Stage::new();
    let requests = stage.folder.path().join("requests");
    let lines: Vec<String> = (1..=CALLS).map(|id| call(id, &json!({}))).collect();
    fs::write(&requests, lines.join("\n")).unwrap();
    let answers = stage.folder.path().join("answers");
    let mut command = stage.command(&[]);
    command.stdin(File::open(&requests).unwrap()).stdout(File::create(&answers).unwrap());
    let mut bridge = Group::spawn(command);
    let mut peer = stage.accept();
    peer.request();
    drop(peer);
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
    let answered = fs::read_to_string(&answers).unwrap().lines().count();
    assert_eq!(u64::try_from(answered).unwrap(), CALLS);
}

/// A bridge whose client writes much and reads nothing, until neither pipe takes any more.
fn choked(stage: &Stage) -> (Group, ChildStdin, ChildStdout) {
    let mut command = stage.command(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut bridge = Group::spawn(command);
    let (stdin, stdout) = (bridge.take_stdin(), bridge.take_stdout());
    rustix::io::ioctl_fionbio(&stdin, true).unwrap();
    let line = ping(1) + "\n";
    let mut refusals = 0;
    // What is refused now may be taken a moment later: only a long row of refusals is the end.
    while refusals < 50 {
        match (&stdin).write(line.as_bytes()) {
            Ok(count) => {
                assert_eq!(count, line.len(), "a short line goes into a pipe whole or not at all");
                refusals = 0;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                refusals += 1;
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
    (bridge, stdin, stdout)
}

#[test]
fn a_client_that_reads_nothing_can_still_end_it() {
    let stage = Stage::new();
    let (mut bridge, stdin, stdout) = choked(&stage);
    drop(stdin);
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
    drop(stdout);
    let (mut bridge, stdin, stdout) = choked(&stage);
    bridge.signal(Signal::TERM);
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
    drop((stdin, stdout));
}

#[test]
fn a_client_that_reads_late_gets_every_answer() {
    let stage = Stage::new();
    let (mut bridge, stdin, mut stdout) = choked(&stage);
    let reader = thread::spawn(move || {
        let mut answers = String::new();
        stdout.read_to_string(&mut answers).unwrap();
        answers
    });
    rustix::io::ioctl_fionbio(&stdin, false).unwrap();
    (&stdin).write_all((ping(2) + "\n").as_bytes()).unwrap();
    drop(stdin);
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
    let answers = reader.join().unwrap();
    assert!(answers.lines().all(|line| line.ends_with(r#""result":{}}"#)), "a torn line");
    assert!(answers.ends_with("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"));
}

#[test]
fn a_client_that_has_closed_its_end_of_the_output_ends_it() {
    let stage = Stage::new();
    let mut command = stage.command(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut bridge = Group::spawn(command);
    let stdin = bridge.take_stdin();
    drop(bridge.take_stdout());
    assert_eq!(bridge.wait(DEADLINE).and_then(|status| status.code()), Some(0));
    drop(stdin);
}

#[test]
fn it_ends_with_its_parent_also_when_another_process_holds_its_input() {
    let stage = Stage::new();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut shell = Command::new("sh");
    // The shell is the bridge's parent; the test holds the other end of its input and output.
    shell.arg("-c").arg(r#"exec 3<&0; "$@" <&3 & wait"#).arg("sh");
    let bridge = stage.command(&[]);
    shell.arg(bridge.get_program()).args(bridge.get_args());
    shell.stdin(OwnedFd::from(theirs.try_clone().unwrap())).stdout(OwnedFd::from(theirs));
    let mut shell = Group::spawn(shell);
    ours.write_all((ping(1) + "\n").as_bytes()).unwrap();
    let mut answer = vec![0; PONG.len()];
    ours.read_exact(&mut answer).unwrap();
    shell.signal(Signal::KILL);
    shell.wait(DEADLINE).expect("the shell is killed");
    assert_eq!(ours.read(&mut [0; 1]).unwrap(), 0, "the bridge has ended");
}
