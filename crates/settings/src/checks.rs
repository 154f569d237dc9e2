//! Reads all settings, and checks what concerns several keys.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_agent::budget::Budget;
use callgate_agent::budget::price::{ModelPrices, TokenPrices};
use callgate_approval::asker::AskerSettings;
use callgate_approval::desk::Unattended;
use callgate_wire::approval;
use callgate_wire::hook::AgentProfile;

use crate::choices::{EngineSetting, WhenAbsent};
use crate::given::{RawConfig, SettingsCheck};
use crate::keys::{self, AgentSettings, Config, GateSettings, TeamSettings};
use crate::problem::{ConfigProblems, Setting, SettingOrigin};
use crate::setting_key::SettingKey;
use crate::setting_type::{SettingType, SettingsPart};
use crate::sources::{VariableScope, read_sources};
use crate::surroundings::Surroundings;

/// The fewest thinking tokens that the API accepts.
const LEAST_THINKING: u32 = 1_024;
const MEGABYTE: u64 = 1024 * 1024;

impl Config {
    /// Reads and checks the settings. `file` is the file that `--config` names.
    pub fn load(
        file: Option<&Path>,
        flags: &[(&'static SettingKey, OsString)],
        around: &Surroundings,
        which: VariableScope,
    ) -> Result<Self, ConfigProblems> {
        let mut raw = read_sources(file, around, which);
        for (key, text) in flags {
            raw.add_flag(key, text);
        }
        let mut check = SettingsCheck::new(&raw, around);
        let config = Self::check_all(&mut check);
        ConfigProblems::value_or_problems(config, check.problems)
    }

    /// Reads all settings from what was given.
    pub fn check_all(check: &mut SettingsCheck) -> Self {
        let mut config = Self::read_part(check);
        place_socket(check, &keys::SOCKET, &mut config.socket, &config.database);
        place_socket(check, &keys::DESK_SOCKET, &mut config.desk_socket, &config.database);
        // Who has a socket of their own has no old clients at another.
        if [&*keys::SOCKET, &*keys::LEGACY_SOCKET].iter().all(|key| check.raw.get(key).is_none()) {
            config.legacy_socket.0 = Some(approval::LEGACY_SOCKET.into());
        }
        let phone_after = config.phone_after_seconds;
        if phone_after > Duration::ZERO && phone_after >= config.timeout_seconds {
            let text = "`phone_after_seconds` must be less than `timeout_seconds`, \
                        or the phone is never asked";
            check.add_problem_of_value(&keys::PHONE_AFTER_SECONDS, text);
        }
        // A user who wants to be asked about everything does not want everything to run while
        // nobody can be asked.
        if config.gate.unattended == Unattended::Ask
            && check.raw.get(&keys::GATE_WHEN_ABSENT).is_none()
        {
            config.gate.when_absent = WhenAbsent::Deny;
        }
        let history = config.agent.history.take().or_else(|| Some(config.database.clone()));
        config.agent.history = history.filter(|_| config.agent.keep_history);
        config.team.check(check);
        config.agent.check(check);
        config
    }
}

/// Puts a socket for which there is no usual folder beside the database, whose folder is private,
/// too.
fn place_socket(
    check: &mut SettingsCheck,
    key: &SettingKey,
    socket: &mut Setting<PathBuf>,
    database: &Path,
) {
    if socket.origin == SettingOrigin::Default && socket.value.as_os_str().is_empty() {
        socket.value = beside_database(key, database);
        check.check_socket(key, &socket.value);
    }
}

fn beside_database(socket: &SettingKey, database: &Path) -> PathBuf {
    let file = Path::new(socket.default).file_name().unwrap_or_default();
    database.with_file_name(file)
}

/// Reads only what the hook needs to ask.
pub(crate) fn check_hook_settings(check: &mut SettingsCheck) -> AskerSettings {
    let database = PathBuf::read_setting(check, &keys::DATABASE);
    let mut socket = Setting::<PathBuf>::read_setting(check, &keys::SOCKET);
    place_socket(check, &keys::SOCKET, &mut socket, &database);
    let is_beside = socket.origin == SettingOrigin::Default
        && socket.value == beside_database(&keys::SOCKET, &database);
    let timeout = Duration::read_setting(check, &keys::TIMEOUT_SECONDS);
    let grace = Duration::read_setting(check, &keys::GRACE_SECONDS);
    // The database matters only to a socket beside it.
    let place = if is_beside { &*keys::DATABASE } else { &*keys::SOCKET };
    check.keep_problems_of(&[&keys::SOCKET, place, &keys::TIMEOUT_SECONDS, &keys::GRACE_SECONDS]);
    AskerSettings { socket: socket.value, timeout, grace }
}

/// Checks that of two keys that belong together both are set or none.
fn check_pair(check: &mut SettingsCheck, [one, other]: [&SettingKey; 2]) {
    let is_set = |key: &&SettingKey| check.raw.get(key).is_some();
    if let [alone] = [one, other].into_iter().filter(is_set).collect::<Vec<_>>()[..] {
        let text = format!("`{}` and `{}` belong together", one.name, other.name);
        check.add_problem_of_value(alone, &text);
    }
}

impl GateSettings {
    /// Returns what becomes of a call of this agent that no rule denies while no desk can be asked.
    pub fn when_absent_of(&self, agent: Option<&str>) -> WhenAbsent {
        let agent = agent.and_then(AgentProfile::find);
        let own = self.agents.0.iter().find(|(of, _)| Some(*of) == agent);
        own.map_or(self.when_absent, |(_, when_absent)| *when_absent)
    }
}

/// The provider of accounts with which people of a team sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSettings {
    pub issuer: String,
    pub client_id: String,
    /// A file of its own, which only the user can read.
    pub client_secret: Option<PathBuf>,
}

impl TeamSettings {
    fn check(&self, check: &mut SettingsCheck) {
        check_pair(check, [&keys::TEAM_CERTIFICATE, &keys::TEAM_CERTIFICATE_KEY]);
        check_pair(check, [&keys::TEAM_OIDC_ISSUER, &keys::TEAM_OIDC_CLIENT_ID]);
        if let Some(url) = &self.database_url
            && self.certificate.is_none()
        {
            let text = "several desks need one certificate: set `team.certificate` and \
                        `team.certificate_key`";
            check.add_problem(&keys::TEAM_DATABASE_URL, url.origin.clone(), text);
        }
    }

    /// Returns the files with the certificates and their key.
    pub fn certificate_files(&self) -> Option<(&Path, &Path)> {
        self.certificate.as_deref().zip(self.certificate_key.as_deref())
    }

    pub fn accounts(&self) -> Option<AccountSettings> {
        Some(AccountSettings {
            issuer: self.oidc_issuer.clone()?,
            client_id: self.oidc_client_id.clone()?,
            client_secret: self.oidc_client_secret_file.clone(),
        })
    }
}

/// The engine that answers, and why that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenEngine {
    /// The engine. [`EngineSetting::Auto`] is a model server if one is found on this machine, else
    /// the built-in engine.
    pub setting: EngineSetting,
    /// Why, in words that follow its name: "because …".
    pub because: String,
}

impl AgentSettings {
    /// Chooses the engine: by the setting, else by whether there is a key or an address.
    pub fn chosen_engine(&self) -> ChosenEngine {
        let Setting { value: setting, origin } = &self.engine;
        let found =
            |what: &str, origin: &SettingOrigin| format!("because there is {what} ({origin})");
        let (setting, because) = match (setting, &self.api_key, &self.openai_key, &self.openai_url)
        {
            (EngineSetting::Auto, Some(key), ..) => {
                (EngineSetting::Anthropic, found("an API key", &key.origin))
            }
            (EngineSetting::Auto, _, Some(key), _) => {
                (EngineSetting::OpenAi, found("an API key", &key.origin))
            }
            (EngineSetting::Auto, _, _, Some(url)) => {
                (EngineSetting::OpenAi, found("an address", &url.origin))
            }
            (EngineSetting::Auto, ..) => (EngineSetting::Auto, "no API key was found".to_owned()),
            (setting, ..) => (*setting, format!("because {origin} says so")),
        };
        ChosenEngine { setting, because }
    }

    /// Returns the folder to which paths are relative: the working folder if it is in one of the
    /// roots, else the first root.
    pub fn folder(&self) -> &Path {
        let is_in_root = |here: &&Path| self.roots.iter().any(|root| here.starts_with(root));
        let here = self.places.here.as_deref().filter(is_in_root);
        here.or(self.roots.first().map(PathBuf::as_path)).unwrap_or(Path::new(""))
    }

    /// Returns how many tokens the model may think for; `None` if it is not to think.
    pub fn thinking(&self) -> Option<u32> {
        Some(self.thinking_tokens).filter(|tokens| *tokens > 0)
    }

    /// Returns the size of the largest file in bytes.
    pub fn max_file_size(&self) -> u64 {
        self.max_file_size_mb * MEGABYTE
    }

    pub fn budget(&self) -> Budget {
        Budget {
            conversation_usd: self.conversation_usd,
            day_usd: self.day_usd,
            conversation_tokens: self.conversation_tokens,
            day_tokens: self.day_tokens,
            requests_per_minute: self.requests_per_minute,
        }
    }

    /// Returns the prices that replace those that are known of the models.
    pub fn model_prices(&self) -> ModelPrices {
        let others = self.price_input.zip(self.price_output);
        ModelPrices {
            by_model: self.prices.clone().map(|prices| prices.0).unwrap_or_default(),
            others: others.map(|(input, output)| TokenPrices { input, output, cached: None }),
        }
    }

    fn check(&self, check: &mut SettingsCheck) {
        let Self { max_tokens, context_tokens, .. } = *self;
        if u64::from(max_tokens) >= context_tokens {
            let text = "`agent.max_tokens` must be less than `agent.context_tokens`";
            let origin = check.higher_origin(&keys::AGENT_MAX_TOKENS, &keys::AGENT_CONTEXT_TOKENS);
            check.add_problem(&keys::AGENT_MAX_TOKENS, origin, text);
        }
        if self.thinking().is_some_and(|tokens| !(LEAST_THINKING..max_tokens).contains(&tokens)) {
            let text = format!(
                "`agent.thinking_tokens` must be 0 or at least {LEAST_THINKING}, \
                 and less than `agent.max_tokens`"
            );
            let origin = check.higher_origin(&keys::AGENT_THINKING_TOKENS, &keys::AGENT_MAX_TOKENS);
            check.add_problem(&keys::AGENT_THINKING_TOKENS, origin, &text);
        }
        // A cost cannot be computed from one of the two prices.
        let (input, output) = (&keys::AGENT_PRICE_INPUT.key, &keys::AGENT_PRICE_OUTPUT.key);
        let (set, absent) = match (self.price_input, self.price_output) {
            (Some(_), None) => (input, output),
            (None, Some(_)) => (output, input),
            _ => return,
        };
        let text = format!("there is `{}` without `{}`; set both", set.name, absent.name);
        check.add_problem_of_value(set, &text);
    }
}

/// The keys that the hook uses to ask.
const HOOK_KEYS: [&SettingKey; 4] =
    [&keys::SOCKET.key, &keys::TIMEOUT_SECONDS.key, &keys::GRACE_SECONDS.key, &keys::DATABASE.key];

/// The settings as the hook reads them, once.
///
/// The command line of an installed hook names its settings file, its socket and its rules. Our
/// variables are then ignored: the agent hands its hooks an environment that a project can change.
pub struct HookConfig {
    raw: RawConfig,
    around: Surroundings,
}

/// The settings on the hook's command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookFlags {
    /// The settings file, which may be absent.
    pub config: Option<PathBuf>,
    /// The socket at which it asks.
    pub socket: Option<PathBuf>,
    /// The file with the user's rules.
    pub rules: Option<PathBuf>,
}

impl HookConfig {
    /// Reads the settings file and, unless `flags` name one, the environment.
    pub fn read_settings(flags: &HookFlags, around: Surroundings) -> Self {
        let which =
            if flags.config.is_some() { VariableScope::Ignored } else { VariableScope::Ours };
        let mut raw = read_sources(flags.config.as_deref(), &around, which);
        let paths: [(&'static SettingKey, _); 2] =
            [(&keys::SOCKET.key, &flags.socket), (&keys::RULES.key, &flags.rules)];
        for (key, path) in paths {
            if let Some(path) = path {
                raw.add_flag(key, path.as_os_str());
            }
        }
        Self { raw, around }
    }

    /// Returns what the hook needs to ask. Problems of keys that it does not use are ignored: they
    /// are no reason to leave an agent without its hook.
    pub fn asker_settings(&self) -> Result<AskerSettings, ConfigProblems> {
        let mut check = SettingsCheck::new(&self.raw, &self.around);
        let settings = check_hook_settings(&mut check);
        ConfigProblems::value_or_problems(settings, check.problems)
    }

    /// Returns the problems of what the hook does not use, on one line.
    pub fn unused_problems(&self) -> Option<String> {
        if self.raw.problems.is_empty() {
            return None;
        }
        let mut check = SettingsCheck::new(&self.raw, &self.around);
        check.drop_problems_of(&HOOK_KEYS);
        let problems = ConfigProblems::value_or_problems((), check.problems).err();
        problems.map(|problems| problems.one_line())
    }

    /// Returns all settings, for a hook that has to read the rules itself. Only problems of the
    /// rules and the gate count.
    pub fn all_settings(&self) -> Result<Config, ConfigProblems> {
        let mut check = SettingsCheck::new(&self.raw, &self.around);
        let config = Config::check_all(&mut check);
        check.keep_problems_of(&[
            &keys::RULES,
            &keys::GATE_UNATTENDED,
            &keys::GATE_WHEN_ABSENT,
            &keys::GATE_UNCLEAR,
        ]);
        ConfigProblems::value_or_problems(config, check.problems)
    }
}
