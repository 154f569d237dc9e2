//! The events of a streamed answer, as far as they are read. What is not named here is passed
//! over, and what is missing is empty.

use std::borrow::Cow;

use callgate_wire::session::TokenUsage;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Something that says what kind it is.
#[derive(Deserialize)]
pub(super) struct TaggedEvent<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
}

/// `content_block_delta`: nearly all events are this.
#[derive(Deserialize)]
pub(super) struct BlockDelta<'a> {
    #[serde(default)]
    pub(super) index: u64,
    #[serde(borrow)]
    pub(super) delta: DeltaContent<'a>,
}

/// What is appended to a block.
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
    /// Returns true unless the change is one of a known kind that changes nothing.
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

/// `content_block_delta` of a kind that is not known.
#[derive(Deserialize)]
pub(super) struct UnknownDelta<'a> {
    #[serde(borrow)]
    pub(super) delta: TaggedEvent<'a>,
}

/// `content_block_start`.
#[derive(Deserialize)]
pub(super) struct BlockStart<'a> {
    #[serde(default)]
    pub(super) index: u64,
    /// A block that is not known may look like anything.
    #[serde(borrow)]
    pub(super) content_block: &'a RawValue,
}

/// A block of a known kind as it begins.
#[derive(Deserialize)]
pub(super) struct BlockContent<'a> {
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) thinking: String,
    #[serde(default)]
    pub(super) signature: String,
    #[serde(default)]
    pub(super) data: String,
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(borrow, default)]
    pub(super) input: Option<&'a RawValue>,
}

/// `content_block_stop`.
#[derive(Deserialize)]
pub(super) struct BlockStop {
    #[serde(default)]
    pub(super) index: u64,
}

/// `message_start`.
#[derive(Deserialize)]
pub(super) struct MessageStart<'a> {
    #[serde(borrow)]
    pub(super) message: MessageUsage<'a>,
}

/// Something with a `usage`.
#[derive(Deserialize)]
pub(super) struct MessageUsage<'a> {
    /// An answer does not fail for how its costs are written.
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// `message_delta`.
#[derive(Deserialize)]
pub(super) struct MessageDelta<'a> {
    pub(super) delta: MessageEnd,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
}

/// How a message ends.
#[derive(Deserialize)]
pub(super) struct MessageEnd {
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
}

/// `error`, in a stream and as the body of an HTTP error.
#[derive(Deserialize)]
pub(super) struct ApiFailure {
    pub(super) error: ApiErrorBody,
}

/// What the API says about an error.
#[derive(Deserialize)]
pub(super) struct ApiErrorBody {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: String,
}

/// Tokens, counted from the message's beginning; what is not told has not changed.
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

/// Takes what `json` tells into `usage`. Whether there was anything.
pub(super) fn count(json: Option<&RawValue>, usage: &mut TokenUsage) -> bool {
    let Some(counts) = json.and_then(|json| serde_json::from_str::<TokenCounts>(json.get()).ok())
    else {
        return false;
    };
    let told = [
        (counts.input, &mut usage.input),
        (counts.output, &mut usage.output),
        (counts.cache_read, &mut usage.cache_read),
        (counts.cache_write, &mut usage.cache_write),
    ];
    for (count, place) in told {
        *place = count.unwrap_or(*place);
    }
    true
}
