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
pub(crate) const DEFAULT_STALL: Duration = Duration::from_mins(10);

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

/// Declares methods that change one setting and return the settings.
macro_rules! setters {
    ($(
        $(#[$about:meta])+
        fn $name:ident($this:ident $(, $value:ident: $type:ty)*) $change:block
    )*) => {
        impl ClaudeSettings {$(
            $(#[$about])+
            #[must_use]
            pub fn $name(mut $this $(, $value: $type)*) -> Self {
                $change
                $this
            }
        )*}
    };
}

setters! {
    /// Sets the socket on which callgate's desk serves viewers (its setting `desk_socket`). Each
    /// call registers itself there, so that callgate's hook in the user's settings does not ask a
    /// second time about what [`permission`](Self::permission) is asked about. What the user's
    /// rules deny is denied all the same. Without this, and without a desk, the hook works as
    /// usual.
    fn desk(self, socket: impl Into<PathBuf>) { self.desk = Some(socket.into()); }
    /// Sets the path of the CLI, in place of `claude` on the `PATH` or in one of its usual places.
    fn cli(self, path: impl Into<PathBuf>) { self.cli = Some(path.into()); }
    /// Sets the model.
    fn model(self, name: impl Into<String>) { self.model = Some(name.into()); }
    /// Sets the model to use while the other is overloaded.
    fn fallback_model(self, name: impl Into<String>) { self.fallback_model = Some(name.into()); }
    /// Sets how much effort the model puts into an answer.
    fn effort(self, effort: Effort) { self.effort = Some(effort); }
    /// Adds a beta feature of the model's service, by its name in the header.
    fn beta(self, name: impl Into<String>) { self.betas.push(name.into()); }
    /// Sets how tool calls that no rule decides are handled. In modes that ask nobody,
    /// [`permission`](Self::permission) is not called.
    fn permission_mode(self, mode: PermissionMode) { self.permission_mode = mode; }
    /// Loads settings from these sources: their permission rules answer in place of
    /// [`permission`](Self::permission), and their hooks run. By default none is loaded.
    fn setting_sources(self, sources: impl IntoIterator<Item = SettingSource>) {
        self.sources = sources.into_iter().collect();
    }
    /// Limits how many turns the model may take to answer.
    fn max_turns(self, turns: u32) { self.max_turns = Some(turns); }
    /// Adds a kind of agent that the main agent can start by this name.
    fn agent(self, name: impl Into<String>, agent: AgentDefinition) {
        self.agents.insert(name.into(), agent.into_value());
    }
    /// Adds a folder that the agent may work in, beside its own.
    fn add_dir(self, folder: impl Into<PathBuf>) { self.folders.push(folder.into()); }
    /// Loads a plugin from a folder.
    fn plugin(self, folder: impl Into<PathBuf>) { self.plugins.push(folder.into()); }
    /// Adds a hook.
    fn hook(self, hook: Hook) { self.hooks.push(hook); }
    /// Runs this fake in place of the CLI, for tests.
    fn fake_cli(self, fake: FakeCli) { self.fake = Some(fake); }
    /// Sets a system prompt in place of the CLI's own.
    fn system_prompt(self, text: impl Into<String>) { self.system_prompt = Some(text.into()); }
    /// Adds text to the CLI's own system prompt.
    fn append_system_prompt(self, text: impl Into<String>) {
        self.append_system_prompt = Some(text.into());
    }
    /// Sets the folder the agent works in.
    fn folder(self, folder: impl Into<PathBuf>) { self.folder = Some(folder.into()); }
    /// Allows a tool without asking, as in `Bash(git status)`. Your own tools are allowed already.
    fn allow(self, tool: impl Into<String>) { self.allowed.push(tool.into()); }
    /// Forbids a tool.
    fn deny(self, tool: impl Into<String>) { self.denied.push(tool.into()); }
    /// Adds an MCP server, in the CLI's form. The agent has only the servers added here and your
    /// tools, not those of its user's settings.
    fn server(self, name: impl Into<String>, config: Value) {
        self.servers.insert(name.into(), config);
    }
    /// Sets a variable in the CLI's environment, which is otherwise that of this process.
    fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.environment.push((name.into(), Some(value.into())));
    }
    /// Removes a variable from the CLI's environment.
    fn env_remove(self, name: impl Into<OsString>) { self.environment.push((name.into(), None)); }
    /// Starts with an empty environment.
    fn env_clear(self) { self.is_environment_clear = true; }
    /// Adds an argument to the CLI's command line, for options that have no method here.
    fn argument(self, argument: impl Into<OsString>) { self.arguments.push(argument.into()); }
    /// Sets the folder for temporary files; the default is the system's temporary folder.
    fn temporary_folder(self, folder: impl Into<PathBuf>) { self.temporary = Some(folder.into()); }
    /// Sets how long a call may take in all.
    fn time_limit(self, limit: Duration) { self.time_limit = Some(limit); }
    /// Sets how long the CLI may be silent while neither a tool of yours runs nor a permission is
    /// being asked for; the default is ten minutes.
    fn stall_limit(self, limit: Duration) { self.stall_limit = Some(limit); }
    /// Sets how much a call may cost, in dollars.
    fn budget_usd(self, dollars: f64) { self.budget_usd = Some(dollars); }
    /// Also reports the pieces in which texts, thoughts and arguments arrive.
    fn partial(self) { self.partial = true; }
}

impl ClaudeSettings {
    /// Creates settings for the CLI that is installed. It loads no settings of its user or of the
    /// project, see [`setting_sources`](Self::setting_sources).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
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
}
