//! Rules over the whole conversation: whose turn it is, that every tool use has its result, and
//! how many cache marks there are.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Outcome;
use super::shape::{join, refuse, refuse_at};

/// Consecutive messages of one role count as one.
struct ConversationTurn<'a> {
    role: &'a str,
    /// Each block with the number of its message and its own.
    blocks: Vec<(usize, usize, &'a Value)>,
}

/// Checks the order of roles and that tool uses and results belong together.
pub(super) fn check(body: &Map<String, Value>) -> Outcome {
    let turns = turns(&body["messages"]);
    if turns.first().is_some_and(|turn| turn.role != "user") {
        return refuse("messages: first message must use the \"user\" role");
    }
    let last = turns.iter().rev().find(|turn| turn.role != "system");
    if last.is_some_and(|turn| turn.role == "assistant") {
        return refuse(
            "This model does not support assistant message prefill. The conversation must end \
             with a user message.",
        );
    }
    let pairs = turns.iter().zip(turns.iter().skip(1));
    if pairs.into_iter().any(|(before, turn)| turn.role == "system" && before.role != "user") {
        return refuse("messages: a \"system\" message must come right after a \"user\" message");
    }
    unique_ids(&turns)?;
    for (at, turn) in turns.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| turns.get(at));
        results_have_uses(turn, before)?;
        uses_have_results(turn, turns.get(at + 1))?;
    }
    Ok(())
}

fn turns(messages: &Value) -> Vec<ConversationTurn<'_>> {
    let mut turns: Vec<ConversationTurn<'_>> = Vec::new();
    for (at, message) in messages.as_array().into_iter().flatten().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let blocks = message["content"].as_array().into_iter().flatten().enumerate();
        let blocks = blocks.map(|(index, block)| (at, index, block));
        match turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.blocks.extend(blocks),
            None => turns.push(ConversationTurn { role, blocks: blocks.collect() }),
        }
    }
    turns
}

impl<'a> ConversationTurn<'a> {
    fn ids(&self, kind: &str, field: &str) -> Vec<(usize, usize, &'a str)> {
        let of_kind = self.blocks.iter().filter(|(_, _, block)| block["type"] == kind);
        of_kind
            .map(|(message, index, block)| (*message, *index, block[field].as_str().unwrap_or("")))
            .collect()
    }

    fn uses(&self) -> Vec<(usize, usize, &'a str)> {
        self.ids("tool_use", "id")
    }

    fn results(&self) -> Vec<(usize, usize, &'a str)> {
        self.ids("tool_result", "tool_use_id")
    }
}

fn unique_ids(turns: &[ConversationTurn<'_>]) -> Outcome {
    let mut seen = BTreeSet::new();
    if turns.iter().flat_map(ConversationTurn::uses).all(|(_, _, id)| seen.insert(id)) {
        return Ok(());
    }
    refuse("messages: `tool_use` ids must be unique")
}

fn results_have_uses(
    turn: &ConversationTurn<'_>,
    before: Option<&ConversationTurn<'_>>,
) -> Outcome {
    let uses: Vec<&str> = before
        .map(ConversationTurn::uses)
        .unwrap_or_default()
        .into_iter()
        .map(|(_, _, id)| id)
        .collect();
    let mut seen = BTreeSet::new();
    for (message, index, id) in turn.results() {
        if !uses.contains(&id) {
            let place = format!("messages.{message}.content.{index}");
            let text = format!(
                "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                 `tool_result` block must have a corresponding `tool_use` block in the previous \
                 message."
            );
            return refuse_at(&place, &text);
        }
        if !seen.insert(id) {
            let text = format!(
                "each tool_use must have a single result. Found multiple `tool_result` blocks \
                 with id: {id}"
            );
            return refuse_at(&format!("messages.{message}.content.{index}"), &text);
        }
    }
    Ok(())
}

/// Results count only where they stand first: text before them hides them.
fn uses_have_results(turn: &ConversationTurn<'_>, next: Option<&ConversationTurn<'_>>) -> Outcome {
    let uses = turn.uses();
    let leading = next.map(|next| next.blocks.as_slice()).unwrap_or_default();
    let leading = leading.iter().take_while(|(_, _, block)| block["type"] == "tool_result");
    let answered: Vec<&Value> = leading.map(|(_, _, block)| &block["tool_use_id"]).collect();
    let open = uses.iter().filter(|(_, _, id)| !answered.iter().any(|answer| *answer == id));
    let open: Vec<&str> = open.map(|(_, _, id)| *id).collect();
    if open.is_empty() {
        return Ok(());
    }
    let text = format!(
        "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message.",
        open.join(", ")
    );
    refuse_at(&join("messages", uses[0].0), &text)
}

/// Checks the number of cache marks and the order of their lifetimes.
pub(super) fn cache_control(body: &Map<String, Value>) -> Outcome {
    let mut marks = Vec::new();
    for part in ["tools", "system", "messages"] {
        collect_marks(part, body.get(part).unwrap_or(&Value::Null), &mut marks);
    }
    let own = usize::from(body.get("cache_control").is_some_and(Value::is_object));
    let count = marks.len() + own;
    if count > 4 {
        let text = "A maximum of 4 blocks with cache_control may be provided.";
        return refuse(&format!("{text} Found {count}."));
    }
    let short = marks.iter().position(|(_, long)| !long);
    let after = short.and_then(|at| marks[at..].iter().find(|(_, long)| *long));
    match after {
        None => Ok(()),
        Some((path, _)) => refuse_at(
            &format!("{path}.cache_control.ttl"),
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. \
             Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
        ),
    }
}

/// Finds the marks in order, each with whether it lives for an hour. Inputs and schemas are the
/// caller's own and are passed by.
fn collect_marks(path: &str, value: &Value, marks: &mut Vec<(String, bool)>) {
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect_marks(&join(path, at), item, marks);
            }
        }
        Value::Object(object) => {
            if let Some(content) = object.get("content") {
                collect_marks(&join(path, "content"), content, marks);
            }
            if let Some(mark) = object.get("cache_control").filter(|mark| mark.is_object()) {
                marks.push((path.to_owned(), mark["ttl"] == "1h"));
            }
        }
        _ => {}
    }
}
