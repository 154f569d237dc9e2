//! The agent's own questions with answers to choose from, and how the choice is sent back.

use crate::plain;
use serde_json::{Map, Value, json};

/// One of the agent's questions, with its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picker {
    /// The question.
    pub question: String,
    /// The answers to choose from.
    pub choices: Vec<Choice>,
    /// Whether several may be chosen.
    pub many: bool,
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The answer in short.
    pub label: String,
    /// What it means.
    pub description: Option<String>,
}

/// The most questions and answers: buttons cannot tell more apart, and nobody would read more.
const MOST_PICKERS: usize = 8;
const MOST_CHOICES: usize = 32;

/// Returns the pickers for a tool's masked input. If not all of it can be shown, nothing can be
/// picked.
pub(super) fn of(tool: &str, input: &str) -> Vec<Picker> {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let pickers = match tool {
        "AskUserQuestion" => user_questions(&input),
        "Ask" => script_choices(&input).map(|picker| vec![picker]),
        "Elicitation" => asked_field(&input).and_then(|(_, picker)| Some(vec![picker?])),
        _ => None,
    };
    let fits = |picker: &Picker| (1..=MOST_CHOICES).contains(&picker.choices.len());
    pickers.filter(|all| all.len() <= MOST_PICKERS && all.iter().all(fits)).unwrap_or_default()
}

fn user_questions(input: &Value) -> Option<Vec<Picker>> {
    let picker = |one: &Value| {
        let choices = one["options"].as_array()?.iter().map(|option| {
            let description = option["description"].as_str().map(plain::visible);
            Some(Choice { label: plain::visible(option["label"].as_str()?), description })
        });
        Some(Picker {
            question: plain::visible(one["question"].as_str()?),
            choices: choices.collect::<Option<_>>()?,
            many: one["multiSelect"].as_bool().unwrap_or_default(),
        })
    };
    input["questions"].as_array()?.iter().map(picker).collect()
}

fn script_choices(input: &Value) -> Option<Picker> {
    let question = plain::visible(input["question"].as_str()?);
    Some(Picker { question, choices: plain_choices(&input["choices"])?, many: false })
}

fn plain_choices(list: &Value) -> Option<Vec<Choice>> {
    let choice =
        |one: &Value| Some(Choice { label: plain::visible(one.as_str()?), description: None });
    list.as_array()?.iter().map(choice).collect()
}

/// Returns the name of the one field that a tool server asks for, and its answers to choose from,
/// if a person can give it here.
fn asked_field(input: &Value) -> Option<(&str, Option<Picker>)> {
    let fields = input["requested_schema"]["properties"].as_object()?;
    let (name, schema) = fields.iter().next().filter(|_| fields.len() == 1)?;
    if schema["type"].as_str() != Some("string") {
        return None;
    }
    let question = plain::visible(input["message"].as_str()?);
    let choices = plain_choices(&schema["enum"]);
    Some((name, choices.map(|choices| Picker { question, choices, many: false })))
}

/// Returns the input that carries the picks back to the tool, made from its original input.
pub(crate) fn answered(tool: &str, input: &str, picks: &[Vec<u8>]) -> Option<String> {
    let input: Value = serde_json::from_str(input).ok()?;
    let chosen = |question: usize, list: &Value, label: fn(&Value) -> Option<&str>| {
        let labels = picks.get(question)?.iter().map(|at| label(list.get(usize::from(*at))?));
        labels.collect::<Option<Vec<_>>>().map(|labels| labels.join(", "))
    };
    let answer = match tool {
        "AskUserQuestion" => {
            let mut answers = Map::new();
            for (at, one) in input["questions"].as_array()?.iter().enumerate() {
                let label = chosen(at, &one["options"], |option| option["label"].as_str())?;
                answers.insert(one["question"].as_str()?.to_owned(), label.into());
            }
            json!({ "questions": input["questions"], "answers": answers })
        }
        "Ask" => json!({ "choice": chosen(0, &input["choices"], Value::as_str)? }),
        "Elicitation" => {
            let (name, _) = asked_field(&input)?;
            let list = &input["requested_schema"]["properties"][name]["enum"];
            json!({ name: chosen(0, list, Value::as_str)? })
        }
        _ => return None,
    };
    Some(answer.to_string())
}

/// Returns the input that carries a person's own words back to a tool that asked for words.
pub(crate) fn worded(tool: &str, input: &str, words: &str) -> Option<String> {
    let input: Value = serde_json::from_str(input).ok()?;
    match tool {
        "Elicitation" => match asked_field(&input)? {
            (name, None) => Some(json!({ name: words }).to_string()),
            (_, Some(_)) => None,
        },
        _ => None,
    }
}
