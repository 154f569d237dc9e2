//! The host that every peer uses, with a tool for each thing that can happen to a call.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::time::Duration;

use callgate_testkit::leaks::Leaks;
use callgate_testkit::proc;
use callgate_tools::blocking::{self, BlockingSession};
use callgate_tools::{BridgeCommand, CallContext, Host, McpClient, NoArguments, ToolContent};
use callgate_tools::{StructuredOutput, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::Semaphore;

/// How long anything may take. Nothing waits for it to pass: it only ends a test that hangs.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);
/// How many calls of `ro_wait` have to be inside at once before any of them returns.
pub(crate) const TOGETHER: usize = 3;
/// What clients call the server.
pub(crate) const NAME: &str = "peers";
/// What `picture` shows: one pixel.
pub(crate) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\
                                YPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/// A text that has to come back as it went.
pub(crate) const ODD_TEXT: &str = "grüße, 世界 🦀 \"\\/\n\r\t\u{1}\u{7f}\u{2028}\u{feff}\u{10ffff}";

/// A running host in a folder of its own.
///
/// Dropped, it checks in the order of its fields that nothing is left: first, while the host
/// still serves, that every bridge has ended with its client; then, after the host, its files.
#[derive(Debug)]
pub(crate) struct Fixture {
    _processes: Leaks,
    session: Option<BlockingSession>,
    _files: Leaks,
    pub(crate) calls: Arc<Calls>,
    names: Vec<String>,
    folder: TempDir,
}

impl Fixture {
    /// A host that takes one call at a time, as hosts do unless they say otherwise.
    pub(crate) fn sequential() -> Self {
        Self::start(1)
    }

    /// A host that takes as many calls at once as `ro_wait` needs.
    pub(crate) fn parallel() -> Self {
        Self::start(TOGETHER)
    }

    fn start(connections: usize) -> Self {
        let calls = Arc::new(Calls::default());
        let fixture = Self::serving(tools(&calls), connections);
        Self { calls, ..fixture }
    }

    /// A host with tools of one's own.
    pub(crate) fn serving(tools: Vec<Tool>, connections: usize) -> Self {
        let folder = TempDir::with_prefix("callgate-peers-").unwrap();
        let sockets = folder.path().join("host");
        fs::create_dir(&sockets).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        let marker = folder.path().to_str().unwrap();
        let processes = Leaks::watch(&sockets, &[]).marker(marker).deadline(DEADLINE);
        let files = Leaks::watch(&sockets, &[""]).deadline(DEADLINE);
        let host = Host::new(tools).unwrap().named(NAME).unwrap();
        let host = host.folder(sockets).connections(connections);
        let host = host.bridge(env!("CARGO_BIN_EXE_callgate"));
        let names = host.tool_names().map(str::to_owned).collect();
        let session = Some(blocking::start(&host).unwrap());
        let calls = Arc::default();
        Self { _processes: processes, session, _files: files, calls, names, folder }
    }

    /// The names of the host's tools, in their order.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// A folder that a peer may fill.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Ends the host while its clients go on.
    pub(crate) fn stop_host(&mut self) {
        self.session.take().unwrap().stop();
    }

    fn session(&self) -> &BlockingSession {
        self.session.as_ref().unwrap()
    }

    pub(crate) fn bridge(&self) -> BridgeCommand {
        self.session().bridge_command().unwrap()
    }

    pub(crate) fn mcp_config(&self, client: McpClient) -> Value {
        serde_json::from_str(&self.settings(client)).unwrap()
    }

    /// A client's settings, as text.
    pub(crate) fn settings(&self, client: McpClient) -> String {
        self.session().mcp_config(client).unwrap()
    }

    /// The process ids of the bridges that run now.
    pub(crate) fn bridges(&self) -> Vec<u32> {
        let socket = self.session().socket_path().to_str().unwrap();
        let is_bridge = |pid: &u32| {
            let line = proc::command_line(*pid);
            line.starts_with(env!("CARGO_BIN_EXE_callgate")) && line.contains(socket)
        };
        proc::all().iter().map(|process| process.pid).filter(is_bridge).collect()
    }
}

/// The path of a peer's script.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/clients").join(name)
}

/// Ends a process at once, without a chance to tidy up.
pub(crate) fn kill(pid: u32) {
    let kill = format!("kill -KILL {pid}");
    assert!(Command::new("/bin/sh").args(["-c", &kill]).status().unwrap().success());
}

/// The calls of `slow` and `report`, which stay until they are released or cancelled.
#[derive(Debug)]
pub(crate) struct Calls {
    counts: Mutex<Counts>,
    changed: Condvar,
    permits: Semaphore,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Calls that wait inside the host now.
    pub(crate) inside: usize,
    /// Calls that have been cancelled.
    pub(crate) cancelled: usize,
}

impl Default for Calls {
    fn default() -> Self {
        Self { counts: Mutex::default(), changed: Condvar::new(), permits: Semaphore::new(0) }
    }
}

impl Calls {
    /// Lets one call return, now or when it comes.
    pub(crate) fn release(&self) {
        self.permits.add_permits(1);
    }

    /// Waits until the counts are these.
    pub(crate) fn wait_for(&self, inside: usize, cancelled: usize) {
        let wanted = Counts { inside, cancelled };
        let counts = self.counts.lock().unwrap();
        let end = self.changed.wait_timeout_while(counts, DEADLINE, |now| *now != wanted);
        assert_eq!(*end.unwrap().0, wanted);
    }

    /// Waits until a released or cancelled call leaves no trace.
    pub(crate) fn wait_until_none(&self) {
        let counts = self.counts.lock().unwrap();
        let end = self.changed.wait_timeout_while(counts, DEADLINE, |now| now.inside > 0);
        assert_eq!(end.unwrap().0.inside, 0);
    }

    async fn stay(self: Arc<Self>) {
        let mut visit = Visit::new(Arc::clone(&self));
        self.permits.acquire().await.unwrap().forget();
        visit.is_released = true;
    }

    fn change(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap());
        self.changed.notify_all();
    }
}

/// One call inside the host; dropped before its release it was cancelled.
struct Visit {
    calls: Arc<Calls>,
    is_released: bool,
}

impl Visit {
    fn new(calls: Arc<Calls>) -> Self {
        calls.change(|counts| counts.inside += 1);
        Self { calls, is_released: false }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let cancelled = usize::from(!self.is_released);
        self.calls.change(|counts| {
            counts.inside -= 1;
            counts.cancelled += cancelled;
        });
    }
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Big {
    /// How many bytes.
    bytes: usize,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Point {
    x: i64,
    y: i64,
}

fn tools(calls: &Arc<Calls>) -> Vec<Tool> {
    let echo = Tool::blocking("echo", "Gives the text back.", |args: Text, _| args.text);
    let add = Tool::blocking("add", "Adds two numbers.", |args: Add, _| {
        let sum = args.a.checked_add(args.b).map(|sum| sum.to_string());
        sum.ok_or_else(|| ToolError::named("OverflowError", "the sum is too large"))
    });
    let fail = Tool::blocking("fail", "Fails.", |args: Text, _| -> Result<(), ToolError> {
        Err(ToolError::named("ValueError", args.text))
    });
    let big = Tool::blocking("big", "Gives many bytes.", |args: Big, _| "x".repeat(args.bytes));
    let picture = Tool::blocking("picture", "Shows a pixel.", |_: NoArguments, _| {
        vec![ToolContent::text("a pixel"), ToolContent::image(PIXEL, "image/png")]
    });
    let structured = Tool::blocking("structured", "Mirrors a point.", |point: Point, _| {
        StructuredOutput(Point { x: -point.x, y: -point.y })
    })
    .output_schema(schemars::schema_for!(Point).to_value());
    let mut tools = vec![echo, add, fail, big, picture, structured];
    tools.extend([slow(calls), report(calls), release(calls), ro_wait()]);
    tools
}

fn slow(calls: &Arc<Calls>) -> Tool {
    let calls = Arc::clone(calls);
    Tool::new("slow", "Waits until it is released.", move |args: Text, _| {
        let calls = Arc::clone(&calls);
        async move {
            calls.stay().await;
            args.text
        }
    })
}

fn report(calls: &Arc<Calls>) -> Tool {
    let calls = Arc::clone(calls);
    Tool::new(
        "report",
        "Reports, then waits as slow does.",
        move |_: NoArguments, call: CallContext| {
            let calls = Arc::clone(&calls);
            async move {
                call.report(1.0, Some(3.0), Some("one"));
                call.report(2.0, Some(3.0), Some("zwei ü"));
                call.report(3.0, Some(3.0), None);
                calls.stay().await;
                "reported"
            }
        },
    )
}

fn release(calls: &Arc<Calls>) -> Tool {
    let calls = Arc::clone(calls);
    Tool::blocking("release", "Lets one waiting call return.", move |_: NoArguments, _| {
        calls.release();
    })
}

fn ro_wait() -> Tool {
    let all_inside = Barrier::new(TOGETHER);
    Tool::blocking("ro_wait", "Returns when enough calls are inside.", move |args: Text, _| {
        all_inside.wait();
        args.text
    })
    .read_only()
    .time_limit(DEADLINE)
}
