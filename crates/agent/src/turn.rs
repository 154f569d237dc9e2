//! One turn, from the user's message to the end of the answer: a pure state machine.
//!
//! It decides when to ask the model, which tools to run, what to tell the front end and what to
//! store; the caller does all that and reports the outcome. Whatever comes in, a turn has exactly
//! one end, every announced tool has its result before that, and what is stored can be sent to the
//! model again.

mod action;
mod attempts;
mod partial_answer;
mod round_calls;
mod stop;
#[cfg(test)]
mod tests;

use std::time::Duration;

use callgate_mask::call_card::call_deed;
use callgate_wire::session::{SessionEvent, ToolInput, ToolUse};
use serde_json::value::RawValue;

use crate::engine::{AnswerPiece, EngineError, EngineErrorKind, ModelStop};
use crate::failure::RequestFailure;
use crate::message::{Block, ChatMessage, StoredToolResult};
pub use action::{FinishedCall, ToolCall, TurnAction, TurnLimits};
use attempts::{in_words, left_out};
use partial_answer::{PartialAnswer, piece_size};
use round_calls::RoundCalls;
pub use stop::StopReason;

/// The most bytes of one answer, which is held in memory until it is whole.
const LONGEST_ANSWER: usize = 32 * 1024 * 1024;
/// The answer that is stored for a message that was stopped before any answer.
const STOPPED: &str = "[The user stopped this answer.]";

#[derive(Debug)]
pub struct Turn {
    bounds: TurnLimits,
    unkept: Vec<ChatMessage>,
    answer: PartialAnswer,
    calls: RoundCalls,
    /// What the user has said since the turn began, for the next message to the model.
    steering: Vec<Block>,
    rounds: u32,
    /// How often the model was asked in vain since its last whole answer, and how long it was
    /// waited for.
    tries: u32,
    waited: Duration,
    /// Whether the model was asked and its answer is not complete.
    asked: bool,
    /// How many parts of the answer were stored while it goes on.
    kept_parts: usize,
    /// Whether summarising was tried since the last whole answer.
    shortened: bool,
    over: bool,
}

impl Turn {
    /// Creates a turn that answers `user`. `is_read_only` tells whether several calls of a tool may
    /// run in parallel.
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
            steering: Vec::new(),
            rounds: 0,
            tries: 0,
            waited: Duration::ZERO,
            asked: false,
            kept_parts: 0,
            shortened: false,
            over: false,
        }
    }

    /// Returns the messages of the turn that are not stored yet.
    pub fn unkept(&self) -> &[ChatMessage] {
        &self.unkept
    }

    /// Removes the messages that are not stored yet, because the caller stores them.
    pub fn take_unkept(&mut self) -> Vec<ChatMessage> {
        std::mem::take(&mut self.unkept)
    }

    /// Returns the result of a call, for the model and for the front end, while it is not handed
    /// over to be stored.
    pub fn result(&self, id: &str) -> Option<(Block, Option<StoredToolResult>)> {
        self.calls.result(id)
    }

    pub fn start_turn(&mut self, todo: &mut Vec<TurnAction>) {
        if self.bounds.keeps_unanswered {
            self.keep_messages(true, todo);
        }
        self.ask_model(Duration::ZERO, todo);
    }

    pub fn handle_piece(&mut self, piece: AnswerPiece, todo: &mut Vec<TurnAction>) {
        // Pieces that were under way when the answer was dropped count no more.
        if self.over || !self.asked {
            return;
        }
        self.answer.size += piece_size(&piece);
        if self.answer.size > LONGEST_ANSWER {
            return self.give_up_answer(todo);
        }
        let is_content = matches!(
            piece,
            AnswerPiece::Text(_) | AnswerPiece::Thinking(_) | AnswerPiece::OwnCall { .. }
        );
        if is_content && self.calls.are_own_done() {
            // The engine has run calls of its own: what they did is stored before more is shown.
            self.keep_part(todo);
        }
        match piece {
            AnswerPiece::Text(text) => {
                self.answer.append_text(&text);
                todo.push(TurnAction::Tell(SessionEvent::Token(text)));
            }
            AnswerPiece::Thinking(thought) => {
                self.answer.append_thinking(&thought);
                todo.push(TurnAction::Tell(SessionEvent::Thinking(thought)));
            }
            AnswerPiece::Signature(signature) => self.answer.append_signature(&signature),
            AnswerPiece::Redacted(data) => {
                self.answer.append_block(Block::RedactedThinking { data });
            }
            AnswerPiece::ToolInput { id, name, text } => {
                let (tool_id, tool_name) = (self.calls.next_id(&id), name);
                let deed = self.answer.begins_input(&tool_id).then(|| call_deed(&tool_name));
                let piece = ToolInput { tool_id, tool_name, deed, text };
                todo.push(TurnAction::Tell(SessionEvent::ToolInput(piece)));
            }
            AnswerPiece::ToolRejected { tool, reason } => todo.push(left_out(&tool, &reason)),
            // The caller counts the usage, keeps the state of the engine, and steers it.
            AnswerPiece::Usage(_)
            | AnswerPiece::Cost(_)
            | AnswerPiece::LatestResponse(_)
            | AnswerPiece::EngineState(_)
            | AnswerPiece::RoundEnd => {}
            AnswerPiece::OwnCall { id, name, input } => {
                let id = self.calls.add_own(&id, name.clone(), input.clone());
                self.announce(id, name, input, todo);
            }
            AnswerPiece::OwnResult { id, outcome } => self.calls.finish_own(&id, outcome, todo),
            AnswerPiece::ToolUse { id, name, input, fault } => {
                let id = self.calls.add_call(&id, name.clone(), input.clone(), fault);
                self.announce(id, name, input, todo);
            }
            AnswerPiece::End(stop) => self.handle_answer_end(stop, todo),
        }
    }

    /// Adds a call to the answer and tells the front end of it.
    fn announce(
        &mut self,
        id: String,
        name: String,
        input: Box<RawValue>,
        todo: &mut Vec<TurnAction>,
    ) {
        let block = Block::ToolUse { id: id.clone(), name: name.clone(), input: input.clone() };
        self.answer.append_block(block);
        let call = ToolUse::new(id, name, input);
        todo.push(TurnAction::Tell(SessionEvent::ToolUse(call)));
    }

    pub fn handle_error(&mut self, error: EngineError, todo: &mut Vec<TurnAction>) {
        if self.over || !self.asked {
            return;
        }
        if error.kind == EngineErrorKind::TooLong && !self.shortened && self.is_unseen() {
            // Once only: if the summary is too long as well, asking again would go on for ever.
            self.shortened = true;
            self.answer = PartialAnswer::default();
            return todo.push(TurnAction::Shorten(self.failure(error)));
        }
        // Before the round is kept: after that it is not known whether the engine ran its calls
        // itself.
        let again = self.wait_before_retry(&error);
        self.keep_cut(todo);
        let Some(wait) = again else { return self.end(Err(self.failure(error)), todo) };
        let cause = error.text.trim_end_matches('.');
        let text = format!("{cause} (trying again in {})", in_words(wait));
        todo.push(TurnAction::Tell(SessionEvent::notice("retry", text)));
        // Not by `ask_model`: another attempt is no further round.
        todo.push(TurnAction::Ask(wait));
    }

    /// Handles the end of the answer's stream, which is a failure unless the answer was complete.
    pub fn handle_stream_end(&mut self, todo: &mut Vec<TurnAction>) {
        if self.asked {
            let text = "the model's answer was cut off";
            self.handle_error(EngineError::new(EngineErrorKind::Cut, text), todo);
        }
    }

    pub fn handle_call_end(&mut self, index: usize, ran: FinishedCall, todo: &mut Vec<TurnAction>) {
        // A call that was stopped has its result already.
        if self.over || !self.calls.is_running(index) {
            return;
        }
        self.calls.finish(index, ran.outcome, todo);
        if ran.interrupt {
            self.calls.close("not run: the user stopped the turn", todo);
            self.keep_round(todo);
            return self.end(Ok(StopReason::Cancelled), todo);
        }
        self.go_on(todo);
    }

    /// Returns true if the model is asked again as soon as this call has ended.
    pub fn ends_round(&self, index: usize) -> bool {
        !self.over && self.calls.are_done_but(index)
    }

    /// Adds a message of the user's, which the model reads with the results of this round.
    pub fn steer(&mut self, content: Vec<Block>) {
        self.steering.extend(content);
    }

    pub fn cancel(&mut self, todo: &mut Vec<TurnAction>) {
        if !self.over {
            self.end_running("stopped by the user", todo);
            self.end(Ok(StopReason::Cancelled), todo);
        }
    }

    /// Ends the turn for an outside reason. The part of the answer that was shown is stored.
    pub fn abandon(&mut self, failure: RequestFailure, todo: &mut Vec<TurnAction>) {
        if self.over {
            return;
        }
        if self.calls.is_empty() && self.answer.has_nothing_to_continue() {
            todo.push(TurnAction::Drop);
        } else {
            self.mark_cut();
            self.end_running(&format!("stopped: {}", failure.text), todo);
        }
        self.end(Err(failure), todo);
    }

    /// Ends the turn because its messages could not be stored. Nothing more is.
    pub fn end_unstored(&mut self, failure: RequestFailure, todo: &mut Vec<TurnAction>) {
        // What was to be done rests on messages that no record has: no call may start any more.
        todo.clear();
        todo.push(TurnAction::Drop);
        todo.push(TurnAction::Stop(self.calls.running()));
        self.calls.close(&format!("stopped: {}", failure.text), todo);
        self.end(Err(failure), todo);
    }

    /// Ends what is under way, so that complete messages are stored.
    fn end_running(&mut self, reason: &str, todo: &mut Vec<TurnAction>) {
        todo.push(TurnAction::Drop);
        if self.calls.is_empty() {
            if self.answer.has_nothing_to_continue() {
                // The turn that was to be replaced stays, because nothing takes its place.
                if self.rounds <= 1 && !self.bounds.keeps_unanswered {
                    return;
                }
                self.answer.append_text(STOPPED);
            }
            return self.keep_round(todo);
        }
        todo.push(TurnAction::Stop(self.calls.running()));
        self.calls.close(reason, todo);
        self.keep_round(todo);
    }

    fn handle_answer_end(&mut self, stop: ModelStop, todo: &mut Vec<TurnAction>) {
        self.asked = false;
        (self.tries, self.waited, self.shortened) = (0, Duration::ZERO, false);
        if self.calls.is_empty() || self.calls.are_own() {
            self.calls.close("it has no result: the answer ended before", todo);
            self.keep_round(todo);
            return self.end(Ok(stop.into()), todo);
        }
        let refused = match stop {
            ModelStop::Refusal | ModelStop::ContextWindow => {
                Some((stop.into(), "the model has stopped"))
            }
            _ if self.rounds >= self.bounds.most_rounds => {
                Some((StopReason::MaxTurnRequests, "the turn has had all of its rounds"))
            }
            // Calls run whatever else the reason is: some servers say `stop` beside them.
            _ => None,
        };
        match refused {
            Some((stop, reason)) => {
                self.calls.close(&format!("not run: {reason}"), todo);
                self.keep_round(todo);
                self.end(Ok(stop), todo);
            }
            None => self.go_on(todo),
        }
    }

    /// Starts the calls that can start. When all have ended, the model is asked again.
    fn go_on(&mut self, todo: &mut Vec<TurnAction>) {
        self.calls.start(todo);
        if self.calls.are_done() {
            self.keep_round(todo);
            self.ask_model(Duration::ZERO, todo);
        }
    }

    fn ask_model(&mut self, wait: Duration, todo: &mut Vec<TurnAction>) {
        (self.rounds, self.asked) = (self.rounds + 1, true);
        todo.push(TurnAction::Ask(wait));
    }

    /// Hands a part of the answer over to be stored, while the answer goes on.
    fn keep_part(&mut self, todo: &mut Vec<TurnAction>) {
        self.kept_parts += 1;
        self.keep_messages(true, todo);
    }

    /// Hands the answer and the results of its tools over to be stored.
    fn keep_round(&mut self, todo: &mut Vec<TurnAction>) {
        self.keep_messages(false, todo);
    }

    fn keep_messages(&mut self, is_part: bool, todo: &mut Vec<TurnAction>) {
        let content = std::mem::take(&mut self.answer).finish();
        if !content.is_empty() {
            self.unkept.push(ChatMessage::assistant(content));
        }
        let (mut told, results) = self.calls.take_results();
        if !told.is_empty() {
            // Behind the results: the API refuses a message in which anything precedes them.
            told.append(&mut self.steering);
            self.unkept.push(ChatMessage::user(told));
        }
        let messages = std::mem::take(&mut self.unkept);
        todo.push(TurnAction::Keep { messages, results, is_part });
    }

    fn end(&mut self, end: Result<StopReason, RequestFailure>, todo: &mut Vec<TurnAction>) {
        self.over = true;
        todo.push(TurnAction::End(end));
    }

    /// Gives up an answer that is too long. Nothing of it is stored.
    fn give_up_answer(&mut self, todo: &mut Vec<TurnAction>) {
        let text = format!(
            "the model's answer has more than {LONGEST_ANSWER} bytes, so it was given up: ask for \
             less at a time"
        );
        todo.push(TurnAction::Drop);
        self.calls.close("not run: the answer was given up", todo);
        self.end(Err(RequestFailure::permanent("too_long", text)), todo);
    }

    /// Hands over the shown part of an answer that was cut off to be stored. If the model is asked
    /// again, it goes on from there.
    fn keep_cut(&mut self, todo: &mut Vec<TurnAction>) {
        if self.answer.is_unseen() && self.calls.is_empty() {
            return;
        }
        self.calls.close("not run: the answer was cut off", todo);
        self.mark_cut();
        self.keep_round(todo);
    }

    /// Marks the end of an answer that was cut off, unless the results of its calls say so.
    fn mark_cut(&mut self) {
        if self.calls.is_empty() {
            self.answer.append_block(Block::Interrupted);
        }
    }

    fn is_unseen(&self) -> bool {
        self.answer.is_unseen() && self.calls.is_empty() && self.kept_parts == 0
    }

    /// Converts an error of the engine. What was handed over before stays stored.
    fn failure(&self, error: EngineError) -> RequestFailure {
        RequestFailure::of_engine(error, self.rounds > 1 || self.kept_parts > 0)
    }
}
