//! A home with a ledger of a given length, and the operations on it.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use callgate_store::{EntryDraft, Store};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The number of entries of a question.
const PER_QUESTION: u64 = 5;
/// The number of questions that are written at once.
const AT_ONCE: u64 = 500;
/// When the first question was asked, and the time between two questions, in milliseconds.
const BEGAN_MS: i64 = 1_780_000_000_000;
const PAUSE_MS: u64 = 20_000;

/// The beginning of the daemon's greeting.
const GREETING: &str = "callgate is up";

/// Commands that agents want to run.
const COMMANDS: [&str; 10] = [
    "cargo test --workspace",
    "git status --short",
    "ls -la src",
    "cat README.md",
    "git push origin main",
    "npm run build",
    "rm -rf target",
    "grep -rn \"fn main\" src | head -20",
    "python3 scripts/run.py --input data/file-NUMBER.json",
    "sed -n 1,NUMBERp src/main.rs && echo done",
];

/// The rules for the backtest.
const RULES: &str = include_str!("../../src/rules/starter.toml");

/// A home of its own.
pub(crate) struct House {
    folder: TempDir,
}

impl House {
    /// Creates a home whose ledger has this many entries.
    pub(crate) fn with(entries: u64) -> Self {
        let house = Self { folder: tempfile::tempdir().unwrap() };
        let config = house.folder.path().join(".config/callgate");
        fs::create_dir_all(&config).unwrap();
        let socket = house.folder.path().join("ask.sock");
        let settings = format!("socket = \"{}\"\n", socket.display());
        fs::write(config.join("config.toml"), settings).unwrap();
        fs::write(config.join("rules.toml"), RULES).unwrap();
        let mut store = Store::open(&house.ledger()).unwrap();
        let questions = entries / PER_QUESTION;
        for first in (0..questions).step_by(usize::try_from(AT_ONCE).unwrap()) {
            let numbers = first..questions.min(first + AT_ONCE);
            store.append(&numbers.flat_map(question).collect::<Vec<_>>()).unwrap();
        }
        drop(store);
        house
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join(".local/share/callgate/callgate.db")
    }

    fn callgate(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_callgate"));
        command.env_clear().env("HOME", self.folder.path()).args(arguments);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str], expected: &str) -> Output {
        let output = self.callgate(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.contains(expected), "{arguments:?}: {output:?}");
        output
    }

    /// Measures from the start of the daemon until it reports that it is ready; then ends it.
    pub(crate) fn up(&self) {
        let mut command = self.callgate(&["up", "--no-terminal"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut told = [0; GREETING.len()];
        let greeted = child.stdout.take().unwrap().read_exact(&mut told);
        child.kill().unwrap();
        child.wait().unwrap();
        greeted.unwrap();
        assert_eq!(String::from_utf8_lossy(&told), GREETING);
    }

    /// Verifies the whole chain.
    pub(crate) fn verify(&self) {
        let output = self.run(&["log", "--verify"], "The ledger is whole");
        assert!(output.status.success());
    }

    /// Runs all checks; problems other than those of the ledger do not matter here.
    pub(crate) fn doctor(&self) {
        self.run(&["doctor"], "is whole");
    }

    /// Tests the starter rules against all questions.
    pub(crate) fn backtest(&self) {
        self.run(&["rules", "backtest"], " questions: ");
    }

    /// Runs the database's own check of the same file, with one thread.
    pub(crate) fn check_by_sqlite(&self) {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(self.ledger(), flags).unwrap();
        let found: String =
            connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(found, "ok");
    }
}

/// Returns the entries of one question, as the desk writes them.
fn question(number: u64) -> Vec<EntryDraft> {
    let id = format!("{:08x}-0000-4000-8000-{number:012x}", number.wrapping_mul(0x9e37_79b9) >> 8);
    let at_ms = BEGAN_MS + i64::try_from(number * PAUSE_MS).unwrap();
    let command = COMMANDS[usize::try_from(number * 7 % 10).unwrap()];
    let command = command.replace("NUMBER", &number.to_string());
    let decision = if number % 10 == 4 { "deny" } else { "allow" };
    let session = format!("34fb81ac-7029-49d7-a308-{:012x}", number / 50);
    let request = json!({
        "request_id": id,
        "tool_name": "Bash",
        "tool_input": { "command": command, "description": "Run it in the project" },
        "cwd": "/home/ada/engine",
        "session_id": session,
        "permission_suggestions": [{
            "type": "addRules",
            "rules": [{ "toolName": "Bash", "ruleContent": command }],
            "behavior": "allow",
            "destination": "localSettings",
        }],
        "agent": "claude-code",
        "context": { "mode": "default", "last_words": "I run the tests and look at what fails." },
    });
    let asked = json!({
        "tool": "Bash",
        "summary": command,
        "cwd": "/home/ada/engine",
        "session": session,
        "agent": "claude-code",
        "ruling": "ask",
        "because": null,
        "digest": format!("{number:064x}"),
        "until_ms": at_ms + 300_000,
        "request": request,
        "mode": "default",
    });
    let draft = |kind: &str, body: &Value| EntryDraft {
        at_ms,
        kind: kind.to_owned(),
        question: Some(id.clone()),
        body: body.to_string(),
    };
    let by = json!({ "channel": "terminal", "by": "you" });
    vec![
        draft("asked", &asked),
        draft("shown", &json!({ "channel": "terminal" })),
        draft("pressed", &by),
        draft("decided", &json!({ "decision": decision, "channel": "terminal", "by": "you" })),
        draft("closed", &json!({ "how": "answered" })),
    ]
}
