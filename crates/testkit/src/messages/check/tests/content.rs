//! The messages of a request: roles, blocks, tools and what belongs together.

use super::*;

#[test]
fn roles() {
    let one = |role: &str| json!([{"role": role, "content": "x"}]);
    check(
        |r| r.set("messages", one("assistant")),
        expect![[r#"400 invalid_request_error: messages: first message must use the "user" role"#]],
    );
    check(
        |r| r.set("messages", one("system")),
        expect![[r#"400 invalid_request_error: messages: first message must use the "user" role"#]],
    );
    check(
        |r| r.set("messages", one("tool")),
        expect![
            "400 invalid_request_error: messages.0.role: Input should be 'user', 'assistant' or 'system'"
        ],
    );
    check(
        |r| r.talk(&[json!("a"), json!("b")]),
        expect![
            "400 invalid_request_error: This model does not support assistant message prefill. The conversation must end with a user message."
        ],
    );
    check(|r| r.talk(&[json!("a"), json!("b"), json!("c")]), expect!["accepted"]);
    let said = |role: &str| json!({"role": role, "content": "x"});
    check(
        |r| r.set("messages", json!([said("user"), said("system"), said("user")])),
        expect!["accepted"],
    );
    check(
        |r| {
            let talk = ["user", "assistant", "system", "user"].map(said);
            r.set("messages", json!(talk));
        },
        expect![[
            r#"400 invalid_request_error: messages: a "system" message must come right after a "user" message"#
        ]],
    );
    check(
        |r| r.set("messages", json!([{"role": "user", "content": "a", "name": "me"}])),
        expect!["400 invalid_request_error: messages.0.name: Extra inputs are not permitted"],
    );
    check(
        |r| {
            r.set(
                "messages",
                json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]),
            );
        },
        expect!["accepted"],
    );
}

#[test]
fn empty_content() {
    check(
        |r| r.talk(&[json!("")]),
        expect![
            "400 invalid_request_error: messages.0: all messages must have non-empty content except for the optional final assistant message"
        ],
    );
    check(
        |r| r.talk(&[json!([])]),
        expect![
            "400 invalid_request_error: messages.0: all messages must have non-empty content except for the optional final assistant message"
        ],
    );
    check(
        |r| r.talk(&[json!(null)]),
        expect!["400 invalid_request_error: messages.0.content: Input should be a valid list"],
    );
    check(
        |r| r.block(text("")),
        expect!["400 invalid_request_error: messages: text content blocks must be non-empty"],
    );
    check(
        |r| r.block(text(" \n")),
        expect![
            "400 invalid_request_error: messages: text content blocks must contain non-whitespace text"
        ],
    );
    check(
        |r| r.set("system", json!([text("")])),
        expect!["400 invalid_request_error: system: text content blocks must be non-empty"],
    );
}

#[test]
fn unknown_blocks_and_their_fields() {
    check(
        |r| r.set("system", json!([image("image/png", "iVBORw0KGgo=")])),
        expect![
            "400 invalid_request_error: system.0: Input tag 'image' found using 'type' does not match any of the expected tags: 'text'"
        ],
    );
    check(
        |r| r.set("system", json!(7)),
        expect!["400 invalid_request_error: system: Input should be a valid list"],
    );
    check(
        |r| r.block(json!({"type": "text", "text": "a", "size": 3})),
        expect![
            "400 invalid_request_error: messages.0.content.0.text.size: Extra inputs are not permitted"
        ],
    );
    check(
        |r| r.block(json!({"text": "a"})),
        expect![
            "400 invalid_request_error: messages.0.content.0: Unable to extract tag using discriminator 'type'"
        ],
    );
    check(
        |r| r.block(json!("a")),
        expect![
            "400 invalid_request_error: messages.0.content.0: Input should be a valid dictionary"
        ],
    );
    check(
        |r| r.block(json!({"type": "video"})),
        expect![
            "400 invalid_request_error: messages.0.content.0: Input tag 'video' found using 'type' does not match any of the expected tags: 'text', 'image', 'document', 'search_result', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'advisor_tool_result', 'code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result', 'tool_search_tool_result', 'mcp_tool_use', 'mcp_tool_result', 'container_upload', 'compaction', 'tool_addition', 'tool_removal', 'mcp_tool_listing', 'fallback'"
        ],
    );
}

#[test]
fn images() {
    check(|r| r.block(image("image/png", "iVBORw0KGgo=")), expect!["accepted"]);
    check(
        |r| r.block(image("image/tiff", "iVBORw0KGgo=")),
        expect![
            "400 invalid_request_error: messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        ],
    );
    check(
        |r| r.block(image("image/jpeg", "iVBORw0KGgo=")),
        expect![
            "400 invalid_request_error: messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image appears to be a image/png image"
        ],
    );
    check(
        |r| r.block(image("image/png", "AAAAAAAA")),
        expect!["400 invalid_request_error: Could not process image"],
    );
    check(
        |r| r.block(image("image/png", "not base64")),
        expect![
            "400 invalid_request_error: messages.0.content.0.image.source.base64: invalid base64 data"
        ],
    );
}

#[test]
fn tools() {
    let object = || json!({"type": "object"});
    check(
        |r| r.set("tools", tool("a b", object())),
        expect![
            "400 invalid_request_error: tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
        ],
    );
    check(
        |r| r.set("tools", tool("", object())),
        expect![
            "400 invalid_request_error: tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
        ],
    );
    check(
        |r| r.set("tools", tool(&"a".repeat(129), object())),
        expect![
            "400 invalid_request_error: tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
        ],
    );
    check(|r| r.set("tools", tool(&"a".repeat(128), object())), expect!["accepted"]);
    check(
        |r| r.set("tools", tool("a", json!({}))),
        expect!["400 invalid_request_error: tools.0.custom.input_schema.type: Field required"],
    );
    check(
        |r| r.set("tools", tool("a", json!({"type": "string"}))),
        expect![
            "400 invalid_request_error: tools.0.custom.input_schema.type: Input should be 'object'"
        ],
    );
    check(
        |r| r.set("tools", tool("a", json!({"type": "object", "required": "x"}))),
        expect![
            "400 invalid_request_error: tools.0.custom.input_schema.required: Input should be a valid list"
        ],
    );
    check(
        |r| r.set("tools", tool("a", json!({"type": "object", "properties": []}))),
        expect![
            "400 invalid_request_error: tools.0.custom.input_schema.properties: Input should be a valid dictionary"
        ],
    );
    check(
        |r| r.set("tools", tool("a", json!({"type": "object", "anyOf": []}))),
        expect![
            "400 invalid_request_error: tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
        ],
    );
    check(
        |r| r.set("tools", json!([{"name": "a"}])),
        expect!["400 invalid_request_error: tools.0.custom.input_schema: Field required"],
    );
    check(
        |r| r.set("tools", json!([{"name": "a", "description": null, "input_schema": object()}])),
        expect![
            "400 invalid_request_error: tools.0.custom.description: Input should be a valid string"
        ],
    );
    check(
        |r| r.set("tools", json!([{"name": "a", "inputSchema": {}, "input_schema": object()}])),
        expect![
            "400 invalid_request_error: tools.0.custom.inputSchema: Extra inputs are not permitted"
        ],
    );
    check(
        |r| r.set("tools", json!([{"type": "bash_20250124", "name": "bash"}])),
        expect!["accepted"],
    );
    check(
        |r| r.set("tools", json!([{"type": "oven_20250124", "name": "oven"}])),
        expect![
            "400 invalid_request_error: tools.0: Input tag 'oven_20250124' found using 'type' does not match any tool"
        ],
    );
    check(
        |r| r.set("tools", json!([tool("a", object())[0], tool("a", object())[0]])),
        expect!["400 invalid_request_error: tools: Tool names must be unique."],
    );
}

#[test]
fn the_choice_of_a_tool() {
    let named = |name: &str| json!({"type": "tool", "name": name});
    check(|r| r.set("tool_choice", named("look")), expect!["accepted"]);
    check(
        |r| r.set("tool_choice", named("listen")),
        expect!["400 invalid_request_error: Tool 'listen' not found in provided tools"],
    );
    check(
        |r| r.set("tool_choice", json!({"type": "tool"})),
        expect!["400 invalid_request_error: tool_choice.tool.name: Field required"],
    );
    check(
        |r| r.set("tool_choice", json!({"type": "some"})),
        expect![
            "400 invalid_request_error: tool_choice: Input tag 'some' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
        ],
    );
    check(
        |r| {
            r.remove("tools");
            r.set("tool_choice", json!({"type": "auto"}));
        },
        expect![
            "400 invalid_request_error: tool_choice: may only be specified while providing tools."
        ],
    );
}

#[test]
fn uses_and_results_belong_together() {
    check(
        |r| r.talk(&[json!("a"), json!([used("t1")]), json!([answered("t1")])]),
        expect!["accepted"],
    );
    check(
        |r| r.talk(&[json!("a"), json!([used("t1")]), json!("b")]),
        expect![
            "400 invalid_request_error: messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        ],
    );
    check(
        |r| r.talk(&[json!("a"), json!([used("t1"), used("t2")]), json!([answered("t2")])]),
        expect![
            "400 invalid_request_error: messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        ],
    );
    check(
        |r| r.talk(&[json!("a"), json!([used("t1")]), json!([text("b"), answered("t1")])]),
        expect![
            "400 invalid_request_error: messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        ],
    );
    check(
        |r| r.block(answered("t1")),
        expect![
            "400 invalid_request_error: messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        ],
    );
    check(
        |r| {
            r.talk(&[
                json!("a"),
                json!([used("t1")]),
                json!([answered("t1")]),
                json!("b"),
                json!([answered("t1")]),
            ]);
        },
        expect![
            "400 invalid_request_error: messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        ],
    );
    check(
        |r| {
            r.talk(&[json!("a"), json!([used("t1")]), json!([answered("t1"), answered("t1")])]);
        },
        expect![
            "400 invalid_request_error: messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1"
        ],
    );
    check(
        |r| {
            r.talk(&[
                json!("a"),
                json!([used("t1")]),
                json!([answered("t1")]),
                json!([used("t1")]),
                json!([answered("t1")]),
            ]);
        },
        expect!["400 invalid_request_error: messages: `tool_use` ids must be unique"],
    );
}

#[test]
fn the_form_of_uses_and_results() {
    check(
        |r| r.block(used("t1")),
        expect![
            "400 invalid_request_error: messages.0.content.0: `tool_use` blocks can only be in `assistant` messages"
        ],
    );
    check(
        |r| r.talk(&[json!("a"), json!([answered("t1")]), json!("b")]),
        expect![
            "400 invalid_request_error: messages.1.content.0: `tool_result` blocks can only be in `user` messages"
        ],
    );
    check(
        |r| r.talk(&[json!("a"), json!([used("t 1")]), json!([answered("t 1")])]),
        expect![
            "400 invalid_request_error: messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        ],
    );
    let with = |input: Value| {
        let mut block = used("t1");
        block["input"] = input;
        json!([block])
    };
    check(
        |r| r.talk(&[json!("a"), with(json!("x")), json!([answered("t1")])]),
        expect![
            "400 invalid_request_error: messages.1.content.0.tool_use.input: Input should be a valid dictionary"
        ],
    );
    let results = |content: Value| {
        let mut block = answered("t1");
        block["content"] = content;
        json!([block])
    };
    let asked = || json!([used("t1")]);
    check(|r| r.talk(&[json!("a"), asked(), results(json!(""))]), expect!["accepted"]);
    check(|r| r.talk(&[json!("a"), asked(), results(json!([]))]), expect!["accepted"]);
    check(
        |r| r.talk(&[json!("a"), asked(), results(json!([text("")]))]),
        expect!["400 invalid_request_error: messages: text content blocks must be non-empty"],
    );
    check(
        |r| r.talk(&[json!("a"), asked(), results(json!([used("t2")]))]),
        expect![
            "400 invalid_request_error: messages.2.content.0.tool_result.content.0: Input tag 'tool_use' found using 'type' does not match any of the expected tags: 'text', 'image', 'search_result', 'document', 'tool_reference', 'browser_state'"
        ],
    );
    check(
        |r| r.talk(&[json!("a"), asked(), results(json!(5))]),
        expect![
            "400 invalid_request_error: messages.2.content.0.tool_result.content: Input should be a valid list"
        ],
    );
}

#[test]
fn cache_marks() {
    let marks = |ttls: &[&str]| ttls.iter().map(|ttl| marked(ttl)).collect::<Value>();
    check(|r| r.talk(&[marks(&["5m", "5m", "5m", "5m"])]), expect!["accepted"]);
    check(
        |r| {
            r.set("system", marks(&["5m"]));
            r.talk(&[marks(&["5m", "5m", "5m", "5m"])]);
        },
        expect![
            "400 invalid_request_error: A maximum of 4 blocks with cache_control may be provided. Found 5."
        ],
    );
    check(
        |r| r.talk(&[marks(&["5m", "1h"])]),
        expect![
            "400 invalid_request_error: messages.0.content.1.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
        ],
    );
    check(|r| r.talk(&[marks(&["1h", "5m"])]), expect!["accepted"]);
    check(
        |r| r.talk(&[marks(&["2h"])]),
        expect![
            "400 invalid_request_error: messages.0.content.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'"
        ],
    );
    check(
        |r| r.set("cache_control", json!({"type": "eternal"})),
        expect![
            "400 invalid_request_error: cache_control: Input tag 'eternal' found using 'type' does not match any of the expected tags: 'ephemeral'"
        ],
    );
}
