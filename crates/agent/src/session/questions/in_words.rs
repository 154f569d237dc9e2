//! A question as text for a front end without forms, and the answer in the words of a message.
//! Pure.

use std::fmt::Write as _;

use callgate_wire::session::{AgentQuestion, AnswerOutcome, FieldKind, QuestionField};
use serde_json::{Map, Value};

const DECLINE: &str = "decline";

/// Returns a question as a plain front end shows it, with what can be answered.
pub(super) fn question_text(asked: &AgentQuestion) -> String {
    let mut text = String::from("\n\n");
    // Writing to a string cannot fail.
    match &asked.server {
        Some(server) => writeln!(text, "[The MCP server `{server}` asks] {}", asked.text).ok(),
        None => writeln!(text, "[Question] {}", asked.text).ok(),
    };
    if let Some(url) = &asked.url {
        writeln!(text, "It asks you to visit {url}").ok();
    }
    for field in &asked.fields {
        // The text of a single question of the model is its title.
        if field.title != asked.text {
            let needed = if field.required { "" } else { " (may be left out)" };
            writeln!(text, "{}{needed}", field.title).ok();
        }
        if let Some(description) = &field.description {
            writeln!(text, "  {description}").ok();
        }
        for (at, option) in field.kind.options().iter().enumerate() {
            let more = option.description.as_ref().map(|more| format!(": {more}"));
            writeln!(text, "  {}. {}{}", at + 1, option.title, more.unwrap_or_default()).ok();
        }
    }
    let how = match asked.fields.as_slice() {
        [] => "Answer `yes` to agree".to_owned(),
        [one] => format!("Answer with {}", expected_answer(&one.kind)),
        all => format!(
            "Answer with {} lines, one for each question in this order; a line may be empty",
            all.len()
        ),
    };
    write!(text, "[{how}, or `{DECLINE}`. Your next message is the answer.]\n\n").ok();
    text
}

fn expected_answer(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Text { .. } => "your words",
        FieldKind::Number(_) => "a number",
        FieldKind::Integer(_) => "a whole number",
        FieldKind::Boolean { .. } => "yes or no",
        FieldKind::OneOf { free_text: true, .. } => "a number, or in your own words",
        FieldKind::OneOf { .. } => "the number of a choice",
        FieldKind::SeveralOf { free_text: true, .. } => "numbers with commas, or in your own words",
        FieldKind::SeveralOf { .. } => "the numbers of choices, with commas",
    }
}

/// Reads the answer from a message, or returns why the message is not an answer.
pub(super) fn parse_answer(
    asked: &AgentQuestion,
    words: &str,
) -> Result<(AnswerOutcome, Map<String, Value>), String> {
    let words = words.trim();
    if words.eq_ignore_ascii_case(DECLINE) {
        return Ok((AnswerOutcome::Declined, Map::new()));
    }
    let values = match asked.fields.as_slice() {
        [] if ["yes", "y"].iter().any(|yes| words.eq_ignore_ascii_case(yes)) => Map::new(),
        [] => return Err(format!("answer `yes` or `{DECLINE}`")),
        [one] => in_order(&[one], &[words])?,
        all => {
            let lines: Vec<&str> = words.lines().collect();
            let fields: Vec<&QuestionField> = all.iter().collect();
            if lines.len() == all.len() {
                in_order(&fields, &lines)?
            } else if let Some(values) = same_for_all(all, words) {
                values
            } else {
                let lines = all.len();
                return Err(format!("answer with {lines} lines, one for each question"));
            }
        }
    };
    Ok((AnswerOutcome::Answered, values))
}

fn in_order(fields: &[&QuestionField], lines: &[&str]) -> Result<Map<String, Value>, String> {
    let mut values = Map::new();
    for (field, line) in fields.iter().zip(lines) {
        let value = field.read_words(line).map_err(|why| format!("{}: {why}", field.title))?;
        values.extend(value.map(|value| (field.name.clone(), value)));
    }
    Ok(values)
}

/// Returns the same words as the answer to each question, if all of them take words. A person may
/// answer all of them in one sentence.
fn same_for_all(fields: &[QuestionField], words: &str) -> Option<Map<String, Value>> {
    let value = |field: &QuestionField| match field.kind {
        FieldKind::OneOf { free_text: true, .. } => Some(Value::from(words)),
        FieldKind::SeveralOf { free_text: true, .. } => Some(Value::from(vec![words])),
        _ => None,
    };
    fields.iter().map(|field| Some((field.name.clone(), value(field)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    fn asked(server: Option<&str>, text: &str, fields: &Value) -> AgentQuestion {
        let question = json!({
            "question": "q", "toolId": "t", "text": text, "server": server, "fields": fields,
        });
        serde_json::from_value(question).unwrap()
    }

    fn colour() -> Value {
        let options = json!([{"value": "Red", "title": "Red", "description": "warm"},
            {"value": "Blue", "title": "Blue"}]);
        json!({"name": "1", "title": "Which colour?", "required": true, "type": "one_of",
            "options": options, "freeText": true})
    }

    fn values(asked: &AgentQuestion, words: &str) -> Result<Value, String> {
        parse_answer(asked, words).map(|(outcome, values)| json!([outcome, values]))
    }

    #[test]
    fn a_question_is_a_text_that_says_how_to_answer() {
        expect![[r"


            [Question] Which colour?
              1. Red: warm
              2. Blue
            [Answer with a number, or in your own words, or `decline`. Your next message is the answer.]

        "]]
        .assert_eq(&question_text(&asked(None, "Which colour?", &json!([colour()]))));
        let count = json!({"name": "n", "title": "How many", "required": false, "type": "integer"});
        expect![[r"


            [The MCP server `toy` asks] Your order
            Which colour?
              1. Red: warm
              2. Blue
            How many (may be left out)
            [Answer with 2 lines, one for each question in this order; a line may be empty, or `decline`. Your next message is the answer.]

        "]]
        .assert_eq(&question_text(&asked(Some("toy"), "Your order", &json!([colour(), count]))));
    }

    #[test]
    fn a_message_is_read_as_the_answer() {
        let one = asked(None, "Which colour?", &json!([colour()]));
        assert_eq!(values(&one, "2"), Ok(json!(["answered", {"1": "Blue"}])));
        assert_eq!(values(&one, "rather green"), Ok(json!(["answered", {"1": "rather green"}])));
        assert_eq!(values(&one, " Decline "), Ok(json!(["declined", {}])));
        let count = json!({"name": "n", "title": "How many", "required": false, "type": "integer"});
        let two = asked(Some("toy"), "Your order", &json!([colour(), count]));
        assert_eq!(values(&two, "red\n3"), Ok(json!(["answered", {"1": "Red", "n": 3}])));
        assert_eq!(values(&two, "red\nx"), Err("How many: this is not a whole number".to_owned()));
        assert_eq!(
            values(&two, "red"),
            Err("answer with 2 lines, one for each question".to_owned())
        );
        let mut sizes = colour();
        sizes["name"] = json!("2");
        let both = asked(None, "Two questions", &json!([colour(), sizes]));
        let said = json!(["answered", {"1": "you choose", "2": "you choose"}]);
        assert_eq!(values(&both, "you choose"), Ok(said));
        let url = asked(Some("toy"), "Sign in", &json!([]));
        assert_eq!(values(&url, "Yes"), Ok(json!(["answered", {}])));
        assert!(values(&url, "what?").is_err());
    }
}
