//! A program that hosts tools is killed in the middle of a call: after the next start nothing of it
//! is left.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failed step is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callgate_testkit::leaks::Leaks;
use callgate_testkit::process::{DEADLINE, Piped};
use callgate_tools::{Host, NoArguments, Tool, blocking};
use rustix::process::Signal;
use serde_json::json;

/// Set in the process that hosts a tool and is killed.
const HOST: &str = "CALLGATE_TEST_HOSTS_IN";

fn host(folder: &Path) -> Host {
    let waits = Tool::blocking("waits", "Waits for its end.", |_: NoArguments, call| {
        println!("{}", json!({"entered": true}));
        while !call.is_cancelled() {
            std::thread::yield_now();
        }
        println!("{}", json!({"cancelled": true}));
    });
    Host::new([waits]).unwrap().folder(folder).bridge(env!("CARGO_BIN_EXE_callgate"))
}

/// Not a test of its own: the process that [`parent`] starts and the tests kill.
#[test]
fn hosting_process() {
    let Some(folder) = std::env::var_os(HOST) else { return };
    let session = blocking::start(&host(Path::new(&folder))).unwrap();
    println!("\n{}", json!({"bridge": session.bridge_command().unwrap().arguments}));
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

/// A process that hosts, and a bridge with a call on its way to it.
fn at_work(folder: &Path) -> (Piped, Piped) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "hosting_process", "--nocapture", "--quiet"]).env(HOST, folder);
    let mut parent = Piped::spawn(command);
    let arguments = loop {
        let line = parent.recv_line();
        if let Ok(line) = serde_json::from_str::<serde_json::Value>(&line) {
            break line["bridge"].as_array().unwrap().clone();
        }
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.args(arguments.iter().map(|argument| argument.as_str().unwrap()));
    command.stderr(Stdio::inherit());
    let mut bridge = Piped::spawn(command);
    bridge.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"waits"}}"#);
    assert_eq!(parent.recv(), json!({"entered": true}));
    (parent, bridge)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_host_that_is_killed_leaves_nothing_after_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let _leaks = Leaks::watch(folder.path(), &[""]).marker(folder.path().to_str().unwrap());
    let (mut parent, mut bridge) = at_work(folder.path());
    parent.signal(Signal::KILL);
    parent.wait_exit(DEADLINE);
    let answer = bridge.recv();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(files(folder.path()).len(), 2);
    let next = blocking::start(&host(folder.path())).unwrap();
    assert_eq!(files(folder.path()).len(), 2, "the next session's own");
    assert!(next.socket_path().exists());
    next.stop();
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
    bridge.close_stdin();
    assert!(bridge.wait_exit(DEADLINE).success());
}

#[test]
fn a_bridge_that_is_killed_cancels_its_call_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let _leaks = Leaks::watch(folder.path(), &[""]).marker(folder.path().to_str().unwrap());
    let (mut parent, mut bridge) = at_work(folder.path());
    bridge.signal(Signal::KILL);
    bridge.wait_exit(DEADLINE);
    assert_eq!(parent.recv(), json!({"cancelled": true}));
    parent.close_stdin();
    assert!(parent.wait_exit(DEADLINE).success());
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
}
