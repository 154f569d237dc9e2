//! What the settings say about a desk.

use std::time::Duration;

use super::question::Unattended;

#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct DeskSettings {
    pub timeout: Duration,
    /// How long an asker has to come back after the desk was restarted.
    pub grace: Duration,
    /// How long the last viewer that left has to come back.
    pub viewer_grace: Duration,
    /// How long the terminal and the viewers come first, before phones are asked.
    pub phone_after: Duration,
    /// Whether chats and the terminal are notified when an agent finishes a turn or sends a
    /// notification.
    pub notify_on_stop: bool,
    /// Whether chats and the terminal are notified when an agent waits in a dialog of its own that
    /// the desk did not ask about.
    pub notify_on_wait: bool,
    /// Whether runs that nobody was asked about are recorded; those without a verdict always are.
    pub record_runs: bool,
    pub terminal: bool,
    /// Whether messages can be sent to phones.
    pub phones: bool,
    /// What happens to calls that no rule matches, in modes in which the agent asks nobody.
    pub unattended: Unattended,
    pub key: [u8; 32],
}

impl DeskSettings {
    /// Returns the settings of a desk without phones and without a terminal, which waits for nobody
    /// but its askers and notifies nobody.
    pub fn plain(timeout: Duration, grace: Duration) -> Self {
        Self {
            timeout,
            grace,
            viewer_grace: Duration::ZERO,
            phone_after: Duration::ZERO,
            notify_on_stop: false,
            notify_on_wait: false,
            record_runs: true,
            terminal: false,
            phones: false,
            unattended: Unattended::Rules,
            key: [0; 32],
        }
    }
}
