//! The settings that are one of a few words.

use callgate_agent::session::LogLevel;
use callgate_approval::desk::Unattended;

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
    /// A model if there is a key for its API, else the built-in engine.
    Auto,
    /// A model behind the Messages API.
    Anthropic,
    /// The built-in engine.
    Offline,
}

impl WhenAbsent {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "agent" => Some(Self::Agent),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl EngineSetting {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "anthropic" => Some(Self::Anthropic),
            "offline" => Some(Self::Offline),
            _ => None,
        }
    }
}

pub(crate) fn parse_unattended(text: &str) -> Option<Unattended> {
    match text {
        "rules" => Some(Unattended::Rules),
        "ask" => Some(Unattended::Ask),
        _ => None,
    }
}

/// Parses a log level, also by the words that other programs use.
pub(crate) fn parse_log_level(text: &str) -> Option<LogLevel> {
    match text.to_ascii_lowercase().as_str() {
        "error" => Some(LogLevel::Error),
        "warn" | "warning" => Some(LogLevel::Warn),
        "info" => Some(LogLevel::Info),
        "debug" | "trace" => Some(LogLevel::Debug),
        _ => None,
    }
}

pub(crate) fn is_model_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_MODEL && !text.contains(char::is_control)
}
