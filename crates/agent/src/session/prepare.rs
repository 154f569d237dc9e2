//! A job of a conversation, from its place in the lane to its end.

use std::sync::Arc;

use callgate_wire::session::{Event, TokenUsage, UserMessage};
use tokio::sync::watch;

use super::commands::Current;
use super::drive::{self, Drive};
use super::lanes::{Job, Work};
use super::{Halt, Shared, attach};
use crate::failure::RequestFailure;
use crate::history::{Held, HistoryError};
use crate::message::{Block, Message};
use crate::turn::StopReason;

/// Returns the end of a request that was cancelled before its turn began.
pub(super) fn cancelled() -> Event {
    StopReason::Cancelled.done(TokenUsage::default(), Some(0.0))
}

/// Does the job and says its end.
pub(super) async fn run(
    shared: &Arc<Shared>,
    current: &Current,
    conversation: &str,
    job: Job,
    mut halt: watch::Receiver<Option<Halt>>,
) {
    let Job { id, work } = job;
    let done = tokio::select! {
        biased;
        // A turn sees for itself that it is to stop; what comes before it has nothing to lose.
        begun = begin(shared, &id, conversation, work) => begun,
        halted = halted(&mut halt) => Err(halted),
    };
    let event = match done {
        Ok(Begun::Over(event)) => event,
        Ok(Begun::Turn { held, user, replacing }) => {
            Drive::new(shared, &id, *held, user, replacing, halt).run().await
        }
        Err(Stopped::Failed(failure)) => failure.into(),
        Err(Stopped::Cancelled) => cancelled(),
    };
    current.forget_length(conversation);
    shared.output.say(&id, event);
}

/// How far a job has come.
enum Begun {
    /// It is done.
    Over(Event),
    /// A turn is to be driven.
    Turn { held: Box<Held>, user: Message, replacing: bool },
}

/// Why a job did not come so far.
pub(super) enum Stopped {
    Failed(RequestFailure),
    Cancelled,
}

impl From<RequestFailure> for Stopped {
    fn from(failure: RequestFailure) -> Self {
        Self::Failed(failure)
    }
}

impl From<HistoryError> for Stopped {
    fn from(error: HistoryError) -> Self {
        Self::Failed(error.into())
    }
}

async fn halted(halt: &mut watch::Receiver<Option<Halt>>) -> Stopped {
    match drive::halted(halt).await {
        Halt::Cancelled => Stopped::Cancelled,
        Halt::Ending(failure) => Stopped::Failed(failure),
    }
}

async fn begin(
    shared: &Arc<Shared>,
    id: &str,
    conversation: &str,
    work: Work,
) -> Result<Begun, Stopped> {
    match work {
        Work::Say(said) => {
            let content = content(shared, &said).await?;
            let held = Box::new(hold(shared, id, conversation).await?);
            if held.is_broken_off() && !shared.endings.knows(&held) {
                shared.output.say(id, interrupted());
            }
            Ok(Begun::Turn { held, user: Message::user(content), replacing: false })
        }
        Work::Edit(said) => {
            let content = content(shared, &said).await?;
            let mut held = Box::new(hold(shared, id, conversation).await?);
            take_back(&mut held).await?;
            Ok(Begun::Turn { held, user: Message::user(content), replacing: true })
        }
        Work::Regenerate => {
            let mut held = Box::new(hold(shared, id, conversation).await?);
            let user = take_back(&mut held).await?;
            Ok(Begun::Turn { held, user, replacing: true })
        }
        Work::Clear => {
            hold(shared, id, conversation).await?.clear().await?;
            Ok(Begun::Over(Event::Done(None)))
        }
        Work::Delete => {
            shared.options.history.delete(conversation).await?;
            Ok(Begun::Over(Event::Done(None)))
        }
    }
}

/// Waits until no other process works on the conversation, and loads it.
async fn hold(shared: &Arc<Shared>, id: &str, conversation: &str) -> Result<Held, HistoryError> {
    let waits = || {
        let text = "waits until another program has finished with this conversation";
        shared.output.say(id, Event::notice("queued", text));
    };
    shared.options.history.hold_or(conversation, waits).await
}

/// Tells of a turn whose end nobody was told.
fn interrupted() -> Event {
    Event::notice(
        "interrupted",
        "the last answer was never finished: what there was of it was kept",
    )
}

/// Takes the last turn back, and gives the message that it answered. It stays in the file until
/// something takes its place.
async fn take_back(held: &mut Held) -> Result<Message, Stopped> {
    let none =
        || RequestFailure::permanent("not_found", "there is no message yet that could be answered");
    Ok(held.take_back().await?.ok_or_else(none)?)
}

/// What the user said, with the files that go with it.
async fn content(shared: &Arc<Shared>, said: &UserMessage) -> Result<Vec<Block>, RequestFailure> {
    let mut content = attach::read(&said.attachments, &shared.options.folder).await?;
    if !said.message.trim().is_empty() {
        content.push(Block::text(said.message.clone()));
    }
    if content.is_empty() {
        return Err(RequestFailure::permanent("refused", "the message is empty: write something"));
    }
    Ok(content)
}
