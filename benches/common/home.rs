//! A home with settings, rules and a daemon, and its hooks.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use callgate_client::viewer::Viewer;
use tempfile::TempDir;

/// The input that Claude Code gives its hook. At the first question of a session the transcript
/// that it names does not exist yet.
pub(crate) const INPUT: &str = r#"{"session_id":"34fb81ac-7029-49d7-a308-5c29182e1dc2","transcript_path":"/nowhere/transcript.jsonl","cwd":"/work","prompt_id":"p","permission_mode":"default","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make build","description":"Build"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make build *"}],"behavior":"allow","destination":"localSettings"}]}
"#;

/// The rules of a home in which the hook's question is allowed.
const ALLOWING: &str =
    "[[rule]]\nname = \"builds\"\ndecide = \"allow\"\ncommand = \"make build\"\n";

/// A home with settings and rules.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::with_rules(Some(ALLOWING))
    }

    pub(crate) fn with_rules(rules: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join(".config/callgate");
        fs::create_dir_all(&config).unwrap();
        let home = Self { folder };
        let settings = format!("socket = \"{}\"\n", home.socket().display());
        fs::write(config.join("config.toml"), settings).unwrap();
        if let Some(rules) = rules {
            fs::write(config.join("rules.toml"), rules).unwrap();
        }
        home
    }

    /// The socket of hooks.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("ask.sock")
    }

    /// The socket of viewers.
    pub(crate) fn desk_socket(&self) -> PathBuf {
        self.folder.path().join(".local/share/callgate/desk.sock")
    }

    /// The file of the ledger.
    pub(crate) fn ledger(&self) -> PathBuf {
        self.folder.path().join(".local/share/callgate/callgate.db")
    }

    /// Connects to the desk as a viewer.
    pub(crate) fn viewer(&self) -> Viewer {
        Viewer::connect(&self.desk_socket()).unwrap()
    }

    /// Waits until this many questions are open.
    pub(crate) fn wait_for_open(&self, count: u64) {
        let mut viewer = self.viewer();
        while viewer.status().unwrap().open != count {
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn callgate(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_callgate"));
        command.args(arguments);
        command
    }

    /// The hook as `callgate install` registers it: the small program.
    pub(crate) fn hook(&self) -> Command {
        self.program(env!("CARGO_BIN_EXE_callgate-hook"))
    }

    /// Creates a command in the same small environment. In the environment of a benchmark, in which
    /// cargo has set library folders, every program would start later.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.folder.path());
        command
    }

    /// Returns the folder of the home.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts a daemon and waits until it serves.
    pub(crate) fn daemon(&self) -> Daemon {
        self.daemon_with(&[])
    }

    /// The same, with further environment variables.
    pub(crate) fn daemon_with(&self, variables: &[(&str, &str)]) -> Daemon {
        let mut command = self.callgate(&["up", "--no-terminal"]);
        command.envs(variables.iter().copied()).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        while UnixStream::connect(self.socket()).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
        Daemon(child)
    }
}

/// A daemon that is ended when this is dropped.
pub(crate) struct Daemon(Child);

impl Daemon {
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Runs a program with the input until it has ended, and returns the microseconds. It has to print
/// `expected`, or nothing.
pub(crate) fn run(command: &mut Command, input: &str, expected: &str) -> f64 {
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let mut output = String::new();
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(child.wait().unwrap().success());
    let taken = begun.elapsed().as_secs_f64() * 1e6;
    assert!(output.contains(expected) && output.is_empty() == expected.is_empty(), "{output}");
    taken
}
