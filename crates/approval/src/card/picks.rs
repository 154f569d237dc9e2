//! The agent's own questions with answers to choose from, and how the choice is sent back.

use crate::plain;
use callgate_wire::approval::Action;
use callgate_wire::desk::{CardChoice, CardPicker};
use callgate_wire::tool_act::ToolKind;
use serde_json::{Map, Value, json};

/// The most questions and answers: buttons cannot tell more apart, and nobody would read more.
const MOST_PICKERS: usize = 8;
const MOST_CHOICES: usize = 32;

/// Returns the pickers for a tool's masked input. If not all of it can be shown, nothing can be
/// picked.
pub(super) fn pickers_from_input(tool: ToolKind, input: &str) -> Vec<CardPicker> {
    if !tool.asks_a_person() {
        return Vec::new();
    }
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let pickers = match tool {
        ToolKind::AskUser => user_questions(&input),
        ToolKind::Script => script_choices(&input).map(|picker| vec![picker]),
        ToolKind::Elicit => asked_field(&input).and_then(|(_, picker)| Some(vec![picker?])),
        _ => None,
    };
    let fits = |picker: &CardPicker| (1..=MOST_CHOICES).contains(&picker.choices.len());
    let fitting = pickers.filter(|all| all.len() <= MOST_PICKERS && all.iter().all(fits));
    let mut pickers = fitting.unwrap_or_default();
    for (picker, question) in pickers.iter_mut().zip(0..) {
        for (choice, option) in picker.choices.iter_mut().zip(0..) {
            choice.action = Action::Pick { question, option }.to_string();
        }
    }
    pickers
}

/// Returns an answer to choose. Its button is known when all answers are.
fn parse_choice(label: &Value, description: Option<String>) -> Option<CardChoice> {
    let label = plain::visible_text(label.as_str()?);
    Some(CardChoice { label, description, action: String::new() })
}

fn user_questions(input: &Value) -> Option<Vec<CardPicker>> {
    let picker = |one: &Value| {
        let choices = one["options"].as_array()?.iter().map(|option| {
            parse_choice(&option["label"], option["description"].as_str().map(plain::visible_text))
        });
        Some(CardPicker {
            question: plain::visible_text(one["question"].as_str()?),
            choices: choices.collect::<Option<_>>()?,
            many: one["multiSelect"].as_bool().unwrap_or_default(),
        })
    };
    input["questions"].as_array()?.iter().map(picker).collect()
}

fn script_choices(input: &Value) -> Option<CardPicker> {
    let question = plain::visible_text(input["question"].as_str()?);
    Some(CardPicker { question, choices: plain_choices(&input["choices"])?, many: false })
}

fn plain_choices(list: &Value) -> Option<Vec<CardChoice>> {
    list.as_array()?.iter().map(|label| parse_choice(label, None)).collect()
}

/// Returns the name of the one field that a tool server asks for, and its answers to choose from,
/// if a person can give it here.
fn asked_field(input: &Value) -> Option<(&str, Option<CardPicker>)> {
    let fields = input["requested_schema"]["properties"].as_object()?;
    let (name, schema) = fields.iter().next().filter(|_| fields.len() == 1)?;
    if schema["type"].as_str() != Some("string") {
        return None;
    }
    let question = plain::visible_text(input["message"].as_str()?);
    let choices = plain_choices(&schema["enum"]);
    Some((name, choices.map(|choices| CardPicker { question, choices, many: false })))
}

/// Returns the input that carries the picks back to the tool, made from its original input. Words
/// answer questions without a pick, of a tool that takes words.
pub(crate) fn answered_input(
    tool: ToolKind,
    input: &str,
    picks: &[Vec<u8>],
    words: Option<&str>,
) -> Option<String> {
    // Every face asks this of every question, and inputs of other tools may be long.
    if !tool.asks_a_person() {
        return None;
    }
    let input: Value = serde_json::from_str(input).ok()?;
    let chosen = |question: usize, list: &Value, label: fn(&Value) -> Option<&str>| {
        let picks = picks.get(question).filter(|picks| words.is_none() || !picks.is_empty());
        let Some(picks) = picks else { return words.map(str::to_owned) };
        let labels = picks.iter().map(|at| label(list.get(usize::from(*at))?));
        labels.collect::<Option<Vec<_>>>().map(|labels| labels.join(", "))
    };
    let answer = match tool {
        ToolKind::AskUser => {
            let mut answers = Map::new();
            for (at, one) in input["questions"].as_array()?.iter().enumerate() {
                let answer = chosen(at, &one["options"], |option| option["label"].as_str())?;
                answers.insert(one["question"].as_str()?.to_owned(), answer.into());
            }
            json!({ "questions": input["questions"], "answers": answers })
        }
        ToolKind::Elicit => {
            let (name, picker) = asked_field(&input)?;
            // One of certain answers is not given in words.
            if picker.is_some() && words.is_some() {
                return None;
            }
            let list = &input["requested_schema"]["properties"][name]["enum"];
            json!({ name: chosen(0, list, Value::as_str)? })
        }
        _ if words.is_some() => return None,
        _ => json!({ "choice": chosen(0, &input["choices"], Value::as_str)? }),
    };
    Some(answer.to_string())
}
