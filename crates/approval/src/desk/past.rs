//! Questions that are over, as far back as a late press may reach.

use std::collections::{HashMap, VecDeque};

use callgate_wire::approval::RequestId;

use super::digest::Digest;

/// How many are remembered.
const MOST: usize = 10_000;

/// Questions that are over.
#[derive(Debug, Default)]
pub(super) struct Past {
    by_id: HashMap<RequestId, Over>,
    order: VecDeque<RequestId>,
}

/// A question that is over.
#[derive(Debug)]
pub(super) struct Over {
    /// What became of it, in words for somebody who presses late.
    pub(super) text: String,
    /// Which run of a tool it allowed that has not been reported yet.
    pub(super) awaits: Option<Digest>,
}

impl Past {
    pub(super) fn add(&mut self, id: RequestId, over: Over) {
        if self.by_id.insert(id.clone(), over).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_id.remove(&oldest);
        }
    }

    pub(super) fn get(&self, id: &RequestId) -> Option<&Over> {
        self.by_id.get(id)
    }

    /// Takes the latest question that allowed this run and has not seen it reported.
    pub(super) fn take_run(&mut self, run: &Digest) -> Option<RequestId> {
        let id =
            self.order.iter().rev().find(|id| {
                self.by_id.get(*id).is_some_and(|over| over.awaits.as_ref() == Some(run))
            })?;
        self.by_id.get_mut(id)?.awaits = None;
        Some(id.clone())
    }
}
