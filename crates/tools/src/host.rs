//! Your process's side: the tools, and the sessions in which agents call them.

mod check;
mod config;
mod connection;
mod context;
mod inline;
mod outcome;
mod run;
mod session;
mod sweep;
mod tool;

pub mod blocking;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_wire::tools::error_type;
use serde_json::Value;
use serde_json::value::to_raw_value;

pub use config::{BridgeCommand, Client, run_bridge_if_asked};
use context::CallFacts;
pub use context::Context;
pub use inline::Inline;
pub use outcome::{Content, IntoOutcome, Output, Structured, ToolError};
pub use session::Session;
pub use tool::{NoArguments, Tool};

use crate::mcp::LONGEST_WORD;
use check::CheckedTool;

/// Larger arguments are checked on a thread of their own, in bytes.
const CHECKED_AT_ONCE: usize = 4 * 1024;

/// Why a host could not be made or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// A tool that real clients would refuse, most of them with the whole list.
    #[error("the tool {name:?} cannot be offered: {reason}")]
    Tool {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A filter names a tool that the host does not have.
    #[error("there is no tool called {0:?} to choose")]
    UnknownTool(String),
    /// The server's name cannot be used in a client's settings.
    #[error("the server name {0:?} cannot be used: take letters, digits, `-` and `_`")]
    Name(String),
    /// The session's socket could not be served.
    #[error(transparent)]
    Socket(#[from] callgate_link::socket::SocketError),
    /// The tools' descriptions and schemas are too large for any client.
    #[error("the tools take {size} bytes to describe, but {limit} bytes is the limit: offer fewer")]
    TooLarge {
        /// The size of their schema file.
        size: usize,
        /// The size allowed.
        limit: usize,
    },
    /// The session's schema file could not be written.
    #[error("cannot write the schema file {path}: {source}")]
    SchemaFile {
        /// Where.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// There is no tokio runtime here to serve the session.
    #[error("a session needs a tokio runtime: start it inside one, or use blocking::start")]
    NoRuntime,
    /// The socket or the runtime behind it could not be set up.
    #[error("cannot serve the session's socket: {0}")]
    Runtime(std::io::Error),
    /// No bridge was found to put into a client's settings.
    #[error("BridgeStartupError: {0}")]
    Bridge(String),
}

/// Checks a call's arguments; large ones aside, where they hold up nobody.
async fn check(tool: &Arc<CheckedTool>, call: CallFacts) -> Result<(Value, CallFacts), ToolError> {
    if call.arguments.get().len() <= CHECKED_AT_ONCE {
        return Ok((tool.check_arguments(&call.arguments)?, call));
    }
    let checked = Arc::clone(tool);
    let check = run::on_thread(move || Ok((checked.check_arguments(&call.arguments)?, call)));
    run::within(tool, check).await
}

/// A call, counted until this is dropped.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Tools that agents may call: the *created* state. [`start`](Self::start) makes a [`Session`]
/// of it, as many as you like, each with its own socket.
#[derive(Debug, Clone)]
pub struct Host {
    tools: Arc<[Arc<CheckedTool>]>,
    name: String,
    folder: Option<PathBuf>,
    bridge: Option<PathBuf>,
    connections: usize,
    /// How many calls are running.
    running: Arc<AtomicUsize>,
}

impl Host {
    /// A host of these tools; an error if one of them would not be accepted by real clients.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Result<Self, HostError> {
        let tools: Vec<Arc<CheckedTool>> = tools
            .into_iter()
            .map(|tool| CheckedTool::new(tool).map(Arc::new))
            .collect::<Result<_, _>>()?;
        for (place, tool) in tools.iter().enumerate() {
            if tools[..place].iter().any(|other| other.name() == tool.name()) {
                let reason = "another tool has this name".to_owned();
                return Err(HostError::Tool { name: tool.name().to_owned(), reason });
            }
        }
        Ok(Self {
            tools: tools.into(),
            name: "callgate".to_owned(),
            folder: None,
            bridge: None,
            connections: 1,
            running: Arc::default(),
        })
    }

    /// The name of the server in a client's settings, `callgate` unless you say. Agents see the
    /// tool `add` as `mcp__NAME__add`.
    pub fn named(mut self, name: impl Into<String>) -> Result<Self, HostError> {
        self.name = name.into();
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(is_good) {
            return Err(HostError::Name(self.name));
        }
        Ok(self)
    }

    /// The folder for sockets and schema files, the system's temporary folder unless you say.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The `callgate` program that agents start as the bridge. Without it the running program
    /// serves, if its `main` calls [`run_bridge_if_asked`], or else `callgate` on the `PATH`.
    #[must_use]
    pub fn bridge(mut self, program: impl Into<PathBuf>) -> Self {
        self.bridge = Some(program.into());
        self
    }

    /// How many calls of one agent may run at once, from 1 (the default) to 64. Agents call tools
    /// at once that are [`read_only`](Tool::read_only).
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections.clamp(1, 64);
        self
    }

    /// The same host with only these tools: for one request, say.
    pub fn only<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Self, HostError> {
        let find = |name: &str| {
            let tool = self.tool(name).map(Arc::clone);
            tool.ok_or_else(|| HostError::UnknownTool(name.to_owned()))
        };
        let mut tools: Vec<Arc<CheckedTool>> = Vec::new();
        for name in names {
            let tool = find(name)?;
            if !tools.iter().any(|chosen| chosen.name() == name) {
                tools.push(tool);
            }
        }
        Ok(Self { tools: tools.into(), ..self.clone() })
    }

    /// The names of the tools, in the order they are listed in.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name())
    }

    /// Calls a tool as an agent would, without a session: for your own tests.
    ///
    /// Gives MCP's `CallToolResult`. Has to run inside a tokio runtime; see
    /// [`blocking::call`] for programs without one.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, ToolError> {
        self.run(name, CallFacts::new(to_raw_value(&arguments)?), None).await
    }

    /// Starts a session: from now on agents can call the tools, until it is stopped or dropped.
    ///
    /// Has to run inside a tokio runtime; see [`blocking::start`] for programs without one.
    pub fn start(&self) -> Result<Session, HostError> {
        Session::start(self.clone())
    }

    /// The host as an MCP server inside this process, for clients that need no bridge.
    pub fn inline(&self) -> Result<Inline, HostError> {
        Inline::new(self.clone())
    }

    /// The name of the server in a client's settings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn tool(&self, name: &str) -> Option<&Arc<CheckedTool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Finds the tool, checks the arguments, and runs it to its end.
    async fn run(
        &self,
        name: &str,
        call: CallFacts,
        news: Option<tokio::sync::mpsc::Sender<Vec<u8>>>,
    ) -> Result<Value, ToolError> {
        let Some(tool) = self.tool(name) else { return Err(self.not_found(name)) };
        let _running = Running::new(&self.running);
        let (checked, call) = check(tool, call).await?;
        let (context, cancel) = Context::new(call, news);
        let outcome = run::run(tool, checked, context).await;
        drop(cancel);
        tool.check_result(outcome?)
    }

    fn not_found(&self, name: &str) -> ToolError {
        let names: Vec<&str> = self.tool_names().collect();
        let name: String = name.chars().take(LONGEST_WORD).collect();
        let message = format!("no tool is called {name:?}; there are: {}", names.join(", "));
        ToolError::named(error_type::NOT_FOUND, message)
    }

    /// The content of the schema file.
    fn schema_file(&self) -> Vec<u8> {
        let entries: Vec<Value> = self.tools.iter().map(|tool| tool.entry()).collect();
        Value::Array(entries).to_string().into_bytes()
    }
}
