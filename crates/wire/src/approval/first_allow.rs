//! The first of two allows.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstAllow {
    /// Their name in the roster of the team; `None` for the owner of the desk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    pub name: String,
}
