//! One check per rule: a request that is accepted, changed in one place.
#![allow(clippy::needless_pass_by_value, reason = "`json!(…)` reads better without a `&`")]

mod content;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

/// A request that is accepted as it is.
struct Request {
    call: ApiCall,
    headers: Headers,
    body: Value,
}

impl Request {
    fn valid() -> Self {
        let headers = [
            ("content-type", "application/json"),
            ("x-api-key", "key"),
            ("anthropic-version", "2023-06-01"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let body = json!({
            "model": "some-model",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "hello"}],
            "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        });
        Self { call: ApiCall::Create, headers: headers.into(), body }
    }

    fn header(&mut self, name: &str, value: &str) {
        self.headers.insert(name.to_owned(), value.to_owned());
    }

    fn set(&mut self, name: &str, value: Value) {
        self.body[name] = value;
    }

    fn remove(&mut self, name: &str) {
        self.body.as_object_mut().unwrap().remove(name);
    }

    /// Replaces the messages; the role changes with each, the user first.
    fn talk(&mut self, contents: &[Value]) {
        let roles = ["user", "assistant"].iter().cycle();
        let messages = contents.iter().zip(roles);
        self.body["messages"] =
            messages.map(|(content, role)| json!({"role": role, "content": content})).collect();
    }

    /// Replaces the user's content by one block.
    fn block(&mut self, block: Value) {
        self.talk(&[json!([block])]);
    }

    fn outcome(&self) -> String {
        let bytes = self.body.to_string().into_bytes();
        let result = envelope(&self.headers, &bytes)
            .and_then(|object| super::body(self.call, &self.headers, &object));
        match result {
            Ok(()) => "accepted".to_owned(),
            Err(ApiRefusal { status, kind, message }) => format!("{status} {kind}: {message}"),
        }
    }
}

#[track_caller]
fn check(change: impl FnOnce(&mut Request), expected: Expect) {
    let mut request = Request::valid();
    change(&mut request);
    expected.assert_eq(&request.outcome());
}

fn used(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "look", "input": {}})
}

fn answered(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "seen"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn marked(ttl: &str) -> Value {
    json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}})
}

fn image(media_type: &str, data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
}

fn tool(name: &str, schema: Value) -> Value {
    json!([{"name": name, "description": "d", "input_schema": schema}])
}

#[test]
fn the_request_that_all_others_change_is_accepted() {
    check(|_| (), expect!["accepted"]);
}

#[test]
fn paths_and_methods() {
    let outcome = |method, path| format!("{:?}", route(method, path));
    expect![[r#"Err(ApiRefusal { status: 404, kind: "not_found_error", message: "Not found" })"#]]
        .assert_eq(&outcome("GET", "/v1/complete"));
    expect!["Ok(ListModels)"].assert_eq(&outcome("GET", "/v1/models"));
    expect![[r#"Err(ApiRefusal { status: 405, kind: "invalid_request_error", message: "Method Not Allowed" })"#]].assert_eq(&outcome("GET", "/v1/messages"));
    expect!["Ok(CountTokens)"].assert_eq(&outcome("POST", "/v1/messages/count_tokens"));
}

#[test]
fn headers() {
    check(
        |r| drop(r.headers.remove("x-api-key")),
        expect!["401 authentication_error: x-api-key header is required"],
    );
    check(
        |r| r.header("x-api-key", ""),
        expect!["401 authentication_error: x-api-key header is required"],
    );
    check(
        |r| {
            r.headers.remove("x-api-key");
            r.header("authorization", "Bearer token");
        },
        expect!["accepted"],
    );
    check(
        |r| drop(r.headers.remove("anthropic-version")),
        expect!["400 invalid_request_error: anthropic-version: header is required"],
    );
    check(
        |r| r.header("anthropic-version", "2020-01-01"),
        expect![[
            r#"400 invalid_request_error: anthropic-version: "2020-01-01" is not a valid version"#
        ]],
    );
    check(
        |r| r.header("content-type", "text/plain"),
        expect!["400 invalid_request_error: content-type: must be application/json"],
    );
    check(|r| r.header("content-type", "application/json; charset=utf-8"), expect!["accepted"]);
    check(
        |r| r.header("content-length", "40000000"),
        expect!["413 request_too_large: Request exceeds the maximum size"],
    );
}

#[test]
fn bodies_that_are_no_object() {
    let headers = Request::valid().headers;
    let outcome = |body: &[u8]| envelope(&headers, body).unwrap_err().message;
    expect!["The request body is not valid JSON: EOF while parsing an object at line 1 column 4"]
        .assert_eq(&outcome(b"{\"a\""));
    expect!["Input should be a valid dictionary"].assert_eq(&outcome(b"[]"));
}

#[test]
fn missing_and_unknown_fields() {
    check(|r| r.remove("model"), expect!["400 invalid_request_error: model: Field required"]);
    check(|r| r.remove("messages"), expect!["400 invalid_request_error: messages: Field required"]);
    check(
        |r| r.remove("max_tokens"),
        expect!["400 invalid_request_error: max_tokens: Field required"],
    );
    check(
        |r| r.set("model", json!("")),
        expect!["400 invalid_request_error: model: String should have at least 1 character"],
    );
    check(
        |r| r.set("messages", json!([])),
        expect!["400 invalid_request_error: messages: at least one message is required"],
    );
    check(
        |r| r.set("messages", json!({})),
        expect!["400 invalid_request_error: messages: Input should be a valid list"],
    );
    check(
        |r| r.set("colour", json!(1)),
        expect!["400 invalid_request_error: colour: Extra inputs are not permitted"],
    );
}

#[test]
fn values_out_of_range_or_of_the_wrong_type() {
    check(
        |r| r.set("max_tokens", json!(-1)),
        expect![
            "400 invalid_request_error: max_tokens: Input should be greater than or equal to 0"
        ],
    );
    check(
        |r| r.set("max_tokens", json!("100")),
        expect!["400 invalid_request_error: max_tokens: Input should be a valid integer"],
    );
    check(
        |r| r.set("temperature", json!(1.5)),
        expect!["400 invalid_request_error: temperature: Input should be less than or equal to 1"],
    );
    check(
        |r| r.set("temperature", json!(-0.5)),
        expect![
            "400 invalid_request_error: temperature: Input should be greater than or equal to 0"
        ],
    );
    check(
        |r| r.set("top_k", json!(0.5)),
        expect!["400 invalid_request_error: top_k: Input should be a valid integer"],
    );
    check(
        |r| r.set("stream", json!("yes")),
        expect!["400 invalid_request_error: stream: Input should be a valid boolean"],
    );
    check(
        |r| r.set("stop_sequences", json!(["a", 1])),
        expect!["400 invalid_request_error: stop_sequences.1: Input should be a valid string"],
    );
    check(
        |r| r.set("service_tier", json!("gold")),
        expect![
            "400 invalid_request_error: service_tier: Input should be 'auto' or 'standard_only'"
        ],
    );
    check(
        |r| r.set("metadata", json!({"user_id": "u", "name": "n"})),
        expect!["400 invalid_request_error: metadata.name: Extra inputs are not permitted"],
    );
    check(
        |r| r.set("output_config", json!({"effort": "huge"})),
        expect![
            "400 invalid_request_error: output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
        ],
    );
}

#[test]
fn beta_fields_need_their_flag() {
    let edits = || json!({"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]});
    check(
        |r| r.set("context_management", edits()),
        expect!["400 invalid_request_error: context_management: Extra inputs are not permitted"],
    );
    check(
        |r| {
            r.header("anthropic-beta", "other-2025-01-01, context-management-2025-06-27");
            r.set("context_management", edits());
        },
        expect!["accepted"],
    );
    check(
        |r| {
            r.header("anthropic-beta", "context-management-2025-06-27");
            r.set("context_management", json!({"edits": [{"type": "forget"}]}));
        },
        expect![
            "400 invalid_request_error: context_management.edits.0: Input tag 'forget' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015', 'compact_20260112'"
        ],
    );
    let per_turn = || {
        json!([
            {"role": "user", "content": "a"},
            {"role": "system", "content": "b", "output_config": {"effort": "low"}},
        ])
    };
    check(
        |r| r.set("messages", per_turn()),
        expect![
            "400 invalid_request_error: messages.1.output_config: Extra inputs are not permitted"
        ],
    );
    check(
        |r| {
            r.header("anthropic-beta", "per-turn-control-2026-07-01");
            r.set("messages", per_turn());
        },
        expect!["accepted"],
    );
}

#[test]
fn the_newest_version_is_stricter() {
    let cited = || {
        let mut block = text("a");
        block["citations"] = json!([{"type": "char_location"}]);
        block
    };
    let document = || {
        let source = json!({"type": "text", "media_type": "text/plain", "data": "x"});
        json!({"type": "document", "source": source})
    };
    let newest = |r: &mut Request| r.header("anthropic-version", "2026-10-21");
    check(|r| newest(r), expect!["accepted"]);
    check(|r| r.set("temperature", json!(1.0)), expect!["accepted"]);
    check(
        |r| {
            newest(r);
            r.set("temperature", json!(1.0));
        },
        expect!["400 invalid_request_error: temperature: Extra inputs are not permitted"],
    );
    check(|r| r.block(cited()), expect!["accepted"]);
    check(
        |r| {
            newest(r);
            r.block(cited());
        },
        expect![
            "400 invalid_request_error: messages.0.content.0: `citations` can only be in `assistant` messages"
        ],
    );
    check(|r| r.talk(&[json!("a"), json!([document()]), json!("b")]), expect!["accepted"]);
    check(
        |r| {
            newest(r);
            r.talk(&[json!("a"), json!([document()]), json!("b")]);
        },
        expect![
            "400 invalid_request_error: messages.1.content.0: `document` blocks can only be in `user` messages"
        ],
    );
}

#[test]
fn counting_tokens_takes_no_limit() {
    check(
        |r| r.call = ApiCall::CountTokens,
        expect!["400 invalid_request_error: max_tokens: Extra inputs are not permitted"],
    );
    check(
        |r| {
            r.call = ApiCall::CountTokens;
            r.remove("max_tokens");
        },
        expect!["accepted"],
    );
}

#[test]
fn thinking() {
    let enabled = |budget: u32| json!({"type": "enabled", "budget_tokens": budget});
    check(
        |r| r.set("thinking", enabled(1000)),
        expect![
            "400 invalid_request_error: thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        ],
    );
    check(
        |r| r.set("thinking", enabled(2000)),
        expect![
            "400 invalid_request_error: `max_tokens` must be greater than `thinking.budget_tokens`."
        ],
    );
    check(
        |r| r.set("thinking", json!({"type": "deep"})),
        expect![
            "400 invalid_request_error: thinking: Input tag 'deep' found using 'type' does not match any of the expected tags: 'enabled', 'disabled', 'between_tools', 'adaptive'"
        ],
    );
    let updates = || json!({"type": "adaptive", "display": "updates"});
    check(
        |r| r.set("thinking", updates()),
        expect![
            "400 invalid_request_error: thinking.adaptive.display: Input should be 'summarized' or 'omitted'"
        ],
    );
    check(
        |r| {
            r.header("anthropic-beta", "thinking-display-updates-2026-08-18");
            r.set("thinking", updates());
        },
        expect!["accepted"],
    );
    check(
        |r| {
            r.set("thinking", json!({"type": "adaptive"}));
            r.set("tool_choice", json!({"type": "any"}));
        },
        expect![
            "400 invalid_request_error: Thinking may not be enabled when tool_choice forces tool use."
        ],
    );
    check(
        |r| {
            r.set("thinking", json!({"type": "adaptive"}));
            r.set("temperature", json!(0.5));
        },
        expect![
            "400 invalid_request_error: `temperature` may only be set to 1 when thinking is enabled."
        ],
    );
}
