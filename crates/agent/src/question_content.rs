//! The questions of the model and of tool servers: what is asked, read from the input of a tool,
//! and what the answer means to that tool. Pure.
//!
//! The texts come from a model or from a server. What could not be seen in them is made visible,
//! and they are bounded.

use callgate_mask::text::{one_line, shortened_text, visible_text};
use callgate_wire::session::{AgentQuestion, FieldKind, FieldOption, NumberBounds, QuestionField};
use callgate_wire::tool_act::ToolKind;
use serde_json::{Map, Number, Value, json};

/// The longest text of a question, in characters.
const LONGEST_TEXT: usize = 4_000;
/// The longest title or description of a field or a choice, in characters.
const LONGEST_TITLE: usize = 500;
/// The longest address, in characters. A longer one is not shown, because it could not be judged.
const LONGEST_URL: usize = 2_048;
/// The longest input that is asked about in fields, in bytes.
const LONGEST_INPUT: usize = 1024 * 1024;
/// The most fields of a question, and the most choices of a field.
const MOST_FIELDS: usize = 32;
const MOST_OPTIONS: usize = 256;

/// Returns true if calls of this kind ask the person something in this runtime.
pub(crate) fn is_question(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::AskUser | ToolKind::Elicit)
}

/// Reads a question from the input of a call, or returns `None` if it cannot be asked in fields.
pub(crate) fn read_question(
    kind: ToolKind,
    input: &Value,
    question: &str,
    tool_id: &str,
) -> Option<AgentQuestion> {
    let (text, url, fields) = match kind {
        ToolKind::AskUser => read_model_question(input)?,
        ToolKind::Elicit => read_elicitation(input)?,
        _ => return None,
    };
    let is_unique = |(at, field): (usize, &QuestionField)| {
        fields[..at].iter().all(|other| other.name != field.name)
    };
    // Values and names are sent as they are, and have to fit into a line.
    if input.to_string().len() > LONGEST_INPUT {
        return None;
    }
    if fields.len() > MOST_FIELDS || !fields.iter().enumerate().all(is_unique) {
        return None;
    }
    let server = input["mcp_server_name"].as_str().filter(|_| kind == ToolKind::Elicit);
    Some(AgentQuestion {
        question: question.to_owned(),
        tool_id: tool_id.to_owned(),
        server: server.map(short_title),
        text: shortened_text(&visible_text(&text), LONGEST_TEXT),
        url,
        fields,
        deadline: None,
    })
}

/// Returns the input of the call that carries an answer, which was
/// [checked](AgentQuestion::check_values).
pub(crate) fn answered_input(
    kind: ToolKind,
    input: &Value,
    asked: &AgentQuestion,
    values: &Map<String, Value>,
) -> Value {
    if kind != ToolKind::AskUser {
        return Value::Object(values.clone());
    }
    let questions = input["questions"].as_array().into_iter().flatten();
    let answers: Map<String, Value> = questions
        .zip(&asked.fields)
        .filter_map(|(one, field)| {
            let question = one["question"].as_str()?.to_owned();
            Some((question, Value::String(value_words(values.get(&field.name)?))))
        })
        .collect();
    json!({ "questions": input["questions"], "answers": answers })
}

/// Returns a value as agents read the answer to a question: several choices with commas.
fn value_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(value_words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

type QuestionParts = (String, Option<String>, Vec<QuestionField>);

/// Reads the input of `AskUserQuestion` and `ask_user`.
fn read_model_question(input: &Value) -> Option<QuestionParts> {
    let questions = input["questions"].as_array().filter(|all| !all.is_empty())?;
    let fields: Option<Vec<QuestionField>> = questions
        .iter()
        .enumerate()
        .map(|(at, one)| {
            Some(QuestionField {
                // By its number, because two questions of other agents may have the same text.
                name: (at + 1).to_string(),
                title: shortened_text(&visible_text(one["question"].as_str()?), LONGEST_TEXT),
                description: None,
                required: true,
                kind: model_question_kind(one)?,
            })
        })
        .collect();
    let fields = fields?;
    let text = match fields.as_slice() {
        [one] => one.title.clone(),
        all => format!("The model has {} questions for you.", all.len()),
    };
    Some((text, None, fields))
}

/// Returns the type of a model's question. The person may always answer in other words.
fn model_question_kind(one: &Value) -> Option<FieldKind> {
    let options = one["options"].as_array().map(Vec::as_slice).unwrap_or_default();
    let option = |option: &Value| {
        let label = option["label"].as_str()?;
        Some(FieldOption {
            // Sent back as it is: only what is shown is bounded and made visible.
            value: label.to_owned(),
            title: short_title(label),
            description: option["description"].as_str().map(short_title),
        })
    };
    let options: Vec<FieldOption> = options.iter().map(option).collect::<Option<_>>()?;
    if options.len() > MOST_OPTIONS {
        return None;
    }
    Some(match (options.is_empty(), one["multiSelect"] == true) {
        (true, _) => {
            FieldKind::Text { min_length: Some(1), max_length: None, format: None, default: None }
        }
        (false, false) => FieldKind::OneOf { options, free_text: true, default: None },
        (false, true) => FieldKind::SeveralOf {
            options,
            free_text: true,
            min_items: Some(1),
            max_items: None,
            default: None,
        },
    })
}

/// Reads the input of an elicitation.
fn read_elicitation(input: &Value) -> Option<QuestionParts> {
    let text = input["message"].as_str()?.to_owned();
    if input["mode"] == "url" {
        let url = input["url"].as_str().filter(|url| url.chars().count() <= LONGEST_URL)?;
        return Some((text, Some(one_line(url).into_owned()), Vec::new()));
    }
    let schema = &input["requested_schema"];
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object()?.iter().map(|(name, field)| {
        Some(QuestionField {
            name: name.clone(),
            title: field["title"].as_str().map_or_else(|| short_title(name), short_title),
            description: field["description"].as_str().map(short_title),
            required: required.contains(&name.as_str()),
            kind: field_kind(field)?,
        })
    });
    Some((text, None, fields.collect::<Option<_>>()?))
}

/// Reads the restricted JSON Schema of one field.
fn field_kind(field: &Value) -> Option<FieldKind> {
    let default = &field["default"];
    let text_default = || default.as_str().map(str::to_owned);
    let bounds = || NumberBounds {
        minimum: json_number(&field["minimum"]),
        maximum: json_number(&field["maximum"]),
        default: json_number(default),
    };
    Some(match field["type"].as_str()? {
        "string" => match field_options(field)? {
            Some(options) => {
                FieldKind::OneOf { options, free_text: false, default: text_default() }
            }
            None => FieldKind::Text {
                min_length: field["minLength"].as_u64(),
                max_length: field["maxLength"].as_u64(),
                format: field["format"].as_str().map(short_title),
                default: text_default(),
            },
        },
        "number" => FieldKind::Number(bounds()),
        "integer" => FieldKind::Integer(bounds()),
        "boolean" => FieldKind::Boolean { default: default.as_bool() },
        "array" => FieldKind::SeveralOf {
            options: field_options(&field["items"])??,
            free_text: false,
            min_items: field["minItems"].as_u64(),
            max_items: field["maxItems"].as_u64(),
            default: default
                .as_array()
                .map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        },
        _ => return None,
    })
}

fn json_number(value: &Value) -> Option<Number> {
    value.as_number().cloned()
}

/// Returns the choices of a field: `Some(None)` if it has none, `None` if they cannot be read.
#[allow(clippy::option_option, reason = "no choices are not the same as unreadable ones")]
fn field_options(field: &Value) -> Option<Option<Vec<FieldOption>>> {
    let option = |value: &str, name: Option<&str>| FieldOption {
        value: value.to_owned(),
        title: short_title(name.unwrap_or(value)),
        description: None,
    };
    let titled = ["oneOf", "anyOf"].into_iter().find_map(|name| field[name].as_array());
    let options: Vec<FieldOption> = match (titled, field["enum"].as_array()) {
        (Some(all), _) => all
            .iter()
            .map(|one| Some(option(one["const"].as_str()?, one["title"].as_str())))
            .collect::<Option<_>>()?,
        (None, Some(all)) => all
            .iter()
            .enumerate()
            .map(|(at, one)| Some(option(one.as_str()?, field["enumNames"][at].as_str())))
            .collect::<Option<_>>()?,
        (None, None) => return Some(None),
    };
    (1..=MOST_OPTIONS).contains(&options.len()).then_some(Some(options))
}

fn short_title(text: &str) -> String {
    shortened_text(&one_line(text), LONGEST_TITLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: ToolKind, input: &Value) -> Option<AgentQuestion> {
        read_question(kind, input, "q", "t")
    }

    fn form(properties: &Value) -> Value {
        let schema = json!({"type": "object", "properties": properties, "required": ["a"]});
        json!({"mcp_server_name": "toy", "message": "Who?", "mode": "form", "requested_schema": schema})
    }

    #[test]
    fn a_models_questions_become_choices_with_a_free_answer() {
        let options = json!([{"label": "Red", "description": "warm"}, {"label": "Blue"}]);
        let input = json!({"questions": [
            {"question": "Which colour?", "header": "Colour", "options": options},
            {"question": "Which sizes?", "options": [{"label": "S"}, {"label": "L"}], "multiSelect": true},
            {"question": "Anything else?"},
        ]});
        let asked = read(ToolKind::AskUser, &input).unwrap();
        assert_eq!(
            (asked.text.as_str(), asked.server.as_deref()),
            ("The model has 3 questions for you.", None)
        );
        let values = json!({"1": "Green", "2": ["S", "L"], "3": "no"});
        let values = values.as_object().unwrap();
        assert_eq!(asked.check_values(values), Ok(()));
        let answered = answered_input(ToolKind::AskUser, &input, &asked, values);
        assert_eq!(answered["questions"], input["questions"]);
        let answers =
            json!({"Which colour?": "Green", "Which sizes?": "S, L", "Anything else?": "no"});
        assert_eq!(answered["answers"], answers);
    }

    #[test]
    fn every_field_of_a_form_is_read() {
        let properties = json!({
            "a": {"type": "string", "title": "Mail", "format": "email", "minLength": 3},
            "b": {"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"], "default": "x"},
            "c": {"type": "string", "oneOf": [{"const": "1", "title": "One"}]},
            "d": {"type": "array", "items": {"type": "string", "enum": ["p"]}, "maxItems": 1},
            "e": {"type": "array", "items": {"anyOf": [{"const": "q", "title": "Queue"}]}},
            "f": {"type": "integer", "minimum": 0, "maximum": 10, "default": 3},
            "g": {"type": "number"},
            "h": {"type": "boolean", "default": true},
        });
        let asked = read(ToolKind::Elicit, &form(&properties)).unwrap();
        assert_eq!((asked.text.as_str(), asked.server.as_deref()), ("Who?", Some("toy")));
        let kinds: Vec<Value> = asked.fields.iter().map(|field| json!(field)).collect();
        assert_eq!(
            kinds[0],
            json!({"name": "a", "title": "Mail", "required": true, "type": "text", "minLength": 3, "format": "email"})
        );
        assert_eq!(kinds[1]["options"][1], json!({"value": "y", "title": "Why"}));
        assert_eq!((&kinds[1]["required"], &kinds[1]["default"]), (&json!(false), &json!("x")));
        assert_eq!(kinds[2]["options"], json!([{"value": "1", "title": "One"}]));
        assert_eq!((&kinds[3]["type"], &kinds[3]["maxItems"]), (&json!("several_of"), &json!(1)));
        assert_eq!(kinds[4]["options"], json!([{"value": "q", "title": "Queue"}]));
        assert_eq!((&kinds[5]["type"], &kinds[5]["maximum"]), (&json!("integer"), &json!(10)));
        assert_eq!((&kinds[6]["type"], &kinds[7]["default"]), (&json!("number"), &json!(true)));
        let values = json!({"a": "ada@example.org", "d": ["p"]});
        let values = values.as_object().unwrap();
        assert_eq!(asked.check_values(values), Ok(()));
        let answer = answered_input(ToolKind::Elicit, &Value::Null, &asked, values);
        assert_eq!(answer, json!(values));
    }

    #[test]
    fn what_cannot_be_asked_in_fields_is_not() {
        for properties in [
            json!({"a": {"type": "object"}}),
            json!({"a": {"type": "array", "items": {"type": "string"}}}),
            json!({"a": {"type": "string", "enum": []}}),
            json!({"a": {"type": "string", "enum": [1]}}),
            json!({"a": {}}),
        ] {
            assert_eq!(read(ToolKind::Elicit, &form(&properties)), None, "{properties}");
        }
        assert_eq!(read(ToolKind::AskUser, &json!({"questions": []})), None);
        let many: Map<String, Value> =
            (0..33).map(|at| (format!("f{at}"), json!({"type": "boolean"}))).collect();
        assert_eq!(read(ToolKind::Elicit, &form(&Value::Object(many))), None);
    }

    #[test]
    fn a_servers_texts_are_bounded_and_hide_nothing() {
        let mut input = form(&json!({"a": {"type": "string", "title": "A\u{202e}\nB\u{1b}[2J"}}));
        input["message"] = json!("x".repeat(5_000));
        input["mcp_server_name"] = json!("toy\u{7}");
        let asked = read(ToolKind::Elicit, &input).unwrap();
        assert_eq!(asked.text.chars().count(), LONGEST_TEXT + 1);
        let shown = format!("{}{}", asked.fields[0].title, asked.server.unwrap());
        assert!(!shown.contains(['\u{202e}', '\n', '\u{1b}', '\u{7}']), "{shown:?}");
        let url = |url: String| {
            read(ToolKind::Elicit, &json!({"message": "Visit", "mode": "url", "url": url}))
        };
        assert_eq!(
            url("https://a.example/b".to_owned()).unwrap().url.unwrap(),
            "https://a.example/b"
        );
        assert_eq!(url(format!("https://a.example/{}", "b".repeat(3_000))), None);
    }
}
