//! Each conversation has a lane in which its jobs run one after the other, in the order in which
//! they came.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_wire::session::UserMessage;
use tokio::sync::{Notify, watch};

use super::HaltReason;
use crate::history::EngineSelection;

/// A job that waits for its turn in a conversation.
#[derive(Debug)]
pub(super) struct ConversationJob {
    pub(super) id: String,
    pub(super) work: JobKind,
}

#[derive(Debug)]
pub(super) enum JobKind {
    Say(UserMessage),
    /// Answer the last message again.
    Regenerate,
    /// Answer this instead of the last message.
    Edit(UserMessage),
    SetEngine(EngineSelection),
    Clear,
    /// Remove all messages after this number of first ones.
    Rewind(u64),
    Compact,
    /// Hide a message that was refused from the model.
    LeaveOut,
    /// Put back what a turn changed.
    UndoTurn {
        /// The turn; the last one that was not undone if `None`.
        turn: Option<u64>,
        /// Whether to put back the rest if some files cannot be put back.
        partial: bool,
    },
    Delete,
}

/// What can change the course of a running turn.
pub(super) struct TurnControl {
    pub(super) halt: watch::Receiver<Option<HaltReason>>,
    pub(super) waiting: WaitingJobs,
}

/// The jobs that wait in a lane. Clones share the same jobs.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitingJobs(Arc<JobQueue>);

#[derive(Debug, Default)]
struct JobQueue {
    jobs: Mutex<VecDeque<ConversationJob>>,
    has_come: Notify,
}

impl WaitingJobs {
    pub(super) async fn wait_for_any(&self) {
        while lock(&self.0.jobs).is_empty() {
            self.0.has_come.notified().await;
        }
    }

    /// Removes and returns the messages that are meant for the running turn, with the ids of their
    /// requests.
    pub(super) fn take_steering(&self) -> Vec<(String, UserMessage)> {
        let mut waiting = lock(&self.0.jobs);
        let is_steering =
            |job: &ConversationJob| matches!(&job.work, JobKind::Say(said) if said.steer);
        let (taken, left): (VecDeque<_>, VecDeque<_>) = waiting.drain(..).partition(is_steering);
        *waiting = left;
        let said = |job: ConversationJob| match job.work {
            JobKind::Say(said) => Some((job.id, said)),
            _ => None,
        };
        taken.into_iter().filter_map(said).collect()
    }
}

/// The lanes of all conversations in which a job runs.
#[derive(Debug, Default)]
pub(super) struct ConversationLanes {
    lanes: HashMap<String, WaitingJobs>,
}

impl ConversationLanes {
    /// Puts a job into its lane. Returns it if it can start at once.
    pub(super) fn add_job(&mut self, lane: &str, job: ConversationJob) -> Option<ConversationJob> {
        if let Some(waiting) = self.lanes.get(lane) {
            lock(&waiting.0.jobs).push_back(job);
            // Only one task waits at a time. One that asks later finds the job, because the permit
            // is kept.
            waiting.0.has_come.notify_one();
            return None;
        }
        self.lanes.insert(lane.to_owned(), WaitingJobs::default());
        Some(job)
    }

    pub(super) fn waiting(&self, lane: &str) -> WaitingJobs {
        self.lanes.get(lane).cloned().unwrap_or_default()
    }

    pub(super) fn end_job(&mut self, lane: &str) -> Option<ConversationJob> {
        let next = lock(&self.lanes.get(lane)?.0.jobs).pop_front();
        if next.is_none() {
            self.lanes.remove(lane);
        }
        next
    }

    /// Removes a waiting job. Returns false if no job with this id waits.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.lanes.values().any(|waiting| {
            let mut waiting = lock(&waiting.0.jobs);
            let at = waiting.iter().position(|job| job.id == id);
            at.and_then(|at| waiting.remove(at)).is_some()
        })
    }

    pub(super) fn clear(&mut self) {
        self.lanes.values().for_each(|waiting| lock(&waiting.0.jobs).clear());
    }
}
