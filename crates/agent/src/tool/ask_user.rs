//! The tool `ask_user`, with which the model asks the person.
//!
//! The question itself is asked by the gate, as the same question of other agents is: in front
//! ends, at the desk and on phones. The tool runs with the answers that a person has added to its
//! input, and gives them to the model.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use callgate_wire::session::tool_kind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::BoxFuture;
use crate::tool::{AgentTool, CallOutcome, FaultContext, ToolInvocation, ToolSpec, schema_fault};

/// The most questions of one call, and the most choices of a question.
const MOST_QUESTIONS: usize = 4;
const MOST_OPTIONS: usize = 8;
const DESCRIPTION: &str = "Asks the user one to four questions with choices and waits for the \
    answers. Use it when the work depends on a decision that only the user can make; the user may \
    also answer in words of their own. It gives no permission for anything.";

pub fn build_ask_user_tool() -> Arc<dyn AgentTool> {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let option = json!({
        "type": "object",
        "properties": {
            "label": text("The choice, in a few words."),
            "description": text("What it means.")
        },
        "required": ["label"],
        "additionalProperties": false
    });
    let question = json!({
        "type": "object",
        "properties": {
            "question": text("The whole question."),
            "header": text("The subject, in one or two words."),
            "options": {
                "type": "array", "minItems": 2, "maxItems": MOST_OPTIONS, "items": option
            },
            "multiSelect": {
                "type": "boolean", "description": "Whether several choices may be picked."
            }
        },
        "required": ["question", "options"],
        "additionalProperties": false
    });
    let members = json!({
        "questions": {
            "type": "array", "minItems": 1, "maxItems": MOST_QUESTIONS, "items": question
        }
    });
    let spec = ToolSpec::new("ask_user", DESCRIPTION, &members, &["questions"], tool_kind::OTHER);
    // It changes nothing, so the model may ask in the mode `plan`, too.
    Arc::new(AskUserTool { spec: spec.read_only() })
}

struct AskUserTool {
    spec: ToolSpec,
}

/// The input with the answers that a person has given, by the texts of the questions.
#[derive(Deserialize)]
struct AnsweredInput {
    #[serde(default)]
    answers: Map<String, Value>,
}

impl AgentTool for AskUserTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn fault(&self, input: &RawValue, _: FaultContext<'_>) -> Option<String> {
        schema_fault(&self.spec, input).or_else(|| {
            let input: Value = serde_json::from_str(input.get()).ok()?;
            // The answers are found by the texts of the questions.
            let mut asked = HashSet::new();
            let mut questions = input["questions"].as_array()?.iter();
            questions
                .any(|one| one["question"].as_str().is_some_and(|question| !asked.insert(question)))
                .then(|| "a question is asked twice".to_owned())
        })
    }

    fn run_call(&self, invocation: ToolInvocation) -> BoxFuture<'_, CallOutcome> {
        let outcome = match serde_json::from_str::<AnsweredInput>(invocation.input.get()) {
            Ok(AnsweredInput { answers }) if !answers.is_empty() => {
                CallOutcome::done(&json!({ "answers": answers }), answers_text(&answers))
            }
            _ => CallOutcome::failed("the user gave no answer"),
        };
        Box::pin(std::future::ready(outcome))
    }
}

fn answers_text(answers: &Map<String, Value>) -> String {
    let mut text = "The user has answered.".to_owned();
    for (question, answer) in answers {
        let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        // Writing to a string cannot fail.
        write!(text, "\n{question}\n  {answer}").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::raw_json;

    fn fault(input: &Value) -> Option<String> {
        let context = FaultContext { conversation: "c", may_read: &|_| false };
        build_ask_user_tool().fault(&raw_json(input), context)
    }

    #[test]
    fn an_input_that_nobody_could_answer_is_a_fault() {
        let options = json!([{"label": "Red"}, {"label": "Blue"}]);
        let one = json!({"question": "Which?", "options": options});
        assert_eq!(fault(&json!({"questions": [one]})), None);
        assert!(fault(&json!({"questions": []})).is_some());
        assert!(fault(&json!({"questions": [{"question": "Which?", "options": []}]})).is_some());
        let twice = fault(&json!({"questions": [one, one]}));
        assert_eq!(twice.as_deref(), Some("a question is asked twice"));
        // The model must not answer for the person.
        let answers = json!({"Which?": "Red"});
        assert!(fault(&json!({"questions": [one], "answers": answers})).is_some());
    }

    #[test]
    fn the_model_reads_the_answers() {
        let answers = json!({"Which?": "Blue", "How many?": "2"});
        let told = answers_text(answers.as_object().unwrap());
        assert!(told.starts_with("The user has answered.\n"), "{told}");
        assert!(told.contains("\nWhich?\n  Blue") && told.contains("\nHow many?\n  2"), "{told}");
    }
}
