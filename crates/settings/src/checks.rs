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
use crate::given::{GivenSettings, SettingsCheck, VariableScope};
use crate::keys::{self, AgentSettings, Config, GateSettings, TeamSettings};
use crate::problem::{ConfigProblems, Setting, SettingOrigin};
use crate::setting_key::SettingKey;
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
        scope: VariableScope,
    ) -> Result<Self, ConfigProblems> {
        let given = GivenSettings::read(file, flags, around.clone(), scope);
        let mut check = SettingsCheck::new(&given);
        let config = Self::check_all(&mut check);
        ConfigProblems::value_or_problems(config, check.problems)
    }

    /// Reads all settings from what was given.
    pub fn check_all(check: &mut SettingsCheck) -> Self {
        let mut config = Self::read_section(check);
        place_socket(check, &keys::SOCKET, &mut config.socket, &config.database);
        place_socket(check, &keys::DESK_SOCKET, &mut config.desk_socket, &config.database);
        // Who has a socket of their own has no old clients at another.
        if !check.is_set(&keys::SOCKET) && !check.is_set(&keys::LEGACY_SOCKET) {
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
        if config.gate.unattended == Unattended::Ask && !check.is_set(&keys::GATE_WHEN_ABSENT) {
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

impl SettingsCheck<'_> {
    fn is_set(&self, key: &SettingKey) -> bool {
        self.given.get(key).is_some()
    }

    /// Checks that of two keys that belong together both are set or none.
    fn check_pair(
        &mut self,
        one: &SettingKey,
        other: &SettingKey,
        text: impl Fn(&str, &str) -> String,
    ) {
        for (key, absent) in [(one, other), (other, one)] {
            if self.is_set(key) && !self.is_set(absent) {
                self.add_problem_of_value(key, text(key.name, absent.name));
            }
        }
    }

    /// Reports what is wrong with the first of two keys together with the other, at the one that
    /// ranks higher.
    fn add_problem_of_both(&mut self, key: &SettingKey, other: &SettingKey, text: String) {
        let origins = [other, key].map(|key| self.given.origin(key));
        if let Some(origin) = origins.into_iter().max_by_key(SettingOrigin::source_rank) {
            self.add_problem(key, origin, text);
        }
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

impl TeamSettings {
    fn check(&self, check: &mut SettingsCheck) {
        let text = |one: &str, other: &str| format!("`{one}` and `{other}` belong together");
        check.check_pair(&keys::TEAM_CERTIFICATE, &keys::TEAM_CERTIFICATE_KEY, text);
        check.check_pair(&keys::TEAM_OIDC_ISSUER, &keys::TEAM_OIDC_CLIENT_ID, text);
        if let Some(url) = &self.database_url
            && self.certificate.is_none()
        {
            let text = "several desks need one certificate: set `team.certificate` and \
                        `team.certificate_key`";
            check.add_problem(&keys::TEAM_DATABASE_URL, url.origin.clone(), text);
        }
    }

    pub fn certificate_files(&self) -> Option<(&Path, &Path)> {
        self.certificate.as_deref().zip(self.certificate_key.as_deref())
    }
}

impl AgentSettings {
    /// Chooses the engine: by the setting, else by whether there is a key or an address. Returns
    /// also why that one, in words that follow its name: "because …".
    ///
    /// [`EngineSetting::Auto`] is a model server if one is found on this machine, else the built-in
    /// engine.
    pub fn chosen_engine(&self) -> (EngineSetting, String) {
        let Setting { value: setting, origin } = &self.engine;
        let found =
            |what: &str, origin: &SettingOrigin| format!("because there is {what} ({origin})");
        match (setting, &self.api_key, &self.openai_key, &self.openai_url) {
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
        }
    }

    /// Returns the folder to which paths are relative: the working folder if it is in one of the
    /// roots, else the first root.
    pub fn folder(&self) -> &Path {
        let is_in_root = |here: &&Path| self.roots.iter().any(|root| here.starts_with(root));
        let here = self.here.as_deref().filter(is_in_root);
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
        let (most, thinking) = (&keys::AGENT_MAX_TOKENS, &keys::AGENT_THINKING_TOKENS);
        let Self { max_tokens, context_tokens, .. } = *self;
        if u64::from(max_tokens) >= context_tokens {
            let text = format!("`{}` must be less than `agent.context_tokens`", most.name);
            check.add_problem_of_both(most, &keys::AGENT_CONTEXT_TOKENS, text);
        }
        if self.thinking().is_some_and(|tokens| !(LEAST_THINKING..max_tokens).contains(&tokens)) {
            let text = format!(
                "`{}` must be 0 or at least {LEAST_THINKING}, and less than `{}`",
                thinking.name, most.name
            );
            check.add_problem_of_both(thinking, most, text);
        }
        // A cost cannot be computed from one of the two prices.
        check.check_pair(&keys::AGENT_PRICE_INPUT, &keys::AGENT_PRICE_OUTPUT, |set, absent| {
            format!("there is `{set}` without `{absent}`; set both")
        });
    }
}

/// The keys that the hook uses to ask.
const HOOK_KEYS: [&SettingKey; 4] =
    [&keys::SOCKET.key, &keys::TIMEOUT_SECONDS.key, &keys::GRACE_SECONDS.key, &keys::DATABASE.key];

/// The settings as the hook reads them, once.
///
/// The command line of an installed hook names its settings file, its socket and its rules. Our
/// variables are then ignored: the agent hands its hooks an environment that a project can change.
pub struct HookConfig(GivenSettings);

/// The settings on the hook's command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookFlags {
    /// The settings file, which may be absent.
    pub config: Option<PathBuf>,
    pub socket: Option<PathBuf>,
    /// The file with the user's rules.
    pub rules: Option<PathBuf>,
}

impl HookConfig {
    /// Reads the settings file and, unless `flags` name one, the environment.
    pub fn read_settings(flags: &HookFlags, around: Surroundings) -> Self {
        let scope =
            if flags.config.is_some() { VariableScope::Ignored } else { VariableScope::Ours };
        let paths = [(&keys::SOCKET.key, &flags.socket), (&keys::RULES.key, &flags.rules)];
        let named = paths.into_iter().filter_map(|(key, path)| Some((key, path.clone()?.into())));
        let named: Vec<_> = named.collect();
        Self(GivenSettings::read(flags.config.as_deref(), &named, around, scope))
    }

    /// Returns what the hook needs to ask. Problems of keys that it does not use are ignored: they
    /// are no reason to leave an agent without its hook.
    pub fn asker_settings(&self) -> Result<AskerSettings, ConfigProblems> {
        let mut check = SettingsCheck::new(&self.0);
        let database = keys::DATABASE.read(&mut check);
        let mut socket = keys::SOCKET.read(&mut check);
        place_socket(&mut check, &keys::SOCKET, &mut socket, &database);
        let is_beside = socket.origin == SettingOrigin::Default
            && socket.value == beside_database(&keys::SOCKET, &database);
        let timeout = keys::TIMEOUT_SECONDS.read(&mut check);
        let grace = keys::GRACE_SECONDS.read(&mut check);
        let settings = AskerSettings { socket: socket.value, timeout, grace };
        // The database matters only to a socket beside it.
        check.finish_for(settings, &HOOK_KEYS[..if is_beside { 4 } else { 3 }])
    }

    /// Returns the problems of what the hook does not use, on one line.
    pub fn unused_problems(&self) -> Option<String> {
        let mut problems = self.0.problems.clone();
        problems.retain(|problem| !problem.scope.concerns(&HOOK_KEYS));
        Some(ConfigProblems::value_or_problems((), problems).err()?.one_line())
    }

    /// Returns all settings, for a hook that has to read the rules itself. Only problems of the
    /// rules and the gate count.
    pub fn all_settings(&self) -> Result<Config, ConfigProblems> {
        let mut check = SettingsCheck::new(&self.0);
        let config = Config::check_all(&mut check);
        let gate = [&keys::GATE_UNATTENDED.key, &keys::GATE_WHEN_ABSENT, &keys::GATE_UNCLEAR];
        check.finish_for(config, &[&[&*keys::RULES][..], &gate].concat())
    }
}
