//! Runs the jobs of conversations.

use std::sync::Arc;

use callgate_wire::session::{
    ConversationEngine, ConversationMode, ConversationTrimmed, MessageLeftOut, SessionEvent,
    UserMessage, capability,
};
use tokio::sync::watch;
use tokio::time::sleep;

use super::calls::tool_call::{self, CallOrigin};
use super::commands::CurrentConversation;
use super::commands::events::LEFT_OUT;
use super::drive::{PreparedTurn, QUIET, TurnDriver};
use super::lanes::{ConversationJob, JobKind, TurnControl, WaitingJobs};
use super::output_schema::OutputSchema;
use super::turn_changes::undo;
use super::{HaltReason, SessionShared, attachments, shutdown};
use crate::engine::engine_registry::SelectedEngine;
use crate::failure::RequestFailure;
use crate::history::{HeldConversation, HistoryError};
use crate::message::{Block, ChatMessage};
use crate::tool::{NoticeSink, SharedTurn, TurnContext, TurnStay};
use crate::turn::StopReason;

/// The id under which a tool server asks the user to sign in, where calls have theirs.
const SIGN_IN: &str = "sign_in";

pub(super) async fn run_job(
    shared: &Arc<SessionShared>,
    current: &CurrentConversation,
    conversation: &str,
    job: ConversationJob,
    mut control: TurnControl,
) {
    let ConversationJob { id, work } = job;
    let (stay, shared_turn) = TurnStay::new();
    let (halt, waiting) = (control.halt.clone(), control.waiting.clone());
    let done = tokio::select! {
        biased;
        // A turn notices by itself that it is to stop; before it there is nothing to lose.
        begun = prepare_job(shared, &id, conversation, work, stay) => begun,
        halted = shutdown::wait_for_halt(&mut control.halt) => Err(halted),
    };
    let event = match done {
        Ok(PreparedJob::Over(event)) => *event,
        Ok(PreparedJob::Turn(turn)) => {
            let event = TurnDriver::new(shared, &id, *turn, control).run_turn().await;
            await_questions(shared, &id, shared_turn, halt, &waiting).await;
            event
        }
        Ok(PreparedJob::Compaction(turn)) => {
            TurnDriver::new(shared, &id, *turn, control).compact().await
        }
        Err(HaltReason::Failed(failure)) => failure.into(),
        Err(HaltReason::Cancelled) => StopReason::Cancelled.done_for_free(),
    };
    // Before the end is sent: a status that is requested after it has the new length.
    current.forget_length(conversation);
    shared.output.send_event(&id, event);
}

/// Waits for the questions that were asked beside the answer: until they are settled, the turn is
/// cancelled, or the user goes on to something else, which withdraws them.
async fn await_questions(
    shared: &SessionShared,
    id: &str,
    mut turn: SharedTurn,
    mut halt: watch::Receiver<Option<HaltReason>>,
    waiting: &WaitingJobs,
) {
    loop {
        tokio::select! {
            biased;
            () = turn.wait_until_alone() => return,
            _ = shutdown::wait_for_halt(&mut halt) => return,
            () = waiting.wait_for_any() => return,
            () = sleep(QUIET) => {
                let text = "waiting for the answer to a question";
                shared.output.send_event(id, SessionEvent::notice("working", text));
            }
        }
    }
}

#[allow(clippy::large_enum_variant, reason = "there is one at a time, and it is used up at once")]
enum PreparedJob {
    Over(Box<SessionEvent>),
    Turn(Box<PreparedTurn>),
    /// The conversation is to be summarised. There is no message to answer.
    Compaction(Box<PreparedTurn>),
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
async fn prepare_job(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    work: JobKind,
    stay: TurnStay,
) -> Result<PreparedJob, HaltReason> {
    let begun = begin_job(shared, id, conversation, work).await?;
    if !matches!(begun, PreparedJob::Over { .. }) {
        let mirror = || tool_call::question_mirror(shared, &id.into());
        let mirror = shared.output.takes(capability::PERMISSION).then(mirror);
        let gate = shared.options.gate.as_ref();
        let may_ask = shared.modes.mode_of(conversation) != ConversationMode::Auto;
        let (output, request) = (shared.output.clone(), id.to_owned());
        let notices: NoticeSink =
            Arc::new(move |text| output.send_event(&request, SessionEvent::notice("server", text)));
        // A sign-in is no call: it changes no file of the turn, whose number does not matter.
        let origin = CallOrigin::new(id.into(), conversation.into(), 0);
        let asker = tool_call::person_asker(shared, &origin, SIGN_IN);
        let turn = TurnContext { gate, conversation, may_ask, mirror, notices, asker, stay };
        shared.tools.prepare(turn).await;
    }
    Ok(begun)
}

async fn begin_job(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    work: JobKind,
) -> Result<PreparedJob, HaltReason> {
    match work {
        JobKind::Say(said) => begin_message(shared, id, conversation, &said).await,
        JobKind::Edit(said) => {
            // First, because a file may be missing: then the turn is not taken back.
            let content = attachments::message_content(&said, &shared.options.folder).await?;
            let mut held = hold_conversation(shared, id, conversation).await?;
            take_back(&mut held).await?;
            Ok(PreparedJob::Turn(
                prepare_turn(shared, held, ChatMessage::user(content), None, true).await?,
            ))
        }
        JobKind::Regenerate => {
            let mut held = hold_conversation(shared, id, conversation).await?;
            let user = take_back(&mut held).await?;
            Ok(PreparedJob::Turn(prepare_turn(shared, held, user, None, true).await?))
        }
        JobKind::SetEngine(chosen) => {
            // Before the conversation is waited for: what cannot answer is refused at once.
            let SelectedEngine { engine, model, .. } =
                shared.options.engines.choose_usable(&chosen).await?;
            hold_conversation(shared, id, conversation).await?.choose_engine(chosen).await?;
            Ok(PreparedJob::over(SessionEvent::done(&ConversationEngine {
                conversation_id: conversation.to_owned(),
                engine: engine.name().to_owned(),
                model: model.to_string(),
            })))
        }
        JobKind::Clear => {
            hold_conversation(shared, id, conversation).await?.clear().await?;
            Ok(PreparedJob::over(SessionEvent::Done(None)))
        }
        JobKind::Rewind(length) => {
            let mut held = hold_conversation(shared, id, conversation).await?;
            held.rewind(length).await?;
            let conversation_id = conversation.to_owned();
            let trimmed = ConversationTrimmed { conversation_id, length: held.length() };
            Ok(PreparedJob::over(SessionEvent::done(&trimmed)))
        }
        JobKind::Compact => {
            let held = hold_conversation(shared, id, conversation).await?;
            let nothing = ChatMessage::user(Vec::new());
            Ok(PreparedJob::Compaction(prepare_turn(shared, held, nothing, None, false).await?))
        }
        JobKind::LeaveOut => {
            Ok(PreparedJob::over(leave_message_out(shared, id, conversation).await?))
        }
        JobKind::UndoTurn { turn, partial } => {
            // No turn of the conversation runs meanwhile, in any process.
            let _held = hold_conversation(shared, id, conversation).await?;
            let undone = undo::undo_turn(shared, id, conversation, turn, partial).await?;
            Ok(PreparedJob::over(SessionEvent::done(&undone)))
        }
        JobKind::Delete => {
            // Not waited for: a conversation on which another process works is not deleted.
            shared.options.history.delete_conversation(conversation).await?;
            shared.modes.forget(conversation);
            shared.prompts.forget(conversation);
            Ok(PreparedJob::over(SessionEvent::Done(None)))
        }
    }
}

async fn begin_message(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
    said: &UserMessage,
) -> Result<PreparedJob, HaltReason> {
    let schema = said.output_schema.clone().map(OutputSchema::from_json).transpose()?;
    // First, so that nobody waits for the conversation while files are read.
    let mut content = attachments::message_content(said, &shared.options.folder).await?;
    content.extend(schema.as_ref().map(|schema| Block::text(schema.request_text())));
    let held = hold_conversation(shared, id, conversation).await?;
    // A front end that knows of the end gets no notice.
    if held.is_broken_off() && shared.endings.get(conversation) != Some(held.length()) {
        let text = "the last answer was interrupted; the part that had arrived was stored";
        shared.output.send_event(id, SessionEvent::notice("interrupted", text));
    }
    let turn = prepare_turn(shared, held, ChatMessage::user(content), schema, false).await?;
    Ok(PreparedJob::Turn(turn))
}

/// Leaves the message out that the provider refuses, and returns the end of the request.
async fn leave_message_out(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
) -> Result<SessionEvent, HaltReason> {
    let mut held = hold_conversation(shared, id, conversation).await?;
    let refused = shared.refused.take(conversation);
    let left_out = held.leave_out(refused).await?;
    let none =
        || RequestFailure::permanent("not_found", "there is no message that can be left out");
    let message = left_out.ok_or_else(none)?;
    shared.output.send_event(id, SessionEvent::notice("left_out", LEFT_OUT));
    let conversation_id = conversation.to_owned();
    Ok(SessionEvent::done(&MessageLeftOut { conversation_id, message }))
}

async fn prepare_turn(
    shared: &Arc<SessionShared>,
    held: HeldConversation,
    mut user: ChatMessage,
    schema: Option<OutputSchema>,
    replacing: bool,
) -> Result<Box<PreparedTurn>, HaltReason> {
    let answering = shared.options.engines.select(held.engine()).await?;
    // The message of a compaction is empty and never sent.
    if !user.content.is_empty() {
        shared.modes.tell_mode(held.id(), held.mode_note(), &mut user);
        user.content.extend(shared.undos.take_notes(held.id()));
    }
    Ok(Box::new(PreparedTurn { held, user, answering, schema, replacing }))
}

/// Waits until no other process works on the conversation, and loads it.
async fn hold_conversation(
    shared: &Arc<SessionShared>,
    id: &str,
    conversation: &str,
) -> Result<HeldConversation, HistoryError> {
    let waits = || {
        let text = "waiting until another program has finished with this conversation";
        shared.output.send_event(id, SessionEvent::notice("queued", text));
    };
    let held = shared.options.history.hold_or(conversation, waits).await?;
    // Loaded now, because calls and notes ask for the mode without waiting.
    shared.modes.load(&shared.options.history, conversation).await?;
    shared.prompts.load(&shared.options, conversation).await;
    Ok(held)
}

/// Takes the last turn back and returns the message that it answered. The turn stays in the file
/// until another replaces it.
async fn take_back(held: &mut HeldConversation) -> Result<ChatMessage, HaltReason> {
    let none = || RequestFailure::permanent("not_found", "there is no message yet to answer");
    Ok(held.take_back().await?.ok_or_else(none)?)
}
