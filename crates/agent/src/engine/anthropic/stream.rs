//! Turns the events of one answer into its pieces. Uses no clock and no network.
//!
//! Unknown events, blocks and deltas are ignored, so that later additions to the API do not end an
//! answer.

use std::sync::Arc;

use callgate_wire::session::TokenUsage;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{
    BlockContent, BlockDelta, BlockStart, BlockStop, MessageDelta, MessageStart, TaggedEvent,
    UnknownDelta, update_usage,
};
use crate::engine::model_api::{ErrorComposer, EventDecoder, tool_input};
use crate::engine::{AnswerPiece, EngineError, ModelStop};

/// How many blocks may be open at once.
const MOST_OPEN: usize = 64;

#[derive(Debug)]
pub(super) struct PieceDecoder {
    errors: Arc<ErrorComposer>,
    /// The open blocks, each with its index.
    open: Vec<(u64, OpenBlock)>,
    usage: TokenUsage,
    stop: Option<ModelStop>,
    has_tools: bool,
    is_whole: bool,
    streams_tool_input: bool,
    events: u64,
}

#[derive(Debug)]
enum OpenBlock {
    Text,
    Thinking {
        signature: String,
    },
    Tool {
        id: String,
        name: String,
        /// The input at the beginning of the block; it is used if no piece follows.
        first: Option<Box<RawValue>>,
        input: String,
    },
    Other,
}

impl PieceDecoder {
    pub(super) fn new(errors: Arc<ErrorComposer>, streams_tool_input: bool) -> Self {
        Self {
            errors,
            open: Vec::new(),
            usage: TokenUsage::default(),
            stop: None,
            has_tools: false,
            is_whole: false,
            streams_tool_input,
            events: 0,
        }
    }

    fn delta(&mut self, data: &str, into: &mut Vec<AnswerPiece>) -> Result<(), EngineError> {
        let BlockDelta { index, delta } = match serde_json::from_str(data) {
            Ok(delta) => delta,
            Err(error) => {
                self.unreadable_delta(data, &error)?;
                self.events += 1;
                return Ok(());
            }
        };
        self.events += u64::from(delta.is_something());
        // The newest counts, because a server may use an index again without ending the block.
        let open = self.open.iter_mut().rev().find(|(open, _)| *open == index);
        match (&*delta.kind, open.map(|(_, block)| block)) {
            // A text is understood without its beginning. A call is not, because its id and name
            // are there.
            ("text_delta", None | Some(OpenBlock::Text)) if !delta.text.is_empty() => {
                into.push(AnswerPiece::Text(delta.text.into_owned()));
            }
            ("thinking_delta", None | Some(OpenBlock::Thinking { .. }))
                if !delta.thinking.is_empty() =>
            {
                into.push(AnswerPiece::Thinking(delta.thinking.into_owned()));
            }
            ("input_json_delta", Some(OpenBlock::Tool { id, name, input, .. })) => {
                self.errors.append(input, &delta.partial_json)?;
                if self.streams_tool_input && !delta.partial_json.is_empty() {
                    let (id, name) = (id.clone(), name.clone());
                    let text = delta.partial_json.into_owned();
                    into.push(AnswerPiece::ToolInput { id, name, text });
                }
            }
            ("signature_delta", Some(OpenBlock::Thinking { signature })) => {
                self.errors.append(signature, &delta.signature)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Handles a delta that cannot be parsed, which is an error only for a known kind. A kind that
    /// the API adds later may have other types in members of the same name.
    fn unreadable_delta(&self, data: &str, error: &serde_json::Error) -> Result<(), EngineError> {
        const KNOWN: [&str; 4] =
            ["text_delta", "thinking_delta", "signature_delta", "input_json_delta"];
        match serde_json::from_str::<UnknownDelta<'_>>(data) {
            Ok(delta) if !KNOWN.contains(&&*delta.delta.kind) => Ok(()),
            _ => Err(self.errors.invalid_data(error)),
        }
    }

    fn block_start(&mut self, data: &str, into: &mut Vec<AnswerPiece>) -> Result<(), EngineError> {
        let BlockStart { index, content_block } = self.parse_json(data)?;
        let json = content_block.get();
        let block = match &*self.parse_json::<TaggedEvent<'_>>(json)?.kind {
            "text" => {
                let BlockContent { text, .. } = self.parse_json(json)?;
                into.extend(Some(text).filter(|text| !text.is_empty()).map(AnswerPiece::Text));
                OpenBlock::Text
            }
            "thinking" => {
                let BlockContent { thinking, signature, .. } = self.parse_json(json)?;
                into.extend(
                    Some(thinking).filter(|text| !text.is_empty()).map(AnswerPiece::Thinking),
                );
                OpenBlock::Thinking { signature }
            }
            "redacted_thinking" => {
                let BlockContent { data, .. } = self.parse_json(json)?;
                into.extend(Some(data).filter(|data| !data.is_empty()).map(AnswerPiece::Redacted));
                OpenBlock::Other
            }
            "tool_use" => self.open_tool_block(json)?,
            _ => OpenBlock::Other,
        };
        if self.open.len() >= MOST_OPEN {
            return Err(self.errors.invalid_data("more blocks begin than end"));
        }
        self.open.push((index, block));
        Ok(())
    }

    fn open_tool_block(&mut self, json: &str) -> Result<OpenBlock, EngineError> {
        let BlockContent { id, name, input, .. } = self.parse_json(json)?;
        if id.is_empty() || name.is_empty() {
            // Such a call could be neither answered nor sent back.
            return Err(self.errors.invalid_data("a tool use without `id` or `name`"));
        }
        self.has_tools = true;
        Ok(OpenBlock::Tool { id, name, first: input.map(ToOwned::to_owned), input: String::new() })
    }

    fn block_stop(&mut self, data: &str, into: &mut Vec<AnswerPiece>) -> Result<(), EngineError> {
        let BlockStop { index } = self.parse_json(data)?;
        if let Some(at) = self.open.iter().rposition(|(open, _)| *open == index) {
            into.extend(self.open.remove(at).1.close());
        }
        Ok(())
    }

    fn message_start(
        &mut self,
        data: &str,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        let MessageStart { message } = self.parse_json(data)?;
        if update_usage(message.usage, &mut self.usage) {
            into.push(AnswerPiece::Usage(self.usage));
        }
        Ok(())
    }

    fn message_delta(
        &mut self,
        data: &str,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        let MessageDelta { delta, usage } = self.parse_json(data)?;
        if update_usage(usage, &mut self.usage) {
            into.push(AnswerPiece::Usage(self.usage));
        }
        if let Some(reason) = delta.stop_reason {
            self.stop = Some(model_stop(&reason));
        }
        Ok(())
    }

    fn message_stop(&mut self, into: &mut Vec<AnswerPiece>) {
        // A block that the server has not ended is complete now; a call would be lost with it.
        into.extend(self.open.drain(..).filter_map(|(_, block)| block.close()));
        // The reason may be missing.
        let usual = if self.has_tools { ModelStop::ToolUse } else { ModelStop::EndTurn };
        into.push(AnswerPiece::End(self.stop.take().unwrap_or(usual)));
        self.is_whole = true;
    }

    fn failure(&self, data: &str) -> EngineError {
        match self.parse_json::<&RawValue>(data) {
            Ok(failure) => self.errors.said_in_stream(failure),
            Err(error) => error,
        }
    }

    fn parse_json<'a, T: Deserialize<'a>>(&self, json: &'a str) -> Result<T, EngineError> {
        serde_json::from_str(json).map_err(|error| self.errors.invalid_data(error))
    }
}

impl EventDecoder for PieceDecoder {
    fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// An empty delta has no content.
    fn events(&self) -> u64 {
        self.events
    }

    fn decode_event(
        &mut self,
        name: &[u8],
        data: &str,
        into: &mut Vec<AnswerPiece>,
    ) -> Result<(), EngineError> {
        match name {
            _ if self.is_whole => return Ok(()),
            b"content_block_delta" => return self.delta(data, into),
            b"content_block_start" => self.block_start(data, into)?,
            b"content_block_stop" => self.block_stop(data, into)?,
            b"message_start" => self.message_start(data, into)?,
            b"message_delta" => self.message_delta(data, into)?,
            b"message_stop" => self.message_stop(into),
            b"error" => return Err(self.failure(data)),
            // Some servers leave out the name, which is also in the data.
            b"" | b"message" => {
                return match self.parse_json::<TaggedEvent<'_>>(data)?.kind.as_bytes() {
                    b"" | b"message" => Ok(()),
                    kind => self.decode_event(kind, data, into),
                };
            }
            _ => return Ok(()),
        }
        self.events += 1;
        Ok(())
    }
}

impl OpenBlock {
    /// Returns the piece that completes a block.
    fn close(self) -> Option<AnswerPiece> {
        match self {
            Self::Thinking { signature } if !signature.is_empty() => {
                Some(AnswerPiece::Signature(signature))
            }
            Self::Tool { id, name, first, input } => {
                let (input, fault) = tool_input(first, input);
                Some(AnswerPiece::ToolUse { id, name, input, fault })
            }
            _ => None,
        }
    }
}

fn model_stop(reason: &str) -> ModelStop {
    match reason {
        "end_turn" | "stop_sequence" => ModelStop::EndTurn,
        "tool_use" => ModelStop::ToolUse,
        "max_tokens" => ModelStop::MaxTokens,
        "refusal" => ModelStop::Refusal,
        "model_context_window_exceeded" => ModelStop::ContextWindow,
        _ => ModelStop::provider(reason),
    }
}

#[cfg(test)]
mod tests;
