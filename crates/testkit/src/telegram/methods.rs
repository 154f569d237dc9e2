//! What each method does, and what it refuses.

use serde_json::{Map, Value, json};

use super::call::Params;
use super::markup::{Markup, only};
use super::people::bot_json;
use super::{BOT, BotRefusal, Document, Inner, Message, Shape, Toast, marks};

/// The longest text, as it is read, in UTF-16 units.
const MAX_TEXT: usize = 4096;
/// The longest caption of a document.
const MAX_CAPTION: usize = 1024;
/// The longest answer to a press.
const MAX_TOAST: usize = 200;
const NOT_MODIFIED: &str = "message is not modified: specified new message content and reply \
                            markup are exactly the same as a current content and reply markup of \
                            the message";

type MethodAnswer = Result<Value, BotRefusal>;

impl Inner {
    /// Does one call; `getUpdates` is not among them.
    pub(super) fn call(&mut self, method: &str, params: Params) -> MethodAnswer {
        match method {
            "getMe" => Ok(bot_json()),
            "deleteWebhook" => {
                self.webhook = false;
                Ok(json!(true))
            }
            "setMyCommands" => self.set_commands(&params),
            "sendMessage" => self.send_message(&params),
            "sendDocument" => self.send_document(params),
            "editMessageText" => self.edit_text(&params),
            "editMessageReplyMarkup" => self.edit_markup(&params),
            "answerCallbackQuery" => self.answer_callback(&params),
            _ => Err(BotRefusal::new(404, "Not Found: method not found")),
        }
    }

    fn send_message(&mut self, params: &Params) -> MethodAnswer {
        let chat = self.chat_of(params)?;
        let markup = Markup::read(params.object("reply_markup")?)?;
        let reply_to = self.replied(chat, params)?;
        if let Some(options) = params.object("link_preview_options")? {
            only(options, &["is_disabled"])?;
        }
        params.flag("disable_notification")?;
        let shape = shape(params, "text", MAX_TEXT, markup.buttons)?;
        Ok(self.add(chat, shape, markup.force_reply, reply_to, None))
    }

    fn send_document(&mut self, params: Params) -> MethodAnswer {
        let chat = self.chat_of(&params)?;
        let reply_to = self.replied(chat, &params)?;
        let shape = shape(&params, "caption", MAX_CAPTION, Vec::new())?;
        let document =
            params.file.ok_or_else(|| BotRefusal::bad("there is no document in the request"))?;
        if document.bytes.is_empty() {
            return Err(BotRefusal::bad("file must be non-empty"));
        }
        Ok(self.add(chat, shape, false, reply_to, Some(document)))
    }

    fn add(
        &mut self,
        chat: i64,
        shape: Shape,
        force_reply: bool,
        reply_to: Option<i64>,
        document: Option<Document>,
    ) -> Value {
        let id = self.people.next_message(chat);
        let past = Vec::new();
        let message = Message { chat, id, from: BOT, shape, past, force_reply, reply_to, document };
        let shown = self.message_json(&message, true);
        self.seen.messages.push(message);
        shown
    }

    fn edit_text(&mut self, params: &Params) -> MethodAnswer {
        let markup = Markup::read(params.object("reply_markup")?)?;
        let shape = shape(params, "text", MAX_TEXT, markup.buttons)?;
        self.edit(params, |message| {
            if message.document.is_some() {
                return Err(BotRefusal::bad("there is no text in the message to edit"));
            }
            Ok(shape)
        })
    }

    fn edit_markup(&mut self, params: &Params) -> MethodAnswer {
        let markup = Markup::read(params.object("reply_markup")?)?;
        self.edit(params, |message| Ok(Shape { buttons: markup.buttons, ..message.shape.clone() }))
    }

    fn edit(
        &mut self,
        params: &Params,
        shape: impl FnOnce(&Message) -> Result<Shape, BotRefusal>,
    ) -> MethodAnswer {
        let chat = self.chat_of(params)?;
        let id = params.number("message_id")?;
        let id = id.ok_or_else(|| BotRefusal::bad("message identifier is not specified"))?;
        let all = self.seen.messages.iter_mut();
        let message = all.into_iter().find(|message| (message.chat, message.id) == (chat, id));
        let message = message.ok_or_else(|| BotRefusal::bad("message to edit not found"))?;
        if message.from != BOT || message.force_reply {
            return Err(BotRefusal::bad("message can't be edited"));
        }
        let shape = shape(message)?;
        if is_same(&shape, &message.shape) {
            return Err(BotRefusal::bad(NOT_MODIFIED));
        }
        message.past.push(std::mem::replace(&mut message.shape, shape));
        let message = message.clone();
        Ok(self.message_json(&message, true))
    }

    fn answer_callback(&mut self, params: &Params) -> MethodAnswer {
        let callback = params.text("callback_query_id")?.unwrap_or_default().to_owned();
        let text = params.text("text")?.unwrap_or_default().to_owned();
        let alert = params.flag("show_alert")?;
        if text.encode_utf16().count() > MAX_TOAST {
            return Err(BotRefusal::bad("MESSAGE_TOO_LONG"));
        }
        self.people.answer_press(&callback)?;
        self.seen.toasts.push(Toast { callback, text, alert });
        Ok(json!(true))
    }

    fn set_commands(&mut self, params: &Params) -> MethodAnswer {
        let commands = params.list("commands")?.map(Vec::as_slice).unwrap_or_default();
        let names = commands.iter().map(command).collect::<Result<Vec<_>, _>>()?;
        self.seen.commands = names;
        Ok(json!(true))
    }

    fn chat_of(&self, params: &Params) -> Result<i64, BotRefusal> {
        let chat = params.number("chat_id")?.ok_or_else(|| BotRefusal::bad("chat_id is empty"))?;
        self.people.check_chat(chat).map(|()| chat)
    }

    fn replied(&self, chat: i64, params: &Params) -> Result<Option<i64>, BotRefusal> {
        let Some(reply) = params.object("reply_parameters")? else { return Ok(None) };
        only(reply, &["message_id", "allow_sending_without_reply"])?;
        let id = reply.get("message_id").and_then(Value::as_i64);
        let id = id.ok_or_else(|| BotRefusal::bad("message identifier is not specified"))?;
        let lenient = reply.get("allow_sending_without_reply") == Some(&Value::Bool(true));
        match self.seen.message(chat, id) {
            Some(_) => Ok(Some(id)),
            None if lenient => Ok(None),
            None => Err(BotRefusal::bad("message to be replied not found")),
        }
    }
}

/// Returns the text or caption that a call gives, as it will be read.
fn shape(
    params: &Params,
    name: &str,
    most: usize,
    buttons: Vec<Vec<super::Button>>,
) -> Result<Shape, BotRefusal> {
    let sent = params.text(name)?.unwrap_or_default().to_owned();
    let (text, entities) = match params.text("parse_mode")? {
        None => (sent.clone(), Vec::new()),
        Some("HTML") => marks::parse(&sent)
            .map_err(|why| BotRefusal::bad(format!("can't parse entities: {why}")))?,
        Some(_) => return Err(BotRefusal::bad("unsupported parse_mode")),
    };
    // The server takes blanks and line ends off both ends.
    let text = if entities.is_empty() { text.trim().to_owned() } else { text };
    if name == "text" && text.trim().is_empty() {
        return Err(BotRefusal::bad("message text is empty"));
    }
    if text.encode_utf16().count() > most {
        let what =
            if name == "text" { "message is too long" } else { "message caption is too long" };
        return Err(BotRefusal::bad(what));
    }
    Ok(Shape { text, sent, entities, buttons })
}

/// Returns true if an edit would change nothing that anybody sees.
fn is_same(new: &Shape, old: &Shape) -> bool {
    (&new.text, &new.entities, &new.buttons) == (&old.text, &old.entities, &old.buttons)
}

fn command(value: &Value) -> Result<String, BotRefusal> {
    let empty = Map::new();
    let fields = value.as_object().unwrap_or(&empty);
    only(fields, &["command", "description"])?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let (name, description) = (text("command"), text("description"));
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !(1..=32).contains(&name.len()) || !name.chars().all(is_plain) {
        return Err(BotRefusal::bad("BOT_COMMAND_INVALID"));
    }
    if !(1..=256).contains(&description.chars().count()) {
        return Err(BotRefusal::bad("BOT_COMMAND_DESCRIPTION_INVALID"));
    }
    Ok(name.to_owned())
}
