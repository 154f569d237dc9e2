//! The status of the desk, and who is linked to it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskStatus {
    pub version: String,
    pub pid: u32,
    pub uptime_seconds: u64,
    /// How many questions are open.
    pub open: u64,
    /// The number of the last entry in the ledger.
    pub head: u64,
    /// The path of its socket for askers.
    pub socket: String,
    /// The path of the ledger.
    pub database: String,
    pub reach: DeskReach,
    /// Whether a relay has started it: it serves nobody but the desk above.
    #[serde(default)]
    pub is_relay: bool,
    /// The relays that are connected, by which people at desks above answer.
    #[serde(default)]
    pub relays: Vec<ConnectedRelay>,
    /// The line to the team's desk, on a machine that belongs to a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<TeamLineView>,
    /// Where members of the team whose desk this is reach it, if it listens for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamLineView {
    pub address: String,
    pub name: String,
    pub state: RemoteState,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
    /// What is wrong, in words for a person.
    pub text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectedRelay {
    /// The name of the desk above.
    pub name: String,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
    /// Whether it is the team's desk, to which this machine has a line of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_team: bool,
}

words! {
    pub enum RemoteState {
        /// Its questions come, and answers go back.
        Connected "connected",
        /// It is being connected, or will be again soon.
        Connecting "connecting",
        /// A person at its own desk has to allow that its questions are answered here.
        Waiting "waiting",
        /// It could not be connected the last time.
        Failed "failed",
    }
}

/// A machine whose questions are answered here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteView {
    /// The name by which it was added, which ssh knows.
    pub host: String,
    pub state: RemoteState,
    /// Since when, in milliseconds since 1970.
    pub since_ms: i64,
    /// What is wrong, or what it waits for, in words for a person.
    pub text: Option<String>,
    /// The user there, and their home folder, if it has been connected.
    pub user: Option<String>,
    pub home: Option<String>,
    /// The number of the last entry of its ledger that was copied.
    pub copied: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeskReach {
    /// Whether the daemon shows questions in a terminal of its own.
    pub terminal: bool,
    /// The phones; `None` if no bot is configured.
    pub telegram: Option<PhoneStatus>,
    pub viewers: ViewerCount,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PhoneStatus {
    /// The bot's name without the `@`, once Telegram has reported it.
    pub bot: Option<String>,
    /// What is wrong, if anything is.
    pub trouble: Option<String>,
}

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
    /// The member of the team who holds it; `None` if it is the owner's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}
