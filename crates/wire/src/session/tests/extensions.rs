//! What a front end that sends `hello` may say and hears.

use expect_test::expect;

use super::super::*;
use super::{check, request, response};

#[test]
fn requests() {
    check(
        request,
        &[
            r#"{"id":"1","kind":"hello","capabilities":["thinking","new"]}"#,
            r#"{"id":"1","kind":"hello","capabilities":[],"new":1}"#,
            r#"{"id":"1","kind":"cancel","target":"0"}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow","message":null,"input":{ "b":1.0 }}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow_always","input":null}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"deny","message":"No!"}"#,
            r#"{"id":"1","kind":"new_conversation"}"#,
            r#"{"id":"1","kind":"new_conversation","conversationId":"c","title":"T"}"#,
            r#"{"id":"1","kind":"list_conversations"}"#,
            r#"{"id":"1","kind":"list_conversations","limit":5,"before":9}"#,
            r#"{"id":"1","kind":"list_conversations","search":"the ledger"}"#,
            r#"{"id":"1","kind":"load_conversation","conversationId":"c"}"#,
            r#"{"id":"1","kind":"load_conversation","conversationId":"c","limit":5,"before":9}"#,
            r#"{"id":"1","kind":"load_conversation","conversationId":"c","as":"events"}"#,
            r#"{"id":"1","kind":"load_conversation","conversationId":"c","as":"messages"}"#,
            r#"{"id":"1","kind":"rename_conversation","conversationId":"c","title":""}"#,
            r#"{"id":"1","kind":"delete_conversation","conversationId":"c"}"#,
            r#"{"id":"1","kind":"regenerate"}"#,
            r#"{"id":"1","kind":"regenerate","metadata":{"conversationId":"c"}}"#,
            r#"{"id":"1","kind":"edit_last","message":"Hi","attachments":[{"path":"a","mime":"b"}],"metadata":{}}"#,
            r#"{"id":"1","kind":"list_models"}"#,
            r#"{"id":"1","kind":"list_models","engine":"openai"}"#,
            r#"{"id":"1","kind":"set_engine","engine":"openai"}"#,
            r#"{"id":"1","kind":"set_engine","conversationId":"c","engine":"e","model":"m","metadata":{}}"#,
            r#"{"id":"1","kind":"replay","fromSeq":7}"#,
            r#"{"id":"1","kind":"clear_history","metadata":{"conversationId":"c"}}"#,
        ],
        &expect![[r#"
            SessionRequest { id: "1", command: Hello { capabilities: ["thinking", "new"], tools: [] } }
              = "{\"id\":\"1\",\"kind\":\"hello\",\"capabilities\":[\"thinking\",\"new\"]}\n"
            SessionRequest { id: "1", command: Hello { capabilities: [], tools: [] } }
              = "{\"id\":\"1\",\"kind\":\"hello\",\"capabilities\":[]}\n"
            SessionRequest { id: "1", command: Cancel { target: "0" } }
              = "{\"id\":\"1\",\"kind\":\"cancel\",\"target\":\"0\"}\n"
            SessionRequest { id: "1", command: PermissionAnswer(PermissionAnswer { question: "q", press: Input(RawValue({ "b":1.0 })) }) }
              = "{\"id\":\"1\",\"kind\":\"permission_answer\",\"question\":\"q\",\"decision\":\"allow\",\"input\":{ \"b\":1.0 }}\n"
            SessionRequest { id: "1", command: PermissionAnswer(PermissionAnswer { question: "q", press: Button(Always(0)) }) }
              = "{\"id\":\"1\",\"kind\":\"permission_answer\",\"question\":\"q\",\"decision\":\"allow_always\"}\n"
            SessionRequest { id: "1", command: PermissionAnswer(PermissionAnswer { question: "q", press: Words("No!") }) }
              = "{\"id\":\"1\",\"kind\":\"permission_answer\",\"question\":\"q\",\"decision\":\"deny\",\"message\":\"No!\"}\n"
            SessionRequest { id: "1", command: NewConversation { conversation_id: None, title: None } }
              = "{\"id\":\"1\",\"kind\":\"new_conversation\"}\n"
            SessionRequest { id: "1", command: NewConversation { conversation_id: Some("c"), title: Some("T") } }
              = "{\"id\":\"1\",\"kind\":\"new_conversation\",\"conversationId\":\"c\",\"title\":\"T\"}\n"
            SessionRequest { id: "1", command: ListConversations { limit: None, before: None, search: None } }
              = "{\"id\":\"1\",\"kind\":\"list_conversations\"}\n"
            SessionRequest { id: "1", command: ListConversations { limit: Some(5), before: Some(9), search: None } }
              = "{\"id\":\"1\",\"kind\":\"list_conversations\",\"limit\":5,\"before\":9}\n"
            SessionRequest { id: "1", command: ListConversations { limit: None, before: None, search: Some("the ledger") } }
              = "{\"id\":\"1\",\"kind\":\"list_conversations\",\"search\":\"the ledger\"}\n"
            SessionRequest { id: "1", command: LoadConversation { conversation_id: "c", limit: None, before: None, load_as: Messages } }
              = "{\"id\":\"1\",\"kind\":\"load_conversation\",\"conversationId\":\"c\"}\n"
            SessionRequest { id: "1", command: LoadConversation { conversation_id: "c", limit: Some(5), before: Some(9), load_as: Messages } }
              = "{\"id\":\"1\",\"kind\":\"load_conversation\",\"conversationId\":\"c\",\"limit\":5,\"before\":9}\n"
            SessionRequest { id: "1", command: LoadConversation { conversation_id: "c", limit: None, before: None, load_as: Events } }
              = "{\"id\":\"1\",\"kind\":\"load_conversation\",\"conversationId\":\"c\",\"as\":\"events\"}\n"
            SessionRequest { id: "1", command: LoadConversation { conversation_id: "c", limit: None, before: None, load_as: Messages } }
              = "{\"id\":\"1\",\"kind\":\"load_conversation\",\"conversationId\":\"c\"}\n"
            SessionRequest { id: "1", command: RenameConversation { conversation_id: "c", title: "" } }
              = "{\"id\":\"1\",\"kind\":\"rename_conversation\",\"conversationId\":\"c\",\"title\":\"\"}\n"
            SessionRequest { id: "1", command: DeleteConversation { conversation_id: "c" } }
              = "{\"id\":\"1\",\"kind\":\"delete_conversation\",\"conversationId\":\"c\"}\n"
            SessionRequest { id: "1", command: Regenerate { metadata: None } }
              = "{\"id\":\"1\",\"kind\":\"regenerate\"}\n"
            SessionRequest { id: "1", command: Regenerate { metadata: Some(RawValue({"conversationId":"c"})) } }
              = "{\"id\":\"1\",\"kind\":\"regenerate\",\"metadata\":{\"conversationId\":\"c\"}}\n"
            SessionRequest { id: "1", command: EditLast(UserMessage { message: "Hi", attachments: [File { path: "a", mime: "b" }], metadata: Some(RawValue({})), steer: false, output_schema: None }) }
              = "{\"id\":\"1\",\"kind\":\"edit_last\",\"message\":\"Hi\",\"attachments\":[{\"path\":\"a\",\"mime\":\"b\"}],\"metadata\":{}}\n"
            SessionRequest { id: "1", command: ListModels { engine: None } }
              = "{\"id\":\"1\",\"kind\":\"list_models\"}\n"
            SessionRequest { id: "1", command: ListModels { engine: Some("openai") } }
              = "{\"id\":\"1\",\"kind\":\"list_models\",\"engine\":\"openai\"}\n"
            SessionRequest { id: "1", command: SetEngine { conversation_id: None, engine: "openai", model: None, metadata: None } }
              = "{\"id\":\"1\",\"kind\":\"set_engine\",\"engine\":\"openai\"}\n"
            SessionRequest { id: "1", command: SetEngine { conversation_id: Some("c"), engine: "e", model: Some("m"), metadata: Some(RawValue({})) } }
              = "{\"id\":\"1\",\"kind\":\"set_engine\",\"conversationId\":\"c\",\"engine\":\"e\",\"model\":\"m\",\"metadata\":{}}\n"
            SessionRequest { id: "1", command: Replay { from_seq: 7 } }
              = "{\"id\":\"1\",\"kind\":\"replay\",\"fromSeq\":7}\n"
            SessionRequest { id: "1", command: ClearHistory { metadata: Some(RawValue({"conversationId":"c"})) } }
              = "{\"id\":\"1\",\"kind\":\"clear_history\",\"metadata\":{\"conversationId\":\"c\"}}\n"
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a line for each case")]
fn unreadable_requests() {
    let long = |field: &str, length: usize| {
        let rest = r#""kind":"rename_conversation","conversationId":"c","title":"t""#;
        let kind = match field {
            "target" => r#""kind":"cancel""#.to_owned(),
            "question" => r#""kind":"permission_answer","decision":"deny""#.to_owned(),
            _ => rest.split(',').filter(|part| !part.contains(field)).collect::<Vec<_>>().join(","),
        };
        format!(r#"{{"id":"1",{kind},"{field}":"{}"}}"#, "é".repeat(length))
    };
    let long = [
        long("target", 129),
        long("question", 129),
        long("conversationId", 65),
        long("title", 257),
        long("title", 256),
        long("conversationId", 64),
        long("question", 128),
        long("target", 128),
    ];
    let shown: Vec<String> = long.iter().map(|line| cut(&request(line.as_bytes()))).collect();
    expect![[r#"
        Some("1"): `target` must be a string of at most 256 bytes
        Some("1"): `question` must be a string of at most 256 bytes
        Some("1"): `conversationId` must be a string of 1 to 128 bytes without control characters
        Some("1"): `title` must be a string of at most 256 characters
        SessionRequest { id: "1", command: RenameConversation { conversation_id: "c", title: "…………éééééééééééééééé" } }
        SessionRequest { id: "1", command: RenameConversation { conversation_id: "…éééé", title: "t" } }
        SessionRequest { id: "1", command: PermissionAnswer(PermissionAnswer { question: "……éééééééé", press: Button(Deny) }) }
        SessionRequest { id: "1", command: Cancel { target: "……éééééééé" } }"#]].assert_eq(&shown.join("\n"));
    check(
        request,
        &[
            r#"{"id":"1","kind":"hello"}"#,
            r#"{"id":"1","kind":"hello","capabilities":"thinking"}"#,
            r#"{"id":"1","kind":"cancel"}"#,
            r#"{"id":"1","kind":"permission_answer","decision":"allow"}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q"}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"secret"}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow","message":7}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow","input":["secret"]}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"allow_always","input":{}}"#,
            r#"{"id":"1","kind":"permission_answer","question":"q","decision":"deny","input":{}}"#,
            r#"{"id":"1","kind":"new_conversation","conversationId":""}"#,
            r#"{"id":"1","kind":"new_conversation","title":7}"#,
            r#"{"id":"1","kind":"list_conversations","limit":-1}"#,
            r#"{"id":"1","kind":"list_conversations","before":1.5}"#,
            r#"{"id":"1","kind":"list_conversations","search":["secret"]}"#,
            r#"{"id":"1","kind":"load_conversation"}"#,
            r#"{"id":"1","kind":"load_conversation","conversationId":"a\nb"}"#,
            r#"{"id":"1","kind":"load_conversation","conversationId":"c","limit":4294967296}"#,
            r#"{"id":"1","kind":"load_conversation","conversationId":"c","as":"pictures"}"#,
            r#"{"id":"1","kind":"rename_conversation","conversationId":"c"}"#,
            r#"{"id":"1","kind":"delete_conversation","conversationId":null}"#,
            r#"{"id":"1","kind":"regenerate","metadata":{"conversationId":7}}"#,
            r#"{"id":"1","kind":"regenerate","metadata":7}"#,
            r#"{"id":"1","kind":"edit_last"}"#,
            r#"{"id":"1","kind":"edit_last","message":"","metadata":{"conversationId":""}}"#,
            r#"{"id":"1","kind":"user_message","message":"","metadata":{"conversationId":"\u007f"}}"#,
            r#"{"id":"1","kind":"clear_history","metadata":{"conversationId":["c"]}}"#,
            r#"{"id":"1","kind":"replay"}"#,
            r#"{"id":"1","kind":"replay","fromSeq":"7"}"#,
            r#"{"id":"1","kind":"list_models","engine":7}"#,
            r#"{"id":"1","kind":"set_engine"}"#,
            r#"{"id":"1","kind":"set_engine","engine":""}"#,
            r#"{"id":"1","kind":"set_engine","engine":"e","model":"a\nb"}"#,
        ],
        &expect![[r#"
            Some("1"): `capabilities` must be an array of strings
            Some("1"): `capabilities` must be an array of strings
            Some("1"): `target` must be a string of at most 256 bytes
            Some("1"): `question` must be a string of at most 256 bytes
            Some("1"): `decision` must be allow, deny or allow_always
            Some("1"): `decision` must be allow, deny or allow_always
            Some("1"): `message` must be a string
            Some("1"): `input` must be an object
            Some("1"): `input` must be left out unless the decision is allow
            Some("1"): `input` must be left out unless the decision is allow
            Some("1"): `conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `title` must be a string of at most 256 characters
            Some("1"): `limit` must be a whole number of at most 4294967295
            Some("1"): `before` must be a whole number
            Some("1"): `search` must be a string of at most 256 characters
            Some("1"): `conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `limit` must be a whole number of at most 4294967295
            Some("1"): `as` must be messages or events
            Some("1"): `title` must be a string of at most 256 characters
            Some("1"): `conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `metadata.conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `metadata` must be an object
            Some("1"): `message` must be a string
            Some("1"): `metadata.conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `metadata.conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `metadata.conversationId` must be a string of 1 to 128 bytes without control characters
            Some("1"): `fromSeq` must be a whole number
            Some("1"): `fromSeq` must be a whole number
            Some("1"): `engine` must be a string of 1 to 64 bytes without control characters
            Some("1"): `engine` must be a string of 1 to 64 bytes without control characters
            Some("1"): `engine` must be a string of 1 to 64 bytes without control characters
            Some("1"): `model` must be a string of 1 to 256 bytes without control characters
        "#]],
    );
}

/// Returns the text with most of a long run left out.
fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.replace(&"é".repeat(60), "…")
}

#[test]
fn an_id_that_is_too_long_is_refused_by_its_name() {
    let line = |length: usize| format!(r#"{{"id":"{}","kind":"fly"}}"#, "x".repeat(length));
    for (length, is_named) in [
        (LONGEST_ID + 1, true),
        (LONGEST_REFUSED_ID, true),
        (LONGEST_REFUSED_ID + 1, false),
        (100_000, false),
    ] {
        let refused = SessionRequest::decode(line(length).as_bytes()).unwrap_err();
        assert_eq!(refused.id.as_ref().map(String::len), is_named.then_some(length));
        assert_eq!(refused.to_string(), "`id` must be a string of at most 256 bytes");
    }
    let refused = SessionRequest::decode(line(LONGEST_ID).as_bytes()).unwrap_err();
    assert_eq!(refused.id.map(|id| id.len()), Some(LONGEST_ID));
}

#[test]
fn responses() {
    check(
        response,
        &[
            r#"{"seq":1,"type":"ready","timestamp":2}"#,
            r#"{"seq":1,"type":"thinking","id":"1","thinking":"Hm\n","timestamp":2}"#,
            r#"{"type":"token","id":"1","token":"","timestamp":2,"seq":null}"#,
            r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"list","result":1,"isError":false},"timestamp":2,"seq":3}"#,
            r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"list","result":1,"isError":null},"timestamp":2}"#,
            r#"{"type":"tool_progress","id":"1","data":{"toolId":"t","stream":"stderr","text":"x"},"timestamp":2}"#,
            r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"run","input":{ "a":1.0 },"title":"Run it"},"timestamp":2}"#,
            r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"run","input":{},"title":"","reason":"why"},"timestamp":2}"#,
            r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"write","input":{},"title":"","canAllowAlways":true,"deadline":9,"diff":"-a\n+b\n"},"timestamp":2}"#,
            r#"{"type":"permission_request","id":"1","data":{"question":"q","toolId":"t","toolName":"write","input":{},"title":"","canAllowAlways":null,"deadline":null,"diff":null},"timestamp":2}"#,
            r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"read","input":{},"kind":"read","locations":[{"path":"/a","line":3},{"path":"/b"}]},"timestamp":2}"#,
            r#"{"type":"tool_use","id":"1","data":{"toolId":"t","toolName":"read","input":{},"kind":null,"locations":null},"timestamp":2}"#,
            r#"{"type":"user_message","id":"1","data":{"message":"Hi","attachments":[{"mime":"image/png","name":"a.png","size":3,"data":"AAAA"},{"mime":"text/plain","size":9}]},"timestamp":2}"#,
            r#"{"type":"user_message","id":"1","data":{"message":"Hi","attachments":null},"timestamp":2}"#,
            r#"{"type":"permission_resolved","id":"1","data":{"question":"q","decision":"other","text":"x"},"timestamp":2}"#,
            r#"{"type":"notice","id":"1","data":{"kind":"other","text":"x"},"timestamp":2}"#,
            r#"{"type":"done","id":"1","data":{ "stopReason":"end_turn" },"timestamp":2}"#,
            r#"{"type":"error","id":null,"error":"no","timestamp":2,"seq":4}"#,
            r#"{"type":"error","id":"1","error":"no","data":{"kind":"server","status":500,"retryable":true},"timestamp":2}"#,
            r#"{"type":"error","id":"1","error":"no","data":{"kind":"cut","retryable":true},"timestamp":2}"#,
            r#"{"type":"status","id":"1","data":{"state":"idle","conversationLength":1,"uptime":7,"engine":"offline","engineReason":"no key","model":"m","conversationId":"c"},"timestamp":8}"#,
            r#"{"type":"status","id":"1","data":{"state":"busy","conversationLength":1,"uptime":7,"requests":[{"id":"0","kind":"user_message","state":"queued","since":4,"fromSeq":5,"conversationId":"c","message":"Hi"},{"id":"2","kind":"replay","state":"working","since":4,"fromSeq":5}],"questions":[{"type":"permission_request","id":"0","data":{"question":"q","toolId":"t","toolName":"run","input":{ "a":1.0 },"title":"Run it"},"timestamp":6}]},"timestamp":8}"#,
        ],
        &expect![[r#"
            Ready(RuntimeReady { version: None, capabilities: [], timestamp: 2, seq: Some(1) })
              = "{\"type\":\"ready\",\"timestamp\":2,\"seq\":1}\n"
            Reply(SessionReply { id: Some("1"), event: Thinking("Hm\n"), timestamp: 2, seq: Some(1) })
              = "{\"type\":\"thinking\",\"id\":\"1\",\"thinking\":\"Hm\\n\",\"timestamp\":2,\"seq\":1}\n"
            Reply(SessionReply { id: Some("1"), event: Token(""), timestamp: 2, seq: None })
              = "{\"type\":\"token\",\"id\":\"1\",\"token\":\"\",\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: ToolResult(ToolResult { tool_id: "t", tool_name: "list", result: RawValue(1), is_error: Some(false) }), timestamp: 2, seq: Some(3) })
              = "{\"type\":\"tool_result\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"list\",\"result\":1,\"isError\":false},\"timestamp\":2,\"seq\":3}\n"
            Reply(SessionReply { id: Some("1"), event: ToolResult(ToolResult { tool_id: "t", tool_name: "list", result: RawValue(1), is_error: None }), timestamp: 2, seq: None })
              = "{\"type\":\"tool_result\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"list\",\"result\":1},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: ToolProgress(ToolProgress { tool_id: "t", stream: Stderr, text: "x" }), timestamp: 2, seq: None })
              = "{\"type\":\"tool_progress\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"stream\":\"stderr\",\"text\":\"x\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: PermissionRequest(PermissionRequest { question: "q", tool_id: "t", tool_name: "run", input: RawValue({ "a":1.0 }), title: "Run it", reason: None, can_allow_always: None, deadline: None, diff: None, card: None }), timestamp: 2, seq: None })
              = "{\"type\":\"permission_request\",\"id\":\"1\",\"data\":{\"question\":\"q\",\"toolId\":\"t\",\"toolName\":\"run\",\"input\":{ \"a\":1.0 },\"title\":\"Run it\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: PermissionRequest(PermissionRequest { question: "q", tool_id: "t", tool_name: "run", input: RawValue({}), title: "", reason: Some("why"), can_allow_always: None, deadline: None, diff: None, card: None }), timestamp: 2, seq: None })
              = "{\"type\":\"permission_request\",\"id\":\"1\",\"data\":{\"question\":\"q\",\"toolId\":\"t\",\"toolName\":\"run\",\"input\":{},\"title\":\"\",\"reason\":\"why\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: PermissionRequest(PermissionRequest { question: "q", tool_id: "t", tool_name: "write", input: RawValue({}), title: "", reason: None, can_allow_always: Some(true), deadline: Some(9), diff: Some("-a\n+b\n"), card: None }), timestamp: 2, seq: None })
              = "{\"type\":\"permission_request\",\"id\":\"1\",\"data\":{\"question\":\"q\",\"toolId\":\"t\",\"toolName\":\"write\",\"input\":{},\"title\":\"\",\"canAllowAlways\":true,\"deadline\":9,\"diff\":\"-a\\n+b\\n\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: PermissionRequest(PermissionRequest { question: "q", tool_id: "t", tool_name: "write", input: RawValue({}), title: "", reason: None, can_allow_always: None, deadline: None, diff: None, card: None }), timestamp: 2, seq: None })
              = "{\"type\":\"permission_request\",\"id\":\"1\",\"data\":{\"question\":\"q\",\"toolId\":\"t\",\"toolName\":\"write\",\"input\":{},\"title\":\"\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: ToolUse(ToolUse { tool_id: "t", tool_name: "read", input: RawValue({}), kind: Some("read"), locations: Some([ToolLocation { path: "/a", line: Some(3) }, ToolLocation { path: "/b", line: None }]), card: None }), timestamp: 2, seq: None })
              = "{\"type\":\"tool_use\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"read\",\"input\":{},\"kind\":\"read\",\"locations\":[{\"path\":\"/a\",\"line\":3},{\"path\":\"/b\"}]},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: ToolUse(ToolUse { tool_id: "t", tool_name: "read", input: RawValue({}), kind: None, locations: None, card: None }), timestamp: 2, seq: None })
              = "{\"type\":\"tool_use\",\"id\":\"1\",\"data\":{\"toolId\":\"t\",\"toolName\":\"read\",\"input\":{}},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: UserMessage(PastUserMessage { message: "Hi", attachments: [PastAttachment { mime: "image/png", name: Some("a.png"), size: 3, data: Some("AAAA") }, PastAttachment { mime: "text/plain", name: None, size: 9, data: None }] }), timestamp: 2, seq: None })
              = "{\"type\":\"user_message\",\"id\":\"1\",\"data\":{\"message\":\"Hi\",\"attachments\":[{\"mime\":\"image/png\",\"name\":\"a.png\",\"size\":3,\"data\":\"AAAA\"},{\"mime\":\"text/plain\",\"size\":9}]},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: UserMessage(PastUserMessage { message: "Hi", attachments: [] }), timestamp: 2, seq: None })
              = "{\"type\":\"user_message\",\"id\":\"1\",\"data\":{\"message\":\"Hi\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: PermissionResolved(PermissionResolved { question: "q", decision: "other", text: "x" }), timestamp: 2, seq: None })
              = "{\"type\":\"permission_resolved\",\"id\":\"1\",\"data\":{\"question\":\"q\",\"decision\":\"other\",\"text\":\"x\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: Notice(Notice { kind: "other", text: "x" }), timestamp: 2, seq: None })
              = "{\"type\":\"notice\",\"id\":\"1\",\"data\":{\"kind\":\"other\",\"text\":\"x\"},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: Done(Some(RawValue({ "stopReason":"end_turn" }))), timestamp: 2, seq: None })
              = "{\"type\":\"done\",\"id\":\"1\",\"data\":{ \"stopReason\":\"end_turn\" },\"timestamp\":2}\n"
            Reply(SessionReply { id: None, event: Error { error: "no", data: None }, timestamp: 2, seq: Some(4) })
              = "{\"type\":\"error\",\"id\":null,\"error\":\"no\",\"timestamp\":2,\"seq\":4}\n"
            Reply(SessionReply { id: Some("1"), event: Error { error: "no", data: Some(ErrorData { kind: "server", status: Some(500), retryable: true }) }, timestamp: 2, seq: None })
              = "{\"type\":\"error\",\"id\":\"1\",\"error\":\"no\",\"data\":{\"kind\":\"server\",\"status\":500,\"retryable\":true},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: Error { error: "no", data: Some(ErrorData { kind: "cut", status: None, retryable: true }) }, timestamp: 2, seq: None })
              = "{\"type\":\"error\",\"id\":\"1\",\"error\":\"no\",\"data\":{\"kind\":\"cut\",\"status\":null,\"retryable\":true},\"timestamp\":2}\n"
            Reply(SessionReply { id: Some("1"), event: Status(RuntimeStatus { state: "idle", conversation_length: 1, uptime: 7, engine: Some("offline"), engine_reason: Some("no key"), model: Some("m"), conversation_id: Some("c"), mode: None, instructions: None, requests: None, questions: None, agent_questions: None, servers: None }), timestamp: 8, seq: None })
              = "{\"type\":\"status\",\"id\":\"1\",\"data\":{\"state\":\"idle\",\"conversationLength\":1,\"uptime\":7,\"engine\":\"offline\",\"engineReason\":\"no key\",\"model\":\"m\",\"conversationId\":\"c\"},\"timestamp\":8}\n"
            Reply(SessionReply { id: Some("1"), event: Status(RuntimeStatus { state: "busy", conversation_length: 1, uptime: 7, engine: None, engine_reason: None, model: None, conversation_id: None, mode: None, instructions: None, requests: Some([OpenRequest { id: "0", kind: "user_message", state: "queued", since: 4, from_seq: 5, conversation_id: Some("c"), message: Some("Hi") }, OpenRequest { id: "2", kind: "replay", state: "working", since: 4, from_seq: 5, conversation_id: None, message: None }]), questions: Some([OpenQuestion { id: "0", data: PermissionRequest { question: "q", tool_id: "t", tool_name: "run", input: RawValue({ "a":1.0 }), title: "Run it", reason: None, can_allow_always: None, deadline: None, diff: None, card: None }, timestamp: 6 }]), agent_questions: None, servers: None }), timestamp: 8, seq: None })
              = "{\"type\":\"status\",\"id\":\"1\",\"data\":{\"state\":\"busy\",\"conversationLength\":1,\"uptime\":7,\"requests\":[{\"id\":\"0\",\"kind\":\"user_message\",\"state\":\"queued\",\"since\":4,\"fromSeq\":5,\"conversationId\":\"c\",\"message\":\"Hi\"},{\"id\":\"2\",\"kind\":\"replay\",\"state\":\"working\",\"since\":4,\"fromSeq\":5}],\"questions\":[{\"type\":\"permission_request\",\"id\":\"0\",\"data\":{\"question\":\"q\",\"toolId\":\"t\",\"toolName\":\"run\",\"input\":{ \"a\":1.0 },\"title\":\"Run it\"},\"timestamp\":6}]},\"timestamp\":8}\n"
        "#]],
    );
}

#[test]
fn unreadable_responses() {
    check(
        response,
        &[
            r#"{"type":"token","id":null,"token":"","timestamp":1}"#,
            r#"{"type":"error","error":"no","timestamp":1}"#,
            r#"{"type":"error","id":7,"error":"no","timestamp":1}"#,
            r#"{"type":"error","id":"1","error":"no","data":"cut","timestamp":1}"#,
            r#"{"type":"error","id":"1","error":"no","data":{"kind":"cut"},"timestamp":1}"#,
            r#"{"type":"done","id":"1","data":[],"timestamp":1}"#,
            r#"{"type":"done","id":"1","timestamp":1,"seq":"2"}"#,
            r#"{"type":"thinking","id":"1","timestamp":1}"#,
            r#"{"type":"tool_progress","id":"1","data":{"toolId":"t","stream":"log","text":"x"},"timestamp":2}"#,
            r#"{"type":"tool_result","id":"1","data":{"toolId":"t","toolName":"list","result":1,"isError":1},"timestamp":2}"#,
            r#"{"type":"permission_request","id":"1","data":{"question":"q"},"timestamp":2}"#,
            r#"{"type":"permission_resolved","id":"1","data":{"question":"q","text":"x"},"timestamp":2}"#,
            r#"{"type":"notice","id":"1","data":{"kind":"retry"},"timestamp":2}"#,
        ],
        &expect![[r#"
            None: the message has no id that is a string
            None: the message has no id that is a string
            None: the message has no id that is a string
            Some("1"): `data` must be an object with kind, status and retryable
            Some("1"): `data` must be an object with kind, status and retryable
            Some("1"): `data` must be an object
            Some("1"): `seq` must be a whole number
            Some("1"): `thinking` must be a string
            Some("1"): `data` must be an object with toolId, stream and text
            Some("1"): `data` must be an object with toolId, toolName and result
            Some("1"): `data` must be an object with question, toolId, toolName, input and title
            Some("1"): `data` must be an object with question, decision and text
            Some("1"): `data` must be an object with kind and text
        "#]],
    );
}

#[test]
fn the_conversation_that_a_request_names() {
    let check = |rest: &str, expected: Option<&str>| {
        let line = format!(r#"{{"id":"1","kind":{rest}}}"#);
        let request = SessionRequest::decode(line.as_bytes()).unwrap();
        assert_eq!(request.command.conversation_id().as_deref(), expected, "{line}");
    };
    check(r#""user_message","message":"""#, None);
    check(
        r#""user_message","message":"","metadata":{"a":1,"conversationId":"c\u00e9"}"#,
        Some("cé"),
    );
    check(r#""user_message","message":"","metadata":{"conversationId":null}"#, None);
    check(r#""edit_last","message":"","metadata":{"conversationId":"c"}"#, Some("c"));
    check(r#""clear_history","metadata":{"conversationId":"c"}"#, Some("c"));
    check(r#""regenerate","metadata":{"conversationId":"c"}"#, Some("c"));
    check(r#""regenerate""#, None);
    check(r#""new_conversation","conversationId":"c""#, Some("c"));
    check(r#""new_conversation""#, None);
    check(r#""load_conversation","conversationId":"c""#, Some("c"));
    check(r#""rename_conversation","conversationId":"c","title":"""#, Some("c"));
    check(r#""delete_conversation","conversationId":"c""#, Some("c"));
    check(r#""set_engine","engine":"e","conversationId":"c""#, Some("c"));
    check(r#""set_engine","engine":"e","metadata":{"conversationId":"c"}"#, Some("c"));
    check(r#""set_engine","engine":"e""#, None);
    check(r#""get_status""#, None);
}

#[test]
fn only_hello_opens_the_extensions() {
    let check = |rest: &str, expected: bool| {
        let line = format!(r#"{{"id":"1","kind":{rest}}}"#);
        let command = SessionRequest::decode(line.as_bytes()).unwrap().command;
        assert!(line.contains(&format!("\"{}\"", command.kind())), "{line}");
        assert_eq!(command.is_extension(), expected, "{line}");
    };
    check(r#""user_message","message":"""#, false);
    check(r#""clear_history""#, false);
    check(r#""get_status""#, false);
    check(r#""hello","capabilities":[]"#, false);
    check(r#""cancel","target":"0""#, true);
    check(r#""permission_answer","question":"q","decision":"deny""#, true);
    check(r#""new_conversation""#, true);
    check(r#""list_conversations""#, true);
    check(r#""load_conversation","conversationId":"c""#, true);
    check(r#""rename_conversation","conversationId":"c","title":"""#, true);
    check(r#""delete_conversation","conversationId":"c""#, true);
    check(r#""regenerate""#, true);
    check(r#""edit_last","message":"""#, true);
    check(r#""replay","fromSeq":1"#, true);
    check(r#""list_models""#, true);
    check(r#""set_engine","engine":"e""#, true);
}
