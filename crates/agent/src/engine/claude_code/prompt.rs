//! The prompt for the CLI: the user's last message, and what came before it if the CLI does not
//! know it.

use std::fmt::Write as _;
use std::sync::Arc;

use callgate_claude::Prompt;
use callgate_mask::text::shortened_text;
use serde_json::{Value, json};

use crate::engine::EngineCall;
use crate::message::{Block, ChatMessage, Role};

/// The longest text of one message of the past, in characters.
const LONGEST_PART: usize = 20_000;
/// The longest text of all past messages together, in bytes; the last messages matter most.
const LONGEST_PAST: usize = 400_000;
const PAST: &str = "[This is what was said in this conversation so far:]";
const NOW: &str = "[And this is the user's new message:]";

/// Returns the prompt. A session that is resumed knows what came before.
pub(super) fn from_call(call: &EngineCall) -> Prompt {
    let mut prompt = Prompt::default();
    let mut messages = call.messages.iter().rev();
    let Some(last) = messages.next() else { return prompt };
    let past =
        if call.engine_state.is_some() { String::new() } else { render_transcript(messages) };
    if !past.is_empty() {
        prompt = prompt.text(format!("{PAST}\n{past}\n{NOW}"));
    }
    add_content(prompt, &last.content)
}

pub(super) fn add_content(mut prompt: Prompt, content: &[Block]) -> Prompt {
    for block in content {
        prompt = match block {
            Block::Text { text } if !text.trim().is_empty() => prompt.text(text.clone()),
            Block::Image { source } => prompt.block(json!({ "type": "image", "source": source })),
            Block::Document { source, title } => {
                let mut document: Value = json!({ "type": "document", "source": source });
                if let Some(title) = title {
                    document["title"] = json!(title);
                }
                prompt.block(document)
            }
            _ => prompt,
        };
    }
    prompt
}

/// Returns what was said, as text, from the messages in reverse order.
fn render_transcript<'a>(messages: impl Iterator<Item = &'a Arc<ChatMessage>>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut room = LONGEST_PAST;
    for message in messages {
        let text = render_message(message);
        // Ends at the first message that does not fit, so that the rest has no gap.
        let Some(left) = room.checked_sub(text.len()) else { break };
        room = left;
        parts.push(text);
    }
    parts.reverse();
    parts.concat()
}

fn render_message(message: &ChatMessage) -> String {
    let who = match message.role {
        Role::User => "User",
        Role::Assistant => "You",
    };
    let mut told = String::new();
    for block in &message.content {
        let (what, text) = match block {
            Block::Text { text } => (who, text.clone()),
            Block::ToolUse { name, input, .. } => ("You used a tool", format!("{name} {input}")),
            Block::ToolResult { content, .. } => ("Its result", content.text.clone()),
            Block::Image { .. } => (who, "[a picture]".to_owned()),
            Block::Document { .. } => (who, "[a document]".to_owned()),
            Block::Thinking { .. }
            | Block::RedactedThinking { .. }
            | Block::Interrupted
            | Block::LeftOut => continue,
        };
        // Writing to a string cannot fail.
        writeln!(told, "{what}: {}", shortened_text(&text, LONGEST_PART)).ok();
    }
    told
}

#[cfg(test)]
mod tests;
