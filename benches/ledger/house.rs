//! A home with a ledger of a given length, and the operations on it.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::past_questions;

/// The time between two questions.
const PAUSE: Duration = Duration::from_secs(20);

/// The beginning of the daemon's greeting.
const GREETING: &str = "callgate is up";

/// The rules for the backtest.
const RULES: &str = include_str!("../../crates/rules/src/starter.toml");

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
        past_questions::write(&house.ledger(), entries, PAUSE);
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
