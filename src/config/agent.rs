//! The settings of the agent runtime, and their checks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_agent::budget::Budget;
use callgate_agent::budget::price::{ModelPrices, TokenPrices};
use callgate_agent::engine::{CacheLife, Effort};
use callgate_agent::mcp::{MOST_SERVERS, McpServerSettings};
use callgate_agent::session::{LogLevel, ResumedConversation};
use callgate_settings::{EngineSetting, Setting, SettingKey, SettingOrigin, SettingValue, keys};
use callgate_wire::HiddenText;

use super::check::ConfigCheck;
use super::raw::GivenSetting;
use super::token::TokenSource;

/// The largest number of folders for tools.
const MOST_ROOTS: usize = 64;
/// The fewest thinking tokens that the API accepts.
const LEAST_THINKING: u32 = 1_024;
const MEGABYTE: u64 = 1024 * 1024;

/// The settings of the agent runtime, checked. A field holds the key of its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgentSettings {
    pub(crate) engine: ChosenEngine,
    pub(crate) model: String,
    /// Without a slash at its end.
    pub(crate) base_url: String,
    /// It may hold a password.
    pub(crate) proxy: Option<HiddenText>,
    /// Where the key is; read it with [`TokenSource::read_key`].
    pub(crate) api_key: Option<TokenSource>,
    pub(crate) fallback_model: Option<String>,
    /// `None` for the model's default.
    pub(crate) effort: Option<Effort>,
    pub(crate) openai_model: Option<String>,
    /// `None` unless it is set.
    pub(crate) openai_url: Option<String>,
    pub(crate) openai_key: Option<TokenSource>,
    pub(crate) local_ports: Vec<u16>,
    pub(crate) claude_cli: Option<PathBuf>,
    pub(crate) max_tokens: u32,
    /// `None` turns thinking off.
    pub(crate) thinking_tokens: Option<u32>,
    pub(crate) cache_life: CacheLife,
    pub(crate) context_tokens: u64,
    pub(crate) max_rounds: u32,
    /// How long a message waits for a model that cannot be reached.
    pub(crate) retry: Duration,
    /// How long a model may send nothing. `None` unless it is set.
    pub(crate) silence: Option<Duration>,
    pub(crate) system_prompt_file: Option<PathBuf>,
    /// Whether the project's own instructions are read.
    pub(crate) project_instructions: bool,
    /// Whether files are noted before commands run.
    pub(crate) snapshots: bool,
    /// Never empty for `callgate agent`.
    pub(crate) roots: Vec<PathBuf>,
    /// The folder to which paths are relative: the working folder if it is in one of the roots,
    /// else the first root.
    pub(crate) folder: PathBuf,
    /// In bytes.
    pub(crate) max_file_size: u64,
    pub(crate) command_timeout: Duration,
    pub(crate) mcp_servers: Vec<McpServerSettings>,
    pub(crate) mcp_wait: Duration,
    /// Where the user's own tools are; `None` without a home folder.
    pub(crate) tools_folder: Option<PathBuf>,
    /// `None` if conversations are not kept.
    pub(crate) history: Option<PathBuf>,
    pub(crate) resume: ResumedConversation,
    pub(crate) all_folders: bool,
    pub(crate) budget: Budget,
    /// Empty for the prices that are known of the model.
    pub(crate) prices: ModelPrices,
    pub(crate) log_level: LogLevel,
}

/// The engine that answers, and why that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenEngine {
    /// The engine. [`EngineSetting::Auto`] is a model server if one is found on this machine, else
    /// the built-in engine.
    pub(crate) setting: EngineSetting,
    /// Why, in words that follow its name: "because …".
    pub(crate) because: String,
}

impl ConfigCheck<'_> {
    /// Checks the section `[agent]`.
    pub(super) fn check_agent_section(&mut self, database: &Path) -> AgentSettings {
        let (api_key, roots) = (self.token(&keys::AGENT_API_KEY), self.roots());
        let openai_key = self.token(&keys::AGENT_OPENAI_KEY);
        let settings = AgentSettings {
            engine: self.choose_engine(api_key.as_ref(), openai_key.as_ref()),
            model: self.value(&keys::AGENT_MODEL),
            base_url: self.value(&keys::AGENT_BASE_URL).0,
            proxy: self.proxy(),
            api_key: api_key.map(|key| key.value),
            fallback_model: self.given_value(&keys::AGENT_FALLBACK_MODEL),
            effort: self.value(&keys::AGENT_EFFORT).0,
            openai_model: self.given_value(&keys::AGENT_OPENAI_MODEL),
            openai_url: self.given_value(&keys::AGENT_OPENAI_URL).map(|url| url.0),
            openai_key: openai_key.map(|key| key.value),
            local_ports: self.ports(),
            claude_cli: self.path(&keys::AGENT_CLAUDE_CLI),
            max_tokens: self.value(&keys::AGENT_MAX_TOKENS),
            thinking_tokens: Some(self.value(&keys::AGENT_THINKING_TOKENS))
                .filter(|tokens| *tokens > 0),
            cache_life: self.value(&keys::AGENT_CACHE_LIFE),
            context_tokens: self.value(&keys::AGENT_CONTEXT_TOKENS),
            max_rounds: self.value(&keys::AGENT_MAX_ROUNDS),
            retry: self.value(&keys::AGENT_RETRY_SECONDS),
            silence: self.given_value(&keys::AGENT_SILENCE_SECONDS),
            system_prompt_file: self.path(&keys::AGENT_SYSTEM_PROMPT_FILE),
            project_instructions: self.value(&keys::AGENT_PROJECT_INSTRUCTIONS),
            snapshots: self.value(&keys::AGENT_SNAPSHOTS),
            folder: self.starting_folder(&roots),
            roots,
            max_file_size: self.value(&keys::AGENT_MAX_FILE_SIZE_MB) * MEGABYTE,
            command_timeout: self.value(&keys::AGENT_COMMAND_TIMEOUT_SECONDS),
            mcp_servers: self.mcp_servers(),
            mcp_wait: self.value(&keys::AGENT_MCP_WAIT_SECONDS),
            tools_folder: self.around.config_folder().map(|folder| folder.join("tools")),
            history: self.history(database),
            resume: self.value(&keys::AGENT_RESUME),
            all_folders: self.value(&keys::AGENT_ALL_FOLDERS),
            budget: Budget {
                conversation_usd: self.given_value(&keys::AGENT_CONVERSATION_USD),
                day_usd: self.given_value(&keys::AGENT_DAY_USD),
                conversation_tokens: self.given_value(&keys::AGENT_CONVERSATION_TOKENS),
                day_tokens: self.given_value(&keys::AGENT_DAY_TOKENS),
                requests_per_minute: self.given_value(&keys::AGENT_REQUESTS_PER_MINUTE),
            },
            prices: self.prices(),
            log_level: self.value(&keys::AGENT_LOG_LEVEL),
        };
        self.check_tokens(&settings);
        settings
    }

    /// Chooses the engine: by the setting, else by whether there is a key or an address.
    fn choose_engine(
        &mut self,
        key: Option<&Setting<TokenSource>>,
        openai_key: Option<&Setting<TokenSource>>,
    ) -> ChosenEngine {
        let setting = self.value(&keys::AGENT_ENGINE);
        let has_key = |origin: &SettingOrigin| format!("because there is an API key ({origin})");
        let (setting, because) = match (setting, key, openai_key) {
            (EngineSetting::Auto, Some(key), _) => (EngineSetting::Anthropic, has_key(&key.origin)),
            (EngineSetting::Auto, None, Some(key)) => (EngineSetting::OpenAi, has_key(&key.origin)),
            (EngineSetting::Auto, None, None)
                if self.raw.get(&keys::AGENT_OPENAI_URL).is_some() =>
            {
                let origin = self.origin(&keys::AGENT_OPENAI_URL);
                (EngineSetting::OpenAi, format!("because there is an address ({origin})"))
            }
            (EngineSetting::Auto, None, None) => {
                (EngineSetting::Auto, "no API key was found".to_owned())
            }
            _ => (setting, format!("because {} says so", self.origin(&keys::AGENT_ENGINE))),
        };
        ChosenEngine { setting, because }
    }

    fn ports(&mut self) -> Vec<u16> {
        let Setting { value, origin } = self.setting(&keys::AGENT_LOCAL_PORTS);
        let ports: Result<Vec<u16>, _> = value.into_iter().map(u16::try_from).collect();
        ports.unwrap_or_else(|_| {
            let text = "`agent.local_ports` must hold ports, from 1 to 65535";
            self.add_problem(&keys::AGENT_LOCAL_PORTS, origin, text);
            Vec::new()
        })
    }

    fn proxy(&self) -> Option<HiddenText> {
        match &self.raw.get(&keys::AGENT_PROXY)?.value {
            SettingValue::Secret(proxy) if !proxy.reveal().is_empty() => Some(proxy.clone()),
            _ => None,
        }
    }

    /// Returns the servers that can be used, and reports what is wrong with the others.
    fn mcp_servers(&mut self) -> Vec<McpServerSettings> {
        // Only the runtime has the variables that they may need.
        if !self.raw.is_for_agent {
            return Vec::new();
        }
        let Some(GivenSetting { value: SettingValue::Tables(servers), origin, .. }) =
            self.raw.get(&keys::AGENT_MCP_SERVERS)
        else {
            return Vec::new();
        };
        let variable = |name: &str| self.around.variable(name)?.into_string().ok();
        let (mut usable, mut wrong) = (Vec::new(), Vec::new());
        for (name, form) in servers.iter_tables() {
            if let Some(member) = McpServerSettings::unknown_member(form) {
                wrong.push(format!("the server `{name}` has no `{member}`"));
            }
            match McpServerSettings::from_json(name, form, &variable) {
                Ok(server) => usable.push(server),
                Err(why) => wrong.push(why),
            }
        }
        if usable.len() > MOST_SERVERS {
            wrong.push(format!("there may be {MOST_SERVERS} servers"));
        }
        for why in wrong {
            let text = format!("`agent.mcp_servers`: {why}");
            self.add_problem(&keys::AGENT_MCP_SERVERS, origin.clone(), &text);
        }
        usable
    }

    fn history(&mut self, database: &Path) -> Option<PathBuf> {
        let history = self.path(&keys::AGENT_HISTORY).unwrap_or_else(|| database.to_owned());
        self.value(&keys::AGENT_KEEP_HISTORY).then_some(history)
    }

    /// Checks that thinking fits into the answer, and the answer into the context window.
    fn check_tokens(&mut self, settings: &AgentSettings) {
        let AgentSettings { max_tokens, thinking_tokens, context_tokens, .. } = *settings;
        if u64::from(max_tokens) >= context_tokens {
            let text = "`agent.max_tokens` must be less than `agent.context_tokens`";
            let origin = self.higher_origin(&keys::AGENT_MAX_TOKENS, &keys::AGENT_CONTEXT_TOKENS);
            self.add_problem(&keys::AGENT_MAX_TOKENS, origin, text);
        }
        if thinking_tokens.is_some_and(|tokens| !(LEAST_THINKING..max_tokens).contains(&tokens)) {
            let text = format!(
                "`agent.thinking_tokens` must be 0 or at least {LEAST_THINKING}, \
                 and less than `agent.max_tokens`"
            );
            let origin = self.higher_origin(&keys::AGENT_THINKING_TOKENS, &keys::AGENT_MAX_TOKENS);
            self.add_problem(&keys::AGENT_THINKING_TOKENS, origin, &text);
        }
    }

    fn prices(&mut self) -> ModelPrices {
        // What cannot be read is reported where the key is checked.
        let by_model =
            self.given_value(&keys::AGENT_PRICES).and_then(|text| ModelPrices::parse(&text));
        let by_model = by_model.unwrap_or_default();
        ModelPrices { by_model, others: self.common_prices() }
    }

    /// Returns both prices. A cost cannot be computed from one of them.
    fn common_prices(&mut self) -> Option<TokenPrices> {
        let (input, output) = (&keys::AGENT_PRICE_INPUT, &keys::AGENT_PRICE_OUTPUT);
        let (set, absent) = match (self.given_value(input), self.given_value(output)) {
            (Some(input), Some(output)) => {
                return Some(TokenPrices { input, output, cached: None });
            }
            (None, None) => return None,
            (Some(_), None) => (input, output),
            (None, Some(_)) => (output, input),
        };
        let text = format!("there is `{}` without `{}`; set both", set.name, absent.name);
        self.add_problem(set, self.origin(set), &text);
        None
    }

    /// Returns the folders in which tools work. The flag may be given several times. Unless set,
    /// they are the working folder.
    fn roots(&mut self) -> Vec<PathBuf> {
        let Some(GivenSetting { origin, .. }) = self.raw.get(&keys::AGENT_ROOTS) else {
            let here = self.around.working_folder().map(Path::to_owned);
            if here.is_none() && self.raw.is_for_agent {
                let text = "the working folder is gone; start in another one, or set `agent.roots`";
                self.add_problem(&keys::AGENT_ROOTS, SettingOrigin::Default, text);
            }
            return here.into_iter().collect();
        };
        let is_in_effect = |given: &&GivenSetting| {
            given.key.name == keys::AGENT_ROOTS.name
                && given.origin.source_rank() == origin.source_rank()
        };
        let mut roots = Vec::new();
        for given in self.raw.given.iter().filter(is_in_effect) {
            let SettingValue::Paths(paths) = &given.value else { continue };
            let absolute =
                |path: &PathBuf| self.absolute_path(&keys::AGENT_ROOTS, path, &given.origin);
            roots.extend(paths.iter().map(absolute));
        }
        if roots.is_empty() || roots.len() > MOST_ROOTS {
            let text = format!("`agent.roots` must name 1 to {MOST_ROOTS} folders");
            self.add_problem(&keys::AGENT_ROOTS, origin.clone(), &text);
        }
        roots
    }

    fn starting_folder(&self, roots: &[PathBuf]) -> PathBuf {
        let is_in_root = |here: &&Path| roots.iter().any(|root| here.starts_with(root));
        let here = self.around.working_folder().filter(is_in_root);
        here.or(roots.first().map(PathBuf::as_path)).unwrap_or(Path::new("")).to_owned()
    }

    /// Returns the origin of the one of two settings that ranks higher, or of the first.
    fn higher_origin(&self, one: &SettingKey, other: &SettingKey) -> SettingOrigin {
        let (one, other) = (self.origin(one), self.origin(other));
        if other.source_rank() > one.source_rank() { other } else { one }
    }
}
