//! Dialogs of agents that the desk did not ask about: whoever is away hears of them.

use std::collections::VecDeque;
use std::time::Duration;

use callgate_wire::approval::ApprovalRequest;

use super::{Desk, DeskStep, DeskTime};
use crate::plain;

/// A dialog that is reported this soon after a question of its session was closed is the question's
/// own.
const LATELY: Duration = Duration::from_secs(10);
/// The most questions that are remembered for that.
const MOST: usize = 1_024;

/// The sessions whose questions were closed lately, the latest last.
#[derive(Debug, Default)]
pub(super) struct LateSessions(VecDeque<(Duration, String)>);

impl LateSessions {
    pub(super) fn add_closed(&mut self, now: DeskTime, session: &str) {
        while self.0.len() >= MOST || self.0.front().is_some_and(|(at, _)| *at + LATELY < now.mono)
        {
            self.0.pop_front();
        }
        self.0.push_back((now.mono, session.to_owned()));
    }

    fn has(&self, now: DeskTime, session: &str) -> bool {
        self.0.iter().any(|(at, other)| *at + LATELY >= now.mono && other == session)
    }
}

/// Returns true if a notification of this type says that the agent shows a dialog.
pub(super) fn is_dialog(kind: &str) -> bool {
    matches!(kind, "permission_prompt" | "elicitation_dialog")
}

impl Desk {
    /// Says that an agent waits in a dialog, unless the desk asks about it, or did so a moment ago.
    pub(super) fn say_agent_waits(
        &self,
        step: &mut DeskStep,
        request: &ApprovalRequest,
        message: &str,
    ) {
        // In the form that cards have, in which secrets are masked.
        let session = plain::safe_text(&request.session_id);
        let is_asked = self.open.values().any(|open| open.card.row.session == session)
            || self.lately.has(step.now, &session);
        if self.settings.notify_on_wait && !is_asked {
            self.announce_agent(step, request, &format!("waits in its own dialog: {message}"));
        }
    }
}
