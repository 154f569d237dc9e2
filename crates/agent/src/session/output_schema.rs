//! The JSON Schema that the answer to a message has to fit.

use callgate_tools::SchemaChecker;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::RequestFailure;

/// How often the model is asked again if its answer does not fit.
const MOST_CORRECTIONS: u32 = 2;
/// The longest schema, in bytes: the model reads all of it.
const LONGEST_SCHEMA: usize = 64 * 1024;

/// The schema of an answer, and how often the model may still be corrected.
#[derive(Debug)]
pub(super) struct OutputSchema {
    checker: SchemaChecker,
    schema: Box<RawValue>,
    left: u32,
}

pub(super) enum CheckedAnswer {
    /// It fits: this is its JSON.
    Fits(Box<RawValue>),
    /// It does not fit for this reason, and the model is to read this.
    Correct {
        /// Why, for a person.
        reason: String,
        words: String,
    },
    /// It does not fit, and the model was asked often enough.
    Failed(RequestFailure),
}

impl OutputSchema {
    pub(super) fn from_json(schema: Box<RawValue>) -> Result<Self, RequestFailure> {
        let wrong = |text: String| RequestFailure::permanent("protocol", text);
        if schema.get().len() > LONGEST_SCHEMA {
            return Err(wrong(format!("`outputSchema` has more than {LONGEST_SCHEMA} bytes")));
        }
        let value: Value = serde_json::from_str(schema.get())
            .map_err(|error| wrong(format!("`outputSchema` cannot be read: {error}")))?;
        let checker = SchemaChecker::new(&value, "outputSchema").map_err(wrong)?;
        Ok(Self { checker, schema, left: MOST_CORRECTIONS })
    }

    /// Returns what the model reads after the user's message.
    pub(super) fn request_text(&self) -> String {
        format!(
            "[This is not from the user: the program that shows your answer reads it as JSON. End \
             with one JSON value that fits this JSON Schema, and with nothing before or after it: \
             {}]",
            self.schema
        )
    }

    pub(super) fn check_answer(&mut self, answer: &str) -> CheckedAnswer {
        let reason = match self.parse_answer(answer) {
            Ok(value) => return CheckedAnswer::Fits(value),
            Err(reason) => reason,
        };
        if self.left == 0 {
            let text = format!(
                "the model's answer does not fit the output schema, also after \
                 {MOST_CORRECTIONS} corrections: {reason}"
            );
            return CheckedAnswer::Failed(RequestFailure::permanent("schema", text));
        }
        self.left -= 1;
        let words = format!(
            "[This is not from the user: your last answer does not fit the JSON Schema: {reason}. \
             Answer again with the JSON value alone.]"
        );
        CheckedAnswer::Correct { reason, words }
    }

    /// Returns the JSON of an answer, which may be enclosed in a block of code.
    fn parse_answer(&self, answer: &str) -> Result<Box<RawValue>, String> {
        let text = answer.trim();
        let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
        let text = fenced.map_or(text, |text| text.strip_prefix("json").unwrap_or(text)).trim();
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        match self.checker.errors(&value) {
            Some(reason) => Err(reason),
            None => RawValue::from_string(text.to_owned()).map_err(|error| error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::raw_json;

    fn schema() -> OutputSchema {
        let members = json!({"name": {"type": "string"}});
        let schema = json!({"type": "object", "properties": members, "required": ["name"]});
        OutputSchema::from_json(raw_json(&schema)).unwrap()
    }

    #[test]
    fn an_answer_that_fits_is_returned_as_it_was_written() {
        for (answer, expected) in [
            (r#"{"name": "a", "n": 1.0}"#, r#"{"name": "a", "n": 1.0}"#),
            ("\n```json\n{\"name\":\"a\"}\n```\n", r#"{"name":"a"}"#),
            ("```\n{\"name\":\"a\"}\n```", r#"{"name":"a"}"#),
        ] {
            let CheckedAnswer::Fits(value) = schema().check_answer(answer) else {
                panic!("{answer}")
            };
            assert_eq!(value.get(), expected);
        }
    }

    #[test]
    fn the_model_is_corrected_twice() {
        let mut schema = schema();
        for (answer, part) in [("Here it is.", "it is not JSON"), ("{}", "\"name\" is a required")]
        {
            let CheckedAnswer::Correct { reason, words } = schema.check_answer(answer) else {
                panic!()
            };
            assert!(reason.contains(part) && words.contains(part), "{reason}");
        }
        let CheckedAnswer::Failed(failure) = schema.check_answer("[]") else { panic!() };
        assert_eq!(failure.kind, "schema");
        assert!(failure.text.contains("2 corrections"), "{}", failure.text);
    }

    #[test]
    fn a_schema_that_cannot_be_checked_is_refused() {
        let wrong = |schema: Value| OutputSchema::from_json(raw_json(&schema)).unwrap_err().text;
        assert!(wrong(json!({"type": "thing"})).contains("`outputSchema` is no JSON Schema"));
        let elsewhere = json!({"$ref": "https://example.com/schema"});
        assert!(wrong(elsewhere).contains("`outputSchema`"));
        let long = json!({"description": "x".repeat(LONGEST_SCHEMA)});
        assert!(wrong(long).contains("more than"));
    }
}
