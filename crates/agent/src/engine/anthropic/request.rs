//! The body of a request, serialised directly from the call.
//!
//! What the API would refuse is left out: blank texts, thoughts without a signature, empty
//! messages. Consecutive messages of one role become one. A block is always serialised in the same
//! way, whatever its position, so that the provider's cache finds it again; only the cache marks
//! move.

mod thinking;
mod written_turns;

use std::borrow::Cow;
use std::sync::Arc;

use serde::Serialize;

use crate::engine::{CacheLife, EngineCall, EngineError};
use crate::message::{Block, ChatMessage, Role};
use crate::tool::ToolSpec;
use thinking::ThinkingMode;
use written_turns::WritingMode;
pub(super) use written_turns::WrittenTurns;

/// The text for a tool that failed without output, because the API refuses an empty one.
const NO_WORDS: &str = "The tool failed without output.";

/// The body without its messages, which come last. The API accepts at most four cache marks: one is
/// at the tools, one at the system prompt, and one each at the last two messages of the user.
#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingMode>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<CacheablePart<&'a ToolSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[CacheablePart<SystemText<'a>>; 1]>,
}

/// A value with an optional cache mark: the provider caches the prompt up to it.
#[derive(Serialize)]
struct CacheablePart<T> {
    #[serde(flatten)]
    item: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CacheMark {
    Ephemeral {
        #[serde(skip_serializing_if = "Option::is_none")]
        ttl: Option<&'static str>,
    },
}

impl From<CacheLife> for CacheMark {
    fn from(life: CacheLife) -> Self {
        let ttl = match life {
            CacheLife::FiveMinutes => None,
            CacheLife::OneHour => Some("1h"),
        };
        Self::Ephemeral { ttl }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SystemText<'a> {
    Text { text: &'a str },
}

/// One message, or several of one role in a row.
#[derive(Serialize)]
struct RequestTurn<'a> {
    role: Role,
    content: Vec<CacheablePart<Cow<'a, Block>>>,
    /// The number of messages up to its end.
    #[serde(skip)]
    upto: usize,
}

impl<T> CacheablePart<T> {
    fn plain(item: T) -> Self {
        Self { item, cache_control: None }
    }

    fn mark(&mut self, life: CacheLife) {
        self.cache_control = Some(life.into());
    }
}

/// Serialises the body, and reuses what the last request serialised of the same messages.
pub(super) fn encode_body(
    call: &EngineCall,
    life: CacheLife,
    written: &mut WrittenTurns,
) -> Result<Vec<u8>, EngineError> {
    let model = &*call.model;
    let thinking = ThinkingMode::for_call(call, model);
    let with_thoughts = thinking.is_some();
    let body = RequestBody {
        model,
        max_tokens: thinking::output_limit(call),
        stream: true,
        tools: tool_parts(&call.tools, life),
        system: system_parts(&call.system, life),
        thinking,
    };
    let unwritable =
        |error| EngineError::refused(format!("The request cannot be serialised: {error}"));
    let mut json = serde_json::to_vec(&body).map_err(unwritable)?;
    // The messages are its last member.
    json.pop();
    json.extend_from_slice(b",\"messages\":");
    let mode = WritingMode { with_thoughts, life };
    if !written.write(&call.messages, mode, &mut json).map_err(unwritable)? {
        return Err(EngineError::refused("There is nothing to answer: the message is empty"));
    }
    json.push(b'}');
    Ok(json)
}

fn tool_parts(specs: &[ToolSpec], life: CacheLife) -> Vec<CacheablePart<&ToolSpec>> {
    let mut tools: Vec<_> = specs.iter().map(CacheablePart::plain).collect();
    if let Some(last) = tools.last_mut() {
        last.mark(life);
    }
    tools
}

fn system_parts(text: &str, life: CacheLife) -> Option<[CacheablePart<SystemText<'_>>; 1]> {
    let mut part = CacheablePart::plain(SystemText::Text { text });
    part.mark(life);
    (!text.trim().is_empty()).then_some([part])
}

/// Returns the turns of the messages, without cache marks.
fn request_turns<'a>(
    messages: impl Iterator<Item = &'a Arc<ChatMessage>>,
    with_thoughts: bool,
) -> Vec<RequestTurn<'a>> {
    let mut turns: Vec<RequestTurn<'a>> = Vec::new();
    for (at, message) in messages.enumerate() {
        let ChatMessage { role, content } = message.as_ref();
        let blocks = content.iter().filter(|block| is_sendable(block, with_thoughts));
        let blocks: Vec<_> = blocks.map(|block| CacheablePart::plain(sent_block(block))).collect();
        // A thought alone is not a message.
        if blocks.iter().all(|part| part.item.is_thought()) {
            continue;
        }
        match turns.last_mut().filter(|turn| turn.role == *role) {
            Some(turn) => {
                turn.content.extend(blocks);
                turn.upto = at + 1;
            }
            None => turns.push(RequestTurn { role: *role, content: blocks, upto: at + 1 }),
        }
    }
    // The sort is stable, so that results keep the order of their calls, and all else its own.
    for turn in turns.iter_mut().filter(|turn| turn.role == Role::User) {
        // Results only count at the beginning of a message.
        turn.content.sort_by_key(|part| !matches!(&*part.item, Block::ToolResult { .. }));
    }
    turns
}

/// Puts cache marks at the last two turns of the user.
fn mark_for_cache(turns: &mut [RequestTurn<'_>], life: CacheLife) {
    // The second is where the last request had its last mark: so the cache is found, however many
    // blocks were added since.
    for turn in turns.iter_mut().rev().filter(|turn| turn.role == Role::User).take(2) {
        turn.content.last_mut().into_iter().for_each(|part| part.mark(life));
    }
}

fn is_sendable(block: &Block, with_thoughts: bool) -> bool {
    match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::Thinking { signature, .. } => with_thoughts && !signature.is_empty(),
        Block::RedactedThinking { data } => with_thoughts && !data.is_empty(),
        _ => true,
    }
}

fn sent_block(block: &Block) -> Cow<'_, Block> {
    match block {
        Block::ToolResult { tool_use_id, content, is_error: true } if content.is_empty() => {
            Cow::Owned(Block::ToolResult {
                tool_use_id: tool_use_id.clone(),
                content: NO_WORDS.into(),
                is_error: true,
            })
        }
        block => Cow::Borrowed(block),
    }
}

#[cfg(test)]
mod tests;
