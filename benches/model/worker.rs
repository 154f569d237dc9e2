//! A program that uses the model, as small as possible: the equivalent of `peers/agent_sdk.py`.
//!
//!     worker TRANSPORT FOLDER TEMPORARY
//!
//! For each line on stdin, which names a CLI, it sends one request and prints how many nanoseconds
//! it took, and what its bridge had used when the tool was called: microseconds of a processor and
//! KiB of memory. These are measured only if the line begins with [`LOOK`].

use std::env;
use std::fs;
use std::future::ready;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use callgate_claude::{ClaudeSettings, Model, ToolTransport};
use callgate_tools::{Host, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::conversation::{ANSWER, DESCRIPTION, PROMPT, TOOL};
use crate::lines::Input;

/// The first argument of the benchmark that makes it a worker.
pub(crate) const NAME: &str = "worker";
/// The names of the transports on the command line.
pub(crate) const AUTO: &str = "auto";
pub(crate) const STDIO: &str = "stdio";
/// The prefix of a line for whose request the bridge's figures are required.
pub(crate) const LOOK: &str = "look ";

#[derive(Deserialize, JsonSchema)]
struct Words {
    text: String,
}

struct Worker {
    transport: ToolTransport,
    folder: PathBuf,
    temporary: PathBuf,
    host: Host,
    eye: Arc<Eye>,
    runtime: Runtime,
}

/// Measures the bridge while the tool is called.
#[derive(Default)]
struct Eye {
    is_open: AtomicBool,
    seen: Mutex<String>,
}

pub(crate) fn run() -> ExitCode {
    let [transport, folder, temporary] = [2, 3, 4].map(|n| env::args().nth(n).expect("see above"));
    let transport = if transport == STDIO { ToolTransport::Stdio } else { ToolTransport::Auto };
    let worker = Worker::new(transport, folder.into(), temporary.into());
    let mut lines = Input::new();
    while let Some(line) = lines.next(&mut io::stdin()) {
        match line.strip_prefix(LOOK) {
            Some(cli) => println!("{}", worker.look(cli)),
            None => println!("{}", worker.time(&line)),
        }
    }
    ExitCode::SUCCESS
}

impl Worker {
    fn new(transport: ToolTransport, folder: PathBuf, temporary: PathBuf) -> Self {
        let eye = Arc::new(Eye::default());
        let tool = echo(Arc::clone(&eye), temporary.clone());
        let host = Host::new([tool]).expect("the tool is right");
        let host = host.folder(&temporary).bridge(env!("CARGO_BIN_EXE_callgate"));
        let runtime = Runtime::new().expect("a runtime can be made");
        Self { transport, folder, temporary, host, eye, runtime }
    }

    /// Sends one request, and returns the nanoseconds.
    fn time(&self, cli: &str) -> u128 {
        let settings =
            ClaudeSettings::new().cli(cli).folder(&self.folder).temporary_folder(&self.temporary);
        let mut model = Model::with_settings(settings);
        model.set_tools(self.host.clone(), self.transport);
        let begin = Instant::now();
        let answer = self.runtime.block_on(model.request(PROMPT)).expect("the model answers");
        let took = begin.elapsed().as_nanos();
        assert_eq!(answer, ANSWER);
        took
    }

    /// Sends one request, and returns what the bridge had used.
    fn look(&self, cli: &str) -> String {
        self.eye.is_open.store(true, Ordering::Relaxed);
        self.time(cli);
        self.eye.is_open.store(false, Ordering::Relaxed);
        self.eye.seen.lock().expect("nobody panics").clone()
    }
}

fn echo(eye: Arc<Eye>, temporary: PathBuf) -> Tool {
    Tool::new(TOOL, DESCRIPTION, move |words: Words, _| {
        if eye.is_open.load(Ordering::Relaxed) {
            *eye.seen.lock().expect("nobody panics") = bridge_figures(&temporary);
        }
        ready(words.text)
    })
}

/// Returns the processor time in microseconds and the peak of memory in KiB of the bridge whose
/// socket is in `folder`; zeros if there is none.
fn bridge_figures(folder: &Path) -> String {
    let processes = fs::read_dir("/proc").expect("Linux has /proc").flatten();
    let bridge = processes.map(|entry| entry.path()).find(|process| is_bridge(process, folder));
    let Some(bridge) = bridge else { return "0 0".to_owned() };
    let read = |name: &str| fs::read_to_string(bridge.join(name)).unwrap_or_default();
    let first = |text: &str| text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
    let nanoseconds = first(&read("schedstat")).expect("Linux counts processor time");
    let status = read("status");
    let peak = status.lines().find_map(|line| first(line.strip_prefix("VmHWM:")?));
    format!("{} {}", nanoseconds / 1000, peak.expect("Linux counts memory"))
}

fn is_bridge(process: &Path, folder: &Path) -> bool {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    line.contains("\0bridge\0") && line.contains(&*folder.to_string_lossy())
}
