//! Let an agent CLI call functions that live in your process.
//!
//! A [`Host`] holds your [`Tool`]s. Each [`HostSession`] of it serves a Unix socket and writes a
//! schema file; the agent starts the [`bridge`], a small MCP server on stdio, which lists the
//! tools from the schema file and carries calls to the socket.
//!
//! ```no_run
//! use callgate_tools::{Host, McpClient, Tool, blocking, run_bridge_if_asked};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add { a: i64, b: i64 }
//!
//! fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error>> {
//!     if let Some(ended) = run_bridge_if_asked() {
//!         return Ok(ended);
//!     }
//!     let add = Tool::blocking("add", "Adds two numbers.", |args: Add, _| {
//!         format!("{} + {} = {}", args.a, args.b, args.a + args.b)
//!     });
//!     let session = blocking::start(&Host::new([add])?)?;
//!     println!("claude --mcp-config '{}'", session.mcp_config(McpClient::ClaudeCode)?);
//!     std::thread::park();
//!     Ok(std::process::ExitCode::SUCCESS)
//! }
//! ```

#![deny(missing_docs)]
#![warn(clippy::must_use_candidate)]

pub mod bridge;
mod host;
pub mod mcp;
mod schema;

pub use host::{
    BridgeCommand, CallContext, Host, HostError, HostSession, InlineServer, IntoOutcome, McpClient,
    NoArguments, StructuredOutput, Tool, ToolContent, ToolError, ToolOutput, blocking,
    run_bridge_if_asked,
};
pub use schema::{SchemaChecker, misfit_message};
