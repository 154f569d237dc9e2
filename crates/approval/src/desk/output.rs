//! What the desk wants recorded and done.

use std::time::Duration;

use callgate_store::Draft;
use callgate_wire::approval::Response;

use super::{AskerId, Now};
use crate::channel::Order;

/// What the desk wants done: first all records, then, once they are committed, the outputs.
#[derive(Debug, Default)]
pub struct Step {
    /// When it happens.
    pub(super) now: Now,
    /// To be written to the ledger, in order, all or none.
    pub records: Vec<Draft>,
    /// To be kept beside the ledger, or forgotten; written with the records.
    pub keeps: Vec<(String, Option<String>)>,
    /// To be done after that.
    pub outputs: Vec<Output>,
}

/// What the desk has done by others.
#[derive(Debug)]
pub enum Output {
    /// Send the asker its answer.
    Answer(AskerId, Response),
    /// For the phones.
    Phones(Order),
    /// For the desk's own terminal.
    Terminal(Order),
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
