//! The desk's records and outputs.

use std::time::Duration;

use callgate_store::EntryDraft;
use callgate_wire::approval::{ApprovalResponse, FirstAllow, RequestId};
use callgate_wire::ledger::PressOutcome;

use super::{AskerId, DeskTime};
use crate::channel::{ChannelOrder, Person, ReplyTo};

/// What follows from one input: records to be committed, and then outputs to be carried out.
#[derive(Debug, Default)]
pub(crate) struct DeskStep {
    pub(super) now: DeskTime,
    /// Entries for the ledger, in order, all or none.
    pub(crate) records: Vec<EntryDraft>,
    /// Values to be kept beside the ledger (or forgotten, if `None`) with the records.
    pub(crate) keeps: Vec<(String, Option<String>)>,
    /// What to do once the records are committed.
    pub(crate) outputs: Vec<DeskOutput>,
}

#[derive(Debug)]
pub(crate) enum DeskOutput {
    Answer(AskerId, ApprovalResponse),
    /// Tell the asker of a relayed question that a person has given the first of two allows.
    FirstAllow {
        asker: AskerId,
        first: FirstAllow,
        replaces: Option<FirstAllow>,
    },
    /// An order for the Telegram channel.
    Phones(ChannelOrder),
    /// An order for the desk's own terminal.
    Terminal(ChannelOrder),
    /// A reply to a request of a viewer.
    Viewer {
        viewer: u64,
        /// The number of the request.
        id: String,
        /// Whether the request changed anything.
        done: bool,
        text: String,
    },
    /// A notice to a viewer that its request waits for a person.
    Waiting {
        viewer: u64,
        id: String,
        text: String,
        /// The longest time that it waits.
        within: Duration,
    },
    /// Lock the viewers that were unlocked with this token.
    Lock {
        hash: String,
        /// Why, in words for their user.
        text: String,
    },
}

impl DeskStep {
    /// Replies to an act of a person; `done` says whether it did what they wanted.
    pub(super) fn reply(&mut self, reply_to: &ReplyTo, done: bool, text: &str) {
        let text = text.to_owned();
        let order = |text| ChannelOrder::Tell { reply_to: reply_to.clone(), text, alert: !done };
        self.outputs.push(match reply_to {
            ReplyTo::Key => DeskOutput::Terminal(order(text)),
            ReplyTo::Viewer { viewer, id } => {
                DeskOutput::Viewer { viewer: *viewer, id: id.clone(), done, text }
            }
            ReplyTo::Callback(_) | ReplyTo::Message { .. } => DeskOutput::Phones(order(text)),
        });
    }
}

/// What a person does about a question, by its name in the ledger, and where the reply goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PersonAct<'a> {
    pub(super) who: &'a Person,
    pub(super) id: &'a RequestId,
    pub(super) name: &'a str,
    pub(super) reply_to: &'a ReplyTo,
}

impl PersonAct<'_> {
    pub(super) fn record(&self, step: &mut DeskStep, outcome: PressOutcome) {
        step.record_press(Some(self.id), self.who, self.name, outcome);
    }

    /// Records that it did nothing, and says why.
    pub(super) fn refuse(&self, step: &mut DeskStep, outcome: PressOutcome, why: &str) {
        self.record(step, outcome);
        step.reply(self.reply_to, false, why);
    }
}
