//! Real programs that print, fail, hang and talk.

use super::*;

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn a_program_gives_what_it_printed() {
    assert_eq!(run_for_output(shell("echo 1.2.3; echo no >&2"), LIMIT, 100).unwrap(), "1.2.3\n");
    assert_eq!(run_for_output(shell("sleep 1000 & echo left"), LIMIT, 100).unwrap(), "left\n");
    assert_eq!(run_for_output(shell("printf 12345"), LIMIT, 5).unwrap(), "12345");
}

#[test]
fn everything_else_is_an_error() {
    let check = |command: Command, limit: Duration, expected: &str| {
        assert_eq!(run_for_output(command, limit, 5).unwrap_err().to_string(), expected);
    };
    check(shell("echo 12345"), LIMIT, "printed more than 5 bytes");
    check(shell("echo 1; exit 3"), LIMIT, "failed (exit status: 3)");
    check(shell(r"printf '\377'"), LIMIT, "printed no text");
    check(shell("exec sleep 1000"), Duration::from_millis(30), "did not answer within 30ms");
    let absent = run_for_output(Command::new("/nowhere/at/all"), LIMIT, 5).unwrap_err().to_string();
    assert!(absent.starts_with("cannot be started: No such file"), "{absent}");
}
/// Whether it still reads or is gone when we write to it is the same.
#[test]
fn a_program_may_read_what_it_is_fed_or_not() {
    assert_eq!(run_with_input(shell("cat"), "hello", LIMIT, 100).unwrap(), "hello");
    for _ in 0..20 {
        assert_eq!(run_with_input(shell("echo deaf"), "hello", LIMIT, 100).unwrap(), "deaf\n");
        let failed = run_with_input(shell("exec <&-; exit 2"), "hello", LIMIT, 100).unwrap_err();
        assert_eq!(failed.to_string(), "failed (exit status: 2)");
    }
}

fn asked(script: &str, limit: Duration) -> Result<String, String> {
    let answer = |line: &str| Some(line.strip_prefix("answer: ")?.trim_end().to_owned());
    ask_program(shell(script), "hello\n", limit, 100_000, answer).map_err(|error| error.to_string())
}

#[test]
fn a_conversation_gives_the_first_answer() {
    assert_eq!(asked("read a; echo no; echo answer: $a", LIMIT).unwrap(), "hello");
    // It goes on talking, and keeps its output open, until it is ended.
    assert_eq!(asked("echo answer: 1; exec cat", LIMIT).unwrap(), "1");
    assert_eq!(asked("yes 123456789 | head -n 9000; echo answer: 2", LIMIT).unwrap(), "2");
}

/// Whether it still reads or is gone when we write to it is the same.
#[test]
fn a_program_that_ends_without_a_word_gave_no_answer() {
    for script in ["exit 0", "exit 3", "exec <&-; exit 1", "echo other", "read a; exit 1"] {
        for _ in 0..10 {
            assert_eq!(asked(script, LIMIT).unwrap_err(), "ended without an answer");
        }
    }
}

#[test]
fn a_conversation_is_bounded() {
    let slow = asked("exec sleep 1000", Duration::from_millis(30)).unwrap_err();
    assert_eq!(slow, "did not answer within 30ms");
    let much = asked("exec yes", LIMIT).unwrap_err();
    assert_eq!(much, "printed more than 100000 bytes");
}
