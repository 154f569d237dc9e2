//! What a turn changed in the folders, as a front end sees it.

use serde::{Deserialize, Serialize};

use crate::desk::PatchedFile;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnChanges {
    /// The number by which `turn_diff` and `undo_turn` know the turn; `None` if nothing is known to
    /// be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// How many files it has changed, as far as that is known.
    pub files: u64,
    /// Whether they were put back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// What is not known of the changes, and why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// The data of the `done` of `turn_diff`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnDiff {
    pub conversation_id: String,
    pub turn: u64,
    /// The number of the message with which the turn began, counted from 0.
    pub message: u64,
    /// When it ended, in milliseconds since the Unix epoch.
    pub ended_at: u64,
    pub undone: bool,
    /// What is not known of the changes, and why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// The files, in the order of their paths. Secrets are masked.
    pub files: Vec<PatchedFile>,
}

/// The data of the `done` of `undo_turn`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnUndone {
    pub conversation_id: String,
    pub turn: u64,
    pub restored: Vec<String>,
    pub left: Vec<UntouchedFile>,
}

/// A file that an undo leaves as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UntouchedFile {
    pub path: String,
    pub reason: String,
}
