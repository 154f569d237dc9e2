//! How a machine reaches the desk of a team over HTTP: where it joins, and where its line begins.

use serde::{Deserialize, Serialize};

/// Where the team's desk takes the secrets of invitations.
pub const JOIN_PATH: &str = "/team/join";
/// Where the team's desk takes lines.
pub const LINE_PATH: &str = "/team/line";
/// The protocol to which the connection of a line is upgraded.
pub const LINE_PROTOCOL: &str = "callgate-relay";
/// The header with the number of a line, by which it is known again after a cut.
pub const LINE_NUMBER: &str = "callgate-line";

/// What a machine sends to join.
#[derive(Serialize, Deserialize)]
pub struct MachineSecret {
    pub secret: String,
}

/// What a machine gets when it joins.
#[derive(Serialize, Deserialize)]
pub struct MachineJoined {
    pub name: String,
    /// The token by which it is known from now on.
    pub token: String,
    /// The name of the team, or of its desk.
    #[serde(default)]
    pub team: String,
}
