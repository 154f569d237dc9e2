//! The tools of a request in the form in which they are sent. Pure.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::key_rewriter::with_keys;
use super::plain_name::{is_plain, plain_name_for};
use super::schema_keys;
use crate::engine::{AnswerPiece, EngineCall};
use crate::message::message_list::MessageList;
use crate::message::{Block, ChatMessage};
use crate::tool::{ToolSpec, raw_json};

#[derive(Debug)]
pub(super) struct ToolForms {
    tools: Arc<[ToolSpec]>,
    /// The tools that are sent in another form, by their names.
    forms: HashMap<String, ToolForm>,
    /// Their names, by those under which they are sent.
    names: HashMap<String, String>,
    /// Whether all are sent as they are.
    is_same: bool,
}

#[derive(Debug)]
struct ToolForm {
    name: String,
    /// The names of its properties that are replaced, and their replacements.
    keys: HashMap<String, String>,
    /// The same the other way round.
    keys_back: HashMap<String, String>,
}

impl ToolForms {
    /// Brings the tools that are sent into the form that providers accept.
    pub(super) fn new(all: &Arc<[ToolSpec]>, is_sent: impl Fn(&&ToolSpec) -> bool) -> Self {
        let tools: Vec<&ToolSpec> = all.iter().filter(is_sent).collect();
        // Of all tools, so that a replacement never has the name of a later one.
        let mut taken: HashSet<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
        let (mut sent, mut forms, mut names) = (Vec::new(), HashMap::new(), HashMap::new());
        for tool in &tools {
            let mut tool = (*tool).clone();
            if let Some(form) = build_form(&mut tool, &taken) {
                taken.insert(form.name.clone());
                names.insert(form.name.clone(), tool.name.to_string());
                let name = Cow::Owned(form.name.clone());
                forms.insert(std::mem::replace(&mut tool.name, name).into_owned(), form);
            }
            sent.push(tool);
        }
        let is_same = forms.is_empty() && sent.len() == all.len();
        let tools = if is_same { Arc::clone(all) } else { sent.into() };
        Self { tools, forms, names, is_same }
    }

    /// Returns the call in the form in which it is sent. With `is_strict`, earlier calls of tools
    /// that do not exist any more are looked at too.
    pub(super) fn sent_call(&self, call: EngineCall, is_strict: bool) -> EngineCall {
        // Mostly so, and the list of messages stays shared.
        if self.is_same && !is_strict {
            return call;
        }
        let message = |message: Arc<ChatMessage>| {
            // A message that stays keeps its address, by which the request finds it serialised
            // already.
            if !message.content.iter().any(|block| self.is_odd(block)) {
                return message;
            }
            let content = message.content.iter().map(|block| self.sent_block(block)).collect();
            Arc::new(ChatMessage { role: message.role, content })
        };
        let messages = call.messages.iter().cloned().map(message).collect();
        EngineCall { messages, tools: Arc::clone(&self.tools), ..call }
    }

    /// Returns true if one of the messages has a call that is not sent as it is.
    pub(super) fn has_odd_calls(&self, messages: &MessageList) -> bool {
        messages.iter().any(|message| message.content.iter().any(|block| self.is_odd(block)))
    }

    fn is_odd(&self, block: &Block) -> bool {
        let Block::ToolUse { name, .. } = block else { return false };
        self.forms.contains_key(name) || !is_plain(name)
    }

    fn sent_block(&self, block: &Block) -> Block {
        let Block::ToolUse { id, name, input } = block else { return block.clone() };
        let (name, input) = match self.forms.get(name) {
            Some(form) => (form.name.clone(), renamed_input(input, &form.keys)),
            None if is_plain(name) => (name.clone(), input.clone()),
            None => (plain_name_for(name, |_| false), input.clone()),
        };
        Block::ToolUse { id: id.clone(), name, input }
    }

    /// Puts the names back in the pieces of an answer from `first` on.
    pub(super) fn put_back(&self, pieces: &mut Vec<AnswerPiece>, first: usize) {
        if self.forms.is_empty() {
            return;
        }
        for piece in &mut pieces[first..] {
            if let AnswerPiece::ToolUse { name, input, .. } = piece
                && let Some((own, form)) = self.form_of(name)
            {
                *input = renamed_input(input, &form.keys_back);
                own.clone_into(name);
            }
        }
        // The pieces of an input whose keys are replaced make no sense to anybody; it follows
        // whole.
        let is_readable = |piece: &AnswerPiece| match piece {
            AnswerPiece::ToolInput { name, .. } => {
                self.form_of(name).is_none_or(|(_, form)| form.keys.is_empty())
            }
            _ => true,
        };
        let mut at = 0;
        pieces.retain_mut(|piece| {
            at += 1;
            // Those before `first` are of an earlier call, and have their own names again.
            let is_kept = at <= first || is_readable(piece);
            if let AnswerPiece::ToolInput { name, .. } = piece
                && let Some(own) = self.names.get(name)
            {
                own.clone_into(name);
            }
            is_kept
        });
    }

    fn form_of(&self, sent: &str) -> Option<(&str, &ToolForm)> {
        let (own, form) = self.forms.get_key_value(self.names.get(sent)?)?;
        Some((own, form))
    }

    /// Returns the tool that a refusal names, by its place in the request or by its name.
    pub(super) fn named_in<'a>(&self, refusal: &str, all: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
        let sent = if let Some(place) = place_in_refusal(refusal) {
            self.tools.get(place)?
        } else {
            let (_, rest) = refusal.split_once("function '")?;
            let (name, _) = rest.split_once('\'')?;
            self.tools.iter().find(|tool| tool.name == name)?
        };
        let own = self.names.get(&*sent.name).map_or(&*sent.name, String::as_str);
        all.iter().find(|tool| tool.name == own)
    }
}

/// Returns the form of a tool that is not sent as it is, and brings its schema into it.
fn build_form(tool: &mut ToolSpec, taken: &HashSet<String>) -> Option<ToolForm> {
    let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap_or_default();
    let keys = schema_keys::key_replacements(&schema);
    if is_plain(&tool.name) && keys.is_empty() {
        return None;
    }
    if !keys.is_empty() {
        tool.input_schema = raw_json(&schema_keys::replaced_schema(&schema, &keys));
    }
    let name = if is_plain(&tool.name) {
        tool.name.to_string()
    } else {
        plain_name_for(&tool.name, |name| taken.contains(name))
    };
    let keys_back = keys.iter().map(|(own, sent)| (sent.clone(), own.clone())).collect();
    Some(ToolForm { name, keys, keys_back })
}

fn renamed_input(input: &RawValue, keys: &HashMap<String, String>) -> Box<RawValue> {
    let renamed = with_keys(input.get(), keys).and_then(|json| RawValue::from_string(json).ok());
    renamed.unwrap_or_else(|| input.to_owned())
}

/// Returns the place in a request that a refusal names, as in `tools.3.custom.input_schema` or
/// `tools[3].function.parameters`.
fn place_in_refusal(refusal: &str) -> Option<usize> {
    let (_, rest) = refusal.split_once("tools.").or_else(|| refusal.split_once("tools["))?;
    let end = rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
