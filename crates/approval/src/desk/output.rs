//! What the desk wants recorded and done.

use std::time::Duration;

use callgate_store::EntryDraft;
use callgate_wire::approval::ApprovalResponse;

use super::{AskerId, Now};
use crate::channel::ChannelOrder;

/// What the desk wants done: first all records, then, once they are committed, the outputs.
#[derive(Debug, Default)]
pub struct DeskStep {
    /// When it happens.
    pub(super) now: Now,
    /// To be written to the ledger, in order, all or none.
    pub records: Vec<EntryDraft>,
    /// To be kept beside the ledger, or forgotten; written with the records.
    pub keeps: Vec<(String, Option<String>)>,
    /// To be done after that.
    pub outputs: Vec<DeskOutput>,
}

/// What the desk has done by others.
#[derive(Debug)]
pub enum DeskOutput {
    /// Send the asker its answer.
    Answer(AskerId, ApprovalResponse),
    /// For the phones.
    Phones(ChannelOrder),
    /// For the desk's own terminal.
    Terminal(ChannelOrder),
    /// For a viewer, about something that it did.
    Viewer {
        /// Which viewer.
        viewer: u64,
        /// Its id of what it did.
        id: String,
        /// Whether that changed anything.
        done: bool,
        /// What came of it.
        text: String,
    },
    /// For a viewer: what it wants waits for a yes of somebody who is linked.
    Waiting {
        /// Which viewer.
        viewer: u64,
        /// Its id of what it did.
        id: String,
        /// What it waits for.
        text: String,
        /// How long at most.
        within: Duration,
    },
    /// The viewers with this token may not press any more.
    Lock {
        /// The token's hash.
        hash: String,
        /// Why, in words for their user.
        text: String,
    },
}
