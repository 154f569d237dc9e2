//! The conversations' lanes: in each, one job at a time, in the order in which they came. Pure.

use std::collections::{HashMap, VecDeque};

use callgate_wire::session::UserMessage;

/// Something that waits its turn in a conversation.
#[derive(Debug)]
pub(super) struct Job {
    /// The request's id.
    pub(super) id: String,
    /// What is to be done.
    pub(super) work: Work,
}

/// What is to be done in a conversation.
#[derive(Debug)]
pub(super) enum Work {
    /// Answer a message.
    Say(UserMessage),
    /// Answer the last message again.
    Regenerate,
    /// Answer this instead of the last message.
    Edit(UserMessage),
    /// Forget what was said.
    Clear,
    /// Forget the conversation.
    Delete,
}

/// All lanes in which something runs.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    lanes: HashMap<String, VecDeque<Job>>,
}

impl Lanes {
    /// Puts a job into its lane; gives it back when it can start at once.
    pub(super) fn add(&mut self, lane: &str, job: Job) -> Option<Job> {
        if let Some(waiting) = self.lanes.get_mut(lane) {
            waiting.push_back(job);
            return None;
        }
        self.lanes.insert(lane.to_owned(), VecDeque::new());
        Some(job)
    }

    /// A lane's job has ended: gives the next.
    pub(super) fn ended(&mut self, lane: &str) -> Option<Job> {
        let next = self.lanes.get_mut(lane)?.pop_front();
        if next.is_none() {
            self.lanes.remove(lane);
        }
        next
    }

    /// Takes out a job that waits; `false` when none of this id does.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.lanes.values_mut().any(|waiting| {
            let at = waiting.iter().position(|job| job.id == id);
            at.and_then(|at| waiting.remove(at)).is_some()
        })
    }

    /// Takes out all that wait, and gives their ids.
    pub(super) fn clear(&mut self) -> Vec<String> {
        self.lanes.values_mut().flat_map(|waiting| waiting.drain(..)).map(|job| job.id).collect()
    }
}
