//! The machine on which an agent runs.

use serde::{Deserialize, Serialize};

/// Another machine, whose desk has passed a question on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskerMachine {
    /// The name by which the user of this desk has added it.
    pub name: String,
    /// The user whose agent asks there, by that machine's own account.
    pub user: String,
    /// That user's home folder.
    pub home: String,
}
