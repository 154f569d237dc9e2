//! A person's answer at the desk above.

use serde::{Deserialize, Serialize};

use super::{AllowDemands, Decision};

/// A person's answer to a question, in terms of what they saw: secrets in it are still hidden, and
/// the desk of the box puts them back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayedAnswer {
    /// [`Decision::Allow`] or [`Decision::Deny`].
    pub decision: Decision,
    pub by: String,
    /// The members of the team among those who have given it, which their own desk knows: it is no
    /// part of what others are told.
    #[serde(skip)]
    pub members: Vec<String>,
    /// A message for the agent, with a deny.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The offer that is allowed from now on, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<usize>,
    /// The chosen answers to each of the agent's own questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picks: Option<Vec<Vec<u8>>>,
    /// The words that answer the agent's own question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The changed input, a JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupt: bool,
    /// The demands of rules that an allow meets, by the desk above's own account.
    #[serde(default, skip_serializing_if = "AllowDemands::is_empty")]
    pub met: AllowDemands,
}

impl RelayedAnswer {
    /// Returns the name under which the box records who answered.
    pub fn attributed_name(&self, desk: &str) -> String {
        format!("{} at {desk}", self.by)
    }
}
