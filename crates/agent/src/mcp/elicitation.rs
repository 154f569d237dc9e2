//! What a server asks the person, and the answer that it gets.
//!
//! The texts are those of the server: they are bounded, and shown with its name. A form that cannot
//! be asked in fields is declined, and so is an address to which a person should not be sent.
//! Nothing is opened here.

use callgate_http::is_private;
use callgate_mask::text::shortened_text;
use callgate_wire::tool_act::ToolKind;
use reqwest::Url;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::http_client::has_login;
use crate::question_content::read_question;
use crate::tool::{PersonAsker, PersonReply, raw_json};

/// The longest message, in characters.
const LONGEST_MESSAGE: usize = 4_000;
/// The longest form, in bytes.
const LONGEST_FORM: usize = 64 * 1024;

/// Asks the person, and returns what the server gets.
pub(super) async fn ask_person(
    server: &str,
    params: ElicitRequestParams,
    asker: &PersonAsker,
) -> ElicitResult {
    let Some(input) = question_input(server, params) else { return declined_result() };
    match asker.ask(raw_json(&input)).await {
        PersonReply::Answered(answer) => accepted_result(&input, answer.as_deref()),
        PersonReply::Declined => declined_result(),
        PersonReply::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}

pub(super) fn declined_result() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

/// Returns the question as the gate knows it from Claude Code, or `None` if it cannot be asked.
fn question_input(server: &str, params: ElicitRequestParams) -> Option<Value> {
    let input = match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => json!({
            "mcp_server_name": server,
            "message": shortened_text(&message, LONGEST_MESSAGE),
            "mode": "form",
            "requested_schema": serde_json::to_value(requested_schema).ok()?,
        }),
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => json!({
            "mcp_server_name": server,
            "message": shortened_text(&message, LONGEST_MESSAGE),
            "mode": "url",
            // As parsed, so that the person reads the host that a browser would visit.
            "url": Url::parse(&url).ok().filter(may_be_visited)?.as_str(),
        }),
        _ => return None,
    };
    // What cannot be asked in fields would reach the person as a permission.
    let fits = input.to_string().len() <= LONGEST_FORM;
    (fits && read_question(ToolKind::Elicit, &input, "", "").is_some()).then_some(input)
}

/// Returns true for an address that nobody can read along, without a name that hides its host.
fn may_be_visited(url: &Url) -> bool {
    is_private(url) && !has_login(url)
}

/// Returns the acceptance of an answer that fits. Another one, which may come from a phone, is not
/// sent to the server.
fn accepted_result(input: &Value, answer: Option<&RawValue>) -> ElicitResult {
    let Some(asked) = read_question(ToolKind::Elicit, input, "", "") else {
        return declined_result();
    };
    // An answer without values is a consent, as to an address.
    let values: Option<Map<String, Value>> =
        answer.map_or(Some(Map::new()), |answer| serde_json::from_str(answer.get()).ok());
    match values.filter(|values| asked.check_values(values).is_ok()) {
        Some(values) => {
            let result = ElicitResult::new(ElicitationAction::Accept);
            let is_form = asked.url.is_none();
            if is_form { result.with_content(Value::Object(values)) } else { result }
        }
        None => declined_result(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(value: Value) -> ElicitRequestParams {
        serde_json::from_value(value).unwrap()
    }

    fn form(properties: &Value) -> ElicitRequestParams {
        let schema = json!({"type": "object", "properties": properties, "required": ["b"]});
        params(json!({"message": "Who?", "requestedSchema": schema}))
    }

    #[test]
    fn a_form_keeps_the_order_and_the_limits_of_its_fields() {
        let properties = json!({
            "b": {"type": "string", "enum": ["x", "y"]},
            "a": {"type": "integer", "minimum": 1},
        });
        let input = question_input("toy", form(&properties)).unwrap();
        assert_eq!(input["mcp_server_name"], "toy");
        let asked = read_question(ToolKind::Elicit, &input, "", "").unwrap();
        let names: Vec<&str> = asked.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        let reply = |answer: Value| accepted_result(&input, Some(&raw_json(&answer)));
        let right = reply(json!({"b": "x", "a": 2}));
        assert_eq!(right.content, Some(json!({"b": "x", "a": 2})));
        // Whoever gave it: what does not fit is not sent.
        for wrong in [json!({"b": "z"}), json!({"b": "x", "a": 0}), json!({"a": 2}), json!([])] {
            assert_eq!(reply(wrong).action, ElicitationAction::Decline);
        }
        assert_eq!(accepted_result(&input, None).action, ElicitationAction::Decline);
    }

    #[test]
    fn only_private_addresses_are_shown() {
        let url = |url: &str| {
            let params = json!({"mode": "url", "message": "Go", "url": url, "elicitationId": "1"});
            question_input("toy", self::params(params)).is_some()
        };
        let good = [
            "https://a.example/b?c=d",
            "http://127.0.0.1:80/",
            "http://[::1]/",
            "http://localhost",
        ];
        assert_eq!(good.map(url), [true; 4]);
        let bad = [
            "http://a.example/",
            "https://localhost@a.example/",
            "http://127.0.0.1:x@a.example/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "nothing",
        ];
        assert_eq!(bad.map(url), [false; 6]);
    }

    #[test]
    fn a_form_that_is_too_long_is_declined() {
        let long = json!({"b": {"type": "string", "description": "x".repeat(70_000)}});
        assert_eq!(question_input("toy", form(&long)), None);
    }
}
