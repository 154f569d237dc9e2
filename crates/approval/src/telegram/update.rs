//! Reads Telegram's updates, leniently: whatever is missing or strange is ignored.

use callgate_mask::text::{self, Measure};
use callgate_wire::approval::{Callback, Press, RequestId};
use serde_json::Value;

use super::html::UNSEEN;
use super::look;
use super::presses::Presser;
use crate::channel::{ChannelReport, CopyPart, Person, PersonPlace, QuestionCopy, ReplyTo};

/// How much of a person's name is kept, in UTF-16 units.
const NAME: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BotIdentity {
    pub(super) id: Option<i64>,
    pub(super) name: String,
}

impl BotIdentity {
    pub(super) fn from_answer(answer: &Value) -> Self {
        let name = answer["username"].as_str().unwrap_or_default().to_owned();
        Self { id: answer["id"].as_i64(), name }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TelegramUpdate {
    /// Somebody pressed a button.
    Press {
        /// The id by which to answer the press.
        callback: String,
        presser: Presser,
        news: ChannelReport,
    },
    Message(ChannelReport),
}

/// Reads an update. Returns `None` if it does not concern us.
pub(super) fn parse_update(update: &Value, me: &BotIdentity) -> Option<TelegramUpdate> {
    if update["callback_query"].is_object() {
        return parse_press(&update["callback_query"]);
    }
    parse_message(&update["message"], me).map(TelegramUpdate::Message)
}

fn parse_press(query: &Value) -> Option<TelegramUpdate> {
    let callback = text_of(&query["id"])?;
    let message = &query["message"];
    let who = parse_person(&query["from"], &message["chat"])?;
    let reply_to = ReplyTo::Callback(callback.clone());
    let shown = question_of(message);
    let parsed = Callback::parse(query["data"].as_str().unwrap_or_default());
    // A button of one question on the message of another is forged.
    let honest = parsed.filter(|parsed| shown.as_ref().is_none_or(|id| *id == parsed.request_id));
    let PersonPlace::Telegram { chat, user, private } = who.place else { return None };
    let number = message["message_id"].as_i64();
    let presser = Presser { user, name: who.name.clone(), private, message: number };
    let news = match honest {
        Some(Callback { request_id: question, action }) => {
            let part = part_of(message);
            let copy = shown.zip(number);
            let copy =
                copy.map(|(question, message)| QuestionCopy { question, chat, message, part });
            let press = Press::Button(action);
            ChannelReport::Pressed { who, question, press, confirm: None, reply_to, copy }
        }
        None => ChannelReport::Forged { who, reply_to },
    };
    Some(TelegramUpdate::Press { callback, presser, news })
}

fn parse_message(message: &Value, me: &BotIdentity) -> Option<ChannelReport> {
    if message["from"]["is_bot"] == Value::Bool(true) {
        return None;
    }
    let who = parse_person(&message["from"], &message["chat"])?;
    let text = message["text"].as_str()?;
    let PersonPlace::Telegram { chat, private, .. } = who.place else { return None };
    let reply_to = ReplyTo::Message { chat, message: message["message_id"].as_i64()? };
    if let Some(command) = text.strip_prefix('/') {
        let (name, rest) = command_of(command, me)?;
        return Some(ChannelReport::Command { who, name, rest, reply_to });
    }
    let to = &message["reply_to_message"];
    // In a group people also write to each other.
    if private && to.is_null() {
        return Some(ChannelReport::Wrote { who, text: text.to_owned(), reply_to });
    }
    // Anybody can write a message with such a link: only in one of ours it names a question.
    let ours = me.id.is_some() && to["from"]["id"].as_i64() == me.id;
    let question = question_of(to).filter(|_| ours)?;
    let press = Press::Words(text.to_owned());
    Some(ChannelReport::Pressed { who, question, press, confirm: None, reply_to, copy: None })
}

/// Splits a command into its name and the rest. Returns `None` if it is for another bot.
fn command_of(command: &str, me: &BotIdentity) -> Option<(String, String)> {
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let (name, bot) = name.split_once('@').map_or((name, None), |(name, bot)| (name, Some(bot)));
    let for_us = bot.is_none_or(|bot| bot.eq_ignore_ascii_case(&me.name));
    (for_us && !name.is_empty()).then(|| (name.to_lowercase(), rest.trim().to_owned()))
}

/// Returns the question that one of our messages is about: the one named by the invisible link at
/// its beginning. The same address anywhere else is ignored.
fn question_of(message: &Value) -> Option<RequestId> {
    let (text, marks) = match message["text"].as_str() {
        Some(text) => (text, &message["entities"]),
        None => (message["caption"].as_str()?, &message["caption_entities"]),
    };
    let is_first =
        |mark: &&Value| mark["type"] == "text_link" && mark["offset"] == 0 && mark["length"] == 1;
    let mark = marks.as_array()?.iter().find(is_first)?;
    if !text.starts_with(UNSEEN) {
        return None;
    }
    RequestId::parse(mark["url"].as_str()?.strip_prefix(look::ADDRESS)?)
}

/// Returns what of a question one of our messages shows.
fn part_of(message: &Value) -> CopyPart {
    let text = message["text"].as_str().and_then(|text| text.strip_prefix(UNSEEN));
    if text == Some(look::AFTER_FULL) { CopyPart::Buttons } else { CopyPart::Question }
}

fn parse_person(user: &Value, chat: &Value) -> Option<Person> {
    let (user_id, chat_id) = (user["id"].as_i64()?, chat["id"].as_i64()?);
    let private = chat["type"] == "private";
    let place = PersonPlace::Telegram { chat: chat_id, user: user_id, private };
    Some(Person::new(place, name_of(user)))
}

/// Returns a person's name, safe to show on one line.
fn name_of(user: &Value) -> String {
    let part = |name: &str| user[name].as_str().unwrap_or_default().trim().to_owned();
    let full = format!("{} {}", part("first_name"), part("last_name"));
    let name = match (full.trim(), part("username")) {
        ("", username) if !username.is_empty() => format!("@{username}"),
        ("", _) => format!("user {}", user["id"]),
        (full, _) => full.to_owned(),
    };
    let shown = text::one_line(&name);
    text::cut_to_length(&shown, NAME, Measure::Utf16).to_owned()
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
