//! Run the real Claude Code CLI with your functions as its tools.
//!
//! One call starts everything, the CLI and a host for the tools, and stops everything, whatever
//! happens in between.
//!
//! ```no_run
//! use callgate_claude::{Model, Transport};
//! use callgate_tools::{Host, NoArguments, Tool};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let moon = Tool::blocking("moon", "The phase of the moon.", |_: NoArguments, _| "waxing");
//!     let mut model = Model::new();
//!     model.set_tools(Host::new([moon])?, Transport::Auto);
//!     println!("{}", model.request("How is the moon tonight?").await?);
//!     Ok(())
//! }
//! ```

mod answer;
mod ask;
pub mod blocking;
mod cli;
mod conversation;
mod driver;
mod error;
mod event;
mod fake;
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

pub use answer::{Answer, Denial, ModelUsage, Outcome, Usage};
pub use ask::Ask;
pub use conversation::{Conversation, TurnStream};
pub use error::ClaudeError;
pub use event::{Event, Partial, Server, Started, ToolResult, ToolUse};
pub use fake::FakeCli;
pub use hooks::{Hook, HookEvent, HookInput, HookOutput};
pub use model::{Model, Transport};
pub use options::{AgentDefinition, Effort, PermissionMode, SettingSource};
pub use permission::{Decision, PermissionAsked};
pub use prompt::{ImageFormat, Prompt};
pub use settings::Settings;
pub use stream::Stream;

/// The examples in the documents compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../../../README.md")]
struct Documents;
