//! The settings that are one of a few words.

use callgate_agent::engine::{CacheLife, Effort};
use callgate_agent::session::LogLevel;
use callgate_approval::desk::Unattended;
use callgate_rules::UnclearCommands;

/// The longest name of a model, in bytes.
const LONGEST_MODEL: usize = 256;

/// What becomes of a call that no rule denies while no desk can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenAbsent {
    /// It is left to the agent, which asks its user or not.
    Agent,
    /// It is denied unless a rule allows it.
    Deny,
}

/// The engine that the settings ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EngineSetting {
    /// A model if there is a key for its API or a server on this machine, else the built-in engine.
    Auto,
    /// A model behind the Messages API.
    Anthropic,
    /// A model behind Chat Completions.
    OpenAi,
    /// The Claude Code CLI.
    ClaudeCode,
    /// The built-in engine.
    Offline,
}

/// The words for `gate.unattended`.
pub(crate) const UNATTENDED: &[(&str, Unattended)] =
    &[("rules", Unattended::Rules), ("ask", Unattended::Ask)];
/// The words for `gate.when_absent`.
pub(crate) const WHEN_ABSENT: &[(&str, WhenAbsent)] =
    &[("agent", WhenAbsent::Agent), ("deny", WhenAbsent::Deny)];
/// The words for `gate.unclear`.
pub(crate) const UNCLEAR: &[(&str, UnclearCommands)] =
    &[("ask", UnclearCommands::Ask), ("mode", UnclearCommands::Mode)];
/// The words for `agent.engine`.
pub(crate) const ENGINES: &[(&str, EngineSetting)] = &[
    ("auto", EngineSetting::Auto),
    ("anthropic", EngineSetting::Anthropic),
    ("openai", EngineSetting::OpenAi),
    ("claude-code", EngineSetting::ClaudeCode),
    ("offline", EngineSetting::Offline),
];
/// The words for `agent.effort`.
pub(crate) const EFFORTS: &[(&str, Option<Effort>)] = &[
    ("default", None),
    ("low", Some(Effort::Low)),
    ("medium", Some(Effort::Medium)),
    ("high", Some(Effort::High)),
    ("xhigh", Some(Effort::ExtraHigh)),
    ("max", Some(Effort::Max)),
];

/// The words for `agent.cache_life`.
pub(crate) const CACHE_LIVES: &[(&str, CacheLife)] =
    &[("5m", CacheLife::FiveMinutes), ("1h", CacheLife::OneHour)];
/// The words for `agent.log_level`, also those that other programs use.
pub(crate) const LOG_LEVELS: &[(&str, LogLevel)] = &[
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("warning", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Debug),
];

/// Returns what a word means, in upper or lower case; `None` if it is not one of `words`.
pub(crate) fn meaning_of<T: Copy>(words: &[(&str, T)], text: &str) -> Option<T> {
    words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, meaning)| *meaning)
}

pub(crate) fn is_model_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_MODEL && !text.contains(char::is_control)
}
