//! What happens, in the words of the session protocol.

use callgate_wire::session::{
    ErrorData, Event, Notice, Stream, ToolLocation, ToolProgress, ToolResult, ToolUse, TurnEnd,
    Usage as Used, tool_kind,
};
use serde_json::value::RawValue;

use super::Tools;
use crate::engine::Usage;
use crate::event::{self, End, Failure, StopReason};
use crate::tool::{Channel, Location, ToolKind};

/// The end of a request that was cancelled before it began.
pub(super) fn cancelled() -> Event {
    done(&StopReason::Cancelled, Usage::default(), Some(0.0))
}

/// The end of a turn that did not fail.
pub(super) fn done(stop: &StopReason, usage: Usage, cost: Option<f64>) -> Event {
    let usage = Used {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_tokens: usage.cache_read,
        cache_write_tokens: usage.cache_write,
    };
    Event::done(&TurnEnd { stop_reason: stop.name().to_owned(), usage, cost })
}

/// Says that an answer is not whole and why, for a front end that cannot be told by `done`.
pub(super) fn unfinished(end: &End) -> Option<String> {
    let End::Done { stop, .. } = end else { return None };
    let why = match stop {
        StopReason::EndTurn | StopReason::Cancelled => return None,
        StopReason::MaxTokens => {
            "it is as long as an answer may be: ask to go on, or raise `agent.max_tokens`"
        }
        StopReason::MaxTurnRequests => {
            "the model was asked as often as it may be for one message: ask to go on, or raise \
             `agent.max_rounds`"
        }
        StopReason::Refusal => "the model declined to say more",
        StopReason::Other(reason) => {
            return Some(format!("\n\n[This answer is not whole: the provider says {reason:?}.]"));
        }
    };
    Some(format!("\n\n[This answer is not whole: {why}.]"))
}

/// A call of a tool, with what is known of it before it runs.
pub(super) fn tool_use(tools: &Tools, id: String, name: String, input: Box<RawValue>) -> Event {
    let tool = tools.get(name.as_str());
    let kind = tool.map_or(ToolKind::Other, |tool| tool.spec().kind);
    let locations = tool.map(|tool| tool.locations(&input)).unwrap_or_default();
    let location = |Location { path, line }| ToolLocation { path, line };
    Event::ToolUse(ToolUse {
        tool_id: id,
        tool_name: name,
        input,
        kind: Some(kind_name(kind).to_owned()),
        locations: Some(locations.into_iter().map(location).collect()),
    })
}

fn kind_name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => tool_kind::READ,
        ToolKind::Edit => tool_kind::EDIT,
        ToolKind::Delete => tool_kind::DELETE,
        ToolKind::Move => tool_kind::MOVE,
        ToolKind::Search => tool_kind::SEARCH,
        ToolKind::Execute => tool_kind::EXECUTE,
        ToolKind::Fetch => tool_kind::FETCH,
        ToolKind::Other => tool_kind::OTHER,
    }
}

/// What happened in the session's words.
pub(super) fn told(event: event::Event, tools: &Tools) -> Event {
    match event {
        event::Event::Token(text) => Event::Token(text),
        event::Event::Thinking(text) => Event::Thinking(text),
        event::Event::ToolUse { id, name, input } => tool_use(tools, id, name, input),
        event::Event::ToolProgress { id, channel, text } => {
            let stream = match channel {
                Channel::Stdout => Stream::Stdout,
                Channel::Stderr => Stream::Stderr,
            };
            Event::ToolProgress(ToolProgress { tool_id: id, stream, text })
        }
        event::Event::ToolResult { id, name, result, is_error } => Event::ToolResult(ToolResult {
            tool_id: id,
            tool_name: name,
            result,
            is_error: Some(is_error),
        }),
        event::Event::Notice { kind, text } => {
            Event::Notice(Notice { kind: kind.to_owned(), text })
        }
    }
}

/// The end of a request that failed.
pub(super) fn failed(failure: Failure) -> Event {
    let Failure { kind, status, retryable, text } = failure;
    Event::Error { error: text, data: Some(ErrorData { kind: kind.to_owned(), status, retryable }) }
}
