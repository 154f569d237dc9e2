//! A person's answer to a question, and how the buttons on a phone carry it.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::RequestId;

/// A person's answer to a question, on whichever channel they give it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Press {
    #[serde(rename = "action")]
    Button(Action),
    /// Words of their own. They deny the call, or answer a question that asks for words.
    Words(String),
    /// An allow with changed input: a JSON object in which hidden parts are still the placeholders
    /// that were shown.
    Input(Box<RawValue>),
}

// By hand, because a `RawValue` cannot be compared.
impl PartialEq for Press {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Button(a), Self::Button(b)) => a == b,
            (Self::Words(a), Self::Words(b)) => a == b,
            (Self::Input(a), Self::Input(b)) => a.get() == b.get(),
            _ => false,
        }
    }
}

/// The longest callback data that Telegram accepts, in bytes.
pub const MAX_CALLBACK: usize = 64;

/// The data of a button on a phone: a question, and what the button means for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Callback {
    pub request_id: RequestId,
    pub action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Allow,
    Deny,
    /// Deny this call and end the agent's turn.
    Stop,
    /// Deny this call with a message, which is asked for next.
    Reply,
    /// Allow this call and, from now on, everything that the agent's offer of this number covers.
    Always(u8),
    /// Choose an answer to one of the agent's own questions.
    Pick {
        /// Which question, from 0.
        question: u8,
        /// Which of its answers, from 0.
        option: u8,
    },
    /// Send the answers chosen so far.
    Done,
    More,
}

impl Callback {
    /// Parses callback data of the form `{request_id}:{action}`. Returns `None` for data that none
    /// of our buttons carries.
    pub fn parse(data: &str) -> Option<Self> {
        let (id, action) = data.split_once(':').filter(|_| data.len() <= MAX_CALLBACK)?;
        Some(Self { request_id: RequestId::parse(id)?, action: Action::parse(action)? })
    }

    /// Returns the callback data, which is never longer than [`MAX_CALLBACK`].
    pub fn to_data(&self) -> String {
        format!("{}:{}", self.request_id, self.action)
    }
}

/// The action's name in callback data.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allow => f.write_str("allow"),
            Self::Deny => f.write_str("deny"),
            Self::Stop => f.write_str("stop"),
            Self::Reply => f.write_str("reply"),
            Self::Always(0) => f.write_str("always"),
            Self::Always(offer) => write!(f, "always{offer}"),
            Self::Pick { question, option } => write!(f, "pick{question}.{option}"),
            Self::Done => f.write_str("done"),
            Self::More => f.write_str("more"),
        }
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Action {
    /// Parses an action's name. Only the spelling that [`Display`](fmt::Display) writes is
    /// accepted.
    pub fn parse(name: &str) -> Option<Self> {
        let action = match name {
            "allow" => Self::Allow,
            "deny" => Self::Deny,
            "stop" => Self::Stop,
            "reply" => Self::Reply,
            "always" => Self::Always(0),
            "done" => Self::Done,
            "more" => Self::More,
            _ => Self::parse_numbered(name)?,
        };
        // Otherwise `always007` would be a second spelling of one button.
        (action.to_string() == name).then_some(action)
    }

    fn parse_numbered(name: &str) -> Option<Self> {
        if let Some(offer) = name.strip_prefix("always") {
            return Some(Self::Always(offer.parse().ok()?));
        }
        let (question, option) = name.strip_prefix("pick")?.split_once('.')?;
        Some(Self::Pick { question: question.parse().ok()?, option: option.parse().ok()? })
    }
}
