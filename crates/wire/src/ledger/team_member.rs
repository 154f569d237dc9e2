//! A member of a team: on one desk, and as several desks share it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

words! {
    pub enum MemberKind {
        Machine "machine",
        Job "job",
        Person "person",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamMember {
    pub kind: MemberKind,
    /// The person whose machine or job it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The invitation that was not used yet. That of a job can be used again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invitation: Option<OpenInvitation>,
    /// The hash of the token by which a machine is known, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Whether an invitation was ever used.
    #[serde(default)]
    pub has_joined: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedMember {
    #[serde(flatten)]
    pub member: TeamMember,
    /// The links of a person's pages at the address of the team, each with the name of its page.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenInvitation {
    /// The hash of its secret, in hex.
    pub secret: String,
    /// Until when it can be used, in milliseconds since 1970; for ever if there is none.
    pub until_ms: Option<i64>,
}

impl OpenInvitation {
    /// Returns true if it can still be used.
    pub fn is_open_at(&self, now_ms: i64) -> bool {
        self.until_ms.is_none_or(|until| now_ms < until)
    }
}
