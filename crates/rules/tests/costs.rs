//! What a verdict may cost, whatever an agent writes: no more than a budget of steps, and so little
//! memory. How long that takes is printed with `JUDGE_TIMES=1`. A test that has to pass on a loaded
//! machine, without optimisation, only sees what takes a hundred times as long as it should.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

use callgate_rules::{
    Act, Disk, DiskEntry, GuardedSet, Moment, Policy, RuleDecision, RuleFile, Trust, judge_act,
};
use callgate_testkit::leaks::{peak_kib, resident_kib};
use serde_json::{Value, json};

const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/engine";
/// The length of what an agent writes.
const LENGTH: usize = 1_000_000;
/// The most time of a processor that a verdict may take here, where it takes half a second at most.
const MOST_TIME: Duration = Duration::from_secs(8);
/// The most memory that a verdict may take at once, in KiB.
const MOST_KIB: u64 = 16 * 1024;

/// A disk on which one name of three is a link.
struct Tangle;

impl Disk for Tangle {
    fn entry(&self, path: &str) -> DiskEntry {
        match path.len() % 3 {
            0 => DiskEntry::Link("b".to_owned()),
            _ => DiskEntry::Present,
        }
    }
}

fn policy() -> Policy {
    let mut rules = String::new();
    for number in 0..30 {
        let (decide, what) = match number % 5 {
            0 => ("deny", format!("path = [\"~/.ssh/**\", \"**/secret{number}/**\"]")),
            1 => ("ask", format!("command = [\"rm -rf *\", \"git push{number} *\"]")),
            2 => ("allow", format!("command = [\"make x{number}\", \"echo *\", \"a *\"]")),
            3 => ("allow", "class = [\"read\", \"write\"]\npath = \"src/**/*.rs\"".to_owned()),
            _ => ("deny", format!("host = [\"*.evil{number}.org\", \"10.0.0.{number}\"]")),
        };
        writeln!(rules, "[[rule]]\nname = \"r{number}\"\ndecide = \"{decide}\"\n{what}").unwrap();
    }
    let file = RuleFile::from_toml("rules.toml", &rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    Policy::new(GuardedSet::new(HOME)).with_file(&file, None)
}

/// A text of the whole length, made of one piece.
fn filled(piece: &str) -> String {
    piece.repeat(LENGTH / piece.len())
}

/// Inputs that were slow once, or might be.
fn inputs() -> Vec<(String, &'static str, Value)> {
    let mut inputs = Vec::new();
    for piece in [
        "{a,",
        "$(",
        "`",
        ";",
        "'",
        "\\",
        "${a}",
        "a;",
        "a ",
        "a~",
        "x-=",
        "a*",
        "../",
        ">",
        "<<a\n",
        "git -a ",
        "sh -c ",
        "cd a;",
        "cd a\n",
        "\"",
        "é",
        "a:b@c,d=",
        "http://a.b/ ",
        "tee a ",
        "cp a; ",
    ] {
        let text = filled(piece);
        let line = |line: String| ("Bash", json!({ "command": line }));
        let shapes = [
            ("a line", line(text.clone())),
            ("in a shell", line(format!("sh -c '{text}'"))),
            ("an argument", ("run_shell_command", json!({ "command": "a", "args": [text, "b"] }))),
            ("a text", ("mcp__a__b", json!({ "text": text }))),
        ];
        for (shape, (tool, input)) in shapes {
            inputs.push((format!("{piece:?} as {shape}"), tool, input));
        }
    }
    // What is shorter is read to its end.
    for piece in ["sh -c 'rm -!r", "sh -c 'rm -rf a'rm -rf a"] {
        let line = piece.repeat(64_000 / piece.len());
        inputs.push((format!("{piece:?} as a shorter line"), "Bash", json!({ "command": line })));
    }
    let path = json!({ "file_path": filled("a/"), "content": "" });
    inputs.push(("a long path".to_owned(), "Write", path));
    let nested = (0..12)
        .fold("echo x".to_owned(), |line, _| format!("sh -c '{}'", line.replace('\'', "'\\''")));
    inputs.push(("nested shells".to_owned(), "Bash", json!({ "command": nested })));
    let words: Vec<String> = (0..10_000).map(|n| format!("a{n}/b")).collect();
    inputs.push(("10,000 texts".to_owned(), "mcp__a__b", json!({ "texts": words })));
    inputs.push((
        "10,000 words".to_owned(),
        "run_shell_command",
        json!({ "command": "rm", "args": words }),
    ));
    let lines: Vec<String> = words.iter().map(|word| format!("*** Add File: {word}\n")).collect();
    let lines = lines.concat();
    inputs.push(("10,000 files".to_owned(), "apply_patch", json!({ "input": lines })));
    inputs.push(("numbers".to_owned(), "mcp__a__b", json!({ "n": vec![1; LENGTH / 2] })));
    inputs.push((
        "long content".to_owned(),
        "Write",
        json!({ "file_path": "src/a.rs", "content": filled("a,b\n") }),
    ));
    let long: Vec<String> = (0..60).map(|n| format!("cd {}{n};", "x/".repeat(2_000))).collect();
    let long = long.concat();
    inputs.push((
        "long folders".to_owned(),
        "Bash",
        json!({ "command": format!("{long}{}", "ls;".repeat(900)) }),
    ));
    inputs
}

/// The time that a processor has spent on this thread, whatever else the machine does.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// Lets the system count the peak of our memory from now on.
fn forget_peak() {
    fs::write("/proc/self/clear_refs", "5").unwrap();
}

#[test]
fn no_input_takes_much_memory_and_what_is_long_is_asked_about() {
    let policy = policy();
    let prints = std::env::var_os("JUDGE_TIMES").is_some();
    for (name, tool, input) in inputs() {
        let input = input.to_string();
        forget_peak();
        let (before, began) = (resident_kib(std::process::id()), Instant::now());
        let at_work = processor_time();
        let act = Act::from_call(tool, &input, PROJECT, "claude-code", HOME);
        let verdict = judge_act(&policy, &act, &Tangle, &Moment::from_unix_ms(0, 0));
        let (took, at_work) = (began.elapsed(), processor_time().saturating_sub(at_work));
        let used = peak_kib(std::process::id()).saturating_sub(before);
        if prints {
            println!("{:>8} us {used:>6} KiB {name}: {}", took.as_micros(), verdict.because);
        }
        assert!(at_work <= MOST_TIME, "{name} took {at_work:?}: {}", verdict.because);
        assert!(used <= MOST_KIB, "{name} took {used} KiB: {}", verdict.because);
        // The content of a file is nothing to judge.
        let is_allowed = verdict.decision == RuleDecision::Allow;
        assert_eq!(is_allowed, name == "long content", "{name}: {}", verdict.because);
    }
}
