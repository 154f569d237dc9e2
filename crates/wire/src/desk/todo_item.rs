//! A step of the plan that an agent keeps for itself.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub text: String,
    pub status: TodoStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TodoStatus {
    /// Nothing is done yet.
    Pending,
    /// The agent works on it.
    Active,
    Done,
}

/// Writes a step after the sign of its status.
impl fmt::Display for TodoItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.status {
            TodoStatus::Pending => '☐',
            TodoStatus::Active => '▶',
            TodoStatus::Done => '☑',
        };
        write!(f, "{sign} {}", self.text)
    }
}
