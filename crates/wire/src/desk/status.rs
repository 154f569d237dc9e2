//! The status of the desk, and who is linked to it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskStatus {
    pub version: String,
    pub pid: u32,
    /// How long it has been running, in seconds.
    pub uptime_seconds: u64,
    /// How many questions are open.
    pub open: u64,
    /// The number of the last entry in the ledger.
    pub head: u64,
    /// The path of its socket for askers.
    pub socket: String,
    /// The path of the ledger.
    pub database: String,
    /// How people can be reached.
    pub reach: Reach,
}

/// How people can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reach {
    /// Whether the daemon shows questions in a terminal of its own.
    pub terminal: bool,
    /// The phones; `None` if no bot is configured.
    pub telegram: Option<PhoneStatus>,
    pub viewers: ViewerCount,
}

/// The state of the phones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PhoneStatus {
    /// The bot's name without the `@`, once Telegram has reported it.
    pub bot: Option<String>,
    /// What is wrong, if anything is.
    pub trouble: Option<String>,
}

/// How many viewers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ViewerCount {
    /// The number of connected viewers. Connections that one token has unlocked are one viewer.
    pub connected: u64,
    /// How many of them may press.
    pub paired: u64,
}

/// A chat, a person in groups, or a viewer that was linked with a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedLink {
    /// The link: `chat/` or `user/` and Telegram's number, or `viewer/` and the hash of its token.
    pub link: String,
    pub name: String,
}
