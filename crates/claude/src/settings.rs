//! How the CLI is run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::fake::FakeCli;
use crate::hooks::Hook;
use crate::options::{AgentDefinition, Effort, PermissionMode, SettingSource};
use crate::permission::{Decider, Decision, PermissionAsked};

/// How long the CLI may be silent while nothing of ours is running.
const DEFAULT_STALL: Duration = Duration::from_mins(10);

/// How the CLI is run: made once, used by every call of a [`Model`](crate::Model).
#[derive(Debug, Clone)]
pub struct Settings {
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
    pub(crate) stall_limit: Duration,
    pub(crate) budget_usd: Option<f64>,
    pub(crate) partial: bool,
    pub(crate) decider: Option<Decider>,
    pub(crate) desk: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cli: None,
            fake: None,
            model: None,
            fallback_model: None,
            effort: None,
            betas: Vec::new(),
            permission_mode: PermissionMode::Default,
            sources: Vec::new(),
            max_turns: None,
            agents: Map::new(),
            folders: Vec::new(),
            plugins: Vec::new(),
            hooks: Vec::new(),
            system_prompt: None,
            append_system_prompt: None,
            folder: None,
            allowed: Vec::new(),
            denied: Vec::new(),
            servers: Map::new(),
            environment: Vec::new(),
            is_environment_clear: false,
            arguments: Vec::new(),
            temporary: None,
            time_limit: None,
            stall_limit: DEFAULT_STALL,
            budget_usd: None,
            partial: false,
            decider: None,
            desk: None,
        }
    }
}

impl Settings {
    /// Sets where callgate's desk serves viewers (its setting `desk_socket`). Each call registers
    /// itself there, so that callgate's hook in the user's settings asks nobody a second time about
    /// what [`permission`](Self::permission) is asked about. What the user's rules deny is denied
    /// all the same. Without this, and without a desk, the hook does as ever.
    #[must_use]
    pub fn desk(mut self, socket: impl Into<PathBuf>) -> Self {
        self.desk = Some(socket.into());
        self
    }

    /// Creates the settings of a CLI that is found by itself. It loads no settings of its user or
    /// of the project, see [`setting_sources`](Self::setting_sources).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The CLI to run, instead of `claude` on the `PATH` or in one of its usual places.
    #[must_use]
    pub fn cli(mut self, path: impl Into<PathBuf>) -> Self {
        self.cli = Some(path.into());
        self
    }

    /// The model.
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

    /// Sets how much thought the model gives to an answer.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = Some(effort);
        self
    }

    /// Adds a beta feature of the model's service, by the name that its header has.
    #[must_use]
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Sets what happens with tool calls that no rule decides. In modes that ask nobody,
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

    /// Runs this instead of the CLI, for tests.
    #[must_use]
    pub fn fake_cli(mut self, fake: FakeCli) -> Self {
        self.fake = Some(fake);
        self
    }

    /// A system prompt in place of the CLI's own.
    #[must_use]
    pub fn system_prompt(mut self, text: impl Into<String>) -> Self {
        self.system_prompt = Some(text.into());
        self
    }

    /// More of a system prompt, after the CLI's own.
    #[must_use]
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.append_system_prompt = Some(text.into());
        self
    }

    /// The folder the agent works in.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// A tool the agent may use unasked, as in `Bash(git status)`. Your own tools are among them
    /// already.
    #[must_use]
    pub fn allow(mut self, tool: impl Into<String>) -> Self {
        self.allowed.push(tool.into());
        self
    }

    /// A tool the agent may not use at all.
    #[must_use]
    pub fn deny(mut self, tool: impl Into<String>) -> Self {
        self.denied.push(tool.into());
        self
    }

    /// Another MCP server, in the CLI's own words. Only the servers named here and your tools are
    /// there for the agent, not those of its user's settings.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>, config: Value) -> Self {
        self.servers.insert(name.into(), config);
        self
    }

    /// Sets a variable of the CLI's environment, which otherwise is that of this process.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), Some(value.into())));
        self
    }

    /// Takes a variable out of the CLI's environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// Starts the CLI's environment from nothing.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.is_environment_clear = true;
        self
    }

    /// One more argument of the CLI's command line, for what is not settable here.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// The folder for short-lived files, the system's temporary folder unless you say.
    #[must_use]
    pub fn temporary_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temporary = Some(folder.into());
        self
    }

    /// How long a call may take in all.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// How long the CLI may say nothing while neither a tool of yours runs nor a permission is
    /// being asked for; ten minutes unless you say.
    #[must_use]
    pub fn stall_limit(mut self, limit: Duration) -> Self {
        self.stall_limit = limit;
        self
    }

    /// How much a call may cost.
    #[must_use]
    pub fn budget_usd(mut self, dollars: f64) -> Self {
        self.budget_usd = Some(dollars);
        self
    }

    /// Also gives the pieces in which texts, thoughts and arguments arrive.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// Who decides when the agent asks whether it may use a tool. Without one it may not.
    #[must_use]
    pub fn permission<F, R>(mut self, decide: F) -> Self
    where
        F: Fn(PermissionAsked) -> R + Send + Sync + 'static,
        R: Future<Output = Decision> + Send + 'static,
    {
        self.decider = Some(Decider::new(decide));
        self
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.temporary.clone().unwrap_or_else(std::env::temp_dir)
    }
}
