//! A tool call as every face draws it in a conversation.

use serde::{Deserialize, Serialize};

use super::CardContent;

/// A tool call as it is shown in a conversation. Long texts in it are cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallCard {
    /// What the call does, such as "Run a command".
    pub deed: String,
    /// What it has done when it has succeeded, such as "Ran a command".
    pub did: String,
    /// What it is about, on one line: the command, the file, the address.
    pub subject: String,
    /// What the tool does.
    pub body: CardContent,
}
