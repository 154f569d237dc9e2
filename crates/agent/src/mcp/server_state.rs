//! The state of a server, and the words for it.

use callgate_wire::session::{McpServerStatus, mcp_server_state};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum ServerState {
    /// It was not needed yet.
    #[default]
    Unused,
    /// It is being started or reached.
    Connecting,
    /// It waits until a person has signed in to it.
    NeedsSignIn,
    /// Its tools can be used.
    Ready,
    /// It could not be started or reached, or has ended, for this reason.
    Failed(String),
}

impl ServerState {
    /// Returns the state as front ends receive it, for the server of this name with this number of
    /// tools.
    pub(super) fn status(&self, name: &str, is_project: bool, tools: usize) -> McpServerStatus {
        let (state, text) = match self {
            Self::Unused => (mcp_server_state::UNUSED, "starts with the next message".to_owned()),
            Self::Connecting => (mcp_server_state::CONNECTING, "is connecting".to_owned()),
            Self::NeedsSignIn => (mcp_server_state::NEEDS_SIGN_IN, how_to_sign_in(name)),
            Self::Ready => {
                (mcp_server_state::READY, format!("is ready: {}", tool_count_text(tools)))
            }
            Self::Failed(why) => (mcp_server_state::FAILED, why.clone()),
        };
        let (name, state) = (name.to_owned(), state.to_owned());
        McpServerStatus { name, state, text, tools: tools as u64, is_project }
    }
}

/// Returns what a person can do to sign in.
pub(super) fn how_to_sign_in(name: &str) -> String {
    format!("wants you to sign in; to do so in a terminal: callgate mcp login {name}")
}

pub(super) fn tool_count_text(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}
