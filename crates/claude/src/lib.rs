//! Run the real Claude Code CLI with your functions as its tools.
//!
//! One call starts everything, the CLI and a host for the tools, and stops everything, whatever
//! happens in between.
//!
//! ```no_run
//! use callgate_claude::{Model, ToolTransport};
//! use callgate_tools::{Host, NoArguments, Tool};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let moon = Tool::blocking("moon", "The phase of the moon.", |_: NoArguments, _| "waxing");
//!     let mut model = Model::new();
//!     model.set_tools(Host::new([moon])?, ToolTransport::Auto);
//!     println!("{}", model.request("How is the moon tonight?").await?);
//!     Ok(())
//! }
//! ```

#![deny(missing_docs)]
#![warn(clippy::must_use_candidate)]

mod answer;
mod ask;
pub mod blocking;
mod cli;
mod conversation;
mod driver;
mod error;
mod event;
mod fake;
mod fields;
mod gate;
mod hooks;
mod jobs;
mod links;
mod model;
mod options;
mod permission;
mod process;
mod prompt;
pub mod sessions;
mod settings;
mod stderr;
mod stream;

pub use answer::{ClaudeAnswer, ClaudeOutcome, ClaudeUsage, ModelUsage, ToolDenial};
pub use ask::ModelRequest;
pub use cli::find_cli;
pub use conversation::{ClaudeConversation, TurnStream};
pub use error::ClaudeError;
pub use event::{
    ClaudeEvent, ClaudeToolResult, ClaudeToolUse, McpServer, PartialContent, SessionSetup,
};
pub use fake::FakeCli;
pub use hooks::{Hook, HookEvent, HookInput, HookOutput};
pub use model::Model;
pub use options::{AgentDefinition, Effort, PermissionMode, SettingSource, ToolTransport};
pub use permission::{PermissionDecision, PermissionQuestion};
pub use prompt::{ImageFormat, Prompt};
pub use settings::ClaudeSettings;
pub use stream::ClaudeStream;

/// The examples in the documents compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../../../README.md")]
struct Documents;
