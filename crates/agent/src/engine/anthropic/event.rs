//! The events of a streamed answer, as far as they are needed. Unknown fields are ignored, and
//! missing ones are empty.

use std::borrow::Cow;

use callgate_wire::session::TokenUsage;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The `type` of an event or a block.
#[derive(Deserialize)]
pub(super) struct TaggedEvent<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
}

/// `content_block_delta`, which nearly all events are.
#[derive(Deserialize)]
pub(super) struct BlockDelta<'a> {
    #[serde(default)]
    pub(super) index: u64,
    #[serde(borrow)]
    pub(super) delta: DeltaContent<'a>,
}

/// A text that is appended to a block.
#[derive(Deserialize)]
pub(super) struct DeltaContent<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) text: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) thinking: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) signature: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) partial_json: Cow<'a, str>,
}

impl DeltaContent<'_> {
    /// Returns true unless the delta is of a known kind and empty. Empty deltas would otherwise
    /// keep a dead answer alive.
    pub(super) fn is_something(&self) -> bool {
        match &*self.kind {
            "text_delta" => !self.text.is_empty(),
            "thinking_delta" => !self.thinking.is_empty(),
            "signature_delta" => !self.signature.is_empty(),
            "input_json_delta" => !self.partial_json.is_empty(),
            _ => true,
        }
    }
}

/// A `content_block_delta` of an unknown kind. It may have any other members, so only its kind is
/// read.
#[derive(Deserialize)]
pub(super) struct UnknownDelta<'a> {
    #[serde(borrow)]
    pub(super) delta: TaggedEvent<'a>,
}

#[derive(Deserialize)]
pub(super) struct BlockStart<'a> {
    #[serde(default)]
    pub(super) index: u64,
    /// The block, unparsed, because an unknown one may have any form.
    #[serde(borrow)]
    pub(super) content_block: &'a RawValue,
}

/// The beginning of a block of a known kind.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct BlockContent<'a> {
    pub(super) text: String,
    pub(super) thinking: String,
    pub(super) signature: String,
    pub(super) data: String,
    pub(super) id: String,
    pub(super) name: String,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct BlockStop {
    #[serde(default)]
    pub(super) index: u64,
}

#[derive(Deserialize)]
pub(super) struct MessageStart<'a> {
    #[serde(borrow)]
    pub(super) message: MessageUsage<'a>,
}

#[derive(Deserialize)]
pub(super) struct MessageUsage<'a> {
    /// The usage, unparsed, so that an unknown form does not fail the answer.
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct MessageDelta<'a> {
    pub(super) delta: MessageEnd,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct MessageEnd {
    pub(super) stop_reason: Option<String>,
}

/// The tokens since the beginning of the message; an absent number has not changed.
#[derive(Deserialize)]
struct TokenCounts {
    #[serde(rename = "input_tokens")]
    input: Option<u64>,
    #[serde(rename = "output_tokens")]
    output: Option<u64>,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: Option<u64>,
}

/// Updates `usage` from `json`. Returns whether it contained anything.
pub(super) fn update_usage(json: Option<&RawValue>, usage: &mut TokenUsage) -> bool {
    let Some(counts) = json.and_then(|json| serde_json::from_str::<TokenCounts>(json.get()).ok())
    else {
        return false;
    };
    let reported = [
        (counts.input, &mut usage.input),
        (counts.output, &mut usage.output),
        (counts.cache_read, &mut usage.cache_read),
        (counts.cache_write, &mut usage.cache_write),
    ];
    for (count, place) in reported {
        *place = count.unwrap_or(*place);
    }
    true
}
