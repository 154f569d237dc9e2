//! The sessions of agents as a viewer sees them.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    pub session: String,
    pub agent: String,
    /// The folder it works in.
    pub project: String,
    /// The machine on which it runs, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The branch that is checked out there, if it is a git repository. It is not looked up for
    /// another machine, whose folders are not on this disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The oldest of its open questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Its permission mode, if it is known.
    pub mode: Option<String>,
    /// Its last words before its last question.
    pub last_words: Option<String>,
    /// When it was last active, in milliseconds since 1970.
    pub last_ms: i64,
    /// How many of its questions are open.
    pub waiting: u64,
    /// How many of its calls people allowed today.
    pub allowed_today: u64,
    /// How many of its calls people denied today.
    pub denied_today: u64,
    /// How many of its calls rules decided today.
    pub by_rule_today: u64,
    /// What is wrong with its mode, if nobody is asked in it.
    pub warning: Option<String>,
}
