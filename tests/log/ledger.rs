//! A ledger with a short story in it, and the command that reads it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use callgate_store::{EntryDraft, Store};
use callgate_testkit::process::{Finished, run};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The ids of the two questions.
pub(crate) const BUILD: &str = "550e8400-e29b-41d4-a716-446655440000";
pub(crate) const WRITE: &str = "7f1c2b9e-0d3a-4c58-9b61-2e8f5a4d7c10";

/// When the first entry was written: 2026-11-01 12:00 UTC. Each next one is a minute later.
pub(crate) const BEGIN: i64 = 1_793_534_400_000;

const FILE: &str = "callgate.db";

pub(crate) struct Ledger {
    pub(crate) folder: TempDir,
    store: Store,
    written: i64,
}

impl Ledger {
    /// With nothing in it.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join(FILE)).unwrap();
        Self { folder, store, written: 0 }
    }

    /// With ten entries: a build that was denied, and a file that was written.
    pub(crate) fn told() -> Self {
        let mut ledger = Self::new();
        let session = "34fb81ac-7029-49d7-a308-5c29182e1dc2";
        let asked = json!({
            "tool": "Bash", "summary": "make build", "cwd": "/home/ada/engine",
            "session": session, "input": { "command": "make \"build\"" },
        });
        ledger.tell("started", None, &json!({ "version": "0.1.0" }));
        ledger.tell("asked", Some(BUILD), &asked);
        ledger.tell(
            "pressed",
            Some(BUILD),
            &json!({ "by": "Eve", "action": "allow", "outcome": "stranger" }),
        );
        ledger.tell(
            "pressed",
            Some(BUILD),
            &json!({ "by": "Ada", "action": "deny", "outcome": "decided" }),
        );
        ledger.tell("decided", Some(BUILD), &json!({ "decision": "deny", "by": "Ada" }));
        ledger.tell("closed", Some(BUILD), &json!({ "how": "answered" }));
        let asked = json!({
            "tool": "Write", "summary": "notes.md", "cwd": "/home/ada/notes", "session": "other",
        });
        ledger.tell("asked", Some(WRITE), &asked);
        ledger.tell("decided", Some(WRITE), &json!({ "decision": "allow", "by": "rule `notes`" }));
        ledger.tell("closed", Some(WRITE), &json!({ "how": "answered" }));
        ledger.tell(
            "ran",
            Some(WRITE),
            &json!({ "tool": "Write", "ok": true, "session": "other" }),
        );
        ledger
    }

    pub(crate) fn tell(&mut self, kind: &str, question: Option<&str>, body: &Value) {
        let at_ms = BEGIN + self.written * 60_000;
        let (kind, question) = (kind.to_owned(), question.map(str::to_owned));
        let draft = EntryDraft { at_ms, kind, question, body: body.to_string() };
        self.store.append_entries(&[draft]).unwrap();
        self.written += 1;
    }

    /// Writes the same entry many times.
    pub(crate) fn tell_often(&mut self, kind: &str, times: usize) {
        let (kind, body) = (kind.to_owned(), "{}".to_owned());
        let draft = EntryDraft { at_ms: BEGIN, kind, question: None, body };
        self.store.append_entries(&vec![draft; times]).unwrap();
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = callgate_log(self.folder.path());
        command.arg("--database").arg(self.path()).args(arguments);
        command
    }

    /// Runs `callgate log` with these arguments.
    pub(crate) fn log(&self, arguments: &[&str]) -> Finished {
        run(self.command(arguments), LIMIT)
    }

    /// The numbers of the entries that it shows.
    pub(crate) fn seqs(&self, arguments: &[&str]) -> Vec<u64> {
        let shown = self.log(&[arguments, &["--json"]].concat()).success().stdout;
        shown.lines().map(|line| seq(&serde_json::from_str(line).unwrap())).collect()
    }

    /// Does to the file what nobody should.
    pub(crate) fn tamper(&self, sql: &str) {
        rusqlite::Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

pub(crate) fn seq(entry: &Value) -> u64 {
    entry["seq"].as_u64().unwrap()
}

/// `callgate log` in a home of its own, two hours ahead of UTC.
pub(crate) fn callgate_log(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
    command.arg("log").env_clear().env("HOME", home).env("TZ", "XYZ-2");
    command
}
