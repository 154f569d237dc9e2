//! Events that a front end does not accept as they are, or that do not fit into a line.

use callgate_mask::text::shortened_text;
use callgate_wire::session::{
    AgentQuestion, FieldKind, MAX_LINE, PastUserMessage, PermissionRequest, RuntimeStatus,
    SessionEvent, ToolResult, ToolUse, capability,
};

use crate::tool::error_json;

/// The longest text of a question in a line that would otherwise be too long, in characters.
const LONGEST_TEXT: usize = 1000;
/// The longest title of a field or an option in such a line, in characters.
const LONGEST_TITLE: usize = 100;
/// The longest input of a question in such a line, in bytes.
const LONGEST_INPUT: usize = 64 * 1024;

/// Returns the capability without which a front end does not get an event.
pub(super) fn needed_capability(event: &SessionEvent) -> Option<&'static str> {
    Some(match event {
        SessionEvent::Thinking(_) => capability::THINKING,
        SessionEvent::ToolProgress(_) => capability::TOOL_PROGRESS,
        SessionEvent::ToolInput(_) => capability::TOOL_INPUT,
        SessionEvent::Usage(_) => capability::USAGE,
        SessionEvent::PermissionRequest(_) | SessionEvent::PermissionResolved(_) => {
            capability::PERMISSION
        }
        SessionEvent::Question(_) | SessionEvent::QuestionResolved(_) => capability::QUESTION,
        SessionEvent::Notice(_) => capability::NOTICE,
        SessionEvent::TurnChanges(_) => capability::TURN_DIFF,
        _ => return None,
    })
}

pub(super) fn without_extensions(event: SessionEvent) -> SessionEvent {
    match event {
        SessionEvent::Done(_) => SessionEvent::Done(None),
        SessionEvent::Error { error, .. } => SessionEvent::Error { error, data: None },
        SessionEvent::ToolUse(call) => {
            SessionEvent::ToolUse(ToolUse { kind: None, locations: None, card: None, ..call })
        }
        SessionEvent::ToolResult(result) => {
            SessionEvent::ToolResult(ToolResult { is_error: None, ..result })
        }
        SessionEvent::Status(status) => SessionEvent::Status(Box::new(RuntimeStatus {
            mode: None,
            instructions: None,
            requests: None,
            questions: None,
            agent_questions: None,
            servers: None,
            ..*status
        })),
        event => event,
    }
}

/// Returns a replacement for an event that does not fit into a line. `None` means that it is left
/// out: an error in its place would end its request, which goes on.
pub(super) fn too_long(event: SessionEvent, size: usize) -> Option<SessionEvent> {
    let text = format!("this has {size} bytes, and a line may have {MAX_LINE}: ask for less of it");
    Some(match event {
        SessionEvent::ToolResult(result) => SessionEvent::ToolResult(ToolResult {
            result: error_json(&text),
            is_error: result.is_error.map(|_| true),
            ..result
        }),
        SessionEvent::ToolUse(mut call) => {
            call.input = error_json(&text);
            SessionEvent::ToolUse(call)
        }
        SessionEvent::Token(_) => SessionEvent::Token(format!("[{text}]")),
        SessionEvent::Thinking(_) => SessionEvent::Thinking(format!("[{text}]")),
        SessionEvent::UserMessage(said) => SessionEvent::UserMessage(without_files(said, &text)),
        // Neither may end its request.
        SessionEvent::PermissionRequest(mut asked) => {
            shorten_question(&mut asked);
            SessionEvent::PermissionRequest(asked)
        }
        SessionEvent::Question(mut asked) => {
            shorten_agent_question(&mut asked);
            SessionEvent::Question(asked)
        }
        SessionEvent::Status(mut status) => {
            for question in status.questions.iter_mut().flatten() {
                shorten_question(&mut question.data);
            }
            for request in status.requests.iter_mut().flatten() {
                request.message =
                    request.message.as_deref().map(|text| shortened_text(text, LONGEST_TEXT));
            }
            SessionEvent::Status(status)
        }
        // What ends a request has to end it in this form as well.
        event if event.is_end() => SessionEvent::error(text),
        _ => return None,
    })
}

/// Shortens a question so that it can still be shown and answered.
fn shorten_question(asked: &mut PermissionRequest) {
    let size = asked.input.get().len();
    if size > LONGEST_INPUT {
        asked.input = error_json(&format!("the input of {size} bytes is not shown here"));
    }
    // Both may be as long as the input.
    (asked.diff, asked.card) = (None, None);
    asked.title = shortened_text(&asked.title, LONGEST_TEXT);
    asked.reason = asked.reason.as_deref().map(|text| shortened_text(text, LONGEST_TEXT));
}

/// Shortens what a person reads of a question. An answer has its values, which stay.
fn shorten_agent_question(asked: &mut AgentQuestion) {
    asked.text = shortened_text(&asked.text, LONGEST_TEXT);
    for field in &mut asked.fields {
        field.title = shortened_text(&field.title, LONGEST_TITLE);
        field.description = None;
        if let FieldKind::OneOf { options, .. } | FieldKind::SeveralOf { options, .. } =
            &mut field.kind
        {
            for option in options {
                option.title = shortened_text(&option.title, LONGEST_TITLE);
                option.description = None;
            }
        }
    }
}

/// Returns a message without the content of its files, and without its text if that is too long.
fn without_files(said: PastUserMessage, text: &str) -> PastUserMessage {
    let PastUserMessage { mut message, mut attachments } = said;
    for attachment in &mut attachments {
        attachment.data = None;
    }
    // Escaped, a byte may take six, so a shorter text surely fits.
    if message.len() > MAX_LINE / 8 {
        message = format!("[{text}]");
    }
    PastUserMessage { message, attachments }
}
