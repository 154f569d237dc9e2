//! Who may answer, and how many acts of strangers are recorded.

use std::collections::BTreeSet;

use callgate_wire::desk::HiddenText;
use callgate_wire::ledger::VIEWER_LINK;

use super::DeskTime;
use crate::channel::{Person, PersonPlace};
use crate::viewer_token::token_identity;

/// Who may answer: according to the settings, and by links.
#[derive(Debug, Clone, Default)]
pub struct Authority {
    /// The chats in which questions are shown, and in which they may be answered.
    pub chats: BTreeSet<i64>,
    /// Who may answer in groups; nobody if it is empty.
    pub users: BTreeSet<i64>,
    /// The hashes of the tokens of paired viewers.
    pub viewers: BTreeSet<String>,
}

pub const RELAY_ORIGIN: &str = "relay";
/// The origin of the token of the line to the team's desk, which this process keeps itself.
pub const TEAM_ORIGIN: &str = "team";

impl Authority {
    /// Lets the relay that holds this token bring the answers of a desk above.
    pub fn add_relay(&mut self, token: &HiddenText) {
        self.viewers.insert(token_identity(token, Some(RELAY_ORIGIN)));
    }

    /// Returns true if there is a desk above, whether or not it is connected.
    pub fn has_relay(&self) -> bool {
        self.viewers.iter().any(|viewer| is_relay(viewer))
    }

    /// Returns true if somebody brings the answers of a desk above that may say who meets the
    /// demands of rules: on a machine of a team, its desk alone.
    pub(super) fn names_people(&self, who: &Person) -> bool {
        let has_team = self.viewers.iter().any(|viewer| is_team(viewer));
        relay_of(who).is_some_and(|relay| !has_team || is_team(relay))
    }

    /// Returns true if a person may answer questions and give commands.
    pub fn allows(&self, who: &Person) -> bool {
        match who.place {
            PersonPlace::Terminal => true,
            // Its link may have been removed while the press was on its way.
            PersonPlace::Viewer { paired, .. } => {
                let hash = who.link.as_deref().and_then(|link| link.strip_prefix(VIEWER_LINK));
                paired && hash.is_none_or(|hash| self.viewers.contains(hash))
            }
            // A private chat has the id of the person in it.
            PersonPlace::Telegram { chat, user, private: true } => {
                chat == user && self.chats.contains(&chat)
            }
            PersonPlace::Telegram { chat, user, private: false } => {
                self.chats.contains(&chat) && self.users.contains(&user)
            }
        }
    }
}

/// Returns the identity of the token of somebody who brings the answers of a desk above.
pub(super) fn relay_of(who: &Person) -> Option<&str> {
    let viewer = who.link.as_deref()?.strip_prefix(VIEWER_LINK)?;
    is_relay(viewer).then_some(viewer)
}

/// Returns true if this is the identity of the token of a relay, or of the line to the team's desk.
pub(crate) fn is_relay(viewer: &str) -> bool {
    has_origin(viewer, RELAY_ORIGIN) || is_team(viewer)
}

/// Returns true if this is the identity of the token of the line to the team's desk.
pub(crate) fn is_team(viewer: &str) -> bool {
    has_origin(viewer, TEAM_ORIGIN)
}

fn has_origin(viewer: &str, wanted: &str) -> bool {
    viewer.split_once('@').is_some_and(|(_, origin)| origin == wanted)
}

/// Limits how many acts of strangers are recorded: anybody may find a bot and press its buttons,
/// and must not be able to fill the ledger.
#[derive(Debug)]
pub(super) struct StrangerQuota {
    left: u32,
    since_ms: i64,
}

const MOST_STRANGERS: u32 = 100;
const PER_MS: i64 = 3_600_000;

impl Default for StrangerQuota {
    fn default() -> Self {
        Self { left: MOST_STRANGERS, since_ms: i64::MIN }
    }
}

impl StrangerQuota {
    /// Returns true if one more act is recorded.
    pub(super) fn try_take_act(&mut self, now: DeskTime) -> bool {
        if now.wall_ms.saturating_sub(self.since_ms) >= PER_MS {
            (self.left, self.since_ms) = (MOST_STRANGERS, now.wall_ms);
        }
        let is_left = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_left
    }
}
