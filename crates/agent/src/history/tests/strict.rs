//! Asks the strict fake of the Messages API whether it takes a conversation, and writes
//! conversations down in a few characters.

use std::io::{Read, Write};
use std::net::TcpStream;

use callgate_testkit::messages::Messages;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::history::mender::{INTERRUPTED, Mender};
use crate::message::{Block, ChatMessage, MediaSource, Role};

const PNG: &str = "iVBORw0KGgoAAAAN";

pub(crate) struct Strict(Messages);

impl Strict {
    pub(crate) fn start() -> Self {
        Self(Messages::start([]))
    }

    /// Makes sure that both versions of the API take these messages with a new one of the user's
    /// behind them.
    pub(crate) fn assert_takes(&self, messages: &[ChatMessage]) {
        let mut messages = messages.to_vec();
        messages.push(ChatMessage::user(vec![Block::text("go on")]));
        let body = json!({"model": "m", "messages": messages}).to_string();
        for version in ["2023-06-01", "2026-10-21"] {
            let answer = self.post(version, &body);
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}\n{body}");
        }
    }

    fn post(&self, version: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.0.address()).unwrap();
        write!(
            stream,
            "POST /v1/messages/count_tokens HTTP/1.1\r\nhost: fake\r\nconnection: close\r\n\
             x-api-key: k\r\nanthropic-version: {version}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = vec![0; 4096];
        let length = stream.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..length]).into_owned()
    }
}

/// Reads messages: `u` is the user's and `a` the model's, `|` is between them. `?x` uses a tool,
/// `!x` is its result, `#` is a thought, `#-` one without a signature and `#r` a redacted one, `_`
/// an empty text, `[png]` a picture and `[bad]` none. All else is words.
pub(crate) fn read(text: &str) -> Vec<ChatMessage> {
    let messages = text.split('|').map(str::trim).filter(|text| !text.is_empty());
    messages
        .map(|text| {
            let mut words = text.split(' ').filter(|word| !word.is_empty());
            let role = if words.next() == Some("u") { Role::User } else { Role::Assistant };
            ChatMessage { role, content: words.map(block).collect() }
        })
        .collect()
}

fn block(word: &str) -> Block {
    let picture = |media_type: &str, data: &str| Block::Image {
        source: MediaSource::Base64 { media_type: media_type.to_owned(), data: data.to_owned() },
    };
    let thought = |signature: &str| Block::Thinking {
        thinking: String::new(),
        signature: signature.to_owned(),
    };
    match word {
        "#" => thought("signed"),
        "#-" => thought(""),
        "#r" => Block::RedactedThinking { data: "hidden".to_owned() },
        "_" => Block::text(" \n"),
        "[png]" => picture("image/png", PNG),
        "[bad]" => picture("image/gif", PNG),
        _ => match word.split_at(1) {
            ("?", id) => tool_use(id, "{}"),
            ("!", id) => result(id, "done"),
            _ => Block::text(word),
        },
    }
}

pub(crate) fn tool_use(id: &str, input: &str) -> Block {
    let input = RawValue::from_string(input.to_owned()).unwrap();
    Block::ToolUse { id: id.to_owned(), name: "tool".to_owned(), input }
}

pub(crate) fn result(id: &str, content: &str) -> Block {
    Block::ToolResult {
        tool_use_id: id.to_owned(),
        content: content.into(),
        is_error: content == INTERRUPTED,
    }
}

/// Writes messages as [`read`] reads them; `!x?` is the result of what was interrupted.
pub(crate) fn show<'a>(messages: impl IntoIterator<Item = &'a ChatMessage>) -> String {
    let show = |message: &ChatMessage| {
        let role = if message.role == Role::User { "u" } else { "a" };
        message.content.iter().fold(role.to_owned(), |text, block| text + " " + &word(block))
    };
    messages.into_iter().map(show).collect::<Vec<_>>().join(" | ")
}

fn word(block: &Block) -> String {
    match block {
        Block::Text { text } => text.clone(),
        Block::Image { .. } | Block::Document { .. } => "[png]".to_owned(),
        Block::Thinking { .. } => "#".to_owned(),
        Block::RedactedThinking { .. } => "#r".to_owned(),
        Block::Interrupted => "~".to_owned(),
        Block::LeftOut => "-".to_owned(),
        Block::ToolUse { id, .. } => format!("?{id}"),
        Block::ToolResult { tool_use_id, content, is_error } => {
            assert_eq!(*is_error, content.text == INTERRUPTED);
            format!("!{tool_use_id}{}", if *is_error { "?" } else { "" })
        }
    }
}

/// Mends messages that are not stored.
pub(crate) fn repair(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let mut mender = Mender::default();
    for (number, message) in (0..).zip(messages) {
        mender.push(number, message, false);
    }
    mender.close_tool_uses();
    mender.messages().iter().map(|message| ChatMessage::clone(message)).collect()
}

/// Messages as JSON, to be compared.
pub(crate) fn values<'a>(messages: impl IntoIterator<Item = &'a ChatMessage>) -> Vec<Value> {
    messages.into_iter().map(|message| serde_json::to_value(message).unwrap()).collect()
}
