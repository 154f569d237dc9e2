//! The people on the other side: chats, what they write, what they press.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{BOT, BOT_NAME, BotRefusal, Inner, Message, Shape};

/// When everything happens; the fake has no clock.
const DATE: i64 = 1_800_000_000;

/// Chats, people and presses.
#[derive(Debug, Default)]
pub(super) struct People {
    chats: BTreeMap<i64, PersonChat>,
    users: BTreeMap<i64, String>,
    /// The presses, each with whether it can still be answered.
    presses: BTreeMap<String, bool>,
    last_message: BTreeMap<i64, i64>,
    /// Those who have blocked the bot.
    blocked: BTreeSet<i64>,
}

#[derive(Debug)]
struct PersonChat {
    group: bool,
    name: String,
}

impl People {
    pub(super) fn add_private(&mut self, id: i64, name: &str) {
        assert!(id > 0, "a private chat has the id of its person");
        self.add_user(id, name);
        self.chats.insert(id, PersonChat { group: false, name: name.to_owned() });
    }

    pub(super) fn add_group(&mut self, id: i64, title: &str) {
        assert!(id < 0, "the id of a group is negative");
        self.chats.insert(id, PersonChat { group: true, name: title.to_owned() });
    }

    pub(super) fn add_user(&mut self, id: i64, name: &str) {
        self.users.insert(id, name.to_owned());
    }

    pub(super) fn block(&mut self, chat: i64) {
        self.blocked.insert(chat);
    }

    pub(super) fn let_presses_grow_old(&mut self) {
        self.presses.values_mut().for_each(|open| *open = false);
    }

    /// Takes the one answer that a press can have.
    pub(super) fn answer_press(&mut self, callback: &str) -> Result<(), BotRefusal> {
        let open = self.presses.get_mut(callback).is_some_and(std::mem::take);
        let late = "query is too old and response timeout expired or query ID is invalid";
        if open { Ok(()) } else { Err(BotRefusal::bad(late)) }
    }

    /// Fails unless the bot may write in this chat.
    pub(super) fn check_chat(&self, chat: i64) -> Result<(), BotRefusal> {
        let Some(known) = self.chats.get(&chat) else {
            return Err(BotRefusal::bad("chat not found"));
        };
        match (self.blocked.contains(&chat), known.group) {
            (false, _) => Ok(()),
            (true, false) => Err(BotRefusal::new(403, "Forbidden: bot was blocked by the user")),
            (true, true) => {
                Err(BotRefusal::new(403, "Forbidden: bot was kicked from the group chat"))
            }
        }
    }

    pub(super) fn next_message(&mut self, chat: i64) -> i64 {
        let last = self.last_message.entry(chat).or_insert(100);
        *last += 1;
        *last
    }

    fn user_json(&self, id: i64) -> Value {
        if id == BOT {
            return bot_json();
        }
        let name = self.users.get(&id).cloned().unwrap_or_else(|| format!("User {id}"));
        json!({"id": id, "is_bot": false, "first_name": name, "language_code": "en"})
    }

    fn chat_json(&self, id: i64) -> Value {
        match self.chats.get(&id) {
            Some(PersonChat { group: true, name }) => {
                json!({"id": id, "type": "supergroup", "title": name})
            }
            Some(PersonChat { group: false, name }) => {
                json!({"id": id, "type": "private", "first_name": name})
            }
            None => panic!("nobody has added chat {id} to the fake"),
        }
    }
}

/// Returns the bot as others see it.
pub(super) fn bot_json() -> Value {
    json!({"id": BOT, "is_bot": true, "first_name": "callgate test", "username": BOT_NAME})
}

impl Inner {
    /// Somebody presses a button. Gives the id of the callback query.
    pub(super) fn press(&mut self, chat: i64, user: i64, message: i64, data: &str) -> String {
        let id = format!(
            "{}",
            7_000_000_000_000_000_i64 + i64::try_from(self.people.presses.len()).unwrap()
        );
        self.people.presses.insert(id.clone(), true);
        let from = self.people.user_json(user);
        let shown = match self.seen.message(chat, message) {
            Some(message) => self.message_json(message, false),
            // Of a message that is too old, clients and bots get this much only.
            None => json!({"message_id": message, "chat": self.people.chat_json(chat), "date": 0}),
        };
        self.updates.push(json!({"callback_query": {
            "id": id, "from": from, "message": shown, "chat_instance": "1", "data": data,
        }}));
        id
    }

    /// Somebody writes. Gives the message's number.
    pub(super) fn write(&mut self, chat: i64, user: i64, text: &str, to: Option<i64>) -> i64 {
        let id = self.people.next_message(chat);
        let message = Message {
            chat,
            id,
            from: user,
            shape: Shape {
                text: text.to_owned(),
                sent: text.to_owned(),
                entities: Vec::new(),
                buttons: Vec::new(),
            },
            past: Vec::new(),
            force_reply: false,
            reply_to: to,
            document: None,
        };
        let shown = self.message_json(&message, true);
        self.seen.messages.push(message);
        self.updates.push(json!({"message": shown}));
        id
    }

    /// Returns a message as the API gives it.
    pub(super) fn message_json(&self, message: &Message, with_reply: bool) -> Value {
        let Shape { text, entities, buttons, .. } = &message.shape;
        let mut shown = json!({
            "message_id": message.id,
            "from": self.people.user_json(message.from),
            "chat": self.people.chat_json(message.chat),
            "date": DATE,
        });
        let (name, marks) = match &message.document {
            Some(document) => {
                let size = document.bytes.len();
                shown["document"] = json!({"file_name": document.name, "file_size": size});
                ("caption", "caption_entities")
            }
            None => ("text", "entities"),
        };
        if !text.is_empty() {
            shown[name] = json!(text);
        }
        if !entities.is_empty() {
            shown[marks] = json!(entities);
        }
        if !buttons.is_empty() {
            let button =
                |one: &super::Button| json!({"text": one.label, "callback_data": one.data});
            let rows: Vec<Vec<Value>> =
                buttons.iter().map(|row| row.iter().map(button).collect()).collect();
            shown["reply_markup"] = json!({"inline_keyboard": rows});
        }
        let replied = message.reply_to.filter(|_| with_reply);
        if let Some(to) = replied.and_then(|to| self.seen.message(message.chat, to)) {
            shown["reply_to_message"] = self.message_json(to, false);
        }
        shown
    }
}
