//! A request that has no end yet.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::{
    LONGEST_QUESTION, SessionCommand, SessionEvent, SessionRequest, capability,
};

/// The most open questions of one request that are remembered.
const MOST_QUESTIONS: usize = 64;
/// The kind of the notice that a request waits for others.
const QUEUED: &str = "queued";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestStage {
    /// It waits until the runtime is ready.
    Held,
    /// It waits to be written.
    Sent,
    Written,
}

#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) id: Arc<str>,
    pub(super) kind: &'static str,
    /// The capabilities without which the runtime does not understand it.
    pub(super) needs: Vec<&'static str>,
    pub(super) stage: RequestStage,
    /// The encoded request, while it is held.
    pub(super) line: Vec<u8>,
    /// The time by which it has to be written.
    pub(super) taken_by: Duration,
    /// When its last event arrived, or its turn came.
    pub(super) heard: Duration,
    /// The time by which it has to end, if it was cancelled.
    pub(super) cancelled_by: Option<Duration>,
    lane: Option<ConversationLane>,
    is_queued: bool,
    pub(super) questions: BTreeSet<String>,
}

/// The conversation of a turn; `None` is the current one, which may be any.
#[derive(Debug)]
struct ConversationLane(Option<String>);

impl PendingRequest {
    pub(super) fn new(
        request: &SessionRequest,
        line: Vec<u8>,
        now: Duration,
        taken_by: Duration,
    ) -> Self {
        let command = &request.command;
        Self {
            id: Arc::from(request.id.as_str()),
            kind: command.kind(),
            needs: needed_capabilities(command),
            stage: RequestStage::Held,
            line,
            taken_by,
            heard: now,
            cancelled_by: None,
            lane: is_turn(command).then(|| ConversationLane(command.conversation_id())),
            is_queued: false,
            questions: BTreeSet::new(),
        }
    }

    pub(super) fn is_turn(&self) -> bool {
        self.lane.is_some()
    }

    /// Returns true if the runtime owes it an event: it neither waits for another request nor for a
    /// person.
    pub(super) fn is_at_work(&self) -> bool {
        !self.is_queued && self.questions.is_empty()
    }

    /// Returns true if a later request may have to wait until this one is over.
    pub(super) fn is_before(&self, later: &Self) -> bool {
        match (&self.lane, &later.lane) {
            (Some(ConversationLane(Some(one))), Some(ConversationLane(Some(other)))) => {
                one == other
            }
            (Some(_), Some(_)) => true,
            _ => false,
        }
    }

    pub(super) fn note_event(&mut self, now: Duration, event: &SessionEvent) {
        self.heard = now;
        // Any other event means that its turn has come.
        self.is_queued = matches!(event, SessionEvent::Notice(notice) if notice.kind == QUEUED);
        match event {
            SessionEvent::PermissionRequest(asked) if self.can_remember(&asked.question) => {
                self.questions.insert(asked.question.clone());
            }
            SessionEvent::PermissionResolved(resolved) => {
                self.questions.remove(&resolved.question);
            }
            SessionEvent::Question(asked) if self.can_remember(&asked.question) => {
                self.questions.insert(asked.question.clone());
            }
            SessionEvent::QuestionResolved(resolved) => {
                self.questions.remove(&resolved.question);
            }
            _ => {}
        }
    }

    fn can_remember(&self, question: &str) -> bool {
        // A runtime that makes up questions must not fill the memory.
        question.len() <= LONGEST_QUESTION && self.questions.len() < MOST_QUESTIONS
    }
}

/// Returns the capabilities without which a runtime does not understand a request.
fn needed_capabilities(command: &SessionCommand) -> Vec<&'static str> {
    let hello = command.is_extension().then_some(capability::HELLO);
    hello.into_iter().chain(command.capability()).collect()
}

/// Returns true if the runtime works on such requests one after the other.
pub(crate) fn is_turn(command: &SessionCommand) -> bool {
    matches!(
        command,
        SessionCommand::UserMessage(_)
            | SessionCommand::ClearHistory { .. }
            | SessionCommand::Rewind { .. }
            | SessionCommand::Compact { .. }
            | SessionCommand::LeaveOut { .. }
            | SessionCommand::Regenerate { .. }
            | SessionCommand::EditLast(_)
            | SessionCommand::SetEngine { .. }
    )
}
