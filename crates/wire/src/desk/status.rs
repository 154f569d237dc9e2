//! How the desk is, and who is linked to it.

use serde::{Deserialize, Serialize};

/// How the desk is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskStatus {
    /// The daemon's version.
    pub version: String,
    /// The daemon's process.
    pub pid: u32,
    /// How long it has been running, in seconds.
    pub uptime_seconds: u64,
    /// How many questions are open.
    pub open: u64,
    /// The number of the last entry in the ledger.
    pub head: u64,
    /// Where askers find it.
    pub socket: String,
    /// Where the ledger is.
    pub database: String,
    /// By which ways people can be reached.
    pub reach: Reach,
}

/// By which ways people can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reach {
    /// Whether the daemon shows questions in a terminal of its own.
    pub terminal: bool,
    /// The phones; nothing when no bot is configured.
    #[serde(default)]
    pub telegram: Option<PhoneStatus>,
    /// The viewers.
    pub viewers: ViewerCount,
}

/// How the phones are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PhoneStatus {
    /// The bot's name without the `@`, once Telegram has told it.
    #[serde(default)]
    pub bot: Option<String>,
    /// What is wrong, if anything is.
    #[serde(default)]
    pub trouble: Option<String>,
}

/// How many viewers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ViewerCount {
    /// All that are connected.
    pub connected: u64,
    /// Those of them that may press.
    pub paired: u64,
}

/// A chat, a person in groups, or a viewer that was linked with a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedLink {
    /// Which: `chat/` or `user/` and Telegram's number, or `viewer/` and the hash of its token.
    pub link: String,
    /// Under which name.
    pub name: String,
}
