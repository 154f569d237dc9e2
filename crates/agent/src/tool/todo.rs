//! The tool `todo_write`: the plan of a longer task, which front ends show as a list.

use std::future::ready;
use std::sync::Arc;

use callgate_wire::desk::{TodoItem, TodoStatus};
use callgate_wire::session::tool_kind;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use crate::tool::{AgentTool, CallOutcome, ToolSpec, function_tool};

const MOST_ITEMS: usize = 100;
/// The longest text of a step, in characters.
const LONGEST_ITEM: usize = 500;
const NAME: &str = "todo_write";
const DESCRIPTION: &str = "Shows the user the plan of a task with several steps. Give the whole \
    plan each time: it replaces the one before. At most one step is `active`; mark a step `done` \
    as soon as it is. Simple tasks need no plan.";

pub fn build_todo_tool() -> Arc<dyn AgentTool> {
    let members = json!({
        "items": {
            "type": "array",
            "maxItems": MOST_ITEMS,
            "items": {
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "The step, in a few words." },
                    "status": { "type": "string", "enum": ["pending", "active", "done"] }
                },
                "required": ["text", "status"],
                "additionalProperties": false
            }
        }
    });
    let spec = ToolSpec::new(NAME, DESCRIPTION, &members, &["items"], tool_kind::OTHER);
    function_tool(spec.read_only(), |invocation| {
        ready(parse_plan(&invocation.input).map(|plan| CallOutcome::done(&plan, plan.text())))
    })
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TodoPlan {
    items: Vec<TodoItem>,
}

impl TodoPlan {
    fn text(&self) -> String {
        let count =
            |status| self.items.iter().filter(|item| item.status == status).count().to_string();
        format!(
            "The user sees the plan: {} done, {} active, {} pending.",
            count(TodoStatus::Done),
            count(TodoStatus::Active),
            count(TodoStatus::Pending),
        )
    }
}

fn parse_plan(input: &RawValue) -> Result<TodoPlan, String> {
    let plan: TodoPlan = serde_json::from_str(input.get()).map_err(|error| {
        format!(
            "the input of {NAME} cannot be read: {error}. Give {{\"items\": [{{\"text\": \"…\", \
             \"status\": \"pending\"}}]}}."
        )
    })?;
    // Not left to the schema, which is checked only before a person would be asked.
    if plan.items.len() > MOST_ITEMS {
        return Err(format!("a plan may have {MOST_ITEMS} steps: combine some of them"));
    }
    if plan.items.iter().any(|item| item.text.trim().is_empty()) {
        return Err("a step has no text: say what is to be done".to_owned());
    }
    if plan.items.iter().any(|item| item.text.chars().count() > LONGEST_ITEM) {
        return Err(format!("a step may have {LONGEST_ITEM} characters: shorten it"));
    }
    if plan.items.iter().filter(|item| item.status == TodoStatus::Active).count() > 1 {
        return Err("at most one step may be active: mark the others pending or done".to_owned());
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{ToolInvocation, raw_json};
    use serde_json::Value;

    async fn check(input: Value, expected: &str) {
        let invocation = ToolInvocation {
            input: raw_json(&input),
            conversation: "c".into(),
            address: crate::tool::CallAddress::default(),
            progress: Arc::new(|_, _| {}),
            asker: crate::tool::PersonAsker::default(),
        };
        let outcome = build_todo_tool().run_call(invocation).await;
        assert!(outcome.text.contains(expected), "{} for {input}", outcome.text);
        if !outcome.is_error {
            assert_eq!(serde_json::from_str::<Value>(outcome.result.get()).unwrap(), input);
        }
    }

    fn item(text: &str, status: &str) -> Value {
        json!({ "text": text, "status": status })
    }

    #[tokio::test]
    async fn a_plan_is_counted_and_given_back() {
        let items = [item("a", "done"), item("b", "active"), item("c", "pending")];
        check(json!({ "items": items }), "1 done, 1 active, 1 pending").await;
        check(json!({ "items": [] }), "0 done, 0 active, 0 pending").await;
    }

    #[tokio::test]
    async fn a_plan_that_nobody_could_follow_is_refused() {
        check(json!([]), "cannot be read").await;
        check(json!({ "items": [item("a", "later")] }), "cannot be read").await;
        check(json!({ "items": [item("  ", "done")] }), "no text").await;
        check(json!({ "items": [item("a", "active"), item("b", "active")] }), "one step").await;
        check(json!({ "items": vec![item("a", "done"); 101] }), "100 steps").await;
        check(json!({ "items": [item(&"é".repeat(501), "done")] }), "500 characters").await;
    }
}
