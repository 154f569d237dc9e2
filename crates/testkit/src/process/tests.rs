//! Processes with deadlines: output, ends and leaks.

use super::*;
use crate::until::until;

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn panic_text(action: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(action).unwrap_err();
    payload.downcast_ref::<String>().cloned().unwrap()
}

#[test]
fn lines_go_both_ways_and_the_end_is_seen() {
    let mut child = Piped::spawn(shell("cat; echo last words >&2; exit 3"));
    child.send(r#"{"id":1}"#);
    assert_eq!(child.recv(), serde_json::json!({"id": 1}));
    child.send_bytes(*b"half");
    child.send_bytes(*b" and half\n");
    assert_eq!(child.recv_line(), "half and half");
    child.close_stdin();
    child.recv_end();
    assert_eq!(child.wait_exit(DEADLINE).code(), Some(3));
    assert_eq!(child.stderr(), "last words\n");
}

#[test]
fn large_lines_do_not_block_either_side() {
    let mut child = Piped::spawn(shell("cat"));
    let line = "x".repeat(3_000_000);
    child.send(&line);
    child.send(&line);
    assert_eq!(child.recv_line().len(), line.len());
    assert_eq!(child.recv_line().len(), line.len());
}

#[test]
fn a_missing_answer_fails_with_stderr() {
    let text = panic_text(|| {
        let mut child = Piped::spawn(shell("echo trouble >&2; echo ready; cat >/dev/null"));
        assert_eq!(child.recv_line(), "ready");
        child.deadline(Duration::from_millis(50)).recv();
    });
    assert!(text.contains("no line on stdout") && text.contains("trouble"), "{text}");
    assert!(text.contains("(running)"), "{text}");
}

#[test]
fn an_early_end_fails_with_stderr() {
    let text = panic_text(|| {
        let _ = Piped::spawn(shell("echo trouble >&2; exit 1")).recv();
    });
    assert!(text.contains("stdout ended") && text.contains("trouble"), "{text}");
}

#[test]
fn dropping_kills_the_whole_group() {
    let mut child = Piped::spawn(shell("sleep 1000 & echo $!; wait"));
    let grandchild: u32 = child.recv_line().parse().unwrap();
    let (pid, start) = (child.pid(), proc::read(grandchild).unwrap().start);
    drop(child);
    assert!(proc::read(pid).is_none(), "the leader is reaped");
    let runs = || proc::read(grandchild).is_some_and(|p| p.start == start && p.state != 'Z');
    until("the grandchild ends", || !runs());
}

#[test]
fn run_gives_everything() {
    let done = run(shell("echo out; echo err >&2; exit 4"), DEADLINE);
    assert_eq!(
        (done.status.code(), done.stdout.as_str(), done.stderr.as_str()),
        (Some(4), "out\n", "err\n")
    );
}

#[test]
fn run_that_hangs_fails_with_what_was_written() {
    let text = panic_text(|| {
        let _ = run(shell("echo out; echo err >&2; sleep 1000"), Duration::from_secs(3));
    });
    assert!(text.contains("did not end") && text.contains("err\n"), "{text}");
    assert!(text.contains("out"), "{text}");
}

#[test]
fn signals_reach_the_child() {
    use std::os::unix::process::ExitStatusExt;
    let mut child = Piped::spawn(shell("exec cat"));
    child.signal(Signal::TERM);
    assert_eq!(child.wait_exit(DEADLINE).signal(), Some(15));
}
