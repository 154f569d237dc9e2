//! One turn: from the user's message to the end of the answer. A pure state machine.
//!
//! It says when the model is to be asked, which tools are to run, what a front end is told and
//! what is to be kept; somebody else does all that and tells it what came of it. Whatever comes
//! in, there is exactly one end, every tool that was announced has its result before that, and
//! what is kept can be sent to the model again.

mod answer;
mod calls;
mod stop;
#[cfg(test)]
mod tests;

use std::time::Duration;

use callgate_wire::session::{SessionEvent, ToolUse};
use serde_json::value::RawValue;

use crate::engine::{AnswerPiece, EngineError, EngineErrorKind, ModelStop};
use crate::failure::RequestFailure;
use crate::message::{Block, ChatMessage, StoredToolResult};
use crate::tool::ToolOutcome;
use answer::{PartialAnswer, size};
use calls::RoundCalls;
pub use stop::StopReason;

/// The longest that a provider may make us wait before another attempt.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// How long to wait before the second attempt, if nobody says; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// How many attempts there are, and how many at a service that cannot be reached.
const MOST_TRIES: u32 = 5;
const MOST_DIALS: u32 = 3;
/// How many bytes an answer may have.
const LONGEST_ANSWER: usize = 32 * 1024 * 1024;
/// What the model reads where it was stopped before it said anything.
const STOPPED: &str = "[The user stopped this answer.]";

/// What holds for a turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnLimits {
    /// How often the model may be asked.
    pub most_rounds: u32,
    /// Whether a message that was stopped before any answer is kept. One that takes another's
    /// place is not: it would take the other's answer away.
    pub keeps_unanswered: bool,
}

/// What is to be done.
#[derive(Debug)]
pub enum TurnAction {
    /// Tell the front end.
    Tell(SessionEvent),
    /// Ask the model, after this time. What was kept and [`Turn::unkept`] are the conversation.
    Ask(Duration),
    /// Shorten what was kept, since the model cannot read so much, and ask it again. Where that is
    /// not possible the turn is to be [abandoned](Turn::abandon) with this.
    Shorten(RequestFailure),
    /// Give up the answer that is on its way.
    Drop,
    /// See whether a tool may run, and run it.
    Run(ToolCall),
    /// Stop these tools.
    Stop(Vec<usize>),
    /// Keep these messages, all or none. Only when they are kept does the turn go on.
    Keep {
        /// What is new.
        messages: Vec<ChatMessage>,
        /// What the tools in it gave the front end.
        results: Vec<StoredToolResult>,
    },
    /// End the turn.
    End(Result<StopReason, RequestFailure>),
}

/// A tool that is to run.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Which of the calls of this round; [`Turn::ran`] wants it back.
    pub index: usize,
    /// Names the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Box<RawValue>,
}

/// What came of a tool.
#[derive(Debug)]
pub struct FinishedCall {
    /// What it gave.
    pub outcome: ToolOutcome,
    /// Whether a person wants the whole turn to end.
    pub interrupt: bool,
}

/// A turn under way.
#[derive(Debug)]
pub struct Turn {
    bounds: TurnLimits,
    unkept: Vec<ChatMessage>,
    answer: PartialAnswer,
    calls: RoundCalls,
    rounds: u32,
    tries: u32,
    /// The model was asked and has not answered to the end.
    asked: bool,
    /// The conversation was to be shortened, which is tried once.
    shortened: bool,
    over: bool,
}

impl Turn {
    /// Returns a turn that answers `user`. `is_read_only` tells of a tool whether several may run
    /// at once.
    #[must_use]
    pub fn new(
        user: ChatMessage,
        bounds: TurnLimits,
        is_read_only: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            bounds,
            unkept: vec![user],
            answer: PartialAnswer::default(),
            calls: RoundCalls::new(is_read_only),
            rounds: 0,
            tries: 0,
            asked: false,
            shortened: false,
            over: false,
        }
    }

    /// Returns the messages that belong to the conversation and are not kept yet.
    #[must_use]
    pub fn unkept(&self) -> &[ChatMessage] {
        &self.unkept
    }

    /// Begins.
    pub fn begin(&mut self, todo: &mut Vec<TurnAction>) {
        self.ask(Duration::ZERO, todo);
    }

    /// A piece of the answer has come.
    pub fn piece(&mut self, piece: AnswerPiece, todo: &mut Vec<TurnAction>) {
        if self.over || !self.asked {
            return;
        }
        self.answer.size += size(&piece);
        if self.answer.size > LONGEST_ANSWER {
            return self.burst(todo);
        }
        match piece {
            AnswerPiece::Text(text) => {
                self.answer.text(&text);
                todo.push(TurnAction::Tell(SessionEvent::Token(text)));
            }
            AnswerPiece::Thinking(thought) => {
                self.answer.thinking(&thought);
                todo.push(TurnAction::Tell(SessionEvent::Thinking(thought)));
            }
            AnswerPiece::Signature(signature) => self.answer.signature(&signature),
            AnswerPiece::Redacted(data) => self.answer.block(Block::RedactedThinking { data }),
            // Whoever asks the model counts what it takes.
            AnswerPiece::Usage(_) => {}
            AnswerPiece::ToolUse { id, name, input, fault } => {
                let id = self.calls.add(&id, name.clone(), input.clone(), fault);
                let block =
                    Block::ToolUse { id: id.clone(), name: name.clone(), input: input.clone() };
                self.answer.block(block);
                let call =
                    ToolUse { tool_id: id, tool_name: name, input, kind: None, locations: None };
                todo.push(TurnAction::Tell(SessionEvent::ToolUse(call)));
            }
            AnswerPiece::End(stop) => self.answered(stop, todo),
        }
    }

    /// The answer could not be had, or not to its end.
    pub fn failed(&mut self, error: EngineError, todo: &mut Vec<TurnAction>) {
        if self.over || !self.asked {
            return;
        }
        if error.kind == EngineErrorKind::TooLong && !self.shortened && self.is_unseen() {
            self.shortened = true;
            self.answer = PartialAnswer::default();
            return todo.push(TurnAction::Shorten(self.failure(error)));
        }
        match self.wait(&error) {
            Some(wait) => {
                let seconds = wait.as_secs_f32();
                let text = format!("{} (trying again in {seconds:.1} s)", error.text);
                todo.push(TurnAction::Tell(SessionEvent::notice("retry", text)));
                self.answer = PartialAnswer::default();
                todo.push(TurnAction::Ask(wait));
            }
            None => self.fail(self.failure(error), todo),
        }
    }

    /// Nothing more comes from the model: that is a failure unless the answer was whole.
    pub fn silent(&mut self, todo: &mut Vec<TurnAction>) {
        if self.asked {
            let text = "the model's answer ended before its end: send the message again".to_owned();
            let error =
                EngineError { kind: EngineErrorKind::Cut, status: None, retry_after: None, text };
            self.failed(error, todo);
        }
    }

    /// A tool has ended.
    pub fn ran(&mut self, index: usize, ran: FinishedCall, todo: &mut Vec<TurnAction>) {
        if self.over || !self.calls.is_running(index) {
            return;
        }
        self.calls.finish(index, ran.outcome, todo);
        if ran.interrupt {
            self.calls.close("not run: the user stopped the turn", todo);
            self.keep_round(todo);
            return self.end(StopReason::Cancelled, todo);
        }
        self.go_on(todo);
    }

    /// Somebody stops the turn.
    pub fn cancel(&mut self, todo: &mut Vec<TurnAction>) {
        if !self.over {
            self.stop("stopped by the user", todo);
            self.end(StopReason::Cancelled, todo);
        }
    }

    /// The turn cannot go on, for a reason outside of it. What was seen of the answer is kept; a
    /// message without any answer is not, so that it can be sent again.
    pub fn abandon(&mut self, failure: RequestFailure, todo: &mut Vec<TurnAction>) {
        if self.over {
            return;
        }
        if self.calls.is_empty() && self.answer.is_silent() {
            todo.push(TurnAction::Drop);
        } else {
            self.stop(&format!("stopped: {}", failure.text), todo);
        }
        self.over = true;
        todo.push(TurnAction::End(Err(failure)));
    }

    /// What was to be kept could not be: nothing more is.
    pub fn unkept_for(&mut self, failure: RequestFailure, todo: &mut Vec<TurnAction>) {
        todo.clear();
        todo.push(TurnAction::Drop);
        todo.push(TurnAction::Stop(self.calls.running()));
        self.calls.close(&format!("stopped: {}", failure.text), todo);
        self.over = true;
        todo.push(TurnAction::End(Err(failure)));
    }

    /// Ends what is under way, so that what is kept is whole.
    fn stop(&mut self, why: &str, todo: &mut Vec<TurnAction>) {
        todo.push(TurnAction::Drop);
        if self.calls.is_empty() {
            if self.answer.is_silent() {
                if self.rounds <= 1 && !self.bounds.keeps_unanswered {
                    return;
                }
                self.answer.text(STOPPED);
            }
            return self.keep_round(todo);
        }
        todo.push(TurnAction::Stop(self.calls.running()));
        self.calls.close(why, todo);
        self.keep_round(todo);
    }

    /// The answer is whole.
    fn answered(&mut self, stop: ModelStop, todo: &mut Vec<TurnAction>) {
        self.asked = false;
        self.tries = 0;
        if self.calls.is_empty() {
            self.keep_round(todo);
            return self.end(stop.into(), todo);
        }
        let refused = match stop {
            ModelStop::Refusal | ModelStop::ContextWindow => {
                Some((stop.into(), "the model has stopped"))
            }
            _ if self.rounds >= self.bounds.most_rounds => {
                Some((StopReason::MaxTurnRequests, "the turn has had all of its rounds"))
            }
            _ => None,
        };
        match refused {
            Some((reason, why)) => {
                self.calls.close(&format!("not run: {why}"), todo);
                self.keep_round(todo);
                self.end(reason, todo);
            }
            None => self.go_on(todo),
        }
    }

    /// Starts what can be started; when all have ended the model hears of it.
    fn go_on(&mut self, todo: &mut Vec<TurnAction>) {
        self.calls.start(todo);
        if self.calls.are_done() {
            self.keep_round(todo);
            self.ask(Duration::ZERO, todo);
        }
    }

    fn ask(&mut self, wait: Duration, todo: &mut Vec<TurnAction>) {
        (self.rounds, self.tries, self.asked) = (self.rounds + 1, 0, true);
        todo.push(TurnAction::Ask(wait));
    }

    /// Hands over the answer and what its tools gave.
    fn keep_round(&mut self, todo: &mut Vec<TurnAction>) {
        let content = std::mem::take(&mut self.answer).finish();
        if !content.is_empty() {
            self.unkept.push(ChatMessage::assistant(content));
        }
        let (told, results) = self.calls.take_results();
        if !told.is_empty() {
            self.unkept.push(ChatMessage::user(told));
        }
        todo.push(TurnAction::Keep { messages: std::mem::take(&mut self.unkept), results });
    }

    fn end(&mut self, stop: StopReason, todo: &mut Vec<TurnAction>) {
        self.over = true;
        todo.push(TurnAction::End(Ok(stop)));
    }

    /// The answer is longer than any answer can be. Nothing of it is kept.
    fn burst(&mut self, todo: &mut Vec<TurnAction>) {
        let text = format!(
            "the model's answer has more than {LONGEST_ANSWER} bytes, so it was given up: ask for \
             less at a time"
        );
        todo.push(TurnAction::Drop);
        self.calls.close("not run: the answer was given up", todo);
        self.over = true;
        todo.push(TurnAction::End(Err(RequestFailure::permanent("too_long", text))));
    }

    /// Of an answer that was begun the beginning is kept, since it was seen; a message without
    /// any answer is not, so that it can be sent again.
    fn fail(&mut self, failure: RequestFailure, todo: &mut Vec<TurnAction>) {
        self.calls.close("not run: the answer was cut off", todo);
        if !self.answer.is_silent() || !self.calls.is_empty() {
            self.keep_round(todo);
        }
        self.over = true;
        todo.push(TurnAction::End(Err(failure)));
    }

    /// Returns how long to wait before another attempt; `None` when there is none. What the front
    /// end has seen a part of is never asked again.
    fn wait(&mut self, error: &EngineError) -> Option<Duration> {
        let most = match error.kind {
            EngineErrorKind::RateLimit | EngineErrorKind::Overloaded | EngineErrorKind::Server => {
                MOST_TRIES
            }
            EngineErrorKind::Network | EngineErrorKind::Cut => MOST_DIALS,
            _ => return None,
        };
        self.tries += 1;
        if !self.is_unseen() || self.tries >= most {
            return None;
        }
        let doubled = FIRST_WAIT * 2_u32.saturating_pow(self.tries - 1);
        Some(error.retry_after.unwrap_or(doubled)).filter(|wait| *wait <= LONGEST_WAIT)
    }

    /// Returns true if the front end has seen nothing of the answer.
    fn is_unseen(&self) -> bool {
        self.answer.is_unseen() && self.calls.is_empty()
    }

    /// Returns what a person is told of an error. What was handed over is kept, whatever comes
    /// then.
    fn failure(&self, error: EngineError) -> RequestFailure {
        RequestFailure::of_engine(error, self.unkept.is_empty())
    }
}
