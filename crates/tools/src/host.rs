//! The host, your process's side: the tools, and the sessions in which agents call them.

mod call;
mod check;
mod config;
mod connection;
mod context;
mod inline;
mod outcome;
mod session;
mod tool;

pub mod blocking;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use callgate_wire::raw::Json;
use callgate_wire::tools::RetryFields;
use serde_json::Value;

pub use config::{BridgeCommand, McpClient, run_bridge_if_asked};
pub use context::CallContext;
use context::CallFacts;
pub use inline::InlineServer;
pub use outcome::{IntoOutcome, StructuredOutput, ToolContent, ToolError, ToolOutput};
pub use session::HostSession;
pub use tool::{NoArguments, Tool};

use check::CheckedTool;

/// Why a host could not be made or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name them")]
pub enum HostError {
    /// A tool that real clients would refuse, most of them together with the whole list.
    #[error("cannot offer the tool {name:?}: {reason}")]
    Tool { name: String, reason: String },
    /// A filter names a tool that the host does not have.
    #[error("there is no tool {0:?}: choose one of the host's tools")]
    UnknownTool(String),
    /// The server's name cannot be used in a client's settings.
    #[error("the server name {0:?} is invalid: use up to 64 letters, digits, `-` and `_`")]
    Name(String),
    /// The session's socket could not be served.
    #[error(transparent)]
    Socket(#[from] callgate_link::socket::SocketError),
    /// The tools' descriptions and schemas are too large for any client.
    #[error("the schema file would have {size} bytes, but {limit} is the limit: offer fewer tools")]
    TooLarge { size: usize, limit: usize },
    /// The session's schema file could not be written.
    #[error("cannot write the schema file {path}: {source}")]
    SchemaFile { path: PathBuf, source: std::io::Error },
    /// There is no tokio runtime to serve the session.
    #[error("a session needs a tokio runtime: start it inside one, or use blocking::start")]
    NoRuntime,
    /// The socket or the runtime behind it could not be set up.
    #[error("cannot serve the session's socket: {0}")]
    Runtime(std::io::Error),
    /// No bridge was found to put into a client's settings.
    #[error("BridgeStartupError: {0}")]
    Bridge(String),
}

/// The tools that agents may call. [`start`](Self::start) starts a [`HostSession`], as many as you
/// like, each with its own socket.
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
    /// Creates a host of these tools. Returns an error if real clients would not accept one of
    /// them.
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

    /// Sets the name of the server in a client's settings; the default is `callgate`. Agents see
    /// the tool `add` as `mcp__NAME__add`.
    pub fn named(mut self, name: impl Into<String>) -> Result<Self, HostError> {
        self.name = name.into();
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(is_good) {
            return Err(HostError::Name(self.name));
        }
        Ok(self)
    }

    /// Sets the folder for sockets and schema files; the default is the system's temporary folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Sets the `callgate` program that agents start as the bridge. By default it is the running
    /// program, if its `main` calls [`run_bridge_if_asked`], and otherwise `callgate` on the
    /// `PATH`.
    #[must_use]
    pub fn bridge(mut self, program: impl Into<PathBuf>) -> Self {
        self.bridge = Some(program.into());
        self
    }

    /// Sets how many calls of one agent may run at once, from 1 (the default) to 64. Agents make
    /// concurrent calls only of tools that are [`read_only`](Tool::read_only).
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        // The bridge refuses more on its command line.
        self.connections = connections.clamp(1, 64);
        self
    }

    /// Returns the same host with only these tools, for example for one request.
    pub fn only<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Self, HostError> {
        let find = |name: &str| {
            let tool = self.find_tool(name).map(Arc::clone);
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

    /// Returns the names of the tools, in the order they are listed in.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name())
    }

    /// Calls a tool as an agent would, without a session: for your own tests.
    ///
    /// Returns MCP's `CallToolResult`. Must be called inside a tokio runtime; see
    /// [`blocking::call`] for programs without one.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, ToolError> {
        let arguments = arguments.to_string();
        let facts = CallFacts::copy(Json::from_text(&arguments)?, None, &RetryFields::default())?;
        self.run_call(name, facts, None).await
    }

    /// Starts a session: agents can call the tools until it is stopped or dropped.
    ///
    /// Must be called inside a tokio runtime; see [`blocking::start`] for programs without one.
    pub fn start(&self) -> Result<HostSession, HostError> {
        HostSession::start(self.clone())
    }

    /// Returns the host as an MCP server inside this process, for clients that need no bridge.
    pub fn inline(&self) -> Result<InlineServer, HostError> {
        InlineServer::new(self.clone())
    }

    /// Returns the name of the server in a client's settings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn find_tool(&self, name: &str) -> Option<&Arc<CheckedTool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Returns the content of the schema file.
    fn schema_file(&self) -> Vec<u8> {
        let entries: Vec<Value> = self.tools.iter().map(|tool| tool.entry()).collect();
        Value::Array(entries).to_string().into_bytes()
    }
}
