//! Drives a turn: asks the engine, runs the tools, and stores the messages.

mod asking;
mod fallback;
mod fitting;
mod keeping;
mod meter;
mod reports;
mod shorten;
mod showing;
mod steering;
mod tool_tasks;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use callgate_mask::text::counted_noun;
use callgate_store::EntryDraft;
use callgate_wire::session::{SessionEvent, TokenUsage, capability};
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

use super::calls::tool_call::{CallOrigin, CallReport};
use super::lanes::{TurnControl, WaitingJobs};
use super::output_schema::OutputSchema;
use super::shutdown::wait_for_halt;
use super::{HaltReason, SessionShared};
use crate::engine::engine_registry::SelectedEngine;
use crate::engine::{AnswerPiece, AnswerStream, EngineError};
use crate::failure::RequestFailure;
use crate::history::{HeldConversation, MessageFragments, Reservation};
use crate::message::{ChatMessage, StoredToolResult};
use crate::turn::{FinishedCall, StopReason, Turn, TurnAction, TurnLimits};
use meter::UsageMeter;
use tool_tasks::finish_tool;

/// After so long without an event, the front end is notified that the turn is still running. Front
/// ends give up after 60 seconds.
pub(super) const QUIET: Duration = Duration::from_secs(20);
/// How long a turn waits for a model that cannot be reached, if the front end takes no notices.
const UNTOLD: Duration = Duration::from_secs(30);

pub(super) struct TurnDriver<'a> {
    shared: &'a Arc<SessionShared>,
    id: Arc<str>,
    name: Arc<str>,
    /// Where its tool calls come from.
    origin: CallOrigin,
    /// The name under which the ledger counts the costs of the conversation.
    account: String,
    held: HeldConversation,
    answering: SelectedEngine,
    /// The schema that the answer has to fit, and the answer once it does.
    schema: Option<OutputSchema>,
    fitting: Option<Box<RawValue>>,
    turn: Turn,
    halt: watch::Receiver<Option<HaltReason>>,
    /// The jobs that wait for this one, some of which may steer it.
    waiting: WaitingJobs,
    /// The requests whose messages are part of the round, until it is stored.
    steered: Vec<String>,
    stored: StoredExtent,
    /// Whether the first step replaces another turn.
    replacing: bool,
    answer: Option<Box<dyn AnswerStream>>,
    again: Option<Instant>,
    uses: JoinSet<CallReport>,
    running: HashMap<Id, (usize, AbortHandle)>,
    /// The ledger entries to be written with the next step.
    drafts: Vec<EntryDraft>,
    pieces: Vec<AnswerPiece>,
    /// The events to be sent next, and what has to be stored before.
    events: Vec<SessionEvent>,
    unstored: MessageFragments,
    /// The input tokens of the last call, by which the size of the next one is estimated.
    read: Option<u64>,
    /// The output tokens of the latest response, if the engine makes several in one answer.
    written: Option<u64>,
    engine_state: Option<String>,
    /// Whether the engine waits for what the user has said meanwhile.
    is_steerable: bool,
    reservation: Option<Reservation>,
    meter: UsageMeter,
    taken: TokenUsage,
    cost: Option<f64>,
}

/// How much of a turn is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StoredExtent {
    Nothing,
    Message,
    /// The message, and something of the answer.
    Answer,
}

pub(super) struct PreparedTurn {
    pub(super) held: HeldConversation,
    pub(super) user: ChatMessage,
    pub(super) answering: SelectedEngine,
    pub(super) schema: Option<OutputSchema>,
    /// Whether the first step replaces another turn.
    pub(super) replacing: bool,
}

struct FinishedRound {
    messages: Vec<ChatMessage>,
    results: Vec<StoredToolResult>,
    /// Whether the answer goes on after it.
    is_part: bool,
}

enum DriverEvent {
    Halted(HaltReason),
    Ran(usize, FinishedCall),
    Answered(Result<bool, EngineError>),
    Due,
    Nothing,
}

impl<'a> TurnDriver<'a> {
    pub(super) fn new(
        shared: &'a Arc<SessionShared>,
        id: &str,
        prepared: PreparedTurn,
        control: TurnControl,
    ) -> Self {
        let PreparedTurn { held, user, answering, schema, replacing } = prepared;
        let (id, name): (Arc<str>, Arc<str>) = (id.into(), held.id().into());
        let origin = CallOrigin::new(Arc::clone(&id), Arc::clone(&name), held.length());
        Self {
            shared,
            id,
            name,
            origin,
            account: shared.options.history.account(&shared.options.ledger, held.id()),
            held,
            answering,
            schema,
            fitting: None,
            turn: fresh_turn(shared, user, replacing),
            halt: control.halt,
            waiting: control.waiting,
            steered: Vec::new(),
            stored: StoredExtent::Nothing,
            replacing,
            answer: None,
            again: None,
            uses: JoinSet::new(),
            running: HashMap::new(),
            drafts: Vec::new(),
            pieces: Vec::new(),
            events: Vec::new(),
            unstored: MessageFragments::default(),
            read: None,
            written: None,
            engine_state: None,
            is_steerable: false,
            reservation: None,
            meter: UsageMeter::default(),
            taken: TokenUsage::default(),
            // `None` once the price of a part is unknown: a sum without it would be too low.
            cost: Some(0.0),
        }
    }

    pub(super) async fn run_turn(mut self) -> SessionEvent {
        let (mut todo, mut has_answer) = (Vec::new(), false);
        self.turn.start_turn(&mut todo);
        loop {
            while !todo.is_empty() {
                if let Some(end) = self.work_off(&mut todo).await {
                    let Some(end) = self.check_schema_fit(end, &mut todo) else { continue };
                    // A plain front end gets no data with `done`, and would take the answer for
                    // whole.
                    if !self.shared.output.is_greeted() {
                        let note = end.as_ref().ok().and_then(StopReason::incomplete_note);
                        self.events.extend(note.map(SessionEvent::Token));
                    }
                    if let Err(failure) = &end {
                        // Before the last events are sent, because it adds one.
                        self.leave_out(failure).await;
                    }
                    self.show_last().await;
                    self.settle_rest().await;
                    // Before the end, behind which nothing of a request is sent.
                    self.tell_changes().await;
                    self.shared.endings.note(self.held.id(), Some(self.held.length()));
                    return match end {
                        Ok(stop) => {
                            let done = stop.done(self.taken, self.cost, self.origin.denied());
                            match &self.fitting {
                                Some(value) => done.with_member("output", value),
                                None => done,
                            }
                        }
                        Err(failure) => failure.into(),
                    };
                }
            }
            if let Err(failure) = self.show().await {
                self.turn.end_unstored(failure, &mut todo);
                continue;
            }
            if has_answer {
                self.shared.warm(); // Not before: until then, the first token is on its way.
            }
            if std::mem::take(&mut self.is_steerable) {
                self.steer_answer(&mut todo).await;
                continue;
            }
            match self.wait_for_event().await {
                DriverEvent::Halted(HaltReason::Cancelled) => {
                    self.interrupt(&mut todo).await;
                    self.turn.cancel(&mut todo);
                }
                DriverEvent::Halted(HaltReason::Failed(failure)) => {
                    self.turn.abandon(failure, &mut todo);
                }
                DriverEvent::Ran(index, ran) => {
                    // Before the round ends: the model reads what was said with its results.
                    if !ran.interrupt && self.turn.ends_round(index) {
                        self.take_steering(&mut todo).await;
                    }
                    self.turn.handle_call_end(index, ran, &mut todo);
                }
                DriverEvent::Answered(answered) => {
                    has_answer = true;
                    self.handle_pieces(answered, &mut todo);
                }
                DriverEvent::Due => {
                    self.again = None;
                    self.ask_engine(&mut todo).await;
                }
                DriverEvent::Nothing => self.still_here(),
            }
        }
    }

    async fn wait_for_event(&mut self) -> DriverEvent {
        let output = &self.shared.output;
        let pieces = &mut self.pieces;
        let answer = self.answer.as_mut();
        let again = self.again;
        tokio::select! {
            // A stream that always has pieces would keep the others waiting if it came first: a
            // cancellation has to count at once, and tools that have ended free their places.
            biased;
            reason = wait_for_halt(&mut self.halt) => DriverEvent::Halted(reason),
            Some(ran) = self.uses.join_next_with_id(), if !self.uses.is_empty() => {
                finish_tool(&mut self.running, &mut self.drafts, ran)
            }
            answered = async {
                let Some(answer) = answer else { return std::future::pending().await };
                // A slow front end delays the engine instead of filling the memory.
                output.wait_for_room().await;
                answer.next(pieces).await
            } => DriverEvent::Answered(answered),
            () = async {
                match again {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            } => DriverEvent::Due,
            () = sleep(QUIET), if output.takes(capability::NOTICE) => DriverEvent::Nothing,
        }
    }

    /// Carries out actions in order. Returns the end of the turn if there is one.
    async fn work_off(
        &mut self,
        todo: &mut Vec<TurnAction>,
    ) -> Option<Result<StopReason, RequestFailure>> {
        let mut later = Vec::new();
        let mut steps = std::mem::take(todo).into_iter().peekable();
        while let Some(step) = steps.next() {
            let done = match step {
                TurnAction::End(end) => return Some(end),
                TurnAction::Keep { messages, results, is_part } => {
                    let round = FinishedRound { messages, results, is_part };
                    let asks =
                        |next: &TurnAction| matches!(next, TurnAction::Ask(wait) if wait.is_zero());
                    self.keep_round(round, steps.next_if(asks).is_some(), &mut later).await
                }
                step => self.carry_out(step, &mut later).await,
            };
            if let Err(failure) = done {
                self.turn.end_unstored(failure, todo);
                return None;
            }
        }
        todo.append(&mut later);
        None
    }

    /// Carries out an action that stores no round. Fails if something cannot be stored.
    async fn carry_out(
        &mut self,
        step: TurnAction,
        later: &mut Vec<TurnAction>,
    ) -> Result<(), RequestFailure> {
        match step {
            TurnAction::Tell(event) => self.collect_event(event).await,
            TurnAction::Ask(wait) if wait.is_zero() => {
                self.show().await?;
                self.ask_engine(later).await;
            }
            TurnAction::Ask(wait) => self.again = Some(Instant::now() + wait),
            TurnAction::Shorten(failure) => {
                self.show().await?;
                self.shorten(failure, later).await;
            }
            TurnAction::Drop => (self.answer, self.again) = (None, None),
            TurnAction::Run(wanted) => {
                // A call is stored before it runs.
                self.show().await?;
                self.start_tool(wanted);
            }
            TurnAction::Stop(calls) => self.stop_tools(&calls).await,
            TurnAction::Keep { .. } | TurnAction::End(_) => {}
        }
        Ok(())
    }

    /// Notifies the front end that the turn is still running.
    fn still_here(&mut self) {
        let text = match self.running.len() {
            0 => "waiting for the model".to_owned(),
            count => {
                format!("{} at work or waiting for permission", counted_noun(count, "tool"))
            }
        };
        self.events.push(SessionEvent::notice("working", text));
    }

    fn handle_pieces(&mut self, answered: Result<bool, EngineError>, todo: &mut Vec<TurnAction>) {
        // Put back below, so that its memory is used again.
        let mut pieces = std::mem::take(&mut self.pieces);
        for piece in pieces.drain(..) {
            self.meter.count_piece(&piece);
            match &piece {
                AnswerPiece::EngineState(state) => self.engine_state = Some(state.clone()),
                AnswerPiece::RoundEnd => self.is_steerable = true,
                _ => self.note_context(&piece),
            }
            if self.is_report_due(&piece) {
                todo.push(TurnAction::Tell(self.usage_report()));
            }
            self.turn.handle_piece(piece, todo);
        }
        self.pieces = pieces;
        match answered {
            Ok(true) => {}
            Ok(false) => {
                self.answer = None;
                self.turn.handle_stream_end(todo);
            }
            Err(error) => {
                self.answer = None;
                let error = self.fall_back(error);
                self.turn.handle_error(error, todo);
            }
        }
    }
}

fn fresh_turn(shared: &Arc<SessionShared>, user: ChatMessage, replacing: bool) -> Turn {
    let tools = Arc::clone(shared);
    let is_read_only = move |name: &str| {
        tools.tools.current().get(name).is_some_and(|tool| tool.spec().is_read_only)
    };
    // Somebody who cannot be told of a wait gives up soon.
    let untold = if shared.output.takes(capability::NOTICE) { Duration::MAX } else { UNTOLD };
    let bounds = TurnLimits {
        most_rounds: shared.options.most_rounds,
        keeps_unanswered: !replacing,
        patience: shared.options.patience.min(untold),
        seed: uuid::Uuid::new_v4().as_u64_pair().0,
    };
    Turn::new(user, bounds, is_read_only)
}
