//! The chunks of a streamed answer, as far as they are needed. Servers differ, so unknown fields
//! are ignored, missing ones are empty, and what may have several forms is left unparsed.

use std::borrow::Cow;

use callgate_wire::session::TokenUsage;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(super) struct ChatChunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Vec<ChunkChoice<'a>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    /// An error that a server reports in the middle of an answer.
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// The part of a chunk that belongs to one of the answers; there is only one.
#[derive(Deserialize)]
pub(super) struct ChunkChoice<'a> {
    #[serde(default)]
    pub(super) index: u64,
    /// What is new. Some servers send a whole message at once.
    #[serde(borrow, alias = "message")]
    pub(super) delta: Option<ChunkDelta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
pub(super) struct ChunkDelta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallPiece<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct CallPiece<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionPiece<'a>>,
}

#[derive(Deserialize)]
pub(super) struct FunctionPiece<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    /// A string with a piece of JSON; some servers send the arguments themselves.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

impl FunctionPiece<'_> {
    pub(super) fn arguments(&self) -> Cow<'_, str> {
        let Some(arguments) = self.arguments.map(RawValue::get) else { return Cow::Borrowed("") };
        match arguments.as_bytes().first() {
            Some(b'"') => serde_json::from_str(arguments).map_or_else(|_| "".into(), Cow::Owned),
            // Only `null` begins with this letter.
            Some(b'n') => "".into(),
            _ => Cow::Borrowed(arguments),
        }
    }
}

/// Converts a chunk from a form that only some servers use into the usual one: `null` in place of
/// absent members, content in parts, or both a whole message and its new part.
pub(super) fn normalize_chunk(data: &str) -> Option<String> {
    let mut chunk: Value = serde_json::from_str(data).ok()?;
    let members = chunk.as_object_mut()?;
    members.retain(|_, value| !value.is_null());
    for choice in members.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten() {
        let choice = choice.as_object_mut()?;
        choice.retain(|_, value| !value.is_null());
        // The whole message repeats what was sent before.
        if choice.contains_key("delta") {
            choice.remove("message");
        }
        for name in ["delta", "message"] {
            if let Some(content) = choice.get_mut(name).and_then(|new| new.get_mut("content"))
                && let Some(parts) = content.as_array()
            {
                let text = parts.iter().filter_map(|part| part.get("text")?.as_str());
                *content = text.collect::<String>().into();
            }
        }
    }
    Some(chunk.to_string())
}

/// The tokens of a whole answer.
#[derive(Deserialize)]
struct ChunkUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

/// Returns the tokens that a server reports. A form that is not known is no report.
pub(super) fn reported_usage(json: &RawValue) -> Option<TokenUsage> {
    let told: ChunkUsage = serde_json::from_str(json.get()).ok()?;
    let prompt = told.prompt_tokens?;
    let cached = told.prompt_tokens_details.and_then(|details| details.cached_tokens);
    // Here the prompt includes what was cached; our `input` leaves it out.
    let cached = cached.unwrap_or(0).min(prompt);
    Some(TokenUsage {
        input: prompt - cached,
        output: told.completion_tokens.unwrap_or(0),
        cache_read: cached,
        cache_write: 0,
    })
}
