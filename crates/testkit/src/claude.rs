//! Runs the real Claude Code CLI against the fake Messages API: offline, with an environment and
//! folders of its own, and with a deadline.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::messages::{Messages, ToolResult, tool_results};
use crate::process::{self, Finished};
use crate::tools;

/// The key that it shows the fake.
const API_KEY: &str = "callgate-test-key";
/// How long a run may take unless the test says otherwise.
const LIMIT: Duration = Duration::from_mins(1);

/// One run of the CLI in the making.
///
/// ```no_run
/// use callgate_testkit::{claude::Claude, messages::{Messages, Turn}};
///
/// if Claude::find().is_none() {
///     return; // absent: the reason is printed
/// }
/// let fake = Messages::start([Turn::text("Hello")]);
/// let run = Claude::new(&fake).prompt("Say hello").run();
/// assert_eq!(run.result_text(), "Hello");
/// ```
#[derive(Debug)]
pub struct Claude {
    program: PathBuf,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    folder: TempDir,
    limit: Duration,
}

impl Claude {
    /// Returns the pinned CLI. Where it is absent the reason is printed; with `CI=true` that fails.
    pub fn find() -> Option<PathBuf> {
        tools::claude()
    }

    /// Creates a run that talks to `fake`; needs [`Claude::find`] to have found the CLI.
    #[must_use]
    pub fn new(fake: &Messages) -> Self {
        let program = Self::find().expect("a test returns early where the CLI is absent");
        let folder = TempDir::with_prefix("claude-").expect("a temporary folder can be made");
        for name in ["home", "config", "tmp", "work"] {
            fs::create_dir(folder.path().join(name)).expect("a fresh folder is empty");
        }
        let environment = environment(folder.path(), &fake.url());
        Self { program, args: Vec::new(), environment, folder, limit: LIMIT }
    }

    /// Sets what the user says; makes it a run that prints events and ends.
    #[must_use]
    pub fn prompt(self, text: impl AsRef<OsStr>) -> Self {
        self.prompt_in("default", text)
    }

    /// Like [`prompt`](Self::prompt) in this permission mode; an empty one leaves it to the CLI.
    #[must_use]
    pub fn prompt_in(self, mode: &str, text: impl AsRef<OsStr>) -> Self {
        let print = ["--output-format", "stream-json", "--verbose"];
        self.arg("-p").arg(text).args(print).in_mode(mode)
    }

    fn in_mode(self, mode: &str) -> Self {
        if mode.is_empty() { self } else { self.args(["--permission-mode", mode]) }
    }

    /// Sets what the user says first at a terminal (see [`Terminal`](crate::terminal::Terminal)).
    /// What it would ask at its first start is answered, and it draws plain lines.
    #[must_use]
    pub fn at_terminal(self, text: impl AsRef<OsStr>) -> Self {
        self.at_terminal_in("default", text)
    }

    /// Like [`at_terminal`](Self::at_terminal) in this permission mode; an empty one leaves it to
    /// the CLI.
    #[must_use]
    pub fn at_terminal_in(self, mode: &str, text: impl AsRef<OsStr>) -> Self {
        let work = self.work().canonicalize().expect("the folder is there");
        let work = work.to_str().expect("a temporary folder has a plain name");
        let answered = json!({
            "hasCompletedOnboarding": true,
            "bypassPermissionsModeAccepted": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": [API_KEY], "rejected": [] },
            "projects": { work: { "hasTrustDialogAccepted": true } },
        });
        self.write("config/.claude.json", &answered);
        self.arg("--ax-screen-reader").in_mode(mode).arg(text)
    }

    /// Sets the MCP servers, in place of all others.
    #[must_use]
    pub fn mcp_config(self, config: &Value) -> Self {
        let file = self.write("mcp.json", config);
        self.arg("--mcp-config").arg(file).arg("--strict-mcp-config")
    }

    /// Settings, for instance hooks.
    #[must_use]
    pub fn settings(self, settings: &Value) -> Self {
        let file = self.write("settings.json", settings);
        self.arg("--settings").arg(file)
    }

    /// Sets the tools that run without a question.
    #[must_use]
    pub fn allowed_tools<T: AsRef<str>>(self, tools: impl IntoIterator<Item = T>) -> Self {
        let names: Vec<String> = tools.into_iter().map(|name| name.as_ref().to_owned()).collect();
        self.arg("--allowedTools").arg(names.join(","))
    }

    /// Sets one variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.retain(|(other, _)| other != name.as_ref());
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<T: AsRef<OsStr>>(self, args: impl IntoIterator<Item = T>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// Sets how long the run may take.
    #[must_use]
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Returns the private folder with everything that the run writes; its path is in the
    /// environment of every process that the CLI starts, so it is a good marker for a leak check.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder that the CLI works in.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Returns the whole environment of the CLI, for code that starts it by itself.
    pub fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Returns the command, for a test that talks to the CLI while it runs. The folders live as
    /// long as this value.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(self.work());
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs to the end. After the deadline the whole process group is killed and the test fails
    /// with what the CLI wrote.
    pub fn run(self) -> Run {
        let finished = process::run(self.command(), self.limit);
        let lines = finished.stdout.lines().filter(|line| !line.trim().is_empty());
        let event = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| {
                panic!("the CLI printed no JSON ({error}): {line}\n{}", finished.stderr)
            })
        };
        Run { events: lines.map(event).collect(), finished, folder: self.folder }
    }

    fn write(&self, name: &str, content: &Value) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content.to_string()).expect("the private folder can be written");
        path
    }
}

fn environment(folder: &Path, url: &str) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let inside = |name: &str| folder.join(name).into_os_string();
    let set = [
        ("PATH", path),
        ("LANG", "C.UTF-8".into()),
        ("HOME", inside("home")),
        ("CLAUDE_CONFIG_DIR", inside("config")),
        ("CLAUDE_CODE_TMPDIR", inside("tmp")),
        ("ANTHROPIC_API_KEY", API_KEY.into()),
        ("ANTHROPIC_BASE_URL", url.into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        ("ENABLE_TOOL_SEARCH", "false".into()),
    ];
    set.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// A run that has ended.
#[derive(Debug)]
pub struct Run {
    /// What the CLI printed, in order.
    pub events: Vec<Value>,
    finished: Finished,
    folder: TempDir,
}

impl Run {
    /// Returns how it ended.
    pub fn status(&self) -> ExitStatus {
        self.finished.status
    }

    /// Returns what it wrote to stderr.
    pub fn stderr(&self) -> &str {
        &self.finished.stderr
    }

    /// Returns the private folder of the run.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the `init` event.
    pub fn init(&self) -> &Value {
        let init = |event: &&Value| event["type"] == "system" && event["subtype"] == "init";
        self.events.iter().find(init).unwrap_or_else(|| self.fail("no init event came"))
    }

    /// Returns the tools that the CLI offers its model.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.init()["tools"].as_array().into_iter().flatten();
        tools.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
    }

    /// Returns the MCP servers and the state of each, such as `connected`.
    pub fn mcp_servers(&self) -> Vec<(String, String)> {
        let servers = self.init()["mcp_servers"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        servers.map(|server| (text(&server["name"]), text(&server["status"]))).collect()
    }

    /// Returns the results of all tools that ran, in order.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let users = self.events.iter().filter(|event| event["type"] == "user");
        users.flat_map(|event| tool_results(&event["message"])).collect()
    }

    /// Returns the final `result` event.
    pub fn result(&self) -> &Value {
        let last = self.events.iter().rev().find(|event| event["type"] == "result");
        last.unwrap_or_else(|| self.fail("no result event came"))
    }

    /// Returns the final text.
    pub fn result_text(&self) -> &str {
        self.result()["result"].as_str().unwrap_or_else(|| self.fail("the result has no text"))
    }

    fn fail(&self, what: &str) -> ! {
        let Finished { status, stdout, stderr, .. } = &self.finished;
        panic!("{what} ({status})\n--- stderr ---\n{stderr}\n--- stdout ---\n{stdout}");
    }
}
