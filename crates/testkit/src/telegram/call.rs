//! One call of a method: its parameters, read strictly, and how it was refused.

use serde_json::{Map, Value};

/// One call as it came.
#[derive(Clone, Debug)]
pub struct BotCall {
    pub method: String,
    pub params: Map<String, Value>,
    /// How it was refused, if it was.
    pub refusal: Option<BotRefusal>,
}

impl BotCall {
    /// Returns the chat that the call names.
    pub fn chat(&self) -> Option<i64> {
        self.params.get("chat_id").and_then(Value::as_i64)
    }
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// A refusal in the API's own form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotRefusal {
    /// The HTTP status and `error_code`.
    pub code: u16,
    pub description: String,
    /// Whether it is no mistake in what was sent: a [`Fault`](super::Fault) asked for it, or
    /// another poll began.
    pub planned: bool,
}

impl BotRefusal {
    pub(super) fn new(code: u16, description: impl Into<String>) -> Self {
        Self { code, description: description.into(), planned: false }
    }

    pub(super) fn bad(description: impl AsRef<str>) -> Self {
        Self::new(400, format!("Bad Request: {}", description.as_ref()))
    }
}

/// The methods that are known, each with its parameters. The real server passes over what it does
/// not know; here that is a mistake of the caller.
const METHODS: &[(&str, &[&str])] = &[
    ("getMe", &[]),
    ("getUpdates", &["offset", "limit", "timeout", "allowed_updates"]),
    ("deleteWebhook", &["drop_pending_updates"]),
    ("setMyCommands", &["commands"]),
    (
        "sendMessage",
        &[
            "chat_id",
            "text",
            "parse_mode",
            "reply_markup",
            "reply_parameters",
            "link_preview_options",
            "disable_notification",
        ],
    ),
    (
        "editMessageText",
        &["chat_id", "message_id", "text", "parse_mode", "reply_markup", "link_preview_options"],
    ),
    ("editMessageReplyMarkup", &["chat_id", "message_id", "reply_markup"]),
    ("answerCallbackQuery", &["callback_query_id", "text", "show_alert"]),
    ("sendDocument", &["chat_id", "document", "caption", "parse_mode", "reply_parameters"]),
];

/// A call's parameters.
#[derive(Debug)]
pub(super) struct Params {
    pub(super) fields: Map<String, Value>,
    pub(super) file: Option<Document>,
}

impl Params {
    /// Fails for a method that is not known and for parameters that it does not have.
    pub(super) fn check_names(&self, method: &str) -> Result<(), BotRefusal> {
        let Some((_, known)) = METHODS.iter().find(|(name, _)| *name == method) else {
            return Err(BotRefusal::new(404, "Not Found: method not found"));
        };
        let file = self.file.as_ref().map(|_| "document");
        match self.fields.keys().map(String::as_str).chain(file).find(|n| !known.contains(n)) {
            Some(name) => Err(BotRefusal::bad(format!("{method} has no parameter `{name}`"))),
            None => Ok(()),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, BotRefusal> {
        self.typed(name, "a whole number", Value::as_i64)
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, BotRefusal> {
        Ok(self.typed(name, "true or false", Value::as_bool)?.unwrap_or_default())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, BotRefusal> {
        self.typed(name, "a string", Value::as_str)
    }

    pub(super) fn object(&self, name: &str) -> Result<Option<&Map<String, Value>>, BotRefusal> {
        self.typed(name, "an object", Value::as_object)
    }

    pub(super) fn list(&self, name: &str) -> Result<Option<&Vec<Value>>, BotRefusal> {
        self.typed(name, "an array", Value::as_array)
    }

    fn typed<'a, T>(
        &'a self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, BotRefusal> {
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        let wrong = || BotRefusal::bad(format!("parameter `{name}` must be {expected}"));
        read(value).map(Some).ok_or_else(wrong)
    }
}
