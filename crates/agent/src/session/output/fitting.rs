//! What becomes of events that a front end, or a line, cannot take as they are.

use callgate_wire::session::{Event, MAX_LINE, ToolResult};
use serde_json::value::to_raw_value;

/// What a front end gets that knows no extensions.
pub(super) fn plain(event: Event) -> Event {
    match event {
        Event::Done(_) => Event::Done(None),
        Event::Error { error, .. } => Event::Error { error, data: None },
        Event::ToolResult(result) => Event::ToolResult(ToolResult { is_error: None, ..result }),
        event => event,
    }
}

/// What stands in for something that fits into no line.
pub(super) fn too_long(event: Event, size: usize) -> Event {
    let text = format!("this has {size} bytes, and a line may have {MAX_LINE}: ask for less of it");
    let in_place = to_raw_value(&serde_json::json!({ "error": text }));
    match (event, in_place) {
        (Event::ToolResult(result), Ok(in_place)) => Event::ToolResult(ToolResult {
            result: in_place,
            is_error: result.is_error.map(|_| true),
            ..result
        }),
        (Event::ToolUse(mut call), Ok(in_place)) => {
            call.input = in_place;
            Event::ToolUse(call)
        }
        (Event::Token(_), _) => Event::Token(format!("[{text}]")),
        _ => Event::error(text),
    }
}
