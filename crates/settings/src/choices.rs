//! The settings that are one of a few words.

use callgate_agent::session::LogLevel;

callgate_wire::words! {
    /// What becomes of a call that no rule denies while no desk can be asked.
    pub enum WhenAbsent {
        /// It is left to the agent, which asks its user or not.
        Agent "agent",
        /// It is denied unless a rule allows it.
        Deny "deny",
    }

    /// The engine that the settings ask for.
    pub enum EngineSetting {
        /// A model if there is a key for its API or a server on this machine, else the built-in
        /// engine.
        Auto "auto",
        /// A model behind the Messages API.
        Anthropic "anthropic",
        /// A model behind Chat Completions.
        OpenAi "openai",
        ClaudeCode "claude-code",
        Offline "offline",
    }

    /// The colours of the desktop shell.
    pub enum ShellTheme {
        System "system",
        Light "light",
        Dark "dark",
    }
}

/// Returns the level that a word stands for, also one that other programs use.
pub(crate) fn parse_log_level(word: &str) -> Option<LogLevel> {
    match word {
        "warning" => Some(LogLevel::Warn),
        "trace" => Some(LogLevel::Debug),
        word => LogLevel::parse(word),
    }
}
