//! The events that the desk handles.

use std::collections::HashSet;

use callgate_wire::approval::{ApprovalRequest, FirstAllow, RelayedAnswer, RequestId};
use callgate_wire::ledger::ChainedLinks;

use super::{AskerId, Ruling};
use crate::channel::{ChannelReport, Person, ReplyTo};
use crate::rule_desk::SavedRules;

/// Why an answer is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeferReason {
    /// The machine of the asker cannot be reached.
    Machine,
    /// The machine of the asker is connected, and does not say what became of the answer.
    Silence,
    /// The database that the desks of the team share cannot be reached, so the answer does not
    /// count yet.
    Database,
}

#[derive(Debug)]
pub(crate) enum DeskInput {
    /// An asker asks a question, or wants a call checked.
    Asked {
        asker: AskerId,
        request: ApprovalRequest,
        ruling: Ruling,
        /// Whether the ledger has a closed question with this id.
        is_replay: bool,
    },
    /// An asker asks a question about which the rules could not decide.
    Unruled {
        asker: AskerId,
        request: ApprovalRequest,
        why: String,
    },
    /// An asker sends what the agent said before the question that it has asked.
    Said {
        asker: AskerId,
        last_words: String,
    },
    /// The process of an asker that is about to ask.
    From {
        asker: AskerId,
        /// The process id, followed by those of its ancestors if it claims that its host is
        /// registered.
        lineage: Vec<u32>,
    },
    /// A request that gets no answer, about something that an agent did.
    Told(ApprovalRequest),
    /// An asker hung up before it was sent an answer.
    Gone(AskerId),
    /// The answer to an asker is kept until it can be passed on.
    Deferred {
        asker: AskerId,
        reason: DeferReason,
    },
    /// An asker has read its answer.
    Delivered(AskerId),
    /// An asker hung up without having read its answer.
    Lost(AskerId),
    /// A question that another machine has passed on is over there.
    Withdrawn {
        asker: AskerId,
        /// What has become of it, in words for a person.
        text: String,
    },
    /// Another machine has passed on all its open questions, which are these.
    Synced {
        machine: String,
        open: Vec<RequestId>,
    },
    /// A person has answered a question at the desk above.
    Answered {
        /// The relay that brings the answer.
        who: Person,
        question: RequestId,
        answer: RelayedAnswer,
        reply_to: ReplyTo,
    },
    /// Another desk of the team has passed on the answer of a person to a relayed question. It
    /// counts, whatever was decided here.
    TeamAnswered {
        asker: AskerId,
        answer: RelayedAnswer,
    },
    /// At another desk of the team a person has given the first of two allows.
    TeamAllowed {
        asker: AskerId,
        first: FirstAllow,
    },
    /// Something happened in a channel.
    News(ChannelReport),
    /// The number of connected viewers that may press.
    Viewers(usize),
    /// A viewer wants a code for linking a chat or a viewer.
    NewCode {
        /// The code; a pure machine cannot make random numbers.
        code: String,
        /// The id of the question that this may become.
        id: RequestId,
        who: Person,
        /// Whether it is for a page, in which case it is good for a short time.
        is_for_page: bool,
        /// Whether the ledger has never had a link.
        is_first: bool,
        reply_to: ReplyTo,
    },
    /// The page is served at these origins, and no longer at others.
    PageServed {
        origins: Vec<String>,
    },
    /// The line to the team's desk has this token from now on; `None` if there is no team.
    TeamLine {
        token_hash: Option<String>,
    },
    /// A viewer sends a code to be paired.
    PairViewer {
        code: String,
        /// The viewer's name for itself.
        name: String,
        token_hash: String,
        reply_to: ReplyTo,
    },
    /// A viewer sends its token to be allowed to press.
    Unlock {
        token_hash: String,
        reply_to: ReplyTo,
    },
    /// A viewer wants a link removed.
    Unpair {
        /// Which link: `chat/ID`, `user/ID` or `viewer/HASH`.
        link: String,
        /// The id of the question that this may become.
        id: RequestId,
        who: Person,
        reply_to: ReplyTo,
    },
    /// A host registers a value: the host itself asks its user about requests that carry it.
    Gate {
        value: String,
        who: Person,
        reply_to: ReplyTo,
    },
    /// A viewer wants a harmless question, to try how it works.
    Try {
        id: RequestId,
        who: Person,
        reply_to: ReplyTo,
    },
    /// A viewer has replaced the user's rules.
    RulesSaved {
        who: Person,
        saved: SavedRules,
    },
    /// The links and the members of the team have to be read again.
    ReadLinks,
    /// The links and the members of the team that the ledger has now.
    LinksRead(ChainedLinks),
    ViewerLeft(u64),
    Tick,
    /// What was decided last about this question is too long for an entry, so it was not recorded.
    Unrecorded(RequestId),
    /// The last records could not be written: nothing of that step may take effect.
    LedgerFailed {
        /// The questions of which the ledger has nothing.
        unrecorded: HashSet<RequestId>,
    },
}

impl DeskInput {
    /// Returns true if it depends on who is linked, which other processes may have changed.
    pub(crate) fn depends_on_links(&self) -> bool {
        match self {
            Self::News(news) => {
                matches!(
                    news,
                    ChannelReport::Pressed { .. }
                        | ChannelReport::Command { .. }
                        | ChannelReport::Wrote { .. }
                )
            }
            Self::Answered { .. }
            | Self::NewCode { .. }
            | Self::PairViewer { .. }
            | Self::Unlock { .. }
            | Self::Unpair { .. }
            | Self::ReadLinks => true,
            _ => false,
        }
    }
}
