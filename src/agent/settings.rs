//! What the runtime is set to: plain values, checked, and which engine that makes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::{
    Agent, AgentFlags, Config, EngineSetting, LogLevel, Millionths, Problems, Secret, Setting,
    TokenError, TokenSource,
};

const MEGABYTE: u64 = 1024 * 1024;

/// What the runtime is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentSettings {
    /// Which engine answers, and why that one.
    pub(super) engine: Chosen,
    /// The model, as its provider names it.
    pub(super) model: String,
    /// The address of the model's API, without a slash at its end.
    pub(super) base_url: String,
    /// The proxy on the way there.
    pub(super) proxy: Option<Secret>,
    /// Where the key of the model's API is; read it with [`api_key`](Self::api_key).
    key: Option<TokenSource>,
    /// How long an answer may be.
    pub(super) max_tokens: u32,
    /// How long the model may think before, if it may.
    pub(super) thinking_tokens: Option<u32>,
    /// How long a conversation can be that the model reads, in tokens.
    pub(super) context_tokens: u64,
    /// How often the model may use tools before it has to answer.
    pub(super) max_rounds: u32,
    /// A file with what holds for the whole conversation.
    pub(super) system_prompt_file: Option<PathBuf>,
    /// The folders in which tools work; never empty.
    pub(super) roots: Vec<PathBuf>,
    /// The folder in which relative paths begin: the working folder if it is in one of the roots,
    /// else the first of them.
    pub(super) folder: PathBuf,
    /// How large a file may be that tools read or write, in bytes.
    pub(super) max_file_size: u64,
    /// How long a command may run.
    pub(super) command_timeout: Duration,
    /// The file with the conversations, if they are kept.
    pub(super) history: Option<PathBuf>,
    /// Whether the last conversation goes on.
    pub(super) resume: bool,
    /// How much may be spent.
    pub(super) limits: Limits,
    /// What a million tokens cost, if not as is known of the model.
    pub(super) prices: Prices,
    /// What is logged.
    pub(super) log_level: LogLevel,
}

/// How much may be spent; without a value there is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// Dollars in one conversation.
    pub(super) conversation_usd: Option<Millionths>,
    /// Dollars in one day.
    pub(super) day_usd: Option<Millionths>,
    /// Tokens in one conversation.
    pub(super) conversation_tokens: Option<u64>,
    /// Tokens in one day.
    pub(super) day_tokens: Option<u64>,
    /// Requests to the model in any minute.
    pub(super) requests_per_minute: Option<u64>,
}

/// What a million tokens cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Prices {
    /// Those that the model reads.
    pub(super) input: Option<Millionths>,
    /// Those that it writes.
    pub(super) output: Option<Millionths>,
}

/// Which engine answers, and why that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The engine.
    pub(super) engine: EngineKind,
    /// Why, in words that follow its name: "because …".
    pub(super) because: String,
}

/// The engines that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineKind {
    /// A model behind the Messages API.
    Anthropic,
    /// The one that is built in.
    Offline,
}

impl AgentSettings {
    /// Reads and checks the settings: the file, the environment, the flags, and no other file. The
    /// rest of the settings is what the gate needs.
    pub(super) fn load(
        file: Option<&Path>,
        flags: &AgentFlags,
    ) -> Result<(Self, Config), Problems> {
        let config = Config::load_for_agent(file, flags)?;
        Ok((Self::of(&config.agent)?, config))
    }

    /// The settings of this section.
    pub(super) fn of(agent: &Agent) -> Result<Self, Problems> {
        let whole = |setting: &Setting<u64>| u32::try_from(setting.value).unwrap_or(u32::MAX);
        let budgets = &agent.budgets;
        let roots = agent.roots.value.clone();
        let Some(folder) = agent
            .here
            .clone()
            .filter(|here| is_in(here, &roots))
            .or_else(|| roots.first().cloned())
        else {
            let text = "the working folder is gone; start in another one, or set `agent.roots`";
            return Err(Problems::one("agent.roots", text));
        };
        Ok(Self {
            engine: choose(&agent.engine, agent.api_key.as_ref()),
            model: agent.model.value.clone(),
            base_url: agent.base_url.value.clone(),
            proxy: agent.proxy.as_ref().map(|proxy| proxy.value.clone()),
            key: agent.api_key.as_ref().map(|key| key.value.clone()),
            max_tokens: whole(&agent.max_tokens),
            thinking_tokens: Some(whole(&agent.thinking_tokens)).filter(|tokens| *tokens > 0),
            context_tokens: agent.context_tokens.value,
            max_rounds: whole(&agent.max_rounds),
            system_prompt_file: agent.system_prompt_file.as_ref().map(|file| file.value.clone()),
            roots,
            folder,
            max_file_size: agent.max_file_size_mb.value * MEGABYTE,
            command_timeout: agent.command_timeout.value,
            history: agent.keep_history.value.then(|| agent.history.value.clone()),
            resume: agent.resume.value,
            limits: Limits {
                conversation_usd: value(budgets.conversation_usd.as_ref()),
                day_usd: value(budgets.day_usd.as_ref()),
                conversation_tokens: value(budgets.conversation_tokens.as_ref()),
                day_tokens: value(budgets.day_tokens.as_ref()),
                requests_per_minute: value(budgets.requests_per_minute.as_ref()),
            },
            prices: Prices {
                input: value(agent.price_input.as_ref()),
                output: value(agent.price_output.as_ref()),
            },
            log_level: agent.log_level.value,
        })
    }

    /// The key of the model's API, if there is one. It is read when it is wanted, because that may
    /// take a file or a program.
    pub(super) fn api_key(&self) -> Option<Result<Secret, TokenError>> {
        self.key.as_ref().map(TokenSource::read_key)
    }
}

fn is_in(folder: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| folder.starts_with(root))
}

fn value<T: Copy>(setting: Option<&Setting<T>>) -> Option<T> {
    setting.map(|setting| setting.value)
}

/// The engine: by what is set, else by what is found, else the one that needs nothing.
fn choose(engine: &Setting<EngineSetting>, key: Option<&Setting<TokenSource>>) -> Chosen {
    let set = |kind| Chosen { engine: kind, because: format!("because {} says so", engine.origin) };
    match (engine.value, key) {
        (EngineSetting::Anthropic, _) => set(EngineKind::Anthropic),
        (EngineSetting::Offline, _) => set(EngineKind::Offline),
        (EngineSetting::Auto, Some(key)) => {
            let because = format!("because there is a key of the API ({})", key.origin);
            Chosen { engine: EngineKind::Anthropic, because }
        }
        (EngineSetting::Auto, None) => {
            let because = "because no key of a model's API was found: \
                           set ANTHROPIC_API_KEY for a real model";
            Chosen { engine: EngineKind::Offline, because: because.to_owned() }
        }
    }
}

#[cfg(test)]
mod tests;
