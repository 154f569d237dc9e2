//! Turns the chunks of one answer into its pieces. Uses no clock and no network.
//!
//! Compatible servers take liberties: tool calls without an index or an id, arguments at once or in
//! pieces, no usage, no end mark. Whatever can be understood is accepted.

use std::sync::Arc;

use callgate_wire::session::TokenUsage;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::chunk::{
    CallPiece, ChatChunk, ChunkChoice, ChunkDelta, normalize_chunk, reported_usage,
};
use super::thought_tags::ThoughtTags;
use crate::engine::model_api::{ErrorComposer, EventDecoder, tool_input};
use crate::engine::{AnswerPiece, EngineError, ModelStop};
use crate::tool::is_name_character;

/// The end of an answer.
const DONE: &str = "[DONE]";
/// The bytes of a token, for answers of which the server does not report the usage.
const BYTES_PER_TOKEN: u64 = 4;
/// The longest id of a tool call that is used.
const LONGEST_ID: usize = 64;
/// The most tool calls of one answer that are put together.
const MOST_CALLS: usize = 1024;

#[derive(Debug)]
pub(super) struct ChunkDecoder {
    errors: Arc<ErrorComposer>,
    calls: Vec<StreamedCall>,
    /// The usage as the server reports it.
    told: Option<TokenUsage>,
    /// The estimated tokens of the request.
    asked: u64,
    streams_tool_input: bool,
    thoughts: ThoughtTags,
    bytes: u64,
    stop: Option<ModelStop>,
    is_whole: bool,
    events: u64,
}

#[derive(Debug)]
struct StreamedCall {
    index: Option<u64>,
    /// The id that the server sent.
    told_id: String,
    id: String,
    name: String,
    arguments: String,
}

impl ChunkDecoder {
    /// Creates a decoder for the answer to a request of about `asked` tokens.
    pub(super) fn new(errors: Arc<ErrorComposer>, asked: u64, streams_tool_input: bool) -> Self {
        Self {
            errors,
            calls: Vec::new(),
            told: None,
            asked,
            streams_tool_input,
            thoughts: ThoughtTags::default(),
            bytes: 0,
            stop: None,
            is_whole: false,
            events: 0,
        }
    }

    fn chunk(&mut self, data: &str, into: &mut Vec<AnswerPiece>) -> Result<(), EngineError> {
        let plain;
        let chunk: ChatChunk<'_> = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(error) => {
                // Only if it cannot be read otherwise, because this takes a tree of the whole
                // chunk.
                plain = normalize_chunk(data).ok_or_else(|| self.errors.invalid_data(&error))?;
                serde_json::from_str(&plain).map_err(|_| self.errors.invalid_data(error))?
            }
        };
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(self.errors.said_in_stream(error));
        }
        if let Some(told) = chunk.usage.and_then(reported_usage) {
            self.told = Some(told);
            into.push(AnswerPiece::Usage(told));
        }
        for ChunkChoice { index, delta, finish_reason } in chunk.choices {
            // Only one answer was asked for.
            if index > 0 {
                continue;
            }
            self.delta(delta.unwrap_or_default(), into)?;
            let reason = finish_reason.filter(|reason| !reason.is_empty());
            // Kept over later chunks without a reason, such as the one with the usage.
            self.stop = reason.map(|reason| model_stop(&reason)).or(self.stop.take());
        }
        Ok(())
    }

    fn delta(
        &mut self,
        delta: ChunkDelta<'_>,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        let had = into.len();
        let thought = delta.reasoning_content.or(delta.reasoning);
        let told = |text: &std::borrow::Cow<'_, str>| !text.is_empty();
        into.extend(thought.filter(told).map(|text| AnswerPiece::Thinking(text.into_owned())));
        let mut is_text = false;
        for text in [delta.content, delta.refusal].into_iter().flatten().filter(told) {
            self.thoughts.push(&text, into);
            is_text = true;
        }
        // Of texts and thoughts only: calls are counted where they are put together.
        self.count_bytes(&into[had..]);
        let calls = delta.tool_calls.unwrap_or_default();
        self.events += u64::from(into.len() > had || is_text || !calls.is_empty());
        calls.iter().try_for_each(|piece| self.add_call_piece(piece, into))
    }

    fn count_bytes(&mut self, pieces: &[AnswerPiece]) {
        for piece in pieces {
            if let AnswerPiece::Thinking(text) | AnswerPiece::Text(text) = piece {
                self.bytes += text.len() as u64;
            }
        }
    }

    fn add_call_piece(
        &mut self,
        piece: &CallPiece<'_>,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        let id = piece.id.as_deref().unwrap_or_default();
        let function = piece.function.as_ref();
        let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
        let at = match self.find_call(piece.index, id, name) {
            Some(at) => at,
            None if self.calls.len() >= MOST_CALLS => {
                return Err(self.errors.invalid_data("too many tool calls"));
            }
            None => {
                let (index, arguments) = (piece.index, String::new());
                let (told_id, name) = (id.to_owned(), name.to_owned());
                let id = usable_id(told_id.clone());
                self.calls.push(StreamedCall { index, told_id, id, name, arguments });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        if let Some(function) = function {
            let arguments = function.arguments();
            self.bytes += arguments.len() as u64;
            self.errors.append(&mut call.arguments, &arguments)?;
            if self.streams_tool_input && !arguments.is_empty() {
                let (id, name) = (call.id.clone(), call.name.clone());
                let text = arguments.into_owned();
                into.push(AnswerPiece::ToolInput { id, name, text });
            }
        }
        Ok(())
    }

    /// Returns the call to which a piece belongs; `None` if it begins another.
    fn find_call(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index)?,
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1)?,
            None => return self.calls.iter().position(|call| !id.is_empty() && call.told_id == id),
        };
        // Some servers give the same index to all calls.
        let is_other = !id.is_empty() && !name.is_empty() && self.calls[at].told_id != id;
        (!is_other).then_some(at)
    }

    /// Ends the answer: all calls are complete, and so is the usage.
    fn end(&mut self, into: &mut Vec<AnswerPiece>) -> Result<(), EngineError> {
        let had = into.len();
        self.thoughts.finish(into);
        self.count_bytes(&into[had..]);
        let usual = if self.calls.is_empty() { ModelStop::EndTurn } else { ModelStop::ToolUse };
        for StreamedCall { id, name, arguments, .. } in self.calls.drain(..) {
            if name.is_empty() {
                return Err(self.errors.invalid_data("a tool call without a name"));
            }
            self.bytes += name.len() as u64;
            let (input, fault) = tool_input(None, arguments);
            into.push(AnswerPiece::ToolUse { id, name, input, fault });
        }
        if self.told.is_none() {
            let output = self.bytes.div_ceil(BYTES_PER_TOKEN);
            let usage = TokenUsage { input: self.asked, output, ..TokenUsage::default() };
            into.push(AnswerPiece::Usage(usage));
        }
        into.push(AnswerPiece::End(self.stop.take().unwrap_or(usual)));
        self.is_whole = true;
        Ok(())
    }
}

impl EventDecoder for ChunkDecoder {
    fn decode_event(
        &mut self,
        name: &[u8],
        data: &str,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        let data = data.trim_ascii();
        match (name, data) {
            _ if self.is_whole || data.is_empty() => Ok(()),
            (_, DONE) => self.end(into),
            (b"error", _) => match serde_json::from_str::<&RawValue>(data) {
                Ok(error) => Err(self.errors.said_in_stream(error)),
                Err(error) => Err(self.errors.invalid_data(error)),
            },
            _ => self.chunk(data, into),
        }
    }

    /// The end mark may be missing, but not the reason why the answer ended.
    fn finish(&mut self, into: &mut Vec<AnswerPiece>) -> Result<bool, EngineError> {
        if self.stop.is_some() && !self.is_whole {
            self.end(into)?;
        }
        Ok(self.is_whole)
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn has_stopped(&self) -> bool {
        self.is_whole || self.stop.is_some()
    }

    fn events(&self) -> u64 {
        self.events
    }
}

/// Returns the id, or another one if other providers would refuse it in a later request. The
/// conversation may be continued with another provider.
fn usable_id(id: String) -> String {
    if (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(is_name_character) {
        return id;
    }
    format!("call_{}", Uuid::new_v4().simple())
}

fn model_stop(reason: &str) -> ModelStop {
    match reason {
        "stop" | "end_turn" | "stop_sequence" | "eos" | "eos_token" => ModelStop::EndTurn,
        "tool_calls" | "function_call" | "tool_use" => ModelStop::ToolUse,
        "length" | "max_tokens" | "model_length" => ModelStop::MaxTokens,
        "content_filter" | "refusal" | "safety" => ModelStop::Refusal,
        reason => ModelStop::provider(reason),
    }
}

#[cfg(test)]
mod tests;
