//! The settings of the agent runtime, and their checks.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check::{Check, default, layer};
use super::problem::{Origin, Setting};
use super::raw::{Entry, Given};
use super::token::{Secret, TokenSource};

/// The model unless set otherwise.
const MODEL: &str = "claude-sonnet-5-5";
/// Where the model is served unless set otherwise.
const BASE_URL: &str = "https://api.anthropic.com";
/// Only one of these may say where the key is.
const API_KEYS: &[&str] = &["agent.api_key", "agent.api_key_file", "agent.api_key_command"];
/// The longest name of a model, in bytes.
const LONGEST_MODEL: usize = 256;
/// More folders than this nobody lists.
const MOST_ROOTS: usize = 64;
/// How long an answer may be, in tokens.
const MAX_TOKENS: RangeInclusive<i64> = 1..=1_000_000;
/// How much of that may be thinking; 0 is none at all.
const THINKING: RangeInclusive<i64> = 0..=1_000_000;
/// What the API takes at least.
const LEAST_THINKING: u64 = 1_024;
/// How long a conversation can be that the model reads.
const CONTEXT: RangeInclusive<i64> = 1_000..=10_000_000;
/// How often the model may use tools before it has to answer.
const ROUNDS: RangeInclusive<i64> = 1..=1_000;
/// How large a file may be that tools read or write.
const FILE_SIZE_MB: RangeInclusive<i64> = 1..=1_024;
/// How long a command may run.
const COMMAND_TIMEOUT: RangeInclusive<i64> = 1..=86_400;
/// A budget in tokens or requests.
const COUNT: RangeInclusive<i64> = 1..=1_000_000_000_000;
/// A budget or a price in dollars, in millionths.
const MOST_DOLLARS: Millionths = Millionths(1_000_000 * 1_000_000);

/// The settings of the agent runtime, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    /// Which engine answers.
    pub(crate) engine: Setting<EngineSetting>,
    /// The model, as its provider names it.
    pub(crate) model: Setting<String>,
    /// The address of the model's API, without a slash at its end.
    pub(crate) base_url: Setting<String>,
    /// The proxy on the way there, which may hold a password.
    pub(crate) proxy: Option<Setting<Secret>>,
    /// Where the key of the model's API is; read it with [`TokenSource::read_key`].
    pub(crate) api_key: Option<Setting<TokenSource>>,
    /// How long an answer may be.
    pub(crate) max_tokens: Setting<u64>,
    /// How long the model may think before; it does not where this is 0.
    pub(crate) thinking_tokens: Setting<u64>,
    /// How long a conversation can be that the model reads.
    pub(crate) context_tokens: Setting<u64>,
    /// How often the model may use tools before it has to answer.
    pub(crate) max_rounds: Setting<u64>,
    /// A file with what holds for the whole conversation.
    pub(crate) system_prompt_file: Option<Setting<PathBuf>>,
    /// The folders in which tools work; none when nobody names any and the working folder is gone.
    pub(crate) roots: Setting<Vec<PathBuf>>,
    /// The working folder, unless it is gone.
    pub(crate) here: Option<PathBuf>,
    /// How large a file may be that tools read or write.
    pub(crate) max_file_size_mb: Setting<u64>,
    /// How long a command may run.
    pub(crate) command_timeout: Setting<Duration>,
    /// The file with the conversations.
    pub(crate) history: Setting<PathBuf>,
    /// Whether conversations are kept.
    pub(crate) keep_history: Setting<bool>,
    /// Whether the last conversation goes on.
    pub(crate) resume: Setting<bool>,
    /// How much may be spent.
    pub(crate) budgets: Budgets,
    /// What a million tokens cost that the model reads, if not as is known of it.
    pub(crate) price_input: Option<Setting<Millionths>>,
    /// What a million tokens cost that it writes.
    pub(crate) price_output: Option<Setting<Millionths>>,
    /// What is logged.
    pub(crate) log_level: Setting<LogLevel>,
}

/// How much may be spent; without a value there is no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Budgets {
    /// Dollars in one conversation.
    pub(crate) conversation_usd: Option<Setting<Millionths>>,
    /// Dollars in one day.
    pub(crate) day_usd: Option<Setting<Millionths>>,
    /// Tokens in one conversation.
    pub(crate) conversation_tokens: Option<Setting<u64>>,
    /// Tokens in one day.
    pub(crate) day_tokens: Option<Setting<u64>>,
    /// Requests to the model in any minute.
    pub(crate) requests_per_minute: Option<Setting<u64>>,
}

/// An amount of dollars, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Millionths(pub(crate) u64);

/// Which engine answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EngineSetting {
    /// Whichever is found.
    Auto,
    /// A model behind the Messages API.
    Anthropic,
    /// The one that is built in.
    Offline,
}

/// What is logged; each level with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LogLevel {
    /// What failed.
    Error,
    /// What may be wrong.
    Warn,
    /// What happens.
    Info,
    /// The type and the id of each message, and nothing more of it.
    Debug,
}

impl EngineSetting {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "anthropic" => Some(Self::Anthropic),
            "offline" => Some(Self::Offline),
            _ => None,
        }
    }
}

impl LogLevel {
    /// Reads a level; other programs have some more words for the same.
    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "error" => Some(Self::Error),
            "warn" | "warning" => Some(Self::Warn),
            "info" => Some(Self::Info),
            "debug" | "trace" => Some(Self::Debug),
            _ => None,
        }
    }
}

impl Check<'_> {
    /// The section `[agent]`.
    pub(super) fn agent(&mut self, database: &Setting<PathBuf>) -> Agent {
        let agent = Agent {
            engine: self.engine(),
            model: self.model(),
            base_url: self.url("agent.base_url", BASE_URL, "API key"),
            proxy: self.proxy(),
            api_key: self.token(API_KEYS),
            max_tokens: self.whole("agent.max_tokens", MAX_TOKENS, 16_384),
            thinking_tokens: self.whole("agent.thinking_tokens", THINKING, 0),
            context_tokens: self.whole("agent.context_tokens", CONTEXT, 200_000),
            max_rounds: self.whole("agent.max_rounds", ROUNDS, 50),
            system_prompt_file: self.path("agent.system_prompt_file"),
            roots: self.roots(),
            here: self.around.here().map(Path::to_owned),
            max_file_size_mb: self.whole("agent.max_file_size_mb", FILE_SIZE_MB, 10),
            command_timeout: self.seconds("agent.command_timeout_seconds", COMMAND_TIMEOUT, 50),
            history: self.path("agent.history").unwrap_or_else(|| database.clone()),
            keep_history: self.switch("agent.keep_history", true),
            resume: self.switch("agent.resume", false),
            budgets: Budgets {
                conversation_usd: self.dollars("agent.conversation_usd"),
                day_usd: self.dollars("agent.day_usd"),
                conversation_tokens: self.count("agent.conversation_tokens"),
                day_tokens: self.count("agent.day_tokens"),
                requests_per_minute: self.count("agent.requests_per_minute"),
            },
            price_input: self.dollars("agent.price_input"),
            price_output: self.dollars("agent.price_output"),
            log_level: self.log_level(),
        };
        self.tokens_fit(&agent);
        self.prices_fit(&agent);
        agent
    }

    /// A proxy is for addresses beyond this machine.
    fn proxy(&self) -> Option<Setting<Secret>> {
        let Entry { given: Given::Secret(proxy), origin, .. } = self.raw.get("agent.proxy")? else {
            return None;
        };
        let value = proxy.clone();
        (!value.reveal().is_empty()).then(|| Setting { value, origin: origin.clone() })
    }

    /// Thinking is a part of the answer, and the answer a part of what the model reads.
    fn tokens_fit(&mut self, agent: &Agent) {
        let Agent { max_tokens, thinking_tokens, context_tokens, .. } = agent;
        if max_tokens.value >= context_tokens.value {
            let text = "`agent.max_tokens` must be less than `agent.context_tokens`";
            self.wrong("agent.max_tokens", latest(max_tokens, context_tokens), text);
        }
        let thinking = thinking_tokens.value;
        if thinking != 0 && (thinking < LEAST_THINKING || thinking >= max_tokens.value) {
            let text = format!(
                "`agent.thinking_tokens` must be 0 or at least {LEAST_THINKING}, \
                 and less than `agent.max_tokens`"
            );
            self.wrong("agent.thinking_tokens", latest(thinking_tokens, max_tokens), &text);
        }
    }

    /// With one price alone no cost can be told.
    fn prices_fit(&mut self, agent: &Agent) {
        const INPUT: &str = "agent.price_input";
        const OUTPUT: &str = "agent.price_output";
        let (there, absent, origin) = match (&agent.price_input, &agent.price_output) {
            (Some(input), None) => (INPUT, OUTPUT, &input.origin),
            (None, Some(output)) => (OUTPUT, INPUT, &output.origin),
            _ => return,
        };
        let text = format!("there is `{there}` without `{absent}`; set both");
        self.wrong(there, origin.clone(), &text);
    }

    fn engine(&mut self) -> Setting<EngineSetting> {
        let must = "must be auto, anthropic or offline";
        self.word("agent.engine", EngineSetting::parse, must, EngineSetting::Auto)
    }

    fn log_level(&mut self) -> Setting<LogLevel> {
        let must = "must be error, warn, info or debug";
        self.word("agent.log_level", LogLevel::parse, must, LogLevel::Info)
    }

    fn model(&mut self) -> Setting<String> {
        let Some(Entry { given: Given::Text(text), origin, .. }) = self.raw.get("agent.model")
        else {
            return default(MODEL.to_owned());
        };
        let model = text.trim();
        if model.is_empty() || model.len() > LONGEST_MODEL || model.contains(char::is_control) {
            let text = format!("`agent.model` must be the name of a model, such as {MODEL}");
            self.wrong("agent.model", origin.clone(), &text);
        }
        Setting { value: model.to_owned(), origin: origin.clone() }
    }

    /// The folders in which tools work: a flag can be given many times. Unless set, the folder in
    /// which the runtime was started.
    fn roots(&mut self) -> Setting<Vec<PathBuf>> {
        const NAME: &str = "agent.roots";
        let Some(last) = self.raw.get(NAME) else {
            return default(self.around.here().map(Path::to_owned).into_iter().collect());
        };
        let is_same =
            |entry: &&Entry| entry.name == NAME && layer(&entry.origin) == layer(&last.origin);
        let origin = last.origin.clone();
        let mut roots = Vec::new();
        for entry in self.raw.entries.iter().filter(is_same) {
            let Given::Paths(said) = &entry.given else { continue };
            roots.extend(said.iter().map(|path| self.placed(NAME, path, &entry.origin)));
        }
        if roots.is_empty() || roots.len() > MOST_ROOTS {
            let text = format!("`{NAME}` must name 1 to {MOST_ROOTS} folders");
            self.wrong(NAME, origin.clone(), &text);
        }
        Setting { value: roots, origin }
    }

    fn dollars(&mut self, name: &'static str) -> Option<Setting<Millionths>> {
        let Entry { given: Given::Amount(amount), origin, .. } = self.raw.get(name)? else {
            return None;
        };
        let value = Millionths(*amount);
        if value > MOST_DOLLARS {
            let text = format!("`{name}` must be at most {}", MOST_DOLLARS.0 / 1_000_000);
            self.wrong(name, origin.clone(), &text);
        }
        Some(Setting { value, origin: origin.clone() })
    }

    fn count(&mut self, name: &'static str) -> Option<Setting<u64>> {
        self.raw.get(name)?;
        Some(self.whole(name, COUNT, 1))
    }
}

/// Where the one of two settings came from that was set last; the first of them when neither was.
fn latest<T>(one: &Setting<T>, other: &Setting<T>) -> Origin {
    let last = if layer(&other.origin) > layer(&one.origin) { other } else { one };
    last.origin.clone()
}
