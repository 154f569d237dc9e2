//! The answers of an MCP server.

use std::sync::LazyLock;

use callgate_tools::mcp::{Catalogue, McpAction, McpCall, answer};
use callgate_wire::mcp::meta;
use callgate_wire::raw::{Json, Members};
use callgate_wire::tools::{CallProgress, ErrorPayload};
use serde_json::value::RawValue;

use super::{count, one_line, without_return};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    let file = br#"[
        {"name": "add", "description": "Adds.", "input_schema": {"type": "object"}},
        {"name": "d\u00e9j\u00e0 \"vu\"\n", "description": null, "input_schema": {
            "type": "object"
        }}
    ]"#;
    match Catalogue::from_schema_file(file) {
        Ok((catalogue, left_out)) if left_out.is_empty() => catalogue,
        other => panic!("the catalogue of the check cannot be read: {other:?}"),
    }
});

/// Checks that an MCP server accepts any line, and answers every valid request.
pub fn mcp_answer(data: &[u8]) {
    let Some(line) = data.split(|byte| *byte == b'\n').next().map(without_return) else { return };
    let answer = answer(&CATALOGUE, line);
    match &answer {
        McpAction::Reply(reply) => drop(message(reply.as_bytes())),
        McpAction::Call(call) => check_call(line, call),
        McpAction::Cancel(id) => drop(json(id)),
        McpAction::Nothing => {}
    }
    match Asked::of(line) {
        Asked::Request(id) => check_answered(id, &answer),
        Asked::NotificationOrResponse => {
            assert!(matches!(answer, McpAction::Cancel(_) | McpAction::Nothing), "{answer:?}");
        }
        Asked::NoMessage => assert_eq!(error_code(&answer), Some("-32600"), "{answer:?}"),
        Asked::NoJson => assert_eq!(error_code(&answer), Some("-32700"), "{answer:?}"),
        Asked::Unclear => {}
    }
}

/// The meaning of a line, determined independently of the server.
enum Asked<'a> {
    NoJson,
    /// JSON, but not an object, or one with an invalid id.
    NoMessage,
    /// Something between JSON and JSON-RPC.
    Unclear,
    NotificationOrResponse,
    Request(Json<'a>),
}

impl<'a> Asked<'a> {
    fn of(line: &'a [u8]) -> Self {
        let Ok(text) = std::str::from_utf8(line) else { return Self::NoJson };
        let Ok(value) = serde_json::from_str::<&RawValue>(text) else { return Self::NoJson };
        if !Json::from(value).is_object() {
            return Self::NoMessage;
        }
        match Members::from_text(text) {
            Ok(members) => Self::of_members(&members),
            Err(_) => Self::Unclear,
        }
    }

    fn of_members(members: &Members<'a>) -> Self {
        let is_single = |name| count(members, name) <= 1;
        let is_message = ["jsonrpc", "id", "method", "params"].into_iter().all(is_single)
            && members.string("jsonrpc").as_deref() == Some("2.0")
            && members.get_non_null("params").is_none_or(Json::is_object);
        let has_answer = members.get("result").is_some() || members.get("error").is_some();
        let has_method = members.string("method").is_some();
        match members.get("id") {
            _ if !is_message => Self::Unclear,
            Some(id) if !id.is_id() => Self::NoMessage,
            Some(id) if has_method => Self::Request(id),
            None if has_method => Self::NotificationOrResponse,
            _ if has_answer && members.get("method").is_none() => Self::NotificationOrResponse,
            _ => Self::Unclear,
        }
    }
}

fn check_answered(id: Json<'_>, answer: &McpAction<'_>) {
    let answered = match answer {
        McpAction::Reply(reply) => answered_id(reply),
        McpAction::Call(call) => call.id.get().to_owned(),
        McpAction::Cancel(_) | McpAction::Nothing => panic!("the request {id} got no answer"),
    };
    assert_eq!(answered, id.get(), "the id of the answer");
}

/// Returns the id of the request that a line answers: a listener's is in the notification's
/// `_meta`.
fn answered_id(reply: &str) -> String {
    let members = message(reply.as_bytes());
    let listened = || {
        let meta = members.get("params")?.members().get("_meta")?.members();
        meta.get(meta::SUBSCRIPTION_ID)
    };
    let id = members.get("id").or_else(listened);
    id.map(|id| id.get().to_owned()).unwrap_or_default()
}

fn error_code<'a>(answer: &'a McpAction<'_>) -> Option<&'a str> {
    let McpAction::Reply(reply) = answer else { return None };
    let error = message(reply.as_bytes()).get("error")?.members();
    error.get("code").map(Json::get)
}

fn check_call(line: &[u8], call: &McpCall<'_>) {
    assert!(CATALOGUE.has(&call.name), "a tool that is not there");
    assert!(json(call.arguments.get()).is_object(), "arguments that are no object");
    let is_in_line = |piece: &str| line.windows(piece.len()).any(|at| at == piece.as_bytes());
    assert!(
        call.arguments == Json::EMPTY || is_in_line(call.arguments.get()),
        "arguments that were not sent"
    );
    let ticket = call.ticket();
    let result = json(r#"{ "content": [], "isError": false }"#);
    let error = ErrorPayload { message: "two\nlines".into(), kind: "\u{2028}".into() };
    for reply in
        [ticket.result_reply(result), ticket.result_reply(json("{}")), ticket.error_reply(&error)]
    {
        let line = reply.into_line();
        assert_eq!(message(&line).get("id").map(Json::get), Some(call.id.get()));
    }
    let progress = CallProgress { progress: 1.0, total: None, message: Some("a\nb".into()) };
    if let Some(line) = ticket.progress_notification(&progress) {
        message(&line);
    }
}

/// A line that the server wrote: one JSON-RPC message.
fn message(line: &[u8]) -> Members<'_> {
    let line = one_line(line);
    let Ok(members) = Members::from_text(line) else { panic!("no object: {line}") };
    assert_eq!(members.string("jsonrpc").as_deref(), Some("2.0"), "{line}");
    members
}

fn json(text: &str) -> Json<'_> {
    let Ok(value) = serde_json::from_str::<&RawValue>(text) else { panic!("no JSON: {text}") };
    value.into()
}
