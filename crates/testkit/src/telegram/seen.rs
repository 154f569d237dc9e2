//! What the fake keeps: every message with its history, every answer to a press, every call.

use serde_json::Value;

use super::markup::Button;
use super::{BOT, BotCall, Document};

/// All that happened so far.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Every message of every chat, in order of arrival.
    pub messages: Vec<Message>,
    /// The answers to presses, in order.
    pub toasts: Vec<Toast>,
    /// Every call, in order of arrival, long polling included.
    pub calls: Vec<BotCall>,
    /// The commands that the bot has told the clients, by name.
    pub commands: Vec<String>,
    /// All updates before this number are confirmed: the server will not give them again.
    pub confirmed: i64,
}

/// A message of the bot or of a person.
#[derive(Clone, Debug)]
pub struct Message {
    pub chat: i64,
    /// Its number in the chat.
    pub id: i64,
    /// Who sent it; [`BOT`] for the bot's own.
    pub from: i64,
    /// What it shows now.
    pub shape: Shape,
    /// What it showed before each edit, the oldest first.
    pub past: Vec<Shape>,
    /// Whether clients open the reply field for it.
    pub force_reply: bool,
    pub reply_to: Option<i64>,
    /// The file it carries.
    pub document: Option<Document>,
}

/// What a message shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Its text as people read it; a document's caption.
    pub text: String,
    /// Its text as it was sent, tags included.
    pub sent: String,
    /// What is marked in the text.
    pub entities: Vec<Value>,
    /// The rows of its buttons.
    pub buttons: Vec<Vec<Button>>,
}

/// An answer to a press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub callback: String,
    /// What it says; may be empty.
    pub text: String,
    /// Whether it has to be closed by hand.
    pub alert: bool,
}

impl Seen {
    /// Returns the bot's messages in a chat.
    pub fn chat(&self, chat: i64) -> impl DoubleEndedIterator<Item = &Message> {
        self.messages.iter().filter(move |message| message.chat == chat && message.from == BOT)
    }

    /// Returns a message by its number.
    pub fn message(&self, chat: i64, id: i64) -> Option<&Message> {
        self.messages.iter().find(|message| (message.chat, message.id) == (chat, id))
    }

    /// Returns the answer to a press.
    pub fn toast(&self, callback: &str) -> Option<&Toast> {
        self.toasts.iter().find(|toast| toast.callback == callback)
    }

    /// Returns the calls of one method.
    pub fn calls_of(&self, method: &str) -> impl DoubleEndedIterator<Item = &BotCall> {
        self.calls.iter().filter(move |call| call.method == method)
    }
}

impl Message {
    /// Returns the button with this data, or whose label is this or holds it.
    pub fn button(&self, wanted: &str) -> Option<&Button> {
        let all = || self.shape.buttons.iter().flatten();
        all()
            .find(|button| button.data == wanted || button.label == wanted)
            .or_else(|| all().find(|button| button.label.contains(wanted)))
    }

    /// Returns the labels of all buttons, row by row.
    pub fn labels(&self) -> Vec<&str> {
        self.shape.buttons.iter().flatten().map(|button| button.label.as_str()).collect()
    }
}
