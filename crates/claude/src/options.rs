//! The typed options of a [`ClaudeSettings`](crate::ClaudeSettings) and a [`Model`](crate::Model).

use serde_json::{Map, Value};

callgate_wire::words! {
    /// How the CLI handles a tool call that no rule decides.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum PermissionMode {
        /// Asks [`ClaudeSettings::permission`](crate::ClaudeSettings::permission).
        #[default]
        Default "default",
        /// Allows edits of files in the folder, and asks for everything else.
        AcceptEdits "acceptEdits",
        /// Plans, and changes nothing.
        Plan "plan",
        /// Lets the CLI's own classifier decide. Nobody is asked.
        Auto "auto",
        /// Denies whatever would have to be asked. Nobody is asked.
        DontAsk "dontAsk",
        /// Allows everything. Nobody is asked.
        BypassPermissions "bypassPermissions",
    }

    /// How much effort the model puts into an answer.
    #[non_exhaustive]
    pub enum Effort {
        /// The lowest effort.
        Low "low",
        /// Medium effort, less than usual.
        Medium "medium",
        /// High effort.
        High "high",
        /// Very high effort.
        ExtraHigh "xhigh",
        /// As much as the model allows.
        Max "max",
    }

    /// A source from which the CLI loads settings: permission rules, hooks, instructions, skills.
    pub enum SettingSource {
        /// The user's own settings.
        User "user",
        /// The shared settings of the project's folder.
        Project "project",
        /// The user's settings for the project's folder.
        Local "local",
    }
}

/// A kind of agent that the main agent can start.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentDefinition(Map<String, Value>);

impl AgentDefinition {
    /// Creates an agent from the description by which the main agent chooses it, and its system
    /// prompt.
    pub fn new(description: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self(Map::new()).with("description", description.into()).with("prompt", prompt.into())
    }

    /// Limits the agent to these tools. By default it has those of the main agent.
    #[must_use]
    pub fn tools<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.with("tools", names.into_iter().map(Into::into).collect::<Vec<String>>())
    }

    /// Sets the agent's model. By default it is that of the main agent.
    #[must_use]
    pub fn model(self, name: impl Into<String>) -> Self {
        self.with("model", name.into())
    }

    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn into_value(self) -> Value {
        self.0.into()
    }
}

/// How the agent reaches your tools. The results are the same either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolTransport {
    /// Whatever is best: today [`Sdk`](Self::Sdk), which every supported CLI knows.
    #[default]
    Auto,
    /// Through a bridge that the CLI starts, and a socket, as for any other MCP client. The program
    /// is its own bridge if its `main` calls
    /// [`run_bridge_if_asked`](callgate_tools::run_bridge_if_asked).
    Stdio,
    /// Through the CLI's control channel: no bridge, no socket and no file.
    Sdk,
}
