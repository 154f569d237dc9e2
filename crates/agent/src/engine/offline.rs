//! The engine `offline`, a demonstration without a model or a network: it understands eight fixed
//! forms of message and uses the real tools, so that everything around a model can be tried on a
//! machine where nothing is set up.
//!
//! The same conversation always gets the same answer.

mod form;

use std::collections::VecDeque;
use std::sync::Arc;

use callgate_wire::session::{ModelListing, TokenUsage};

use crate::BoxFuture;
use crate::engine::{
    AnswerPiece, AnswerStream, Engine, EngineCall, EngineError, ModelStop, NextPieces,
};
use crate::message::message_list::MessageList;
use crate::message::{Block, Role};
use crate::tool::raw_json;
use form::ToolRequest;

/// The model name reported when no model is configured.
pub const MODEL: &str = "offline";
/// How many words a streamed piece of text has.
const WORDS: usize = 4;
const MOST_BYTES: usize = 4000;
/// The prefix of the ids of tool uses.
const ID: &str = "offline_";
/// The introduction in the first answer of a conversation.
const INTRODUCTION: &str = "I am callgate's offline engine, not a model: I understand a few fixed \
    forms of message and use the real tools. To talk to a model, set `ANTHROPIC_API_KEY` and \
    start again.";

#[derive(Debug, Clone, Copy, Default)]
pub struct Offline;

impl Engine for Offline {
    fn name(&self) -> &'static str {
        "offline"
    }

    fn default_model(&self) -> BoxFuture<'_, Result<Arc<str>, EngineError>> {
        Box::pin(async { Ok(MODEL.into()) })
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelListing>, EngineError>> {
        let title = Some("A demonstration without a model".to_owned());
        let model = ModelListing { id: MODEL.to_owned(), title, context_window: None };
        Box::pin(async { Ok(vec![model]) })
    }

    fn can_summarise(&self) -> bool {
        false
    }

    fn is_free(&self) -> bool {
        true
    }

    fn answer(&self, call: EngineCall) -> Box<dyn AnswerStream> {
        Box::new(PieceQueue(build_answer(&call).into()))
    }
}

struct PieceQueue(VecDeque<AnswerPiece>);

impl AnswerStream for PieceQueue {
    fn next<'a>(&'a mut self, into: &'a mut Vec<AnswerPiece>) -> NextPieces<'a> {
        Box::pin(async move {
            // Other tasks run between two pieces, as they would with a model.
            tokio::task::yield_now().await;
            let piece = self.0.pop_front();
            let is_more = piece.is_some();
            into.extend(piece);
            Ok(is_more)
        })
    }
}

fn build_answer(call: &EngineCall) -> Vec<AnswerPiece> {
    let mut text = String::new();
    if !call.messages.iter().any(|message| message.role == Role::Assistant) {
        text = format!("{INTRODUCTION}\n\n");
    }
    let request = match call.messages.last().map(|message| message.content.as_slice()) {
        Some([Block::ToolResult { content, is_error, .. }, ..]) => {
            text.push_str(&render_tool_result(&content.text, *is_error));
            None
        }
        Some(content) => request_of(content, call).map_err(|words| text.push_str(&words)).ok(),
        None => None,
    };
    let mut pieces: Vec<AnswerPiece> =
        pieces_of(&text).map(|piece| AnswerPiece::Text(piece.to_owned())).collect();
    let stop = if request.is_some() { ModelStop::ToolUse } else { ModelStop::EndTurn };
    pieces.extend(request.map(|request| tool_use(&request, unused_id(&call.messages))));
    // Reported, because the tokens of an answer without a report are estimated.
    pieces.push(AnswerPiece::Usage(TokenUsage::default()));
    pieces.push(AnswerPiece::End(stop));
    pieces
}

/// Returns the tool use that a user's message asks for, or else what there is to say.
fn request_of(content: &[Block], call: &EngineCall) -> Result<ToolRequest, String> {
    let message = content.iter().rev().find_map(Block::as_text).unwrap_or_default().trim();
    if message.is_empty() || message.eq_ignore_ascii_case("help") {
        return Err(help_text());
    }
    let request = form::parse_tool_request(message)?;
    let is_offered = call.tools.iter().any(|tool| tool.name == request.tool);
    let missing = || format!("I cannot do that: there is no tool {} here.", request.tool);
    if is_offered { Ok(request) } else { Err(missing()) }
}

fn help_text() -> String {
    format!(
        "You can say:\n\n{}\nUpper-case words stand for yours; put those with blanks in double \
         quotes. What stands in brackets may be left out. Commands run without a shell.",
        form::forms_list()
    )
}

/// Reports the result of a tool, cut if it is long.
fn render_tool_result(content: &str, is_error: bool) -> String {
    if is_error {
        return format!("That did not work: {content}");
    }
    let end = content.floor_char_boundary(MOST_BYTES);
    let (shown, rest) = content.trim_end().split_at(end.min(content.trim_end().len()));
    let note = if rest.is_empty() { "" } else { "\n\nThe rest is not shown here." };
    // The fence is longer than any row of backquotes in the text.
    let rows = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(rows.max(2) + 1);
    format!("{fence}\n{shown}\n{fence}{note}")
}

fn tool_use(request: &ToolRequest, id: String) -> AnswerPiece {
    let input = raw_json(&request.input);
    AnswerPiece::ToolUse { id, name: request.tool.into(), input, fault: None }
}

/// Returns an id that no tool use of the conversation has.
fn unused_id(messages: &MessageList) -> String {
    let blocks = messages.iter().flat_map(|message| &message.content);
    let numbers = blocks.filter_map(|block| match block {
        Block::ToolUse { id, .. } => id.strip_prefix(ID)?.parse().ok(),
        _ => None,
    });
    // A conversation that was compacted still has its last uses.
    let used = numbers.map(|number: usize| number.saturating_add(1)).max().unwrap_or(0);
    format!("{ID}{}", used.max(messages.len()))
}

/// Splits a text into pieces of a few words, which make up the text again.
fn pieces_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends =
            rest.char_indices().zip(rest.chars().skip(1)).filter_map(|((at, c), next)| {
                (c.is_whitespace() && !next.is_whitespace()).then_some(at + c.len_utf8())
            });
        let end = ends.nth(WORDS - 1).unwrap_or(rest.len());
        let (piece, later) = rest.split_at(end);
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests;
