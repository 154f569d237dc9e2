//! What the Messages API refuses, with its status, error type and words.
//!
//! The rules follow the request types of the official SDKs (TypeScript 0.137.0 for the API
//! version 2023-06-01, 1.8.0 for 2026-10-21, beta types included), the documented limits and
//! changes between the versions, and error texts that the service is known to send. A field that
//! needs a beta flag is unknown without it, as it is there.

mod blocks;
mod conversation;
mod shape;
mod tools;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use shape::{Field, Kind, field, nullable, optional, refuse};

/// The longest request that is accepted.
pub(crate) const MAX_REQUEST: usize = 32 * 1024 * 1024;

/// A request that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRefusal {
    pub status: u16,
    /// The error's type, such as `invalid_request_error`.
    pub kind: &'static str,
    pub message: String,
}

type Outcome = Result<(), ApiRefusal>;
type Headers = BTreeMap<String, String>;

/// What the headers say about how to read the body.
struct Context<'a> {
    betas: Vec<&'a str>,
    /// Whether the API version is 2026-10-21 and not 2023-06-01.
    newest: bool,
}

impl<'a> Context<'a> {
    fn of(headers: &'a Headers) -> Self {
        let betas = headers.get("anthropic-beta").map_or("", String::as_str);
        Self {
            betas: betas.split(',').map(str::trim).collect(),
            newest: headers.get("anthropic-version").is_some_and(|version| version == NEWEST),
        }
    }

    fn has_beta(&self, start: &str) -> bool {
        self.betas.iter().any(|beta| beta.starts_with(start))
    }
}

const NEWEST: &str = "2026-10-21";

/// The calls that are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiCall {
    Create,
    CountTokens,
    ListModels,
}

/// Returns which call a request is, unless its path or method is wrong.
pub(crate) fn route(method: &str, path: &str) -> Result<ApiCall, ApiRefusal> {
    let call = match path {
        "/v1/messages" => ApiCall::Create,
        "/v1/messages/count_tokens" => ApiCall::CountTokens,
        "/v1/models" => ApiCall::ListModels,
        _ => return Err(ApiRefusal::new(404, "not_found_error", "Not found".to_owned())),
    };
    if method == if call == ApiCall::ListModels { "GET" } else { "POST" } {
        return Ok(call);
    }
    Err(ApiRefusal::new(405, "invalid_request_error", "Method Not Allowed".to_owned()))
}

/// Returns the body as an object, after everything that can be refused without understanding it.
pub(crate) fn envelope(headers: &Headers, body: &[u8]) -> Result<Map<String, Value>, ApiRefusal> {
    caller(headers)?;
    content_type(headers)?;
    let length = headers.get("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    if body.len().max(length) > MAX_REQUEST {
        let message = "Request exceeds the maximum size".to_owned();
        return Err(ApiRefusal::new(413, "request_too_large", message));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(invalid("Input should be a valid dictionary".to_owned())),
        Err(error) => Err(invalid(format!("The request body is not valid JSON: {error}"))),
    }
}

/// Returns true if the API would accept this body.
pub(crate) fn body(call: ApiCall, headers: &Headers, body: &Map<String, Value>) -> Outcome {
    let context = Context::of(headers);
    let fields = top_fields(call, &context);
    shape::fields("", body, &fields)?;
    blocks::system(body.get("system"))?;
    tools::check(body)?;
    blocks::messages(body, &context)?;
    conversation::check(body)?;
    conversation::cache_control(body)?;
    thinking(body, &context)
}

fn top_fields(call: ApiCall, context: &Context<'_>) -> Vec<Field> {
    let mut fields = vec![field("model", Kind::Name), field("messages", Kind::List)];
    fields.extend(COMMON);
    if call == ApiCall::Create {
        fields.push(field("max_tokens", Kind::Whole(0)));
        fields.extend(CREATE);
    }
    if call == ApiCall::Create && !context.newest {
        fields.extend(SAMPLING);
    }
    let enabled = BETA.iter().filter(|(flag, _)| context.has_beta(flag));
    fields.extend(enabled.map(|(_, field)| *field));
    fields
}

const EFFORT: Kind = Kind::OneOf(&["low", "medium", "high", "xhigh", "max"]);

const COMMON: [Field; 7] = [
    nullable("cache_control", Kind::Cache),
    optional("output_config", Kind::Fields(&OUTPUT_CONFIG)),
    nullable("speed", Kind::OneOf(&["standard", "fast"])),
    optional("system", Kind::Any),
    optional("thinking", Kind::Tagged(&THINKING)),
    optional("tool_choice", Kind::Tagged(&tools::CHOICES)),
    optional("tools", Kind::List),
];

const CREATE: [Field; 7] = [
    nullable("container", Kind::Any),
    nullable("diagnostics", Kind::Fields(&[nullable("previous_message_id", Kind::Text)])),
    nullable("inference_geo", Kind::Text),
    optional("metadata", Kind::Fields(&[nullable("user_id", Kind::Text)])),
    optional("service_tier", Kind::OneOf(&["auto", "standard_only"])),
    optional("stop_sequences", Kind::Texts),
    optional("stream", Kind::Bool),
];

/// Gone in version 2026-10-21, whatever their value.
const SAMPLING: [Field; 3] = [
    optional("temperature", Kind::Fraction),
    optional("top_p", Kind::Fraction),
    optional("top_k", Kind::Whole(0)),
];

/// Fields that only the beta types have, and how the flag begins that turns each on.
/// `safeguards` is in no published type: Claude Code 2.1.325 sends it in its auto mode.
const BETA: [(&str, Field); 8] = [
    ("context-management-", nullable("context_management", Kind::Fields(&CONTEXT_MANAGEMENT))),
    ("compact-", nullable("compaction", Kind::Any)),
    ("fallback-credit-", nullable("fallback_credit_token", Kind::Any)),
    ("server-side-fallback-", nullable("fallbacks", Kind::Any)),
    ("mcp-client-", optional("mcp_servers", Kind::List)),
    ("structured-outputs-", nullable("output_format", Kind::Object)),
    ("message-threads-", nullable("thread", Kind::Any)),
    ("dangerous-tool-use-", optional("safeguards", Kind::List)),
];

const CONTEXT_MANAGEMENT: [Field; 1] = [optional("edits", Kind::ListOf(&EDITS))];
const EDITS: [(&str, &[Field]); 3] = [
    (
        "clear_tool_uses_20250919",
        &[
            nullable("clear_at_least", Kind::Object),
            nullable("clear_tool_inputs", Kind::Any),
            nullable("exclude_tools", Kind::Texts),
            optional("keep", Kind::Object),
            optional("trigger", Kind::Object),
        ],
    ),
    ("clear_thinking_20251015", &[optional("keep", Kind::Any)]),
    (
        "compact_20260112",
        &[
            nullable("instructions", Kind::Text),
            optional("pause_after_compaction", Kind::Bool),
            nullable("trigger", Kind::Object),
        ],
    ),
];

const OUTPUT_CONFIG: [Field; 3] = [
    nullable("effort", EFFORT),
    nullable("format", Kind::Tagged(&[("json_schema", &[field("schema", Kind::Object)])])),
    nullable("task_budget", Kind::Any),
];

const DISPLAY: Field = nullable("display", Kind::OneOf(&["summarized", "omitted", "updates"]));
const BINDING: Field = nullable("block_binding", Kind::Object);
const THINKING: [(&str, &[Field]); 4] = [
    ("enabled", &[field("budget_tokens", Kind::Whole(1024)), BINDING, DISPLAY]),
    ("disabled", &[]),
    ("between_tools", &[]),
    ("adaptive", &[BINDING, DISPLAY]),
];

fn thinking(body: &Map<String, Value>, context: &Context<'_>) -> Outcome {
    let thinking = body.get("thinking");
    let kind = thinking.and_then(|thinking| thinking["type"].as_str()).unwrap_or("disabled");
    if kind == "disabled" {
        return Ok(());
    }
    let display = thinking.and_then(|thinking| thinking["display"].as_str());
    if display == Some("updates") && !context.has_beta("thinking-display-updates-") {
        let place = format!("thinking.{kind}.display");
        return shape::refuse_at(&place, "Input should be 'summarized' or 'omitted'");
    }
    let budget = thinking.and_then(|thinking| thinking["budget_tokens"].as_u64());
    let limit = body.get("max_tokens").and_then(Value::as_u64);
    if let (Some(budget), Some(limit)) = (budget, limit)
        && limit <= budget
    {
        return refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
    }
    let choice = body.get("tool_choice").and_then(|choice| choice["type"].as_str());
    if matches!(choice, Some("any" | "tool")) {
        return refuse("Thinking may not be enabled when tool_choice forces tool use.");
    }
    let temperature = body.get("temperature").and_then(Value::as_f64).unwrap_or(1.0);
    if temperature < 1.0 {
        return refuse("`temperature` may only be set to 1 when thinking is enabled.");
    }
    Ok(())
}

/// Checks what every request has to carry.
pub(crate) fn caller(headers: &Headers) -> Outcome {
    credentials(headers)?;
    version(headers)
}

fn credentials(headers: &Headers) -> Outcome {
    let key = headers.get("x-api-key").map_or("", String::as_str);
    let bearer = headers.get("authorization").and_then(|value| value.strip_prefix("Bearer "));
    if key.trim().is_empty() && bearer.unwrap_or("").trim().is_empty() {
        let message = "x-api-key header is required".to_owned();
        return Err(ApiRefusal::new(401, "authentication_error", message));
    }
    Ok(())
}

fn version(headers: &Headers) -> Outcome {
    match headers.get("anthropic-version").map(String::as_str) {
        Some("2023-06-01" | NEWEST) => Ok(()),
        Some(other) => refuse(&format!("anthropic-version: \"{other}\" is not a valid version")),
        None => refuse("anthropic-version: header is required"),
    }
}

fn content_type(headers: &Headers) -> Outcome {
    let value = headers.get("content-type").map_or("", String::as_str).to_ascii_lowercase();
    if value.split(';').next().unwrap_or_default().trim() == "application/json" {
        return Ok(());
    }
    refuse("content-type: must be application/json")
}

fn invalid(message: String) -> ApiRefusal {
    ApiRefusal::new(400, "invalid_request_error", message)
}

impl ApiRefusal {
    pub(crate) fn new(status: u16, kind: &'static str, message: String) -> Self {
        Self { status, kind, message }
    }
}

#[cfg(test)]
mod tests;
