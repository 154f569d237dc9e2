//! One answer of the CLI: its events as pieces.

use std::sync::Arc;

use callgate_claude::{
    ClaudeAnswer, ClaudeError, ClaudeEvent, ClaudeOutcome, ClaudeStream, Model, ModelRequest,
    PartialContent, ToolTransport,
};
use callgate_link::sync::lock;
use callgate_wire::session::TokenUsage;
use serde_json::json;

use super::{ClaudeCodeSettings, RanTools, failed, prompt, tools};
use crate::BoxFuture;
use crate::engine::{AnswerPiece, AnswerStream, EngineCall, EngineError, ModelStop};
use crate::tool::CallOutcome;

/// An answer in progress.
pub(super) struct ClaudeCodeAnswer {
    settings: Arc<ClaudeCodeSettings>,
    /// The call, until the CLI is started.
    call: Option<EngineCall>,
    stream: Option<ClaudeStream>,
    events: EventReader,
}

/// Turns the events of the CLI into pieces.
#[derive(Default)]
struct EventReader {
    ran: RanTools,
    /// Whether pieces of the next whole text, or thought, were sent before it.
    has_text: bool,
    has_thought: bool,
    is_over: bool,
}

impl ClaudeCodeAnswer {
    pub(super) fn new(settings: Arc<ClaudeCodeSettings>, call: EngineCall) -> Self {
        Self { settings, call: Some(call), stream: None, events: EventReader::default() }
    }

    /// Starts the CLI.
    fn start(&self, call: EngineCall) -> Result<ClaudeStream, ClaudeError> {
        let settings = self.settings.for_call(&call).append_system_prompt(&*call.system);
        let mut request = ModelRequest::new(prompt::of(&call));
        if let Some(session) = &call.engine_state {
            request = request.resume(session);
        }
        let Some(runner) = call.runner else {
            // Without the runtime there are no permissions, and the answer is always no.
            return Model::with(settings).stream(request);
        };
        let mut model = Model::with(tools::gated(settings, &runner));
        let host = tools::host(&call.tools, &runner, &self.events.ran)?;
        model.set_tools(host, ToolTransport::Sdk);
        model.stream(request)
    }

    async fn read(&mut self, into: &mut Vec<AnswerPiece>) -> Result<bool, EngineError> {
        if let Some(call) = self.call.take() {
            let started = self.start(call).map_err(|error| failed(error.to_string()));
            self.stream = Some(started?);
        }
        while !self.events.is_over {
            let Some(stream) = &mut self.stream else { return Ok(false) };
            match stream.next().await {
                Some(Ok(event)) => {
                    let had = into.len();
                    self.events.take(event, into)?;
                    if into.len() > had {
                        return Ok(true);
                    }
                }
                Some(Err(error)) => return Err(failed(error.to_string())),
                None => return Err(failed("the Claude Code CLI ended without an answer".into())),
            }
        }
        // What the CLI started ends with it.
        self.stream = None;
        Ok(false)
    }
}

impl AnswerStream for ClaudeCodeAnswer {
    fn next<'a>(
        &'a mut self,
        into: &'a mut Vec<AnswerPiece>,
    ) -> BoxFuture<'a, Result<bool, EngineError>> {
        Box::pin(self.read(into))
    }
}

impl EventReader {
    fn take(&mut self, event: ClaudeEvent, into: &mut Vec<AnswerPiece>) -> Result<(), EngineError> {
        match event {
            ClaudeEvent::Partial(PartialContent::Text(text)) if !text.is_empty() => {
                self.has_text = true;
                into.push(AnswerPiece::Text(text));
            }
            ClaudeEvent::Partial(PartialContent::Thinking(text)) if !text.is_empty() => {
                self.has_thought = true;
                into.push(AnswerPiece::Thinking(text));
            }
            ClaudeEvent::Text(text) => {
                let is_new = !std::mem::take(&mut self.has_text) && !text.is_empty();
                into.extend(is_new.then_some(AnswerPiece::Text(text)));
            }
            ClaudeEvent::Thinking(text) => {
                let is_new = !std::mem::take(&mut self.has_thought) && !text.is_empty();
                into.extend(is_new.then_some(AnswerPiece::Thinking(text)));
            }
            ClaudeEvent::ToolUse(call) => {
                let name = tools::own_name(&call.name).unwrap_or(&call.name).to_owned();
                into.push(AnswerPiece::OwnCall { id: call.id, name, input: call.input });
            }
            ClaudeEvent::ToolResult(result) => {
                // What a tool of the runtime gave is known better than what the CLI made of it.
                let ran = lock(&self.ran).remove(&result.id);
                let outcome = ran.unwrap_or_else(|| match (result.text(), result.is_error) {
                    (text, true) => CallOutcome::failed(text),
                    (text, false) => CallOutcome::done(&json!({ "content": text }), text),
                });
                into.push(AnswerPiece::OwnResult { id: result.id, outcome });
            }
            // Of what a subagent does, the tools are shown, because people are asked about them.
            ClaudeEvent::Subagent { event, .. }
                if matches!(*event, ClaudeEvent::ToolUse(_) | ClaudeEvent::ToolResult(_)) =>
            {
                self.take(*event, into)?;
            }
            ClaudeEvent::Finished(answer) => self.finish(answer, into)?,
            _ => {}
        }
        Ok(())
    }

    fn finish(
        &mut self,
        answer: ClaudeAnswer,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        let usage = answer.usage;
        into.push(AnswerPiece::Usage(TokenUsage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
        }));
        let stop = match answer.outcome {
            ClaudeOutcome::Success => match answer.stop_reason.as_deref() {
                Some("refusal") => ModelStop::Refusal,
                Some("max_tokens") => ModelStop::MaxTokens,
                _ => ModelStop::EndTurn,
            },
            // A person has ended the turn instead of answering a question.
            ClaudeOutcome::Interrupted => ModelStop::provider("cancelled"),
            outcome => return Err(failed(format!("Claude Code: {outcome}: {}", answer.text))),
        };
        self.is_over = true;
        into.push(AnswerPiece::EngineState(answer.session_id));
        into.push(AnswerPiece::End(stop));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
