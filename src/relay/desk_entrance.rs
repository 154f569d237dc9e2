//! How a line gets into the desk of this machine.

use std::path::PathBuf;
use std::sync::Arc;

use callgate_wire::HiddenText;

use super::desk_place::RelayDeskPlace;
use crate::config::Config;

/// How a line gets into the desk of this machine.
#[derive(Clone)]
pub(crate) enum DeskEntrance {
    /// As a relay, which may start the desk.
    Relay(RelayDeskPlace),
    /// As the line to the team's desk, which the desk itself keeps.
    Team(TeamEntrance),
}

/// How the line to the team's desk gets into the desk of this machine.
#[derive(Clone)]
pub(crate) struct TeamEntrance {
    pub(crate) desk_socket: PathBuf,
    /// The token by which the desk knows the line.
    pub(crate) key: HiddenText,
    pub(crate) config: Arc<Config>,
    /// Is called when the desks are connected.
    pub(crate) joined: Arc<dyn Fn() + Send + Sync>,
}

impl DeskEntrance {
    pub(super) fn note_joined(&self) {
        if let Self::Team(entrance) = self {
            (entrance.joined)();
        }
    }
}
