//! The settings: a file, the environment over it, flags over both.
//!
//! What was said is read first ([`raw`]) and checked second ([`check`]), so that all that is wrong
//! is told at once. Only here are files and environment read for settings; the crates get values.

mod agent;
mod check;
mod flags;
mod gate;
mod keys;
mod places;
mod problem;
mod raw;
mod token;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use agent::{Agent, EngineSetting, LogLevel, Millionths};
use check::Check;
pub(crate) use flags::{AgentFlags, Flags};
pub(crate) use gate::{GateSettings, WhenAbsent};
pub(crate) use places::{Surroundings, check_private};
pub(crate) use problem::{Origin, Problems, Setting};
use raw::{RawConfig, Variables};
pub(crate) use token::{Secret, TokenError, TokenSource};

/// All settings, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// The settings file, which may be absent; none where there is no home folder.
    pub(crate) file: Option<Setting<PathBuf>>,
    /// The socket at which hooks ask.
    pub(crate) socket: Setting<PathBuf>,
    /// How long a question stays open.
    pub(crate) timeout: Setting<Duration>,
    /// How long a waiting hook looks for a daemon that has died.
    pub(crate) grace: Setting<Duration>,
    /// The file with the ledger; its folder is private.
    pub(crate) database: Setting<PathBuf>,
    /// The private socket for viewers.
    pub(crate) desk_socket: Setting<PathBuf>,
    /// The file with the user's rules, which may be absent.
    pub(crate) rules: Setting<PathBuf>,
    /// The socket of the first contract, which is served too when it is free.
    pub(crate) legacy_socket: Setting<Option<PathBuf>>,
    /// How long the terminal and the page have a question to themselves.
    pub(crate) phone_after: Setting<Duration>,
    /// Whether the phone hears when an agent has stopped.
    pub(crate) notify_on_stop: Setting<bool>,
    /// The gate before every tool call.
    pub(crate) gate: GateSettings,
    /// The phone.
    pub(crate) telegram: Telegram,
    /// The agent runtime.
    pub(crate) agent: Agent,
}

/// The settings of the phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Telegram {
    /// Where the bot's token is, if there is one; read it with [`TokenSource::read`].
    pub(crate) token: Option<Setting<TokenSource>>,
    /// The address of the Bot API, without a slash at its end.
    pub(crate) api_url: Setting<String>,
    /// The chats that are asked.
    pub(crate) allowed_chats: Setting<Vec<i64>>,
    /// Who may answer in a group; empty means nobody.
    pub(crate) allowed_users: Setting<Vec<i64>>,
}

/// What the hook needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookSettings {
    /// The socket at which it asks.
    pub(crate) socket: PathBuf,
    /// How long it waits for an answer.
    pub(crate) timeout: Duration,
    /// How long it looks for a daemon that has died.
    pub(crate) grace: Duration,
}

impl Config {
    /// Reads and checks the settings. `file` is what `--config` names.
    pub(crate) fn load(file: Option<&Path>, flags: &Flags) -> Result<Self, Problems> {
        Self::load_in(file, flags.given(), &Surroundings::of_process(), Variables::Ours)
    }

    /// Reads and checks the settings for the agent runtime, which also takes variables that other
    /// programs use.
    pub(crate) fn load_for_agent(
        file: Option<&Path>,
        flags: &AgentFlags,
    ) -> Result<Self, Problems> {
        Self::load_for_agent_in(file, flags, &Surroundings::of_process())
    }

    /// The same in other surroundings than those of this process.
    pub(crate) fn load_for_agent_in(
        file: Option<&Path>,
        flags: &AgentFlags,
        around: &Surroundings,
    ) -> Result<Self, Problems> {
        Self::load_in(file, flags.given(), around, Variables::Common)
    }

    fn load_in<'a>(
        file: Option<&Path>,
        flags: impl IntoIterator<Item = flags::Given<'a>>,
        around: &Surroundings,
        which: Variables,
    ) -> Result<Self, Problems> {
        let mut raw = RawConfig::read(file, around, which);
        for (key, flag, text) in flags {
            raw.add_flag(key, flag, text);
        }
        let mut check = Check::new(&raw, around);
        let config = check.config();
        Problems::check(config, check.problems)
    }
}

/// Returns the variables of the environment that set something here.
pub(crate) fn set_variables() -> Vec<&'static str> {
    let around = Surroundings::of_process();
    let variables = keys::KEYS.iter().filter_map(|key| key.variable);
    variables.filter(|name| around.variable(name).is_some()).collect()
}

/// Returns what is wrong with the settings, on one line, for a command that does without them.
pub(crate) fn unused_problems(file: Option<&Path>) -> Option<String> {
    let around = Surroundings::of_process();
    let raw = RawConfig::read(file, &around, Variables::Ours);
    let mut check = Check::new(&raw, &around);
    check.config();
    Problems::check((), check.problems).err().map(|problems| problems.one_line())
}

/// The keys that the hook uses to ask.
const HOOK_KEYS: [&str; 4] = ["socket", "timeout_seconds", "grace_seconds", "database"];

/// The settings as the hook reads them, once.
///
/// An installed hook is told its settings file, its socket and its rules on its command line, and
/// then no variable of ours counts: the agent hands its hooks an environment that a project can
/// change.
pub(crate) struct HookConfig {
    raw: RawConfig,
    around: Surroundings,
}

/// What the hook's command line says about its settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HookFlags {
    /// The settings file, which may be absent.
    pub(crate) config: Option<PathBuf>,
    /// The socket at which it asks.
    pub(crate) socket: Option<PathBuf>,
    /// The file with the user's rules.
    pub(crate) rules: Option<PathBuf>,
}

impl HookConfig {
    /// Reads the settings file and, unless `flags` name one, the environment.
    pub(crate) fn read(flags: &HookFlags) -> Self {
        Self::read_in(flags, Surroundings::of_process())
    }

    fn read_in(flags: &HookFlags, around: Surroundings) -> Self {
        let which = if flags.config.is_some() { Variables::Ignored } else { Variables::Ours };
        let mut raw = RawConfig::read(flags.config.as_deref(), &around, which);
        for (name, flag, path) in
            [("socket", "--socket", &flags.socket), ("rules", "--rules", &flags.rules)]
        {
            if let Some(path) = path {
                raw.add_flag(name, flag, path.as_os_str());
            }
        }
        Self { raw, around }
    }

    /// Returns what the hook needs to ask. What is wrong with keys that it does not use is no
    /// reason to leave an agent without its hook.
    pub(crate) fn desk(&self) -> Result<HookSettings, Problems> {
        let mut check = Check::new(&self.raw, &self.around);
        let settings = check.hook();
        Problems::check(settings, check.problems)
    }

    /// Returns what is wrong in the settings file or the environment with what the hook does not
    /// use, on one line.
    pub(crate) fn unused_problems(&self) -> Option<String> {
        if self.raw.problems.is_empty() {
            return None;
        }
        let mut check = Check::new(&self.raw, &self.around);
        check.forget(&HOOK_KEYS);
        Problems::check((), check.problems).err().map(|problems| problems.one_line())
    }

    /// Returns all settings, for a hook that has to read the rules itself. Only what is wrong
    /// with the rules and the gate counts.
    pub(crate) fn whole(&self) -> Result<Config, Problems> {
        let mut check = Check::new(&self.raw, &self.around);
        let config = check.config();
        check.mind_only(&["rules", "gate.unattended", "gate.when_absent"]);
        Problems::check(config, check.problems)
    }
}

#[cfg(test)]
mod tests;
