//! Reads all settings, and checks what concerns several keys.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_agent::budget::Budget;
use callgate_agent::budget::price::{ModelPrices, TokenPrices};
use callgate_approval::asker::AskerSettings;
use callgate_wire::hook::AgentProfile;

use crate::choices::{EngineSetting, WhenAbsent};
use crate::given::{GivenSettings, SettingsCheck, VariableScope};
use crate::keys::{self, AgentSettings, Config, GateSettings, TeamSettings};
use crate::problem::{ConfigProblem, ConfigProblems};
use crate::setting_key::SettingKey;
use crate::surroundings::Surroundings;
use crate::value::SettingValue;

/// Keys of which both are set or none, and what is said about one alone.
const PAIRS: [(&SettingKey, &SettingKey, PairText); 3] = [
    (&keys::TEAM_CERTIFICATE.key, &keys::TEAM_CERTIFICATE_KEY.key, BELONG_TOGETHER),
    (&keys::TEAM_OIDC_ISSUER.key, &keys::TEAM_OIDC_CLIENT_ID.key, BELONG_TOGETHER),
    // A cost cannot be computed from one of the two prices.
    (&keys::AGENT_PRICE_INPUT.key, &keys::AGENT_PRICE_OUTPUT.key, |set, absent| {
        format!("there is `{set}` without `{absent}`; set both")
    }),
];
type PairText = fn(&str, &str) -> String;
const BELONG_TOGETHER: PairText = |one, other| format!("`{one}` and `{other}` belong together");
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
        let (config, problems) = Self::check_given(&given);
        ConfigProblems::value_or_problems(config, problems)
    }

    /// Reads all settings from what was given, and returns what is wrong with them.
    pub fn check_given(given: &GivenSettings) -> (Self, Vec<ConfigProblem>) {
        let mut check = SettingsCheck::new(given);
        (Self::check_all(&mut check), check.problems)
    }

    fn check_all(check: &mut SettingsCheck) -> Self {
        let mut config = Self::read_section(check);
        config.agent.history = match check.given.value(&keys::AGENT_HISTORY) {
            Some(SettingValue::Path(path)) if config.agent.keep_history => Some(path),
            _ => None,
        };
        config.check_together(check);
        config
    }

    /// Checks what concerns several keys.
    fn check_together(&self, check: &mut SettingsCheck) {
        for (one, other, text) in PAIRS {
            for (key, absent) in [(one, other), (other, one)] {
                if check.given.is_set(key) && !check.given.is_set(absent) {
                    check.add_problem_of_value(key, text(key.name, absent.name));
                }
            }
        }
        let (phone_after, max_tokens) = (self.phone_after_seconds, self.agent.max_tokens);
        for (is_wrong, key, other, text) in [
            (
                phone_after > Duration::ZERO && phone_after >= self.timeout_seconds,
                &keys::PHONE_AFTER_SECONDS.key,
                &keys::PHONE_AFTER_SECONDS.key,
                "`phone_after_seconds` must be less than `timeout_seconds`, or the phone is never \
                 asked",
            ),
            (
                u64::from(max_tokens) >= self.agent.context_tokens,
                &keys::AGENT_MAX_TOKENS.key,
                &keys::AGENT_CONTEXT_TOKENS.key,
                "`agent.max_tokens` must be less than `agent.context_tokens`",
            ),
            (
                self.agent.thinking().is_some_and(|it| !(LEAST_THINKING..max_tokens).contains(&it)),
                &keys::AGENT_THINKING_TOKENS.key,
                &keys::AGENT_MAX_TOKENS.key,
                "`agent.thinking_tokens` must be 0 or at least 1024, and less than \
                 `agent.max_tokens`",
            ),
        ] {
            if is_wrong {
                check.add_problem_of_both(key, other, text);
            }
        }
        if let Some(url) = &self.team.database_url
            && self.team.certificate.is_none()
        {
            let text = "several desks need one certificate: set `team.certificate` and \
                        `team.certificate_key`";
            check.add_problem(&keys::TEAM_DATABASE_URL, url.origin.clone(), text);
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
        if self.engine.value != EngineSetting::Auto {
            return (self.engine.value, format!("because {} says so", self.engine.origin));
        }
        let found = [
            (self.api_key.as_ref().map(|key| &key.origin), EngineSetting::Anthropic, "an API key"),
            (self.openai_key.as_ref().map(|key| &key.origin), EngineSetting::OpenAi, "an API key"),
            (self.openai_url.as_ref().map(|url| &url.origin), EngineSetting::OpenAi, "an address"),
        ];
        let found = found.into_iter().find_map(|(origin, engine, what)| {
            Some((engine, format!("because there is {what} ({})", origin?)))
        });
        found.unwrap_or_else(|| (EngineSetting::Auto, "no API key was found".to_owned()))
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
            by_model: self.prices.clone().unwrap_or_default(),
            others: others.map(|(input, output)| TokenPrices { input, output, cached: None }),
        }
    }
}

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
        // For its problems alone: the default of the socket may be beside the database.
        keys::DATABASE.read(&mut check);
        let socket = keys::SOCKET.read(&mut check).value;
        let timeout = keys::TIMEOUT_SECONDS.read(&mut check);
        let grace = keys::GRACE_SECONDS.read(&mut check);
        let settings = AskerSettings { socket, timeout, grace };
        // The database matters only to a socket beside it.
        let is_elsewhere =
            self.0.is_set(&keys::SOCKET) || self.0.usual_socket(&keys::SOCKET).is_some();
        check.finish_for(settings, &keys::HOOK_KEYS[..if is_elsewhere { 3 } else { 4 }])
    }

    /// Returns the problems of what the hook does not use, on one line.
    pub fn unused_problems(&self) -> Option<String> {
        let mut problems = self.0.problems.clone();
        problems.retain(|problem| !problem.scope.concerns(&keys::HOOK_KEYS));
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
