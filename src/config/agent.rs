//! The settings of the agent runtime, and their checks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_agent::budget::Budget;
use callgate_agent::budget::price::{self, ModelPrices, TokenPrices};
use callgate_agent::engine::{CacheLife, Effort};
use callgate_agent::mcp::{MOST_SERVERS, McpServerSettings};
use callgate_agent::session::{LogLevel, ResumedConversation};
use callgate_wire::HiddenText;

use super::check::ConfigCheck;
use super::choices::{EngineSetting, parse_effort, parse_log_level};
use super::problem::{Setting, SettingOrigin};
use super::raw::GivenSetting;
use super::token::TokenSource;
use super::value::SettingValue;

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
        let (api_key, roots) = (self.token("agent.api_key"), self.roots());
        let openai_key = self.token("agent.openai_key");
        let settings = AgentSettings {
            engine: self.choose_engine(api_key.as_ref(), openai_key.as_ref()),
            model: self.text("agent.model"),
            base_url: self.url("agent.base_url"),
            proxy: self.proxy(),
            api_key: api_key.map(|key| key.value),
            fallback_model: Some(self.text("agent.fallback_model"))
                .filter(|model| !model.is_empty()),
            effort: self.word("agent.effort", parse_effort, None),
            openai_model: Some(self.text("agent.openai_model")).filter(|model| !model.is_empty()),
            openai_url: self.is_set("agent.openai_url").then(|| self.url("agent.openai_url")),
            openai_key: openai_key.map(|key| key.value),
            local_ports: self.ports(),
            claude_cli: self.path("agent.claude_cli"),
            max_tokens: self.count("agent.max_tokens").unwrap_or_default(),
            thinking_tokens: self.count("agent.thinking_tokens").filter(|tokens| *tokens > 0),
            cache_life: self.word("agent.cache_life", CacheLife::parse, CacheLife::default()),
            context_tokens: self.whole("agent.context_tokens").unwrap_or_default(),
            max_rounds: self.count("agent.max_rounds").unwrap_or_default(),
            retry: self.seconds("agent.retry_seconds"),
            silence: self
                .is_set("agent.silence_seconds")
                .then(|| self.seconds("agent.silence_seconds")),
            system_prompt_file: self.path("agent.system_prompt_file"),
            project_instructions: self.is_switched_on("agent.project_instructions"),
            snapshots: self.is_switched_on("agent.snapshots"),
            folder: self.starting_folder(&roots),
            roots,
            max_file_size: self.whole("agent.max_file_size_mb").unwrap_or_default() * MEGABYTE,
            command_timeout: self.seconds("agent.command_timeout_seconds"),
            mcp_servers: self.mcp_servers(),
            mcp_wait: self.seconds("agent.mcp_wait_seconds"),
            tools_folder: self.around.config_folder().map(|folder| folder.join("tools")),
            history: self.history(database),
            resume: self.resumed_conversation(),
            all_folders: self.is_switched_on("agent.all_folders"),
            budget: Budget {
                conversation_usd: self.dollars("agent.conversation_usd"),
                day_usd: self.dollars("agent.day_usd"),
                conversation_tokens: self.whole("agent.conversation_tokens"),
                day_tokens: self.whole("agent.day_tokens"),
                requests_per_minute: self.count("agent.requests_per_minute"),
            },
            prices: self.prices(),
            log_level: self.word("agent.log_level", parse_log_level, LogLevel::Info),
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
        let setting = self.word("agent.engine", EngineSetting::parse, EngineSetting::Auto);
        let has_key = |origin: &SettingOrigin| format!("because there is an API key ({origin})");
        let (setting, because) = match (setting, key, openai_key) {
            (EngineSetting::Auto, Some(key), _) => (EngineSetting::Anthropic, has_key(&key.origin)),
            (EngineSetting::Auto, None, Some(key)) => (EngineSetting::OpenAi, has_key(&key.origin)),
            (EngineSetting::Auto, None, None) if self.is_set("agent.openai_url") => {
                let origin = self.origin("agent.openai_url");
                (EngineSetting::OpenAi, format!("because there is an address ({origin})"))
            }
            (EngineSetting::Auto, None, None) => {
                (EngineSetting::Auto, "no API key was found".to_owned())
            }
            _ => (setting, format!("because {} says so", self.origin("agent.engine"))),
        };
        ChosenEngine { setting, because }
    }

    fn is_set(&self, name: &str) -> bool {
        self.raw.get(name).is_some()
    }

    fn resumed_conversation(&mut self) -> ResumedConversation {
        match self.checked_value("agent.resume") {
            Some(SettingValue::Switch(true)) => ResumedConversation::Last,
            Some(SettingValue::Text(id)) if !id.is_empty() => ResumedConversation::Id(id),
            _ => ResumedConversation::None,
        }
    }

    fn ports(&mut self) -> Vec<u16> {
        const NAME: &str = "agent.local_ports";
        let Setting { value, origin } = self.ids(NAME);
        let ports: Result<Vec<u16>, _> = value.into_iter().map(u16::try_from).collect();
        ports.unwrap_or_else(|_| {
            self.add_problem(NAME, origin, "`agent.local_ports` must hold ports, from 1 to 65535");
            Vec::new()
        })
    }

    fn proxy(&self) -> Option<HiddenText> {
        match &self.raw.get("agent.proxy")?.value {
            SettingValue::Secret(proxy) if !proxy.reveal().is_empty() => Some(proxy.clone()),
            _ => None,
        }
    }

    /// Returns the servers that can be used, and reports what is wrong with the others.
    fn mcp_servers(&mut self) -> Vec<McpServerSettings> {
        const NAME: &str = "agent.mcp_servers";
        // Only the runtime has the variables that they may need.
        if !self.raw.is_for_agent {
            return Vec::new();
        }
        let Some(GivenSetting { value: SettingValue::Tables(servers), origin, .. }) =
            self.raw.get(NAME)
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
            self.add_problem(NAME, origin.clone(), &format!("`{NAME}`: {why}"));
        }
        usable
    }

    fn history(&mut self, database: &Path) -> Option<PathBuf> {
        let history = self.path("agent.history").unwrap_or_else(|| database.to_owned());
        self.is_switched_on("agent.keep_history").then_some(history)
    }

    /// Checks that thinking fits into the answer, and the answer into the context window.
    fn check_tokens(&mut self, settings: &AgentSettings) {
        let AgentSettings { max_tokens, thinking_tokens, context_tokens, .. } = *settings;
        if u64::from(max_tokens) >= context_tokens {
            let text = "`agent.max_tokens` must be less than `agent.context_tokens`";
            let origin = self.higher_origin("agent.max_tokens", "agent.context_tokens");
            self.add_problem("agent.max_tokens", origin, text);
        }
        if thinking_tokens.is_some_and(|tokens| !(LEAST_THINKING..max_tokens).contains(&tokens)) {
            let text = format!(
                "`agent.thinking_tokens` must be 0 or at least {LEAST_THINKING}, \
                 and less than `agent.max_tokens`"
            );
            let origin = self.higher_origin("agent.thinking_tokens", "agent.max_tokens");
            self.add_problem("agent.thinking_tokens", origin, &text);
        }
    }

    fn prices(&mut self) -> ModelPrices {
        // What cannot be read is reported where the key is checked.
        let by_model = ModelPrices::parse(&self.text("agent.prices")).unwrap_or_default();
        ModelPrices { by_model, others: self.common_prices() }
    }

    /// Returns both prices. A cost cannot be computed from one of them.
    fn common_prices(&mut self) -> Option<TokenPrices> {
        const INPUT: &str = "agent.price_input";
        const OUTPUT: &str = "agent.price_output";
        let (set, absent) = match (self.dollars(INPUT), self.dollars(OUTPUT)) {
            (Some(input), Some(output)) => {
                return Some(TokenPrices { input, output, cached: None });
            }
            (None, None) => return None,
            (Some(_), None) => (INPUT, OUTPUT),
            (None, Some(_)) => (OUTPUT, INPUT),
        };
        let text = format!("there is `{set}` without `{absent}`; set both");
        self.add_problem(set, self.origin(set), &text);
        None
    }

    /// Returns the folders in which tools work. The flag may be given several times. Unless set,
    /// they are the working folder.
    fn roots(&mut self) -> Vec<PathBuf> {
        const NAME: &str = "agent.roots";
        let Some(GivenSetting { origin, .. }) = self.raw.get(NAME) else {
            let here = self.around.working_folder().map(Path::to_owned);
            if here.is_none() && self.raw.is_for_agent {
                let text = "the working folder is gone; start in another one, or set `agent.roots`";
                self.add_problem(NAME, SettingOrigin::Default, text);
            }
            return here.into_iter().collect();
        };
        let is_in_effect = |given: &&GivenSetting| {
            given.name == NAME && given.origin.source_rank() == origin.source_rank()
        };
        let mut roots = Vec::new();
        for given in self.raw.given.iter().filter(is_in_effect) {
            let SettingValue::Paths(paths) = &given.value else { continue };
            roots.extend(paths.iter().map(|path| self.absolute_path(NAME, path, &given.origin)));
        }
        if roots.is_empty() || roots.len() > MOST_ROOTS {
            let text = format!("`{NAME}` must name 1 to {MOST_ROOTS} folders");
            self.add_problem(NAME, origin.clone(), &text);
        }
        roots
    }

    fn starting_folder(&self, roots: &[PathBuf]) -> PathBuf {
        let is_in_root = |here: &&Path| roots.iter().any(|root| here.starts_with(root));
        let here = self.around.working_folder().filter(is_in_root);
        here.or(roots.first().map(PathBuf::as_path)).unwrap_or(Path::new("")).to_owned()
    }

    fn dollars(&mut self, name: &'static str) -> Option<f64> {
        match self.checked_value(name)? {
            SettingValue::Dollars(millionths) => Some(price::dollars_of_micro(millionths)),
            _ => None,
        }
    }

    fn count(&mut self, name: &'static str) -> Option<u32> {
        self.whole(name).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Returns the origin of the one of two settings that ranks higher, or of the first.
    fn higher_origin(&self, one: &str, other: &str) -> SettingOrigin {
        let (one, other) = (self.origin(one), self.origin(other));
        if other.source_rank() > one.source_rank() { other } else { one }
    }
}
