//! The README tells the truth: its first command does what it says, its second is what CI runs.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use callgate_testkit::process::{DEADLINE, Piped, run};
use rustix::process::Signal;

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// An example as it was built for the tests, and as the README builds it.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().parent().unwrap().join("examples").join(name)
}

#[test]
fn the_first_command_serves_with_nothing_configured_and_says_what_to_do_next() {
    assert!(read("README.md").contains("\ncargo run -- up\n"));
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("ask.sock");
    let callgate = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", home.path())
            .env("CALLGATE_SOCKET", &socket);
        command
    };
    let mut up = Piped::spawn(callgate(&["up"]));
    let said: Vec<String> = (0..3).map(|_| up.recv_line()).collect();
    assert_eq!(said[0], format!("callgate is up: agents ask at {}", socket.display()));
    assert!(said[2].starts_with("Next: `callgate install`"), "{said:?}");
    // Nobody is at its terminal, so nobody can be reached, and that is said at once.
    let asked = run(callgate(&["ask", "Deploy?"]), DEADLINE);
    assert_eq!(asked.status.code(), Some(1), "{}", asked.stderr);
    up.signal(Signal::TERM);
    up.recv_end();
    assert!(up.wait_exit(DEADLINE).success() && !socket.exists());
}

#[test]
fn every_command_of_the_readme_is_there() {
    let readme = read("README.md");
    let lines = readme.lines().filter_map(|line| line.strip_prefix("callgate "));
    let commands: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"doctor"), "{commands:?}");
    for name in commands.into_iter().filter(|name| *name != "is") {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.args([name, "--help"]);
        let told = run(command, DEADLINE);
        assert!(told.status.success(), "{name}: {}", told.stderr);
    }
}

#[test]
fn the_example_shows_a_function_of_its_own_process() {
    assert!(read("README.md").contains("`cargo run --example host_a_tool`"));
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(example("host_a_tool"));
    command.env("TMPDIR", folder.path());
    let output = run(command, DEADLINE).success().stdout;
    let lines: Vec<&str> = output.lines().collect();
    let [tool, answer, process] = lines[..] else { panic!("{output}") };
    assert_eq!(tool, "tool    weigh: Weighs a thing on the scales of this process.");
    let id = process.strip_prefix("this is process ").unwrap();
    assert!(answer.contains(&format!("a feather weighs 9 g, says process {id}")), "{output}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
}

#[test]
fn the_second_command_is_the_one_that_ci_runs() {
    assert!(read("README.md").contains("\nscripts/test\n"));
    assert!(read(".ci/run").contains("/../scripts/test\""));
}

#[test]
fn the_help_tells_what_there_is_and_a_wrong_word_is_refused() {
    let callgate = |argument: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.arg(argument);
        run(command, DEADLINE)
    };
    let help = callgate("--help").success().stdout;
    assert!(help.starts_with("One small program"), "{help}");
    assert!(callgate("--version").success().stdout.starts_with("callgate 0.1"));
    let wrong = callgate("dance");
    assert_eq!(wrong.status.code(), Some(64));
    assert!(wrong.stderr.contains("unrecognized subcommand 'dance'"), "{}", wrong.stderr);
}
