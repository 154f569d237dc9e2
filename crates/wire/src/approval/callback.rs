//! What the buttons on a phone carry.

use std::fmt;

use super::{NotUuid, RequestId};

/// The longest callback data that Telegram takes, in bytes.
pub const MAX_CALLBACK: usize = 64;

/// What a button on a phone carries: which question, and what was pressed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Callback {
    /// The question.
    pub request_id: RequestId,
    /// The button.
    pub action: Action,
}

/// The buttons under a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Allow this call.
    Allow,
    /// Deny this call.
    Deny,
    /// Deny this call and end the agent's turn.
    Stop,
    /// Deny this call with words that follow.
    Reply,
    /// Allow this call, and from now on what this one of the agent's offers covers.
    Always(u8),
    /// Choose an answer to one of the agent's own questions.
    Pick {
        /// Which question, from 0.
        question: u8,
        /// Which of its answers, from 0.
        option: u8,
    },
    /// The answers chosen so far are all.
    Done,
    /// Show what was cut.
    More,
}

impl Callback {
    /// Reads callback data of the form `{request_id}:{action}`.
    pub fn parse(data: &str) -> Result<Self, NotCallback> {
        if data.len() > MAX_CALLBACK {
            return Err(NotCallback::TooLong);
        }
        let (id, action) = data.split_once(':').ok_or(NotCallback::NoAction)?;
        let request_id = RequestId::parse(id).map_err(|NotUuid| NotCallback::NoRequestId)?;
        let action = Action::parse(action).ok_or(NotCallback::UnknownAction)?;
        Ok(Self { request_id, action })
    }

    /// The callback data, never longer than [`MAX_CALLBACK`].
    #[must_use]
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

impl Action {
    /// Reads an action's name; only the spelling that [`Display`](fmt::Display) writes is one.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let action = match name {
            "allow" => Self::Allow,
            "deny" => Self::Deny,
            "stop" => Self::Stop,
            "reply" => Self::Reply,
            "always" => Self::Always(0),
            "done" => Self::Done,
            "more" => Self::More,
            _ => Self::numbered(name)?,
        };
        (action.to_string() == name).then_some(action)
    }

    fn numbered(name: &str) -> Option<Self> {
        if let Some(offer) = name.strip_prefix("always") {
            return Some(Self::Always(offer.parse().ok()?));
        }
        let (question, option) = name.strip_prefix("pick")?.split_once('.')?;
        Some(Self::Pick { question: question.parse().ok()?, option: option.parse().ok()? })
    }
}

/// Callback data that no button of ours carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCallback {
    /// It is longer than [`MAX_CALLBACK`].
    TooLong,
    /// There is no colon, and so no action.
    NoAction,
    /// What stands before the colon is not a request id.
    NoRequestId,
    /// What stands after the colon is none of our actions.
    UnknownAction,
}

impl fmt::Display for NotCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the callback data is longer than 64 bytes",
            Self::NoAction => "the callback data has no action after a colon",
            Self::NoRequestId => "the callback data does not begin with a UUID of version 4",
            Self::UnknownAction => "the callback's action is none of ours",
        })
    }
}

impl std::error::Error for NotCallback {}
