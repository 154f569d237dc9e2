//! What is answered to a line, line by line.

use expect_test::{Expect, expect};

use super::*;

const SCHEMA: &str = r#"[
    {"name": "echo", "description": "Says it again.",
     "input_schema": {"type": "object", "properties": {"b": {"type": "string"}, "a": {}}, "required": ["b"]}},
    {"name": "plain", "description": null, "input_schema": {"type": "object"},
     "title": "Plain", "annotations": {"readOnlyHint": true}, "x-own": 1.50}
]"#;

fn catalogue() -> Catalogue {
    let (catalogue, left_out) = Catalogue::from_schema_file(SCHEMA.as_bytes()).unwrap();
    assert_eq!(left_out, Vec::<String>::new());
    catalogue
}

fn check(line: &str, expected: &Expect) {
    let answer = answer(&catalogue(), line.as_bytes());
    expected.assert_eq(&match answer {
        McpAction::Reply(reply) => {
            let line = reply.strip_suffix('\n').expect("a line");
            assert!(!line.contains('\n'));
            serde_json::from_str::<serde_json::Value>(line).expect("JSON");
            line.to_owned()
        }
        McpAction::Call(call) => format!(
            "call {} {} {} meta {:?} {:?}",
            call.id,
            call.name,
            call.arguments,
            call.meta.map(Json::get),
            call.era
        ),
        McpAction::Cancel(id) => format!("cancel {id}"),
        McpAction::Nothing => "nothing".to_owned(),
    });
}

/// Returns a request of the modern era, with `more` in its params.
fn modern(id: &str, method: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}{more}}}}}"#
    )
}

#[test]
fn initialize_speaks_the_clients_version_or_the_newest() {
    for version in LEGACY {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t","version":"0"}}}}}}"#
        );
        let McpAction::Reply(reply) = answer(&catalogue(), line.as_bytes()) else {
            panic!("no reply")
        };
        assert!(reply.contains(&format!(r#""protocolVersion":"{version}""#)), "{reply}");
    }
    let newest = expect![
        r#"{"jsonrpc":"2.0","id":"a","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"callgate","version":"0.1.0"}}}"#
    ];
    for version in ["2026-07-28", "1.0", ""] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"a","method":"initialize","params":{{"protocolVersion":"{version}"}}}}"#
        );
        check(&line, &newest);
    }
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
        &expect![
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`protocolVersion` has to be a string"}}"#
        ],
    );
}

#[test]
fn tools_are_listed_in_order_with_everything_that_was_said_of_them() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","description":"Says it again.","inputSchema":{"type": "object", "properties": {"b": {"type": "string"}, "a": {}}, "required": ["b"]}},{"name":"plain","inputSchema":{"type": "object"},"title":"Plain","annotations":{"readOnlyHint": true},"x-own":1.50}]}}"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#,
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"unknown cursor: all tools are on one page"}}"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}"#,
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","description":"Says it again.","inputSchema":{"type": "object", "properties": {"b": {"type": "string"}, "a": {}}, "required": ["b"]}},{"name":"plain","inputSchema":{"type": "object"},"title":"Plain","annotations":{"readOnlyHint": true},"x-own":1.50}]}}"#
        ]],
    );
}

#[test]
fn the_modern_era_needs_no_initialize() {
    check(
        &modern("\"p\"", "server/discover", ""),
        &expect![[
            r#"{"jsonrpc":"2.0","id":"p","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"callgate","version":"0.1.0"}}}}"#
        ]],
    );
    check(
        &modern("0", "tools/list", ""),
        &expect![[
            r#"{"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","tools":[{"name":"echo","description":"Says it again.","inputSchema":{"type": "object", "properties": {"b": {"type": "string"}, "a": {}}, "required": ["b"]}},{"name":"plain","inputSchema":{"type": "object"},"title":"Plain","annotations":{"readOnlyHint": true},"x-own":1.50}],"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"callgate","version":"0.1.0"}}}}"#
        ]],
    );
    check(
        &modern("1", "tools/call", r#","name":"echo","arguments":{"b":"x"}"#),
        &expect![[
            r#"call 1 echo {"b":"x"} meta Some("{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}") Modern"#
        ]],
    );
}

#[test]
fn a_client_that_listens_is_acknowledged_under_its_own_id() {
    check(
        &modern(
            "\"listen:0\"",
            "subscriptions/listen",
            r#","notifications":{"toolsListChanged":true}"#,
        ),
        &expect![[
            r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"listen:0"},"notifications":{}}}"#
        ]],
    );
    check(
        &modern("4", "subscriptions/listen", ""),
        &expect![[
            r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"`notifications` has to be an object"}}"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen","params":{"notifications":{}}}"#,
        &expect![[
            r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"unknown method \"subscriptions/listen\""}}"#
        ]],
    );
}

#[test]
fn a_modern_request_is_checked_for_shape_then_version_then_method() {
    let request = |meta: &str, method: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta}}}}}"#)
    };
    check(
        &request(r#"{"io.modelcontextprotocol/protocolVersion":7}"#, "tools/list"),
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`io.modelcontextprotocol/protocolVersion` is not a string"}}"#
        ]],
    );
    let needs_capabilities = expect![[
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`_meta` needs the object io.modelcontextprotocol/clientCapabilities"}}"#
    ]];
    check(
        &request(r#"{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}"#, "tools/list"),
        &needs_capabilities,
    );
    check(
        &request(
            r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":1}"#,
            "tools/list",
        ),
        &needs_capabilities,
    );
    check(
        &request(
            r#"{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}"#,
            "no/such",
        ),
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"protocol version 2099-01-01 is not supported","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2099-01-01"}}}"#
        ]],
    );
    check(
        &modern("1", "no/such", ""),
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown method \"no/such\""}}"#
        ]],
    );
    check(
        &modern("1", "ping", ""),
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown method \"ping\""}}"#
        ]],
    );
    check(
        &request("[]", "tools/list"),
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`_meta` is not an object"}}"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
        &expect![[
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"`_meta` needs io.modelcontextprotocol/protocolVersion"}}"#
        ]],
    );
}

#[test]
fn calls_carry_their_arguments_untouched() {
    check(
        r#"{"method":"tools/call","params":{"arguments":{"b": 1e400, "a": 12345678901234567890.10},"name":"\u0065cho","_meta":{"progressToken":2,"callId":"c"}},"jsonrpc":"2.0","id":2}"#,
        &expect![[
            r#"call 2 echo {"b": 1e400, "a": 12345678901234567890.10} meta Some("{\"progressToken\":2,\"callId\":\"c\"}") Legacy"#
        ]],
    );
    for without in ["", r#","arguments":null"#] {
        check(
            &format!(
                r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{{"name":"plain"{without}}}}}"#
            ),
            &expect![[r#"call "x" plain {} meta None Legacy"#]],
        );
    }
    let deep = format!("{}{}", r#"{"a":"#.repeat(50_000), "}".repeat(50_000));
    let deep = deep.replace(r#""a":}"#, r#""a":1}"#);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{deep}}}}}"#
    );
    let catalogue = catalogue();
    let McpAction::Call(call) = answer(&catalogue, line.as_bytes()) else { panic!("no call") };
    assert_eq!(call.arguments.get(), deep);
}

#[test]
fn calls_that_cannot_be_made_are_refused() {
    let call = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{params}}}"#)
    };
    check(
        &call(r#"{"name":"nope"}"#),
        &expect![[
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"ToolNotFoundError: unknown tool: nope"}}"#
        ]],
    );
    let name = expect![[
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"`name` has to be a string"}}"#
    ]];
    check(&call("{}"), &name);
    check(&call(r#"{"name":5}"#), &name);
    check(
        &call(r#"{"name":"echo","arguments":[1]}"#),
        &expect![[
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"`arguments` has to be an object"}}"#
        ]],
    );
    check(
        &call("[]"),
        &expect![[
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"`params` is not an object"}}"#
        ]],
    );
    check(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#, &name);
}

#[test]
fn every_other_request_with_an_id_gets_one_answer() {
    check(
        r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#,
        &expect![[r#"{"jsonrpc":"2.0","id":9,"result":{}}"#]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":9,"method":"resources/list","params":{}}"#,
        &expect![[
            r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"unknown method \"resources/list\""}}"#
        ]],
    );
    check(
        r#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}"#,
        &expect![[r#"{"jsonrpc":"2.0","id":12345678901234567890123,"result":{}}"#]],
    );
}

#[test]
fn a_line_that_is_no_request_is_told_so_under_its_id_if_it_has_one() {
    let unreadable = expect![[
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON"}}"#
    ]];
    check("hello", &unreadable);
    check("{", &unreadable);
    check(
        r#"{"jsonrpc":"2.0","id":5,"method":"ping""#,
        &expect![[
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32700,"message":"the line is not JSON"}}"#
        ]],
    );
    let no_message = expect![[
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is not one JSON-RPC 2.0 message"}}"#
    ]];
    check("[]", &no_message);
    check("5", &no_message);
    check(r#"["2.0", 1, "ping"]"#, &no_message);
    check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, &no_message);
    check(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, &no_message);
    check(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, &no_message);
    let with_id = expect![[
        r#"{"jsonrpc":"2.0","id":"i","error":{"code":-32600,"message":"the line is not one JSON-RPC 2.0 message"}}"#
    ]];
    check(r#"{"id":"i","method":"ping"}"#, &with_id);
    check(r#"{"jsonrpc":"1.0","id":"i","method":"ping"}"#, &with_id);
    check(r#"{"jsonrpc":"2.0","id":"i","method":5}"#, &with_id);
    check(r#"{"jsonrpc":"2.0","id":"i"}"#, &with_id);
    check(r#"{"jsonrpc":"2.0","id":"i","method":"ping","method":"ping"}"#, &with_id);
    check(r#"{"jsonrpc":"2.0","id":"i","method":"ping","params":5,"params":{}}"#, &with_id);
    check(r#"{"jsonrpc":"2.0"}"#, &no_message);
    let long = "x".repeat(300);
    check(&format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"ping"}}"#), &no_message);
    let answer = answer(&catalogue(), b"{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"p\xff\"}");
    let McpAction::Reply(reply) = answer else { panic!("no reply") };
    assert!(reply.contains(r#""id":6,"error":{"code":-32700"#), "{reply}");
}

#[test]
fn a_line_that_was_too_long_is_answered_with_its_size() {
    let reply = |id: Option<&str>| match refuse_too_long(&OverlongLine {
        size: 99_999_999,
        id: id.map(str::to_owned),
    }) {
        McpAction::Reply(reply) => reply,
        other => panic!("{other:?}"),
    };
    expect![[r#"
        {"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"IPCMessageSizeError: the request has 99999999 bytes, but 11534336 bytes is the limit: send less at once"}}
    "#]]
    .assert_eq(&reply(Some("\"a\"")));
    assert!(reply(None).contains(r#""id":null"#));
}

#[test]
fn an_error_repeats_only_the_beginning_of_a_long_word() {
    let word = "x".repeat(1000);
    let begins = "x".repeat(100);
    for (line, message) in [
        (
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{word}"}}"#),
            format!(r#"unknown method \"{begins}\""#),
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{word}"}}}}"#
            ),
            format!("ToolNotFoundError: unknown tool: {begins}"),
        ),
    ] {
        let McpAction::Reply(reply) = answer(&catalogue(), line.as_bytes()) else {
            panic!("no reply")
        };
        assert!(reply.contains(&format!(r#""message":"{message}"}}"#)), "{reply}");
    }
}

#[test]
fn notifications_and_responses_get_no_answer() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
    ] {
        check(line, &expect!["nothing"]);
    }
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"r","_meta":{}}}"#,
        &expect!["cancel 3"],
    );
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#,
        &expect![[r#"cancel "a""#]],
    );
}
