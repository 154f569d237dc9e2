//! Children end with whoever started them, and with everything they have started.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use callgate_link::child::LeashedChild;
use callgate_link::file::{PrivateFile, create_private, sweep_files};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

/// Set in the process that starts a child and is then killed.
const PARENT: &str = "CALLGATE_TEST_IS_PARENT";

/// A shell that starts two sleepers which hold its output open; the output ends with the last.
fn family() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & sleep 600 & echo ready; wait"]).stdout(Stdio::piped());
    command
}

fn assert_ready(output: &mut impl Read) {
    let mut ready = [0; 6];
    output.read_exact(&mut ready).unwrap();
    assert_eq!(&ready, b"ready\n");
}

#[test]
fn dropping_it_ends_the_whole_family() {
    let mut shell = LeashedChild::spawn(family()).unwrap();
    let mut output = shell.stdout.take().unwrap();
    assert_ready(&mut output);
    drop(shell);
    assert_eq!(output.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn waiting_for_it_ends_what_it_left_running() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & echo ready; exit 7"]).stdout(Stdio::piped());
    let mut shell = LeashedChild::spawn(command).unwrap();
    let mut output = shell.stdout.take().unwrap();
    assert_ready(&mut output);
    assert_eq!(shell.wait().unwrap().code(), Some(7));
    assert_eq!(output.read(&mut [0; 1]).unwrap(), 0);
    assert_eq!(shell.wait().unwrap().code(), Some(7), "it can be asked again");
}

#[test]
fn it_lives_on_when_only_the_thread_ends_that_asked_for_it() {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut cat = thread::spawn(|| LeashedChild::spawn(command).unwrap()).join().unwrap();
    let mut input = cat.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, b"ready\n").unwrap();
    assert_ready(cat.stdout.as_mut().unwrap());
}

#[test]
fn it_ends_when_our_process_is_killed() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "parent_that_is_killed", "--nocapture"]).env(PARENT, "1");
    let mut parent = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = parent.stderr.take().unwrap();
    assert_ready(&mut output);
    kill_process(Pid::from_child(&parent), Signal::KILL).unwrap();
    parent.wait().unwrap();
    assert_eq!(output.read(&mut [0; 1]).unwrap(), 0, "the child holds this open while it lives");
}

#[test]
fn parent_that_is_killed() {
    if std::env::var_os(PARENT).is_none() {
        return;
    }
    let mut command = Command::new("sh");
    command.args(["-c", "echo ready >&2; exec sleep 600"]);
    LeashedChild::spawn(command).unwrap().wait().unwrap();
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let error = LeashedChild::spawn(Command::new("/nonexistent/program")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_private_file_is_new_and_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    create_private(&path, b"secret").unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(create_private(&path, b"x").unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"secret");
}

#[test]
fn a_wait_ends_with_the_child_or_with_its_limit() {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped());
    let mut cat = LeashedChild::spawn(command).unwrap();
    assert!(!cat.wait_for(Duration::ZERO).unwrap());
    assert!(!cat.wait_for(Duration::from_millis(5)).unwrap());
    drop(cat.stdin.take());
    assert!(cat.wait_for(Duration::from_mins(5)).unwrap());
    assert!(cat.wait().unwrap().success());
    assert!(cat.wait_for(Duration::ZERO).unwrap(), "it has been reaped");
    assert!(cat.exit_fd().is_err());
}

#[test]
fn a_wait_ends_with_the_child_or_with_its_leash_and_wakes_for_nothing_else() {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped());
    let mut cat = LeashedChild::spawn(command).unwrap();
    let (slack, leash) = std::io::pipe().unwrap();
    let holder = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        drop(leash);
    });
    let before = voluntary_switches();
    assert!(!cat.wait_while_held(&slack).unwrap(), "the leash was dropped first");
    // One that polls every 10 ms would switch thirty times. A page that is read from the disk first
    // is a switch, too.
    let switches = voluntary_switches() - before;
    assert!(switches <= 10, "it polls: {switches}");
    holder.join().unwrap();
    assert!(!cat.wait_while_held(&slack).unwrap(), "and it is still dropped");

    let (slack, _leash) = std::io::pipe().unwrap();
    drop(cat.stdin.take());
    assert!(cat.wait_while_held(&slack).unwrap(), "the child ends first");
    assert!(cat.wait().unwrap().success());
}

/// Returns how often this thread has waited for something.
fn voluntary_switches() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

#[test]
fn dropping_it_ends_those_too_that_have_left_the_group() {
    let mut command = Command::new("sh");
    command.args(["-c", "setsid sh -c 'echo ready; sleep 600' & wait"]).stdout(Stdio::piped());
    let mut shell = LeashedChild::spawn(command).unwrap();
    let mut output = shell.stdout.take().unwrap();
    assert_ready(&mut output);
    assert!(!shell.has_ended().unwrap());
    drop(shell);
    assert_eq!(output.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn what_a_killed_child_left_in_a_session_of_its_own_ends_too() {
    let mut command = Command::new("sh");
    // The sleeper's parent ends at once: nothing of the family tree leads to it any more.
    command.args(["-c", "(setsid sh -c 'echo ready; exec sleep 600' &); kill -9 $$"]);
    let mut shell = LeashedChild::spawn({
        command.stdout(Stdio::piped());
        command
    })
    .unwrap();
    let mut output = shell.stdout.take().unwrap();
    assert_ready(&mut output);
    assert!(!shell.wait().unwrap().success());
    assert_eq!(output.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn what_a_child_that_succeeded_left_behind_ends_only_when_all_is_to_end() {
    let mut command = Command::new("sh");
    command.args(["-c", "(setsid sh -c 'echo ready; exec sleep 600' &); exit 0"]);
    command.stdout(Stdio::piped());
    let mut shell = LeashedChild::spawn(command).unwrap();
    let mut output = shell.stdout.take().unwrap();
    assert_ready(&mut output);
    assert!(shell.wait().unwrap().success());
    let mut ready = [PollFd::new(&output, PollFlags::IN)];
    let is_over = poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() > 0;
    assert!(!is_over, "a program may leave a service running");
    assert!(shell.end_all().unwrap().success());
    assert_eq!(output.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn ending_all_does_not_wait_for_the_child() {
    let mut shell = LeashedChild::spawn(family()).unwrap();
    let mut output = shell.stdout.take().unwrap();
    assert_ready(&mut output);
    assert!(!shell.end_all().unwrap().success());
    assert_eq!(output.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn a_held_file_goes_with_its_holder_and_a_left_one_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let held = PrivateFile::create(path("p_held.x"), b"secret").unwrap();
    assert_eq!(std::fs::read(held.path()).unwrap(), b"secret");
    for (name, content) in [("p_left.x", "x"), ("p_empty.x", ""), ("p_other.y", "x"), ("q.x", "x")]
    {
        std::fs::write(path(name), content).unwrap();
    }
    sweep_files(folder.path(), "p_", ".x");
    assert!(!path("p_left.x").exists());
    for stays in ["p_held.x", "p_empty.x", "p_other.y", "q.x"] {
        assert!(path(stays).exists(), "{stays}");
    }
    drop(held);
    assert!(!path("p_held.x").exists());
}
