//! The messages between the desk and the channels on which people see and answer questions.
//!
//! The desk is the only judge: a channel shows what the desk orders, and reports what people do and
//! who they are. It never decides whether that counts.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::{Press, RequestId};

use crate::card::Card;

/// A person who pressed a button, wrote words or sent a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub place: PersonPlace,
    /// Their name: that in the roster of the team, else as they chose it. It is shown and never
    /// decides anything.
    pub name: String,
    /// The link by which a viewer may press, `viewer/HASH`.
    pub link: Option<String>,
    /// Their name in the roster of the team, which only the desk sets; `None` for the owner of the
    /// desk.
    pub member: Option<String>,
}

impl Person {
    /// Makes a person whom the desk does not know yet.
    pub fn new(place: PersonPlace, name: impl Into<String>) -> Self {
        Self { place, name: name.into(), link: None, member: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PersonPlace {
    Telegram {
        chat: i64,
        user: i64,
        /// Whether it is a private chat with the bot, not a group.
        private: bool,
    },
    Terminal,
    /// A viewer on the desk socket.
    Viewer {
        /// The viewer's number among those connected.
        viewer: u64,
        /// Whether it has proved that it is paired.
        paired: bool,
        /// Its process id, if the system knows it.
        process: Option<u32>,
    },
}

/// Identifies an act of a person, so that the desk can reply to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyTo {
    /// A press of a button on Telegram, by the id of its callback query.
    Callback(String),
    /// A message on Telegram.
    Message { chat: i64, message: i64 },
    /// A key at the daemon's own terminal.
    Key,
    Viewer {
        viewer: u64,
        /// The number of the request.
        id: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum ChannelReport {
    /// A copy of a question was sent to a chat.
    Shown(QuestionCopy),
    /// A question was shown in a chat to its end.
    ShownInFull { question: RequestId, chat: i64 },
    /// A question could not be sent to a chat, and no further attempt is made.
    Unsendable {
        question: RequestId,
        chat: i64,
        /// Why, in words for a person.
        why: String,
    },
    /// Somebody answered a question.
    Pressed {
        who: Person,
        question: RequestId,
        press: Press,
        /// The word that they typed to confirm an allow, if they typed one.
        confirm: Option<String>,
        reply_to: ReplyTo,
        /// The copy on which they pressed, if it is known. The desk may not know it yet: it was
        /// sent before a restart, or sending it was not reported yet.
        copy: Option<QuestionCopy>,
    },
    /// Somebody pressed a button whose data is not valid.
    Forged { who: Person, reply_to: ReplyTo },
    /// A command such as `/pending`, with what follows it.
    Command {
        who: Person,
        /// The command's name without the slash, in lower case.
        name: String,
        rest: String,
        reply_to: ReplyTo,
    },
    /// Somebody wrote to the bot alone, and not in reply to a question.
    Wrote { who: Person, text: String, reply_to: ReplyTo },
    /// The channel cannot work until somebody fixes something, such as a wrong token.
    Broken {
        /// What is wrong and what to do.
        why: String,
    },
    /// The channel works; after the start, and again after trouble.
    Works,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QuestionCopy {
    pub question: RequestId,
    pub chat: i64,
    /// The message's number in that chat.
    pub message: i64,
    pub part: CopyPart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CopyPart {
    #[default]
    Question,
    /// The buttons alone, below the question in full.
    Buttons,
}

#[derive(Debug, Clone)]
pub enum ChannelOrder {
    /// Show a question in these chats.
    Show {
        card: Arc<Card>,
        chats: Vec<i64>,
        /// How long an answer counts, and so how long sending is tried.
        within: Duration,
    },
    /// Show on every copy what has become of a question, without buttons.
    Mark {
        /// The question as it was shown.
        card: Arc<Card>,
        /// The copies that are known; others may be on their way.
        copies: Vec<QuestionCopy>,
        mark: QuestionMark,
    },
    /// Show a question anew on every copy: answers were chosen, or the agent's last words have
    /// come.
    Redraw {
        /// The question as it is now.
        card: Arc<Card>,
        copies: Vec<QuestionCopy>,
        /// The options chosen so far, for each of the agent's questions.
        picks: Vec<Vec<u8>>,
    },
    /// Remove the buttons from a copy of a question that is over and no longer known.
    Retire { copy: QuestionCopy, text: String },
    /// Reply to an act of a person.
    Tell {
        reply_to: ReplyTo,
        text: String,
        /// Whether the reply must be hard to miss.
        alert: bool,
    },
    AskWords {
        card: Arc<Card>,
        /// The button that led to this.
        reply_to: ReplyTo,
        chat: i64,
        purpose: ReplyPurpose,
    },
    /// Show a question in full.
    Full {
        card: Arc<Card>,
        /// The button that led to this.
        reply_to: ReplyTo,
        chat: i64,
    },
    /// Show one line about something that nobody has to answer; for the terminal.
    Note {
        /// The line; plain text, already masked.
        line: String,
    },
    /// Say something that belongs to no question.
    Say {
        chats: Vec<i64>,
        /// What; plain text, already masked.
        text: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyPurpose {
    /// A deny, with a message for the agent.
    Deny,
    /// The answer to a question of the agent to its user.
    Answer,
    /// An allow that needs a typed word.
    Confirm,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionMark {
    pub state: MarkState,
    /// The outcome in words, such as "Allowed by Ada"; plain text, already masked.
    pub text: String,
}

/// How a question has ended, or is about to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkState {
    /// Decided, but the agent has not come back for the answer yet.
    Waiting,
    /// Allowed, and the answer has reached the agent.
    Allowed,
    /// Denied, and the answer has reached the agent.
    Denied,
    /// Answered elsewhere, such as at the agent's own terminal.
    Settled,
    /// Nobody answered in time.
    Expired,
    /// The agent had gone before an answer could reach it.
    Gone,
}
