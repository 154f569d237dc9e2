//! `callgate rules bench` prints the figures in docs/measurements/gate.md.
//!
//! Our own sample is played in every run. The tasks of `AgentDojo` are played if
//! `CALLGATE_AGENTDOJO_TASKS` names the file that `scripts/agentdojo-tasks` printed, and
//! `CALLGATE_AGENTDOJO_PREFIXED` the one with `--prefix`, as in `scripts/test --full`. With
//! `UPDATE_EXPECT=1` the document is updated.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use callgate_store::{EntryDraft, Store};
use callgate_testkit::process::{DEADLINE, Finished, run};
use callgate_testkit::tools::repo_root;
use serde_json::json;
use tempfile::TempDir;

fn bench(home: &Path, arguments: &[&str]) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command
        .args(["rules", "bench"])
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .current_dir(home);
    run(command, DEADLINE)
}

/// Held while the document is read and perhaps written.
static DOCUMENT: Mutex<()> = Mutex::new(());

/// Compares the figures with those between two marks of the document.
fn check(name: &str, figures: &str) {
    let _held = DOCUMENT.lock().unwrap_or_else(PoisonError::into_inner);
    let path = repo_root().join("docs/measurements/gate.md");
    let text = fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let from = text.find(&begin).unwrap() + begin.len();
    let to = from + text[from..].find(&end).unwrap();
    let stated = text[from..to].trim();
    if std::env::var_os("UPDATE_EXPECT").is_some() && stated != figures.trim() {
        let text = format!("{}\n{}\n\n{}", &text[..from], figures.trim(), &text[to..]);
        fs::write(&path, text).unwrap();
        return;
    }
    assert_eq!(figures.trim(), stated, "docs/measurements/gate.md states other figures");
}

/// The figures do not depend on where the user's home is, except that it has to be above the
/// tasks' project.
fn starter_figures(tasks: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    let tasks = tasks.to_str().unwrap();
    command.args(["rules", "bench", "--starter", "--tasks", tasks]);
    command.env_clear().env("HOME", "/home/user").current_dir(repo_root());
    run(command, DEADLINE).success().stdout
}

#[test]
fn the_own_sample_has_the_stated_figures() {
    check("coding", &starter_figures(&repo_root().join("tests/data/coding-tasks.ndjson")));
}

#[test]
fn agentdojo_has_the_stated_figures() {
    for (name, variable) in [
        ("agentdojo", "CALLGATE_AGENTDOJO_TASKS"),
        ("agentdojo prefixed", "CALLGATE_AGENTDOJO_PREFIXED"),
    ] {
        match std::env::var_os(variable).map(PathBuf::from) {
            Some(tasks) => check(name, &starter_figures(&tasks)),
            None => eprintln!("{variable} is not set: these tasks of AgentDojo are not played"),
        }
    }
}

#[test]
fn figures_are_counted_by_task() {
    let home = TempDir::new().unwrap();
    let rules = home.path().join("rules.toml");
    let text = "[[rule]]\nname = \"a\"\ndecide = \"allow\"\ntool = \"mcp__allowed\"\n\
                [[rule]]\nname = \"b\"\ndecide = \"ask\"\ntool = \"mcp__asked\"\n\
                [[rule]]\nname = \"c\"\ndecide = \"deny\"\ntool = \"mcp__denied\"\n";
    fs::write(&rules, text).unwrap();
    let task = |kind: &str, tools: &[&str]| {
        let calls: Vec<_> = tools.iter().map(|tool| json!({"tool": tool, "input": {}})).collect();
        json!({"suite": "x", "task": tools.join("+"), "kind": kind, "calls": calls}).to_string()
    };
    let tasks = [
        task("benign", &["mcp__allowed", "mcp__asked", "mcp__unnamed"]),
        task("benign", &["mcp__unnamed", "mcp__denied"]),
        task("benign", &["mcp__allowed"]),
        task("benign", &[]),
        task("injected", &["mcp__allowed", "mcp__allowed"]),
        task("injected", &["mcp__unnamed"]),
        task("injected", &["mcp__allowed", "mcp__asked"]),
        task("injected", &["mcp__asked", "mcp__denied"]),
    ];
    let file = home.path().join("tasks.ndjson");
    fs::write(&file, tasks.join("\n") + "\n").unwrap();
    let arguments = [rules.to_str().unwrap(), "--tasks", file.to_str().unwrap()];
    let told = bench(home.path(), &arguments).success().stdout;
    assert!(told.starts_with("1 tasks call no tool and are left out\n"), "{told}");
    assert!(
        told.contains(
            "| all | 3 | 1.00 | 1 (33 %) | 1 of 6 | 4 | 1 (25 %) | 2 (50 %) | 1 (25 %) |"
        ),
        "{told}"
    );
    assert!(
        told.contains(
            "| all | 3 | 0.33 | 2 (67 %) | 1 of 6 | 4 | 1 (25 %) | 1 (25 %) | 2 (50 %) |"
        ),
        "{told}"
    );
    assert!(
        told.ends_with("- x mcp__allowed+mcp__allowed: mcp__allowed, mcp__allowed\n"),
        "{told}"
    );
    fs::write(&file, "{\"suite\": 1}\n").unwrap();
    let told = bench(home.path(), &arguments);
    assert_eq!(told.status.code(), Some(1));
    assert!(told.stderr.contains("line 1 is not a task"), "{}", told.stderr);
}

#[test]
fn the_ledger_is_a_bench_too() {
    let home = TempDir::new().unwrap();
    let rules = home.path().join("rules.toml");
    fs::write(&rules, "[[rule]]\nname = \"a\"\ndecide = \"allow\"\ncommand = \"make\"\n").unwrap();
    let database = home.path().join("callgate.db");
    let mut store = Store::open(&database).unwrap();
    let asked = |id: &str, command: &str| EntryDraft {
        at_ms: 1,
        kind: "asked".to_owned(),
        question: Some(id.to_owned()),
        body: json!({"request": {
            "tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/w", "session_id": "s",
        }})
        .to_string(),
    };
    let decided = |id: &str, decision: &str| EntryDraft {
        at_ms: 2,
        kind: "decided".to_owned(),
        question: Some(id.to_owned()),
        body: json!({"decision": decision}).to_string(),
    };
    let ran = EntryDraft {
        at_ms: 3,
        kind: "ran".to_owned(),
        question: None,
        body: json!({"tool": "Bash", "input": {"command": "ls"}, "session": "s", "cwd": "/w"})
            .to_string(),
    };
    let entries = [
        asked("1", "make"),
        decided("1", "allow"),
        asked("2", "make"),
        decided("2", "deny"),
        asked("3", "rm x"),
        decided("3", "deny"),
        asked("4", "make"),
        ran,
    ];
    store.append_entries(&entries).unwrap();
    drop(store);
    let arguments = [rules.to_str().unwrap(), "--database", database.to_str().unwrap()];
    let told = bench(home.path(), &arguments).success().stdout;
    assert!(
        told.contains("| all | 1 | 1.00 | 0 (0 %) | 0 of 2 | 2 | 0 (0 %) | 1 (50 %) | 1 (50 %) |"),
        "{told}"
    );
}
