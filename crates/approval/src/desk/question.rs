//! An open question, and what was decided about it.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::{ApprovalRequest, Decision, RequestKind};

use super::digest::CallDigest;
use super::{AskerId, Now};
use crate::card::Card;
use crate::channel::{ChannelOrder, QuestionCopy, ReplyTo};

/// What the rules say about a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// A person decides.
    Ask {
        /// Why, when a rule says so.
        because: Option<String>,
        /// Whether it touches callgate itself, so that nothing may be allowed from now on.
        is_guarded: bool,
    },
    /// It may run.
    Allow {
        /// By which rule, and why.
        because: String,
    },
    /// It may not run.
    Deny {
        /// By which rule, and why.
        because: String,
    },
}

/// What holds in modes in which the agent asks nobody, for what no rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Unattended {
    /// It is left to the agent's mode.
    #[default]
    Rules,
    /// A person is asked at the desk, and no answer is a deny.
    Ask,
}

/// On which occasion a request about a tool call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The call is about to run.
    Check,
    /// The agent asks for permission.
    Permission,
    /// The agent has blocked the call.
    Blocked,
    /// Something else asks: a script, a runtime.
    Other,
}

impl Occasion {
    pub(super) fn of(request: &ApprovalRequest) -> Self {
        let event = request.context.as_ref().and_then(|context| context.event.as_deref());
        match (request.kind, event) {
            (RequestKind::Check, _) => Self::Check,
            (RequestKind::Ask, Some("PermissionRequest")) => Self::Permission,
            (RequestKind::Ask, Some("PermissionDenied")) => Self::Blocked,
            _ => Self::Other,
        }
    }
}

/// A question that is not over.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) card: Arc<Card>,
    /// The question as it came; after a restart nothing until its asker is back, since what is
    /// kept on disk is masked.
    pub(super) request: Option<ApprovalRequest>,
    pub(super) size: usize,
    /// Whether the ledger, which is what viewers are shown, holds only a part of its input.
    pub(super) is_cut_for_viewers: bool,
    pub(super) digest: CallDigest,
    /// Who waits for the answer; nobody while the asker has not come back after a restart.
    pub(super) asker: Option<AskerId>,
    /// When it is given up.
    pub(super) deadline: Duration,
    /// When the phones are asked, if they have not been yet.
    pub(super) phone_at: Option<Duration>,
    /// When an asker that has not come back counts as gone.
    pub(super) away_until: Option<Duration>,
    /// Until when nobody can be reached yet: after a restart viewers need a moment to come back.
    pub(super) reach_by: Option<Duration>,
    pub(super) alarm: Option<Duration>,
    pub(super) copies: Vec<QuestionCopy>,
    /// Chats to which it is on its way.
    pub(super) sending: Vec<i64>,
    /// What was chosen so far of the agent's own answers.
    pub(super) picks: Vec<Vec<u8>>,
    pub(super) decided: Option<DeskDecision>,
    pub(super) prompt_id: Option<String>,
    pub(super) agent_id: Option<String>,
}

/// What was decided about a question whose asker has not yet read it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeskDecision {
    pub(super) decision: Decision,
    /// By whom, in words: "Ada", "rule `builds`", "nobody".
    pub(super) by: String,
    /// What the decision carries, in terms of what people saw.
    pub(super) with: DecisionDetails,
    /// Who is to be told, once it is known whether it arrived.
    pub(super) reply_to: Option<ReplyTo>,
}

/// What a decision carries beside itself, in terms of what people saw: the answer is made from it
/// and the request as it came.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DecisionDetails {
    /// Words for the agent.
    pub(super) message: Option<String>,
    /// Which offer is taken from now on.
    pub(super) offer: Option<usize>,
    /// Which answers were picked.
    pub(super) picks: Option<Vec<Vec<u8>>>,
    /// The words that answer a question for words.
    pub(super) words: Option<String>,
    /// The input as it was edited, its secrets still hidden.
    pub(super) edited: Option<String>,
    /// Whether the agent's turn ends.
    pub(super) interrupt: bool,
}

impl DecisionDetails {
    /// Returns true if the tool runs with another input than the one that was asked about.
    pub(super) fn changes_input(&self) -> bool {
        self.picks.is_some() || self.words.is_some() || self.edited.is_some()
    }
}

impl OpenQuestion {
    /// When it next needs attention.
    pub(super) fn next_moment(&self) -> Option<Duration> {
        match (&self.decided, self.asker) {
            // The asker is about to tell whether it has read the answer.
            (Some(_), Some(_)) => None,
            (_, None) => self.away_until,
            (None, Some(_)) => {
                let sooner = self.phone_at.into_iter().chain(self.reach_by).min();
                Some(sooner.map_or(self.deadline, |sooner| sooner.min(self.deadline)))
            }
        }
    }

    /// The order to show it in these chats, for as long as it is open.
    pub(super) fn show(&self, now: Now, chats: Vec<i64>) -> ChannelOrder {
        let within = self.deadline.saturating_sub(now.mono);
        ChannelOrder::Show { card: Arc::clone(&self.card), chats, within }
    }

    /// Whether its asker has a front end that may answer it.
    pub(super) fn answers_itself(&self) -> bool {
        let context = self.request.as_ref().and_then(|request| request.context.as_ref());
        context.is_some_and(|context| context.answers == Some(true))
    }

    /// Whether a copy of it has reached somebody's phone, or may yet.
    pub(super) fn is_on_phones(&self) -> bool {
        !self.copies.is_empty() || !self.sending.is_empty() || self.phone_at.is_some()
    }
}
