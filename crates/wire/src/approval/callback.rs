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
    /// Allow this call, and its like from now on.
    Always,
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
        format!("{}:{}", self.request_id, self.action.name())
    }
}

impl Action {
    /// Every action, in the order in which buttons are shown.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Deny, Self::Always];

    /// The action's name in callback data.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Always => "always",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
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
            Self::UnknownAction => "the callback's action is not allow, deny or always",
        })
    }
}

impl std::error::Error for NotCallback {}
