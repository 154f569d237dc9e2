//! The controls under a message: buttons, or a reply field that clients open.

use serde_json::{Map, Value};

use super::BotRefusal;

/// Callback data is at most this long.
const MAX_DATA: usize = 64;
/// So many buttons at most, in all and in a row.
const MOST_BUTTONS: usize = 100;
const MOST_IN_A_ROW: usize = 8;
/// The longest text that clients show in the empty reply field.
const MAX_PLACEHOLDER: usize = 64;

/// A button under a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    pub label: String,
    pub data: String,
}

/// A message's markup, read strictly.
#[derive(Debug, Default)]
pub(super) struct Markup {
    pub(super) buttons: Vec<Vec<Button>>,
    pub(super) force_reply: bool,
}

impl Markup {
    pub(super) fn read(value: Option<&Map<String, Value>>) -> Result<Self, BotRefusal> {
        let Some(fields) = value else { return Ok(Self::default()) };
        if fields.contains_key("force_reply") {
            return forced(fields);
        }
        only(fields, &["inline_keyboard"])?;
        let rows = fields.get("inline_keyboard").and_then(Value::as_array);
        let rows = rows.ok_or_else(|| BotRefusal::bad("object expected as reply markup"))?;
        let buttons = rows.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        if buttons.iter().map(Vec::len).sum::<usize>() > MOST_BUTTONS {
            return Err(BotRefusal::bad("reply markup is too long"));
        }
        Ok(Self { buttons, force_reply: false })
    }
}

fn forced(fields: &Map<String, Value>) -> Result<Markup, BotRefusal> {
    only(fields, &["force_reply", "selective", "input_field_placeholder"])?;
    let placeholder = fields.get("input_field_placeholder");
    let fits = placeholder.is_none_or(|text| {
        text.as_str().is_some_and(|text| (1..=MAX_PLACEHOLDER).contains(&text.chars().count()))
    });
    if fields["force_reply"] != Value::Bool(true) || !fits {
        return Err(BotRefusal::bad("can't parse reply keyboard markup"));
    }
    if fields.get("selective").is_some_and(|selective| !selective.is_boolean()) {
        return Err(BotRefusal::bad("can't parse reply keyboard markup"));
    }
    Ok(Markup { buttons: Vec::new(), force_reply: true })
}

fn row(value: &Value) -> Result<Vec<Button>, BotRefusal> {
    let buttons = value.as_array().filter(|all| (1..=MOST_IN_A_ROW).contains(&all.len()));
    let wrong = || BotRefusal::bad("can't parse inline keyboard: a row has 1 to 8 buttons");
    buttons.ok_or_else(wrong)?.iter().map(button).collect()
}

fn button(value: &Value) -> Result<Button, BotRefusal> {
    let wrong = |what: &str| BotRefusal::bad(format!("can't parse inline keyboard button: {what}"));
    let fields =
        value.as_object().ok_or_else(|| wrong("InlineKeyboardButton must be an Object"))?;
    only(fields, &["text", "callback_data"])?;
    let label = fields.get("text").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let label = label.ok_or_else(|| wrong("Field \"text\" must be of type String"))?.to_owned();
    let data = fields.get("callback_data").and_then(Value::as_str);
    let data = data.ok_or_else(|| wrong("Text buttons are unallowed in the inline keyboard"))?;
    if !(1..=MAX_DATA).contains(&data.len()) {
        return Err(BotRefusal::bad("BUTTON_DATA_INVALID"));
    }
    Ok(Button { label, data: data.to_owned() })
}

/// Fails for a field that this fake does not know, which the real server would pass over.
pub(super) fn only(fields: &Map<String, Value>, known: &[&str]) -> Result<(), BotRefusal> {
    match fields.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(BotRefusal::bad(format!("there is no field `{name}` here"))),
        None => Ok(()),
    }
}
