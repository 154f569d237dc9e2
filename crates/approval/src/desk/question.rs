//! An open question, and what was decided about it.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::{
    AllowDemands, ApprovalRequest, Decision, FirstAllow, RequestContext, RequestKind,
};

use super::digest::CallDigest;
use super::{AskerId, DeskTime};
use crate::answer_roles::AnswerScope;
use crate::card::Card;
use crate::channel::{ChannelOrder, QuestionCopy, ReplyTo};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    Ask {
        /// Why, if a rule says so.
        because: Option<String>,
        /// Whether it touches callgate itself, so that nothing may be allowed from now on.
        is_guarded: bool,
    },
    /// People decide at the desk; no agent's own prompt may decide instead, nothing is allowed
    /// from now on, and no answer is a no.
    AtDesk {
        /// By which rule, and why.
        because: String,
        /// Whether whoever allows it types a word.
        needs_word: bool,
        demands: AllowDemands,
    },
    Allow {
        because: String,
    },
    Deny {
        because: String,
    },
}

impl Ruling {
    /// Returns why, if a rule says so.
    pub fn because(&self) -> Option<&str> {
        match self {
            Self::Ask { because, .. } => because.as_deref(),
            Self::AtDesk { because, .. } | Self::Allow { because } | Self::Deny { because } => {
                Some(because)
            }
        }
    }
}

callgate_wire::words! {
    /// What happens to calls that no rule matches, in modes in which the agent asks nobody.
    #[derive(Default)]
    pub enum Unattended {
        /// The agent's mode decides.
        #[default]
        Rules "rules",
        /// A person is asked at the desk, and no answer is a deny.
        Ask "ask",
    }
}

/// The occasion of a request about a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The call is about to run.
    Check,
    Permission,
    Blocked,
    /// Anything else, such as a script or a runtime.
    Other,
}

impl Occasion {
    pub(super) fn from_request(request: &ApprovalRequest) -> Self {
        match (request.kind, request.event()) {
            // Its own desk remembers its calls.
            _ if request.machine.is_some() => Self::Other,
            (RequestKind::Check, _) => Self::Check,
            (RequestKind::Ask, Some("PermissionRequest")) => Self::Permission,
            (RequestKind::Ask, Some("PermissionDenied")) => Self::Blocked,
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
pub(super) struct PendingQuestion {
    pub(super) card: Arc<Card>,
    /// The request as it came. After a restart it is missing until the asker is back, since the
    /// ledger is masked.
    pub(super) request: Option<ApprovalRequest>,
    /// What the question takes of the room for all of them. It is kept, so that exactly this much
    /// is given back.
    pub(super) size: usize,
    /// Whether the ledger, which viewers are shown, has only a part of the input.
    pub(super) is_cut_for_viewers: bool,
    /// Whether its input is kept beside the ledger.
    pub(super) keeps_input: bool,
    pub(super) is_cut_on_phones: bool,
    pub(super) digest: CallDigest,
    /// The asker; `None` until it comes back after a restart.
    pub(super) asker: Option<AskerId>,
    pub(super) deadline: Duration,
    /// When phones are asked, if they have not been yet.
    pub(super) phone_at: Option<Duration>,
    /// When an asker that has not come back counts as gone.
    pub(super) away_until: Option<Duration>,
    /// Until when being unreachable is tolerated: after a restart viewers need a moment to come
    /// back.
    pub(super) reach_by: Option<Duration>,
    pub(super) alarm: Option<Duration>,
    pub(super) copies: Vec<QuestionCopy>,
    /// Chats to which a copy is on its way.
    pub(super) sending: Vec<i64>,
    /// The answers chosen so far, for each of the agent's questions.
    pub(super) picks: Vec<Vec<u8>>,
    pub(super) first_allow: Option<FirstAllow>,
    pub(super) decided: Option<DeskDecision>,
    /// What has become of it on the machine that asked, if it was withdrawn there.
    pub(super) withdrawn: Option<String>,
    pub(super) prompt_id: Option<String>,
    pub(super) agent_id: Option<String>,
    /// What it is about, as far as roles tell questions apart.
    pub(super) scope: AnswerScope,
}

/// How long a question of another machine may stay open here.
pub(super) const LONGEST_RELAYED: Duration = Duration::from_hours(2);

/// Who decided, if it was the person at the asker's own front end.
pub(super) const OWN: &str = "you";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeskDecision {
    pub(super) decision: Decision,
    /// Who decided, such as "Ada", "rule `builds`" or "nobody".
    pub(super) by: String,
    /// The members of the team among those who decided.
    pub(super) members: Vec<String>,
    /// The details of the decision, in terms of what people saw.
    pub(super) with: DecisionDetails,
    /// Where to reply once it is known whether the answer arrived.
    pub(super) reply_to: Option<ReplyTo>,
}

/// The details of a decision, in terms of what people saw. The answer is made from them and from
/// the request.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct DecisionDetails {
    pub(super) message: Option<String>,
    /// The offer that is allowed from now on.
    pub(super) offer: Option<usize>,
    pub(super) picks: Option<Vec<Vec<u8>>>,
    pub(super) words: Option<String>,
    /// The changed input, with its secrets still hidden.
    pub(super) edited: Option<String>,
    /// Whether the agent's turn ends.
    pub(super) interrupt: bool,
}

impl DecisionDetails {
    /// Returns true if the tool runs with changed input.
    pub(super) fn changes_input(&self) -> bool {
        self.picks.is_some() || self.words.is_some() || self.edited.is_some()
    }
}

impl PendingQuestion {
    /// Makes a question that nobody has been shown, and that has no asker yet.
    pub(super) fn new(
        card: Card,
        digest: CallDigest,
        deadline: Duration,
        request: &ApprovalRequest,
    ) -> Self {
        let context = request.context.clone();
        let RequestContext { prompt_id, agent_id, .. } = context.unwrap_or_default();
        Self {
            picks: vec![Vec::new(); card.pickers.len()],
            card: Arc::new(card),
            request: None,
            size: 0,
            is_cut_for_viewers: false,
            keeps_input: false,
            // Until the channel was asked: what is not known to be whole must not be allowed.
            is_cut_on_phones: true,
            digest,
            asker: None,
            deadline,
            phone_at: None,
            away_until: None,
            reach_by: None,
            alarm: None,
            copies: Vec::new(),
            sending: Vec::new(),
            first_allow: None,
            decided: None,
            withdrawn: None,
            prompt_id,
            agent_id,
            scope: AnswerScope::from_request(request),
        }
    }

    /// Returns when the question next needs attention.
    pub(super) fn next_moment(&self) -> Option<Duration> {
        match (&self.decided, self.asker) {
            // The asker is about to read the answer.
            (Some(_), Some(_)) => None,
            (_, None) => self.away_until,
            (None, Some(_)) => {
                let sooner = self.phone_at.into_iter().chain(self.reach_by).min();
                Some(sooner.map_or(self.deadline, |sooner| sooner.min(self.deadline)))
            }
        }
    }

    pub(super) fn order_to_show(&self, now: DeskTime, chats: Vec<i64>) -> ChannelOrder {
        let within = self.deadline.saturating_sub(now.mono);
        ChannelOrder::Show { card: Arc::clone(&self.card), chats, within }
    }

    /// Returns the order to show the question anew, with the answers chosen so far.
    pub(super) fn order_to_redraw(&self) -> ChannelOrder {
        let (card, copies) = (Arc::clone(&self.card), self.copies.clone());
        ChannelOrder::Redraw { card, copies, picks: self.picks.clone() }
    }

    /// Returns true if the asker has a front end that may answer.
    pub(super) fn answers_itself(&self) -> bool {
        let context = self.request.as_ref().and_then(|request| request.context.as_ref());
        context.is_some_and(|context| context.answers == Some(true))
    }

    /// Returns true if the desk of another machine has passed it on.
    pub(super) fn is_relayed(&self) -> bool {
        self.card.row.machine.is_some()
    }

    /// Returns true if a copy has reached a phone, or still may.
    pub(super) fn is_on_phones(&self) -> bool {
        !self.copies.is_empty() || !self.sending.is_empty() || self.phone_at.is_some()
    }
}

/// Returns how long a question waits: as set, or less if its asker waits less. A question of
/// another machine waits as long as it does there.
pub(crate) fn question_patience(timeout: Duration, request: &ApprovalRequest) -> Duration {
    let theirs = request.context.as_ref().and_then(|context| context.timeout_seconds);
    let timeout = if request.machine.is_some() { LONGEST_RELAYED } else { timeout };
    theirs.map_or(timeout, |theirs| timeout.min(Duration::from_secs(theirs)))
}
