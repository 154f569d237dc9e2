//! The settings: a file, the environment above it, flags above both.
//!
//! All keys are in one table, [`keys`]. The values are read first ([`raw`]) and checked second
//! ([`check`]), so that all problems are reported at once. Files and environment are read for
//! settings only here; the crates get values.

mod agent;
mod change;
mod check;
mod flags;
mod keyring;
mod raw;
mod report;
mod secret;
mod sign_in_files;
mod surroundings;
mod token;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_approval::asker::AskerSettings;
use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;
pub(crate) use callgate_settings::{
    ConfigProblems, EngineSetting, Setting, SettingKey, SettingOrigin, WhenAbsent, keys::KEYS,
};
use callgate_settings::{ShellTheme, keys};
use callgate_wire::hook::AgentProfile;

pub(crate) use agent::AgentSettings;
pub(crate) use change::{
    ChangeRefusal, KeyringSecret, SettingChange, changed_text, known_key, settings_file,
};
use check::ConfigCheck;
pub(crate) use flags::{AgentFlags, DeskFlags, EveryFlag};
#[cfg(test)]
use keyring::KeyringEntry;
pub(crate) use keyring::KeyringError;
use raw::{RawConfig, VariableScope};
pub(crate) use report::{ConfigReport, ReportedSetting};
pub(crate) use sign_in_files::SignInFiles;
pub(crate) use surroundings::{Surroundings, check_private};
pub(crate) use token::TokenSource;

/// All settings, checked. A field holds the key of its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// The settings file, which may be absent; `None` without a home folder.
    pub(crate) file: Option<Setting<PathBuf>>,
    pub(crate) socket: Setting<PathBuf>,
    pub(crate) timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) database: PathBuf,
    pub(crate) desk_socket: Setting<PathBuf>,
    pub(crate) rules: PathBuf,
    pub(crate) legacy_socket: Option<PathBuf>,
    pub(crate) phone_after: Duration,
    pub(crate) notify_on_stop: bool,
    pub(crate) notify_on_wait: bool,
    pub(crate) record_runs: bool,
    pub(crate) gate: GateSettings,
    pub(crate) page: PageSettings,
    pub(crate) team: TeamSettings,
    pub(crate) telegram: TelegramSettings,
    pub(crate) agent: AgentSettings,
    #[allow(dead_code, reason = "the desktop shell reads it, by `callgate config show --json`")]
    pub(crate) shell: ShellSettings,
}

/// The section `[shell]`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(dead_code, reason = "the desktop shell reads it, by `callgate config show --json`")]
pub(crate) struct ShellSettings {
    /// Empty for none.
    pub(crate) shortcut: String,
    pub(crate) theme: ShellTheme,
}

/// The section `[gate]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateSettings {
    pub(crate) unattended: Unattended,
    pub(crate) when_absent: WhenAbsent,
    /// What holds for an agent instead.
    pub(crate) agents: Vec<(&'static AgentProfile, WhenAbsent)>,
    pub(crate) unclear: UnclearCommands,
}

impl GateSettings {
    /// Returns what becomes of a call of this agent that no rule denies while no desk can be asked.
    pub(crate) fn when_absent_of(&self, agent: Option<&str>) -> WhenAbsent {
        let agent = agent.and_then(AgentProfile::find);
        let own = self.agents.iter().find(|(of, _)| Some(*of) == agent);
        own.map_or(self.when_absent, |(_, when_absent)| *when_absent)
    }
}

/// The section `[page]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageSettings {
    pub(crate) enabled: bool,
    /// The first port to try; 0 takes any free one.
    pub(crate) port: u16,
}

/// The section `[team]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TeamSettings {
    pub(crate) listen: Option<SocketAddr>,
    /// A host and a port.
    pub(crate) address: Option<String>,
    /// The files with the certificates and their key.
    pub(crate) certificate: Option<(PathBuf, PathBuf)>,
    pub(crate) accounts: Option<AccountSettings>,
    /// Where the URL of the database is that several desks share; read it with
    /// [`TokenSource::read_database_url`].
    pub(crate) database_url: Option<TokenSource>,
    /// The name of this desk among those that share the database.
    pub(crate) desk_name: Option<String>,
    /// For how many days the database keeps audit entries and closed questions.
    pub(crate) keep_days: u32,
}

/// The provider of accounts with which people of a team sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccountSettings {
    pub(crate) issuer: String,
    pub(crate) client_id: String,
    /// A file of its own, which only the user can read.
    pub(crate) client_secret: Option<PathBuf>,
}

/// The section `[telegram]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TelegramSettings {
    /// Where the bot's token is, if there is one; read it with [`TokenSource::read_token`].
    pub(crate) token: Option<TokenSource>,
    /// Without a slash at its end.
    pub(crate) api_url: String,
    pub(crate) allowed_chats: Setting<Vec<i64>>,
    /// Empty means nobody.
    pub(crate) allowed_users: Setting<Vec<i64>>,
}

impl Config {
    /// Reads and checks the settings. `file` is the file that `--config` names.
    pub(crate) fn load(file: Option<&Path>, flags: &DeskFlags) -> Result<Self, ConfigProblems> {
        Self::load_in(file, flags.given_values(), &Surroundings::of_process(), VariableScope::Ours)
    }

    /// Reads and checks the settings for the agent runtime, which also reads variables that other
    /// programs use.
    pub(crate) fn load_for_agent(
        file: Option<&Path>,
        flags: &AgentFlags,
    ) -> Result<Self, ConfigProblems> {
        Self::load_for_agent_in(file, flags, &Surroundings::of_process())
    }

    /// Does the same in other surroundings than those of this process.
    pub(crate) fn load_for_agent_in(
        file: Option<&Path>,
        flags: &AgentFlags,
        around: &Surroundings,
    ) -> Result<Self, ConfigProblems> {
        Self::load_in(file, flags.given_values(), around, VariableScope::Common)
    }

    fn load_in(
        file: Option<&Path>,
        flags: &[(&'static SettingKey, OsString)],
        around: &Surroundings,
        which: VariableScope,
    ) -> Result<Self, ConfigProblems> {
        let mut raw = RawConfig::read_sources(file, around, which);
        for (key, text) in flags {
            raw.add_flag(key, text);
        }
        let mut check = ConfigCheck::new(&raw, around);
        let config = check.check_all();
        ConfigProblems::value_or_problems(config, check.problems)
    }
}

/// Returns the environment variables that set something here.
pub(crate) fn set_variables() -> Vec<String> {
    let around = Surroundings::of_process();
    let variables = keys::KEYS.iter().filter_map(SettingKey::variable);
    variables.filter(|name| around.variable(name).is_some()).collect()
}

/// Returns the problems of the settings on one line, for a command that does without them.
pub(crate) fn unused_problems(file: Option<&Path>) -> Option<String> {
    let problems = Config::load(file, &DeskFlags::default()).err()?;
    Some(problems.one_line())
}

/// The keys that the hook uses to ask.
const HOOK_KEYS: [&SettingKey; 4] =
    [&keys::SOCKET.key, &keys::TIMEOUT_SECONDS.key, &keys::GRACE_SECONDS.key, &keys::DATABASE.key];

/// The settings as the hook reads them, once.
///
/// The command line of an installed hook names its settings file, its socket and its rules. Our
/// variables are then ignored: the agent hands its hooks an environment that a project can change.
pub(crate) struct HookConfig {
    raw: RawConfig,
    around: Surroundings,
}

/// The settings on the hook's command line.
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
    pub(crate) fn read_settings(flags: &HookFlags) -> Self {
        Self::read_in(flags, Surroundings::of_process())
    }

    fn read_in(flags: &HookFlags, around: Surroundings) -> Self {
        let which =
            if flags.config.is_some() { VariableScope::Ignored } else { VariableScope::Ours };
        let mut raw = RawConfig::read_sources(flags.config.as_deref(), &around, which);
        for (key, path) in [(&keys::SOCKET, &flags.socket), (&keys::RULES, &flags.rules)] {
            if let Some(path) = path {
                raw.add_flag(key, path.as_os_str());
            }
        }
        Self { raw, around }
    }

    /// Returns what the hook needs to ask. Problems of keys that it does not use are ignored: they
    /// are no reason to leave an agent without its hook.
    pub(crate) fn asker_settings(&self) -> Result<AskerSettings, ConfigProblems> {
        let mut check = ConfigCheck::new(&self.raw, &self.around);
        let settings = check.check_hook_settings();
        ConfigProblems::value_or_problems(settings, check.problems)
    }

    /// Returns the problems of what the hook does not use, on one line.
    pub(crate) fn unused_problems(&self) -> Option<String> {
        if self.raw.problems.is_empty() {
            return None;
        }
        let mut check = ConfigCheck::new(&self.raw, &self.around);
        check.drop_problems_of(&HOOK_KEYS);
        ConfigProblems::value_or_problems((), check.problems)
            .err()
            .map(|problems| problems.one_line())
    }

    /// Returns all settings, for a hook that has to read the rules itself. Only problems of the
    /// rules and the gate count.
    pub(crate) fn all_settings(&self) -> Result<Config, ConfigProblems> {
        let mut check = ConfigCheck::new(&self.raw, &self.around);
        let config = check.check_all();
        check.keep_problems_of(&[
            &keys::RULES,
            &keys::GATE_UNATTENDED,
            &keys::GATE_WHEN_ABSENT,
            &keys::GATE_UNCLEAR,
        ]);
        ConfigProblems::value_or_problems(config, check.problems)
    }
}

#[cfg(test)]
mod tests;
