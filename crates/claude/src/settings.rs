//! The settings of a CLI.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::fake::FakeCli;
use crate::hooks::Hook;
use crate::options::{AgentDefinition, Effort, PermissionMode, SettingSource};
use crate::permission::{Decider, PermissionDecision, PermissionQuestion};

/// How long the CLI may be silent while nothing of ours is running.
const DEFAULT_STALL: Duration = Duration::from_mins(10);

/// The settings of a CLI, used by every call of a [`Model`](crate::Model).
#[derive(Debug, Clone, Default)]
pub struct ClaudeSettings {
    pub(crate) cli: Option<PathBuf>,
    pub(crate) fake: Option<FakeCli>,
    pub(crate) model: Option<String>,
    pub(crate) fallback_model: Option<String>,
    pub(crate) effort: Option<Effort>,
    pub(crate) betas: Vec<String>,
    pub(crate) permission_mode: PermissionMode,
    pub(crate) sources: Vec<SettingSource>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) agents: Map<String, Value>,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) plugins: Vec<PathBuf>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) append_system_prompt: Option<String>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) allowed: Vec<String>,
    pub(crate) denied: Vec<String>,
    pub(crate) servers: Map<String, Value>,
    pub(crate) environment: Vec<(OsString, Option<OsString>)>,
    pub(crate) is_environment_clear: bool,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) temporary: Option<PathBuf>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) stall_limit: Option<Duration>,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) partial: bool,
    pub(crate) decider: Option<Decider>,
    pub(crate) desk: Option<PathBuf>,
}

impl ClaudeSettings {
    /// Sets the socket on which callgate's desk serves viewers (its setting `desk_socket`). Each
    /// call registers itself there, so that callgate's hook in the user's settings does not ask a
    /// second time about what [`permission`](Self::permission) is asked about. What the user's
    /// rules deny is denied all the same. Without this, and without a desk, the hook works as
    /// usual.
    #[must_use]
    pub fn desk(mut self, socket: impl Into<PathBuf>) -> Self {
        self.desk = Some(socket.into());
        self
    }

    /// Creates settings for the CLI that is installed. It loads no settings of its user or of the
    /// project, see [`setting_sources`](Self::setting_sources).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the path of the CLI, in place of `claude` on the `PATH` or in one of its usual places.
    #[must_use]
    pub fn cli(mut self, path: impl Into<PathBuf>) -> Self {
        self.cli = Some(path.into());
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets the model to use while the other is overloaded.
    #[must_use]
    pub fn fallback_model(mut self, name: impl Into<String>) -> Self {
        self.fallback_model = Some(name.into());
        self
    }

    /// Sets how much effort the model puts into an answer.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Adds a beta feature of the model's service, by its name in the header.
    #[must_use]
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Sets how tool calls that no rule decides are handled. In modes that ask nobody,
    /// [`permission`](Self::permission) is not called.
    #[must_use]
    pub fn permission_mode(mut self, mode: PermissionMode) -> Self {
        self.permission_mode = mode;
        self
    }

    /// Loads settings from these sources: their permission rules answer in place of
    /// [`permission`](Self::permission), and their hooks run. By default none is loaded.
    #[must_use]
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.sources = sources.into_iter().collect();
        self
    }

    /// Limits how many turns the model may take to answer.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Adds a kind of agent that the main agent can start by this name.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>, agent: AgentDefinition) -> Self {
        self.agents.insert(name.into(), agent.into_value());
        self
    }

    /// Adds a folder that the agent may work in, beside its own.
    #[must_use]
    pub fn add_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folders.push(folder.into());
        self
    }

    /// Loads a plugin from a folder.
    #[must_use]
    pub fn plugin(mut self, folder: impl Into<PathBuf>) -> Self {
        self.plugins.push(folder.into());
        self
    }

    /// Adds a hook.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Runs this fake in place of the CLI, for tests.
    #[must_use]
    pub fn fake_cli(mut self, fake: FakeCli) -> Self {
        self.fake = Some(fake);
        self
    }

    /// Sets a system prompt in place of the CLI's own.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = Some(text.into());
        self
    }

    /// Adds text to the CLI's own system prompt.
    #[must_use]
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.append_system_prompt = Some(text.into());
        self
    }

    /// Sets the folder the agent works in.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Allows a tool without asking, as in `Bash(git status)`. Your own tools are allowed already.
    #[must_use]
    pub fn allow(mut self, tool: impl Into<String>) -> Self {
        self.allowed.push(tool.into());
        self
    }

    /// Forbids a tool.
    #[must_use]
    pub fn deny(mut self, tool: impl Into<String>) -> Self {
        self.denied.push(tool.into());
        self
    }

    /// Adds an MCP server, in the CLI's form. The agent has only the servers added here and your
    /// tools, not those of its user's settings.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>, config: Value) -> Self {
        self.servers.insert(name.into(), config);
        self
    }

    /// Sets a variable in the CLI's environment, which is otherwise that of this process.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// Removes a variable from the CLI's environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// Starts with an empty environment.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.is_environment_clear = true;
        self
    }

    /// Adds an argument to the CLI's command line, for options that have no method here.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Sets the folder for temporary files; the default is the system's temporary folder.
    #[must_use]
    pub fn temporary_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary = Some(folder.into());
        self
    }

    /// Sets how long a call may take in all.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Sets how long the CLI may be silent while neither a tool of yours runs nor a permission is
    /// being asked for; the default is ten minutes.
    #[must_use]
    pub fn stall_limit(mut self, limit: Duration) -> Self {
        self.stall_limit = Some(limit);
        self
    }

    /// Sets how much a call may cost, in dollars.
    #[must_use]
    pub fn budget_usd(mut self, dollars: f64) -> Self {
        self.budget_usd = Some(dollars);
        self
    }

    /// Also reports the pieces in which texts, thoughts and arguments arrive.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// Sets the callback that decides when the agent asks for permission to use a tool. Without one
    /// the answer is always no.
    #[must_use]
    pub fn permission<F, R>(mut self, decide: F) -> Self
    where
        F: Fn(PermissionQuestion) -> R + Send + Sync + 'static,
        R: Future<Output = PermissionDecision> + Send + 'static,
    {
        self.decider = Some(Decider::new(decide));
        self
    }

    pub(crate) fn stall(&self) -> Duration {
        self.stall_limit.unwrap_or(DEFAULT_STALL)
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.temporary.clone().unwrap_or_else(std::env::temp_dir)
    }
}
