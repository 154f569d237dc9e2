//! One answer of the CLI: its events as pieces.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use callgate_claude::{
    ClaudeAnswer, ClaudeError, ClaudeEvent, ClaudeOutcome, ClaudeStream, ClaudeUsage, Model,
    ModelRequest, PartialContent, Prompt, ToolTransport,
};
use callgate_link::sync::lock;
use callgate_wire::session::TokenUsage;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::{
    ClaudeCodeSettings, RanTools, RoundEnds, cli_failed, cli_failure, cli_files, prompt, tools,
};
use crate::BoxFuture;
use crate::engine::model_api::error_kind_of;
use crate::engine::{
    AnswerPiece, AnswerStream, EngineCall, EngineError, EngineErrorKind, ModelStop, NextPieces,
};
use crate::message::Block;
use crate::tool::CallOutcome;

/// How long the CLI may take to stop when it is interrupted. It is ended after that.
const OBEYS_WITHIN: Duration = Duration::from_secs(5);
/// How the CLI's words about an error of the model's service begin.
const API_ERROR: &str = "API Error";
/// How many tools may end before the runtime is notified of the first. Further hooks wait until
/// there is room.
const MOST_ENDS: usize = 64;

pub(super) struct ClaudeCodeAnswer {
    settings: Arc<ClaudeCodeSettings>,
    /// The call, until the CLI is started.
    call: Option<EngineCall>,
    stream: Option<ClaudeStream>,
    events: EventReader,
    rounds: mpsc::Receiver<oneshot::Sender<()>>,
    /// For the hooks, until the CLI is started.
    round_ends: Option<RoundEnds>,
    /// The hooks that wait for what the user has said meanwhile.
    pausing: Vec<oneshot::Sender<()>>,
}

/// Turns the events of the CLI into pieces.
#[derive(Default)]
struct EventReader {
    ran: RanTools,
    /// Whether pieces of the next whole text, or thought, were sent before it.
    has_text: bool,
    has_thought: bool,
    streams_input: bool,
    /// The id and the name of the call whose input is being written.
    writing: Option<(String, String)>,
    /// The names and inputs of the CLI's own calls without results, by id.
    calls: HashMap<String, (String, Value)>,
    /// The tokens of the responses before the latest.
    earlier: TokenUsage,
    latest: TokenUsage,
    resumed: Option<ResumedSession>,
    /// What the answer has cost in dollars, if that is known.
    cost: Option<f64>,
    /// The session and why the model stopped, once the CLI has given its result.
    end: Option<(ResumedSession, ModelStop)>,
}

/// A session of the CLI, as the history keeps it between two answers.
#[derive(Debug, PartialEq)]
struct ResumedSession {
    id: String,
    /// What it had cost in dollars. The CLI counts from the beginning of a session.
    cost: Option<f64>,
}

impl ResumedSession {
    fn from_state(state: &str) -> Self {
        match state.split_once(' ') {
            Some((id, cost)) => Self { id: id.to_owned(), cost: cost.parse().ok() },
            None => Self { id: state.to_owned(), cost: None },
        }
    }

    fn to_state(&self) -> String {
        self.cost.map_or_else(|| self.id.clone(), |cost| format!("{} {cost}", self.id))
    }
}

impl ClaudeCodeAnswer {
    pub(super) fn new(settings: Arc<ClaudeCodeSettings>, call: EngineCall) -> Self {
        let (round_ends, rounds) = mpsc::channel(MOST_ENDS);
        let events = EventReader {
            streams_input: call.streams_tool_input,
            resumed: call.engine_state.as_deref().map(ResumedSession::from_state),
            ..EventReader::default()
        };
        let (call, round_ends) = (Some(call), Some(round_ends));
        Self { settings, call, stream: None, events, rounds, round_ends, pausing: Vec::new() }
    }

    fn start(&mut self, call: EngineCall) -> Result<ClaudeStream, ClaudeError> {
        let settings = self.settings.for_call(&call).append_system_prompt(&*call.system);
        let mut request = ModelRequest::new(prompt::from_call(&call));
        if let Some(session) = &self.events.resumed {
            request = request.resume(&session.id);
        }
        let (Some(runner), Some(round_ends)) = (call.runner, self.round_ends.take()) else {
            // Without the runtime there are no permissions, and the answer is always no.
            return Model::with_settings(settings).stream(request);
        };
        let settings =
            tools::with_pauses(tools::with_gate(settings, &runner, &self.events.ran), &round_ends);
        let mut model = Model::with_settings(settings);
        let host = tools::build_host(&call.tools, &runner, &self.events.ran)?;
        model.set_tools(host, ToolTransport::Sdk);
        model.stream(request)
    }

    async fn read_events(&mut self, into: &mut Vec<AnswerPiece>) -> Result<bool, EngineError> {
        if let Some(call) = self.call.take() {
            let started = self.start(call).map_err(|error| cli_failed(&error));
            self.stream = Some(started?);
        }
        while let Some(stream) = &mut self.stream {
            let had = into.len();
            tokio::select! {
                biased;
                // First: the CLI waits until its hook is answered.
                Some(pausing) = self.rounds.recv() => {
                    self.pausing.push(pausing);
                    into.push(AnswerPiece::RoundEnd);
                }
                event = stream.next() => match event {
                    Some(Ok(event)) => self.events.handle_event(event, into)?,
                    // It has saved its session and has ended. An error after its answer changes
                    // nothing.
                    _ if self.events.end.is_some() => {
                        self.stream = None;
                        into.extend(self.events.end.take().into_iter().flat_map(
                            |(session, stop)| {
                                [AnswerPiece::EngineState(session.to_state()), AnswerPiece::End(stop)]
                            },
                        ));
                    }
                    Some(Err(error)) => return Err(cli_failed(&error)),
                    None => {
                        return Err(EngineError::refused("the Claude Code CLI ended without an answer"));
                    }
                },
            }
            if into.len() > had {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Interrupts the CLI and reads to the end of its answer.
    async fn stop(&mut self, into: &mut Vec<AnswerPiece>) {
        let Some(stream) = &mut self.stream else { return };
        stream.interrupt();
        let rest = async {
            loop {
                // A hook that waits would keep the CLI from stopping.
                self.pausing.clear();
                // An error ends the loop as well: the turn is over, and the caller drops the
                // answer.
                if !self.read_events(into).await.unwrap_or(false) {
                    return;
                }
            }
        };
        timeout(OBEYS_WITHIN, rest).await.ok();
    }
}

impl AnswerStream for ClaudeCodeAnswer {
    fn next<'a>(&'a mut self, into: &'a mut Vec<AnswerPiece>) -> NextPieces<'a> {
        Box::pin(self.read_events(into))
    }

    fn interrupt<'a>(&'a mut self, into: &'a mut Vec<AnswerPiece>) -> BoxFuture<'a, ()> {
        Box::pin(self.stop(into))
    }

    fn steer(&mut self, said: &[Block]) {
        if let Some(stream) = self.stream.as_mut().filter(|_| !said.is_empty()) {
            // It is written before the hooks are answered, so the CLI has it before it goes on.
            stream.add_prompt(prompt::add_content(Prompt::default(), said));
        }
        self.pausing.clear();
    }
}

impl EventReader {
    fn handle_event(
        &mut self,
        event: ClaudeEvent,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        match event {
            ClaudeEvent::Partial(PartialContent::Text(text)) if !text.is_empty() => {
                self.has_text = true;
                into.push(AnswerPiece::Text(text));
            }
            ClaudeEvent::Partial(PartialContent::Thinking(text)) if !text.is_empty() => {
                self.has_thought = true;
                into.push(AnswerPiece::Thinking(text));
            }
            ClaudeEvent::Partial(PartialContent::ToolCall { id, name }) => {
                let name = tools::own_name(&name).unwrap_or(&name).to_owned();
                self.writing = Some((id, name)).filter(|_| self.streams_input);
            }
            ClaudeEvent::Partial(PartialContent::Input(text)) if !text.is_empty() => {
                let piece = |(id, name)| AnswerPiece::ToolInput { id, name, text };
                into.extend(self.writing.clone().map(piece));
            }
            ClaudeEvent::Partial(PartialContent::Tokens { usage, is_first }) => {
                self.count(usage, is_first);
                into.push(AnswerPiece::LatestResponse(self.latest));
                into.push(AnswerPiece::Usage(self.earlier + self.latest));
            }
            ClaudeEvent::Text(text) => {
                // The whole text repeats the streamed pieces, and is shown only if there were none.
                let is_new = !std::mem::take(&mut self.has_text) && !text.is_empty();
                into.extend(is_new.then_some(AnswerPiece::Text(text)));
            }
            ClaudeEvent::Thinking(text) => {
                let is_new = !std::mem::take(&mut self.has_thought) && !text.is_empty();
                into.extend(is_new.then_some(AnswerPiece::Thinking(text)));
            }
            ClaudeEvent::ToolUse(call) => {
                let name = tools::own_name(&call.name).unwrap_or(&call.name).to_owned();
                let input = serde_json::from_str(call.input.get()).unwrap_or_default();
                self.calls.insert(call.id.clone(), (name.clone(), input));
                into.push(AnswerPiece::OwnCall { id: call.id, name, input: call.input });
            }
            ClaudeEvent::ToolResult(result) => {
                // The outcome of a tool of the runtime, or of a call that was denied, is known here
                // as it was; the CLI may have changed its text.
                let ran = lock(&self.ran).remove(&result.id);
                let (name, input) = self.calls.remove(&result.id).unwrap_or_default();
                let outcome = ran.unwrap_or_else(|| match (result.text(), result.is_error) {
                    (text, true) => cli_failure::failed_call(&name, &input, text),
                    (text, false) => {
                        let details = result.details.as_deref();
                        let shown = cli_files::result_for_front(&name, &input, &text, details);
                        CallOutcome::done(&shown, text)
                    }
                });
                into.push(AnswerPiece::OwnResult { id: result.id, outcome });
            }
            // Of a subagent's work only the tools are shown, because people are asked about them.
            ClaudeEvent::Subagent { event, .. }
                if matches!(*event, ClaudeEvent::ToolUse(_) | ClaudeEvent::ToolResult(_)) =>
            {
                self.handle_event(*event, into)?;
            }
            ClaudeEvent::Finished(answer) => self.finish(answer, into)?,
            ClaudeEvent::FinishedLater(later) => self.pay_later(&later, into),
            _ => {}
        }
        Ok(())
    }

    /// Counts the tokens of a response as far as they are known.
    fn count(&mut self, usage: ClaudeUsage, is_first: bool) {
        let mut usage = token_usage(usage);
        if is_first {
            self.earlier = self.earlier + self.latest;
        // Later reports about a response tell its output alone.
        } else if usage.all_input() == 0 {
            usage = TokenUsage { output: usage.output, ..self.latest };
        }
        self.latest = usage;
    }

    fn finish(
        &mut self,
        answer: ClaudeAnswer,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        self.cost = self.cost_of(&answer);
        into.extend(self.cost.map(AnswerPiece::Cost));
        // The total of the CLI takes the place of what was counted, so `latest` is not added again.
        self.earlier = token_usage(answer.usage);
        into.push(AnswerPiece::Usage(self.earlier));
        let stop = match answer.outcome {
            ClaudeOutcome::Success => match answer.stop_reason.as_deref() {
                Some("refusal") => ModelStop::Refusal,
                Some("max_tokens") => ModelStop::MaxTokens,
                _ => ModelStop::EndTurn,
            },
            // A person has ended the turn instead of answering a question.
            ClaudeOutcome::Interrupted => ModelStop::provider("cancelled"),
            ClaudeOutcome::ServiceError => return Err(service_failed(&answer)),
            outcome => {
                return Err(EngineError::refused(format!(
                    "Claude Code: {outcome}: {}",
                    answer.text
                )));
            }
        };
        let session = ResumedSession { id: answer.session_id, cost: answer.cost_usd };
        self.end = Some((session, stop));
        Ok(())
    }

    /// Returns the cost of the answer. The CLI counts from the beginning of its session, and newer
    /// versions also what each answer costs.
    fn cost_of(&self, answer: &ClaudeAnswer) -> Option<f64> {
        let before = self.resumed.as_ref().map_or(Some(0.0), |session| session.cost);
        let since = |(total, before): (f64, f64)| {
            // A CLI that was killed has not saved what its session had cost, so its total may be
            // lower than it was before.
            if total >= before { total - before } else { total }
        };
        answer.call_cost_usd.or_else(|| answer.cost_usd.zip(before).map(since))
    }

    /// Adds what the CLI has done after its answer, while it ended.
    fn pay_later(&mut self, later: &ClaudeAnswer, into: &mut Vec<AnswerPiece>) {
        let Some((session, _)) = &mut self.end else { return };
        let since = later.cost_usd.zip(session.cost).map(|(total, before)| total - before);
        session.cost = later.cost_usd.or(session.cost);
        self.cost = self.cost.zip(later.call_cost_usd.or(since)).map(|(cost, more)| cost + more);
        into.extend(self.cost.map(AnswerPiece::Cost));
        into.push(AnswerPiece::Usage(self.earlier + token_usage(later.usage)));
    }
}

/// Returns the error for a model's service that has failed. The CLI has tried several times.
fn service_failed(answer: &ClaudeAnswer) -> EngineError {
    let kind = match answer.service_status {
        Some(status) => error_kind_of(status, &answer.text),
        // The CLI writes this about connections too, and other words about what the user has to
        // change.
        None if answer.text.starts_with(API_ERROR) => EngineErrorKind::Network,
        None => EngineErrorKind::Refused,
    };
    let text = format!("Claude Code: {}: {}", answer.outcome, answer.text);
    EngineError { kind, status: answer.service_status, retry_after: None, text }
}

fn token_usage(usage: ClaudeUsage) -> TokenUsage {
    TokenUsage {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cache_read: usage.cache_read_input_tokens,
        cache_write: usage.cache_creation_input_tokens,
    }
}

#[cfg(test)]
mod tests;
