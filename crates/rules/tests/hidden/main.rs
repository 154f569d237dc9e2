//! Hides denied programs, denied paths and guarded files in shell lines, and runs in real shells
//! those lines that the rules let through: none may do what is denied.
//!
//! A line is determined by the number of its seed. The ordinary run takes the first few thousand
//! seeds in all shells; `CONTRIBUTING.md` explains the long run.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]
#![allow(clippy::print_stderr, reason = "the long run shows its progress")]

mod dice;
mod grammar;
mod hunt;
mod quotes;
mod scratch;
mod shells;
mod stubs;
mod tables;
mod wraps;

use std::env;

use hunt::{HuntReport, ShellChoice, hunt};
use shells::{LineRunner, TestedShell};

/// How many lines the ordinary run judges.
const ORDINARY_LINES: u64 = 1_500;

/// How many kinds of holes are enough.
const MOST_HOLES: u64 = 50;

/// Returns the number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {value:?}")))
}

/// Returns the shells of this machine. One that is missing is an error where nothing may be
/// skipped.
fn shells() -> Vec<TestedShell> {
    let is_there = |shell: &TestedShell| {
        let is_there = shell.path().is_some();
        let is_demanded = env::var_os("CI").is_some_and(|value| value == "true");
        assert!(is_there || !is_demanded, "{} is missing", shell.name());
        if !is_there {
            eprintln!("skipped: there is no {}", shell.name());
        }
        is_there
    };
    TestedShell::ALL.into_iter().filter(is_there).collect()
}

/// Returns the shells that `CALLGATE_HIDDEN_SHELL` names: one, `each`, or by `turns`.
fn choice() -> ShellChoice {
    let shells = shells();
    match env::var("CALLGATE_HIDDEN_SHELL").as_deref() {
        Err(_) | Ok("each") => ShellChoice::Each(shells),
        Ok("turns") => ShellChoice::Turns(shells),
        Ok(name) => {
            let named: Vec<_> = shells.into_iter().filter(|shell| shell.name() == name).collect();
            assert!(!named.is_empty(), "CALLGATE_HIDDEN_SHELL is each, turns, or a shell: {name}");
            ShellChoice::Each(named)
        }
    }
}

fn assert_closed(report: &HuntReport) {
    eprintln!("{report}");
    let holes: Vec<String> = report.holes.values().map(ToString::to_string).collect();
    assert!(holes.is_empty(), "{} holes, among them:\n{}", report.hole_count, holes.join("\n"));
    assert!(
        report.sampled_reached * 5 > report.sampled,
        "the lines do too rarely what they are made for: {report}"
    );
}

#[test]
fn no_line_that_is_let_through_does_what_is_denied() {
    let first = number("CALLGATE_HIDDEN_FROM").unwrap_or(0);
    let lines = number("CALLGATE_HIDDEN_LINES").unwrap_or(ORDINARY_LINES);
    let most_holes = number("CALLGATE_HIDDEN_HOLES").unwrap_or(MOST_HOLES);
    let most_holes = usize::try_from(most_holes).expect("a count");
    assert_closed(&hunt(first..first + lines, &choice(), most_holes));
}

#[test]
fn a_seed_always_makes_the_same_line() {
    for seed in 0..1_000 {
        let line = grammar::line(seed, "/home/ada", 0);
        assert_eq!(line.text, grammar::line(seed, "/home/ada", 0).text);
        assert!(!line.text.contains(['§', '\0']), "{:?}", line.text);
    }
}

#[test]
fn every_technique_works_in_some_shell() {
    let mut runner = LineRunner::new();
    let shells = shells();
    let home = runner.scratch.home().to_owned();
    let mut idle = Vec::new();
    for (technique, line) in grammar::examples(1, &home) {
        let mut works = |shell: &TestedShell| !runner.run(*shell, &line).reached.is_empty();
        if !shells.iter().any(&mut works) {
            idle.push(format!("{}: {line:?}", technique.0));
        }
    }
    assert!(idle.is_empty(), "these do nothing:\n{}", idle.join("\n"));
}

#[test]
fn the_watch_sees_what_is_denied_and_nothing_else() {
    let mut runner = LineRunner::new();
    for shell in shells() {
        for line in [
            "git push",
            "git -C src push",
            "env git push",
            "ssh localhost 'git push'",
            "sudo -u root git push",
            "git -c alias.x='!git push' x",
            "git -c alias.x=push x",
            "git rebase -x 'git push' main",
            "git submodule foreach 'git push'",
            "callgate uninstall",
            "pkill callgate",
            "kill $VICTIM",
            "sh -c 'kill -9 $VICTIM'",
            "cat ~/.aws/credentials",
            "cat ../keys/credentials",
            ": < ~/.aws/credentials",
            "mv ~/.aws/credentials x",
            "mv ~/.aws x; cat x/credentials",
            ": > .claude/settings.local.json",
            "cp README.md ~/.config/callgate/rules.toml",
            "(sleep 0.1; git push) &",
        ] {
            let run = runner.run(shell, line);
            assert!(!run.reached.is_empty(), "{} misses {line}", shell.name());
        }
        for line in [
            "git status",
            "git log push",
            "callgate --version",
            "cat ~/.aws/config",
            "ls -la ~/.aws .claude ~/.config/callgate",
            "echo x > y; mkdir -p a/b; cat .claude/settings.local.json",
            "echo git push",
        ] {
            let run = runner.run(shell, line);
            assert_eq!(run.reached, Vec::<String>::new(), "{} sees {line}", shell.name());
        }
    }
}
