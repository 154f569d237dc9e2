//! A question is withdrawn when nobody waits for its answer any more.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use callgate_testkit::process::{DEADLINE, Group, Piped};
use rustix::process::Signal;

use crate::fixture::{Stage, bash, write};

#[test]
fn nobody_reads_its_output_any_more() {
    let stage = Stage::new();
    let desk = stage.desk();
    // A pipe.
    let mut command = stage.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut hook = Group::spawn(command);
    hook.take_stdin().write_all(bash().as_bytes()).unwrap();
    let mut asked = desk.accept();
    asked.assert_waiting();
    drop(hook.take_stdout());
    asked.assert_closed();
    assert_eq!(hook.wait(DEADLINE).unwrap().code(), Some(1));
    // A pair of sockets, as clients on Node have it.
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = stage.command(&["hook"]);
    let theirs = std::os::fd::OwnedFd::from(theirs);
    command.stdin(Stdio::piped()).stdout(theirs).stderr(Stdio::null());
    let mut hook = Group::spawn(command);
    hook.take_stdin().write_all(bash().as_bytes()).unwrap();
    let mut asked = desk.accept();
    asked.assert_waiting();
    drop(ours);
    asked.assert_closed();
    assert_eq!(hook.wait(DEADLINE).unwrap().code(), Some(1));
}

#[test]
fn its_parent_dies() {
    let stage = Stage::new();
    let desk = stage.desk();
    let input = write(&stage, "input.json", &bash());
    // The pipe to which it prints is still held by the test.
    let script = format!("\"$0\" hook < {} & echo $!; read line; kill -9 $$", input.display());
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_callgate")]);
    let hook = stage.command(&[]);
    command.env_clear().envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut parent = Piped::spawn(command);
    parent.recv_line();
    let mut asked = desk.accept();
    asked.assert_waiting();
    parent.send("now");
    asked.assert_closed();
}

#[test]
fn it_is_told_to_end() {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(bash());
    let mut asked = desk.accept();
    asked.assert_waiting();
    hook.signal(Signal::TERM);
    asked.assert_closed();
    let ended = hook.end();
    assert_eq!((ended.code, ended.stdout.as_str()), (None, ""));
}

#[test]
fn the_desk_has_gone_and_then_the_agent() {
    let stage = Stage::new().patience(300, 300);
    let desk = stage.desk();
    let mut command = stage.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut hook = Group::spawn(command);
    hook.take_stdin().write_all(bash().as_bytes()).unwrap();
    drop((desk.accept(), desk));
    drop(hook.take_stdout());
    assert_eq!(hook.wait(DEADLINE).unwrap().code(), Some(1));
}
