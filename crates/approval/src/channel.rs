//! What passes between the desk and the channels by which people see and answer questions.
//!
//! The desk is the only judge: a channel shows what it is told to show and hands on what people
//! do, with who did it. It never decides whether that counts.

use std::sync::Arc;
use std::time::Duration;

use callgate_wire::approval::{Press, RequestId};

use crate::card::Card;

/// Who pressed, wrote or sent a command, as the channel knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// Where they are.
    pub place: Place,
    /// Their name, as they chose it; for showing, never for deciding.
    pub name: String,
}

/// Where somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// A chat on Telegram.
    Telegram {
        /// The chat's id.
        chat: i64,
        /// The user's id.
        user: i64,
        /// Whether it is a private chat with the bot, not a group.
        private: bool,
    },
    /// The terminal in which the daemon runs.
    Terminal,
    /// A viewer on the desk socket.
    Viewer {
        /// Which one, among those connected.
        viewer: u64,
        /// Whether it has proved that it was paired.
        paired: bool,
        /// Which process it is, where the system tells.
        process: Option<u32>,
    },
}

/// Names one act of a person, so that the desk can tell them what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// A button on Telegram, by the id of its callback query.
    Callback(String),
    /// A message on Telegram.
    Message {
        /// The chat it was written in.
        chat: i64,
        /// The message's number.
        message: i64,
    },
    /// A key at the daemon's own terminal.
    Key,
    /// A viewer's press.
    Viewer {
        /// Which viewer.
        viewer: u64,
        /// The viewer's own id of the press.
        id: String,
    },
}

/// What happened in a channel.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A copy of a question was sent to a chat.
    Shown(Copy),
    /// A question was shown in a chat to its end.
    ShownInFull {
        /// The question.
        question: RequestId,
        /// The chat.
        chat: i64,
    },
    /// A question could not be sent to a chat, and no further attempt is made.
    Unsendable {
        /// The question.
        question: RequestId,
        /// The chat.
        chat: i64,
        /// Why, in words for a person.
        why: String,
    },
    /// Somebody did something about a question.
    Pressed {
        /// Who.
        who: Who,
        /// Which question.
        question: RequestId,
        /// What they did.
        press: Press,
        /// By what to tell them what came of it.
        doing: Doing,
        /// The copy on which they pressed, where it says so itself. The desk may not know it: it
        /// was sent before a restart, or what was sent is not reported yet.
        copy: Option<Copy>,
    },
    /// A button whose data is none of ours.
    Forged {
        /// Who pressed it.
        who: Who,
        /// By what to tell them.
        doing: Doing,
    },
    /// A command such as `/pending`, with what follows it.
    Command {
        /// Who sent it.
        who: Who,
        /// The command's name without the slash, in lower case.
        name: String,
        /// The rest of the message.
        rest: String,
        /// By what to answer.
        doing: Doing,
    },
    /// The channel cannot work at all until something is changed, such as a wrong token.
    Broken {
        /// What is wrong and what to do.
        why: String,
    },
}

/// A copy of a question in a chat.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Copy {
    /// The question.
    pub question: RequestId,
    /// The chat.
    pub chat: i64,
    /// The message's number in that chat.
    pub message: i64,
}

/// What a channel is to do.
#[derive(Debug, Clone)]
pub enum Order {
    /// Show a question in these chats.
    Show {
        /// The question.
        card: Arc<Card>,
        /// Where.
        chats: Vec<i64>,
        /// For how long an answer is of use, and so for how long it is tried.
        within: Duration,
    },
    /// Show on every copy what has become of a question; its buttons go.
    Mark {
        /// The question as it was shown.
        card: Arc<Card>,
        /// The copies that are known; others may be on their way.
        copies: Vec<Copy>,
        /// What has become of it.
        mark: Mark,
    },
    /// Show on every copy which answers are chosen so far.
    Picked {
        /// The question.
        card: Arc<Card>,
        /// The copies that are known.
        copies: Vec<Copy>,
        /// For each of the agent's questions the options chosen.
        picks: Vec<Vec<u8>>,
    },
    /// Take the buttons off a copy whose question is over and of which no more is known.
    Retire {
        /// The copy.
        copy: Copy,
        /// What became of the question.
        text: String,
    },
    /// Tell somebody what came of what they did.
    Tell {
        /// What they did.
        doing: Doing,
        /// What came of it.
        text: String,
        /// Whether they must not miss it.
        alert: bool,
    },
    /// Ask for the words that go with a deny.
    AskWords {
        /// The question they are for.
        card: Arc<Card>,
        /// The button that led to this.
        doing: Doing,
        /// Where to ask.
        chat: i64,
    },
    /// Show a question in full.
    Full {
        /// The question.
        card: Arc<Card>,
        /// The button that led to this.
        doing: Doing,
        /// Where to show it.
        chat: i64,
    },
    /// Show one quiet line about something that nobody has to answer; for the terminal.
    Note {
        /// The line; plain text, already masked.
        line: String,
    },
    /// Say something that belongs to no question.
    Say {
        /// Where.
        chats: Vec<i64>,
        /// What; plain text, already masked.
        text: String,
    },
}

/// What has become of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// In which way.
    pub state: State,
    /// In words, such as "Allowed by Ada"; plain text, already masked.
    pub text: String,
}

/// In which way a question has ended, or nearly so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Decided, and waiting for the agent to come back for the answer.
    Waiting,
    /// Allowed, and the answer has reached the agent.
    Allowed,
    /// Denied, and the answer has reached the agent.
    Denied,
    /// It was settled elsewhere, such as at the agent's own terminal.
    Settled,
    /// Nobody answered in time.
    Expired,
    /// The agent had gone before an answer could reach it.
    Gone,
}
