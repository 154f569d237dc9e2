//! The jobs of conversations: each conversation has a lane in which they run one after the other,
//! in the order in which they came.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use callgate_wire::session::{SessionEvent, TokenUsage, UserMessage};
use tokio::sync::watch;

use super::commands::CurrentConversation;
use super::drive::{self, TurnDriver};
use super::{HaltReason, SessionShared, attachments};
use crate::failure::RequestFailure;
use crate::history::{HeldConversation, HistoryError};
use crate::message::{Block, ChatMessage};
use crate::turn::StopReason;

/// A job that waits for its turn in a conversation.
#[derive(Debug)]
pub(super) struct ConversationJob {
    /// The request's id.
    pub(super) id: String,
    /// What it does.
    pub(super) work: JobKind,
}

/// What a job does to its conversation.
#[derive(Debug)]
pub(super) enum JobKind {
    /// Answer a message.
    Say(UserMessage),
    /// Answer the last message again.
    Regenerate,
    /// Answer this instead of the last message.
    Edit(UserMessage),
    /// Remove all messages.
    Clear,
    /// Delete the conversation.
    Delete,
}

/// The lanes of all conversations in which a job runs.
#[derive(Debug, Default)]
pub(super) struct ConversationLanes {
    lanes: HashMap<String, VecDeque<ConversationJob>>,
}

impl ConversationLanes {
    /// Puts a job into its lane. Returns it if it can start at once.
    pub(super) fn add(&mut self, lane: &str, job: ConversationJob) -> Option<ConversationJob> {
        if let Some(waiting) = self.lanes.get_mut(lane) {
            waiting.push_back(job);
            return None;
        }
        self.lanes.insert(lane.to_owned(), VecDeque::new());
        Some(job)
    }

    /// Ends the running job of a lane and returns the next.
    pub(super) fn ended(&mut self, lane: &str) -> Option<ConversationJob> {
        let next = self.lanes.get_mut(lane)?.pop_front();
        if next.is_none() {
            self.lanes.remove(lane);
        }
        next
    }

    /// Removes a waiting job. Returns false if no job with this id waits.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        self.lanes.values_mut().any(|waiting| {
            let at = waiting.iter().position(|job| job.id == id);
            at.and_then(|at| waiting.remove(at)).is_some()
        })
    }

    /// Removes all waiting jobs.
    pub(super) fn clear(&mut self) {
        self.lanes.values_mut().for_each(VecDeque::clear);
    }
}

/// Returns the end of a request that was cancelled before its turn began.
pub(super) fn cancelled() -> SessionEvent {
    StopReason::Cancelled.done(TokenUsage::default(), Some(0.0))
}

/// Does the job and sends its end.
pub(super) async fn run(
    shared: &Arc<SessionShared>,
    current: &CurrentConversation,
    conversation: &str,
    job: ConversationJob,
    mut halt: watch::Receiver<Option<HaltReason>>,
) {
    let ConversationJob { id, work } = job;
    let done = tokio::select! {
        biased;
        // A turn notices by itself that it is to stop; before it there is nothing to lose.
        begun = begin(shared, &id, conversation, work) => begun,
        halted = drive::halted(&mut halt) => Err(halted),
    };
    let event = match done {
        Ok(PreparedJob::Over(event)) => event,
        Ok(PreparedJob::Turn { held, user, replacing }) => {
            TurnDriver::new(shared, &id, *held, user, replacing, halt).run().await
        }
        Err(HaltReason::Failed(failure)) => failure.into(),
        Err(HaltReason::Cancelled) => cancelled(),
    };
    current.forget_length(conversation);
    shared.output.say(&id, event);
}

/// A job after its preparation.
enum PreparedJob {
    /// It is done.
    Over(SessionEvent),
    /// Its turn is to be driven.
    Turn { held: Box<HeldConversation>, user: ChatMessage, replacing: bool },
}

impl<E: Into<RequestFailure>> From<E> for HaltReason {
    fn from(failure: E) -> Self {
        Self::Failed(failure.into())
    }
}

async fn begin(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    work: JobKind,
) -> Result<PreparedJob, HaltReason> {
    match work {
        JobKind::Say(said) => {
            let content = content(shared, &said).await?;
            let held = Box::new(hold(shared, id, conversation).await?);
            if held.is_broken_off() && !shared.endings.knows(&held) {
                shared.output.say(id, interrupted());
            }
            Ok(PreparedJob::Turn { held, user: ChatMessage::user(content), replacing: false })
        }
        JobKind::Edit(said) => {
            let content = content(shared, &said).await?;
            let mut held = Box::new(hold(shared, id, conversation).await?);
            take_back(&mut held).await?;
            Ok(PreparedJob::Turn { held, user: ChatMessage::user(content), replacing: true })
        }
        JobKind::Regenerate => {
            let mut held = Box::new(hold(shared, id, conversation).await?);
            let user = take_back(&mut held).await?;
            Ok(PreparedJob::Turn { held, user, replacing: true })
        }
        JobKind::Clear => {
            hold(shared, id, conversation).await?.clear().await?;
            Ok(PreparedJob::Over(SessionEvent::Done(None)))
        }
        JobKind::Delete => {
            shared.options.history.delete(conversation).await?;
            Ok(PreparedJob::Over(SessionEvent::Done(None)))
        }
    }
}

/// Waits until no other process works on the conversation, and loads it.
async fn hold(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
) -> Result<HeldConversation, HistoryError> {
    let waits = || {
        let text = "waits until another program has finished with this conversation";
        shared.output.say(id, SessionEvent::notice("queued", text));
    };
    shared.options.history.hold_or(conversation, waits).await
}

/// Returns the notice about a turn whose end was never reported to a front end.
fn interrupted() -> SessionEvent {
    SessionEvent::notice(
        "interrupted",
        "the last answer was interrupted; the part that had arrived was stored",
    )
}

/// Takes the last turn back and returns the message that it answered. The turn stays in the file
/// until another replaces it.
async fn take_back(held: &mut HeldConversation) -> Result<ChatMessage, HaltReason> {
    let none = || RequestFailure::permanent("not_found", "there is no message yet to answer");
    Ok(held.take_back().await?.ok_or_else(none)?)
}

/// Returns the content of a user's message: the attached files, then the text.
async fn content(
    shared: &Arc<SessionShared>,
    said: &UserMessage,
) -> Result<Vec<Block>, RequestFailure> {
    let mut content = attachments::read(&said.attachments, &shared.options.folder).await?;
    if !said.message.trim().is_empty() {
        content.push(Block::text(said.message.clone()));
    }
    if content.is_empty() {
        return Err(RequestFailure::permanent("refused", "the message is empty: write something"));
    }
    Ok(content)
}
