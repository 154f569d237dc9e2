//! Runs the jobs of conversations.

use std::sync::Arc;

use callgate_wire::session::{
    ConversationEngine, ConversationMode, ConversationTrimmed, SessionEvent, TokenUsage,
};

use super::commands::CurrentConversation;
use super::drive::{self, PreparedTurn, TurnDriver};
use super::lanes::{ConversationJob, JobKind, TurnControl};
use super::{HaltReason, SessionShared, attachments, tool_call};
use crate::engine_registry::SelectedEngine;
use crate::failure::RequestFailure;
use crate::history::{HeldConversation, HistoryError};
use crate::message::ChatMessage;
use crate::tool::{NoticeSink, TurnContext};
use crate::turn::StopReason;

/// Returns the end of a request that was cancelled before its turn began.
pub(super) fn cancelled() -> SessionEvent {
    StopReason::Cancelled.done(TokenUsage::default(), Some(0.0), 0)
}

/// Does the job and sends its end.
pub(super) async fn run(
    shared: &Arc<SessionShared>,
    current: &CurrentConversation,
    conversation: &str,
    job: ConversationJob,
    mut control: TurnControl,
) {
    let ConversationJob { id, work } = job;
    let done = tokio::select! {
        biased;
        // A turn notices by itself that it is to stop; before it there is nothing to lose.
        begun = prepare(shared, &id, conversation, work) => begun,
        halted = drive::halted(&mut control.halt) => Err(halted),
    };
    let event = match done {
        Ok(PreparedJob::Over(event)) => *event,
        Ok(PreparedJob::Turn(turn)) => TurnDriver::new(shared, &id, *turn, control).run().await,
        Err(HaltReason::Failed(failure)) => failure.into(),
        Err(HaltReason::Cancelled) => cancelled(),
    };
    current.forget_length(conversation);
    shared.output.say(&id, event);
}

/// A job after its preparation.
enum PreparedJob {
    /// It is done.
    Over(Box<SessionEvent>),
    /// Its turn is to be driven.
    Turn(Box<PreparedTurn>),
}

impl PreparedJob {
    fn over(event: SessionEvent) -> Self {
        Self::Over(Box::new(event))
    }
}

impl<E: Into<RequestFailure>> From<E> for HaltReason {
    fn from(failure: E) -> Self {
        Self::Failed(failure.into())
    }
}

/// Begins a job, and prepares the tools if a turn follows.
async fn prepare(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    work: JobKind,
) -> Result<PreparedJob, HaltReason> {
    let begun = begin(shared, id, conversation, work).await?;
    if matches!(begun, PreparedJob::Turn { .. }) {
        let mirror = || tool_call::mirror(shared, &id.into());
        let mirror = shared.output.takes_questions().then(mirror);
        let gate = shared.options.gate.as_ref();
        let may_ask = shared.modes.of(conversation) != ConversationMode::Auto;
        let (output, request) = (shared.output.clone(), id.to_owned());
        let notices: NoticeSink =
            Arc::new(move |text| output.say(&request, SessionEvent::notice("server", text)));
        shared.tools.prepare(TurnContext { gate, conversation, may_ask, mirror, notices }).await;
    }
    Ok(begun)
}

async fn begin(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    work: JobKind,
) -> Result<PreparedJob, HaltReason> {
    match work {
        JobKind::Say(said) => {
            let content = attachments::content(&said, &shared.options.folder).await?;
            let held = hold(shared, id, conversation).await?;
            if held.is_broken_off() && !shared.endings.knows(&held) {
                shared.output.say(id, interrupted());
            }
            turn(shared, held, ChatMessage::user(content), false).await
        }
        JobKind::Edit(said) => {
            let content = attachments::content(&said, &shared.options.folder).await?;
            let mut held = hold(shared, id, conversation).await?;
            take_back(&mut held).await?;
            turn(shared, held, ChatMessage::user(content), true).await
        }
        JobKind::Regenerate => {
            let mut held = hold(shared, id, conversation).await?;
            let user = take_back(&mut held).await?;
            turn(shared, held, user, true).await
        }
        JobKind::SetEngine(chosen) => {
            let SelectedEngine { engine, model, .. } =
                shared.options.engines.choose(&chosen).await?;
            hold(shared, id, conversation).await?.choose_engine(chosen).await?;
            Ok(PreparedJob::over(SessionEvent::done(&ConversationEngine {
                conversation_id: conversation.to_owned(),
                engine: engine.name().to_owned(),
                model: model.to_string(),
            })))
        }
        JobKind::Clear => {
            hold(shared, id, conversation).await?.clear().await?;
            Ok(PreparedJob::over(SessionEvent::Done(None)))
        }
        JobKind::Rewind(length) => {
            let mut held = hold(shared, id, conversation).await?;
            held.rewind(length).await?;
            let conversation_id = conversation.to_owned();
            let trimmed = ConversationTrimmed { conversation_id, length: held.length() };
            Ok(PreparedJob::over(SessionEvent::done(&trimmed)))
        }
        JobKind::Delete => {
            shared.options.history.delete(conversation).await?;
            shared.modes.forget(conversation);
            Ok(PreparedJob::over(SessionEvent::Done(None)))
        }
    }
}

/// Finds the engine that answers in the conversation.
async fn turn(
    shared: &Arc<SessionShared>,
    held: HeldConversation,
    mut user: ChatMessage,
    replacing: bool,
) -> Result<PreparedJob, HaltReason> {
    let answering = shared.options.engines.select(held.engine()).await?;
    shared.modes.tell(held.id(), held.messages(), &mut user);
    Ok(PreparedJob::Turn(Box::new(PreparedTurn { held, user, answering, replacing })))
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
    let held = shared.options.history.hold_or(conversation, waits).await?;
    shared.modes.load(&shared.options.history, conversation).await?;
    Ok(held)
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
