//! A model whose CLI talks to a fake service, with the tools that the tests need.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use callgate_claude::{
    ClaudeError, ClaudeEvent, ClaudeSettings, ClaudeStream, Model, ToolTransport,
};
use callgate_testkit::claude::Claude;
use callgate_testkit::leaks::Leaks;
use callgate_testkit::messages::{Messages, Recorded, ToolResult, Turn};
use callgate_testkit::{proc, tools};
use callgate_tools::{Host, Tool, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

/// Both ways to the tools: every scenario goes both.
pub(crate) const TRANSPORTS: [ToolTransport; 2] = [ToolTransport::Stdio, ToolTransport::Sdk];
/// How long anything may take. Nothing waits for it to pass: it only ends a test that hangs.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);
/// A command that ends only when it is ended, and that the CLI runs without asking.
pub(crate) const ENDLESS: &str = "until false; do sleep 1; done";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Words {
    pub(crate) text: String,
}

/// A turn of the model that uses a tool of ours.
pub(crate) fn uses(tool: &str, text: &str) -> Turn {
    Turn::tool_use(format!("mcp__callgate__{tool}"), json!({"text": text}))
}

/// A turn of the model that runs a command.
pub(crate) fn runs(command: &str) -> Turn {
    Turn::tool_use("Bash", json!({"command": command, "description": "A command."}))
}

/// A CLI's surroundings, checked for leaks at the end.
pub(crate) struct Stage {
    pub(crate) fake: Messages,
    pub(crate) claude: Claude,
    _leaks: Leaks,
    pub(crate) visits: Arc<Visits>,
    /// Where sockets and short-lived files are.
    pub(crate) folder: TempDir,
}

impl Stage {
    /// `None` where the CLI is not installed.
    pub(crate) fn new(turns: impl IntoIterator<Item = Turn>) -> Option<Self> {
        tools::claude()?;
        let folder = tempfile::tempdir().unwrap();
        let leaks = Leaks::watch(folder.path(), &[""]).marker(folder.path().to_str().unwrap());
        let fake = Messages::start(turns);
        let claude = Claude::new(&fake);
        Some(Self { fake, claude, _leaks: leaks, visits: Arc::default(), folder })
    }

    pub(crate) fn settings(&self) -> ClaudeSettings {
        let mut settings = ClaudeSettings::new()
            .cli(tools::claude().unwrap())
            .env_clear()
            .folder(self.claude.work())
            .temporary_folder(self.folder.path())
            // Ends a test that hangs, with a reason.
            .time_limit(DEADLINE)
            // Also marks the CLI and its children as this test's.
            .env("CALLGATE_TEST_FOLDER", self.folder.path());
        for (name, value) in self.claude.environment() {
            settings = settings.env(name, value);
        }
        settings
    }

    pub(crate) fn host(&self, more: impl IntoIterator<Item = Tool>) -> Host {
        let echo = Tool::blocking("echo", "Says it again.", |args: Words, _| {
            format!("{}, says process {}", args.text, std::process::id())
        });
        let fail = Tool::blocking("fail", "Fails.", |args: Words, _| {
            Err::<(), _>(ToolError::named("ValueError", args.text))
        });
        Host::new([echo, fail, self.visits.tool()].into_iter().chain(more))
            .unwrap()
            .folder(self.folder.path())
            .bridge(env!("CARGO_BIN_EXE_callgate"))
    }

    pub(crate) fn model(&self, transport: ToolTransport) -> Model {
        self.model_with(self.settings(), transport)
    }

    pub(crate) fn model_with(&self, settings: ClaudeSettings, transport: ToolTransport) -> Model {
        let mut model = Model::with_settings(settings);
        model.set_tools(self.host([]), transport);
        model
    }

    /// What the model was told of each tool it used, in order.
    pub(crate) fn told(&self) -> Vec<ToolResult> {
        let requests = self.fake.main_requests();
        requests.iter().skip(1).flat_map(Recorded::tool_results).collect()
    }

    /// The last request of the main conversation, as JSON text.
    pub(crate) fn sent(&self) -> String {
        self.fake.last().body.to_string()
    }

    /// The processes of this test with this text in their command line.
    pub(crate) fn processes(&self, text: &str) -> Vec<u32> {
        let folder = self.folder.path().to_str().unwrap();
        let is_ours = |pid: &u32| {
            proc::command_line(*pid).contains(text) && proc::environment(*pid).contains(folder)
        };
        proc::all().iter().map(|process| process.pid).filter(is_ours).collect()
    }

    /// The CLI's process.
    pub(crate) fn cli(&self) -> u32 {
        let found = self.processes("--input-format");
        assert_eq!(found.len(), 1, "one CLI runs");
        found[0]
    }

    /// A program that does what `script` says.
    pub(crate) fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.claude.folder().join(name);
        // Written by another process: a child that another test starts meanwhile would hold a file
        // open that this one writes, and a program that is being written cannot be started.
        let mut writer = Command::new("/bin/sh");
        writer.args(["-c", r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 700 "$2""#, "sh"]);
        assert!(writer.arg(script).arg(&path).status().unwrap().success());
        path
    }
}

/// Ends a process at once, without a chance to tidy up.
pub(crate) fn kill(pid: u32) {
    let kill = format!("kill -KILL {pid}");
    assert!(Command::new("/bin/sh").args(["-c", &kill]).status().unwrap().success());
}

/// Everything that happened, to the end.
pub(crate) async fn read(mut stream: ClaudeStream) -> (Vec<ClaudeEvent>, Option<ClaudeError>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

/// Reads the stream until `until` is over.
pub(crate) async fn read_until(stream: &mut ClaudeStream, until: impl Future<Output = ()>) {
    tokio::pin!(until);
    loop {
        tokio::select! {
            () = &mut until => return,
            event = stream.next() => { event.expect("it goes on").expect("no error"); }
        }
    }
}

/// The calls of the tool `wait`, which stay until they are released or cancelled.
#[derive(Debug)]
pub(crate) struct Visits {
    counts: watch::Sender<Counts>,
    permits: Semaphore,
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    entered: usize,
    cancelled: usize,
}

impl Default for Visits {
    fn default() -> Self {
        Self { counts: watch::Sender::default(), permits: Semaphore::new(0) }
    }
}

impl Visits {
    /// Lets one call return, now or when it comes.
    pub(crate) fn release(&self) {
        self.permits.add_permits(1);
    }

    /// Waits until so many calls have come.
    pub(crate) async fn entered(&self, count: usize) {
        self.wait(|counts| counts.entered >= count).await;
    }

    /// Waits until so many calls have been cancelled.
    pub(crate) async fn cancelled(&self, count: usize) {
        self.wait(|counts| counts.cancelled >= count).await;
    }

    /// Waits until every call that has come was cancelled.
    pub(crate) async fn none_inside(&self) {
        self.wait(|counts| counts.entered == counts.cancelled).await;
    }

    async fn wait(&self, is_so: impl FnMut(&Counts) -> bool) {
        let mut counts = self.counts.subscribe();
        let waited = timeout(DEADLINE, counts.wait_for(is_so)).await;
        assert!(waited.is_ok(), "{self:?}");
    }

    /// Stays until it is released; dropped before, it was cancelled.
    pub(crate) fn stay(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<> {
        Visit::new(self).stay()
    }

    fn tool(self: &Arc<Self>) -> Tool {
        let visits = Arc::clone(self);
        Tool::new("wait", "Waits until it is released.", move |args: Words, _| {
            let stay = visits.stay();
            async move {
                stay.await;
                args.text
            }
        })
    }
}

/// One call of `wait`; dropped before its release it was cancelled.
struct Visit {
    visits: Arc<Visits>,
    is_released: bool,
}

impl Visit {
    fn new(visits: &Arc<Visits>) -> Self {
        visits.counts.send_modify(|counts| counts.entered += 1);
        Self { visits: Arc::clone(visits), is_released: false }
    }

    async fn stay(mut self) {
        self.visits.permits.acquire().await.unwrap().forget();
        self.is_released = true;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if !self.is_released {
            self.visits.counts.send_modify(|counts| counts.cancelled += 1);
        }
    }
}

/// The value of a variable in what `env` has written.
pub(crate) fn variable<'a>(environment: &'a str, name: &str) -> Option<&'a str> {
    environment.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// The input of a command, as the CLI knows it.
pub(crate) fn command(command: &str) -> Value {
    json!({"command": command, "description": "A command."})
}
