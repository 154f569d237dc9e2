//! What the approval protocol reads, refuses and writes.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::fields::tests::render_with_line;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";

/// Reads each input and shows what was read and how it is written, or why it was refused.
fn check(read: fn(&str) -> String, inputs: &[&str], expected: &Expect) {
    let shown: Vec<String> = inputs.iter().map(|input| read(&input.replace("ID", ID))).collect();
    expected.assert_eq(&(shown.join("\n") + "\n").replace(ID, "ID"));
}

fn request(line: &str) -> String {
    match ApprovalRequest::decode(line.as_bytes()) {
        Ok(request) => render_with_line(&request, &request.to_line()),
        Err(malformed) => format!("{malformed:?}\n  = {malformed}"),
    }
}

fn response(line: &str) -> String {
    match ApprovalResponse::decode(line.as_bytes()) {
        Ok(response) => render_with_line(&response, &response.to_line()),
        Err(malformed) => format!("{malformed:?}\n  = {malformed}"),
    }
}

fn callback(data: &str) -> String {
    match Callback::parse(data) {
        Some(callback) => format!("{:?} = {:?}", callback.action, callback.to_data()),
        None => "nothing".to_owned(),
    }
}

fn request_id(id: &str) -> String {
    RequestId::parse(id).map_or_else(|| "nothing".to_owned(), |id| format!("{id:?}"))
}

#[test]
fn requests() {
    check(
        request,
        &[
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w","session_id":"s"}"#,
            r#"{"session_id":"s","new":[1],"cwd":"/w","tool_input":{ "z":1.0, "a":"\u0041" },"tool_name":"Bash","request_id":"ID","permission_suggestions":null}"#,
            "{\"request_id\":\"ID\",\"tool_name\":\"Edit\",\"tool_input\":{\r\n},\"cwd\":\"/w\",\"session_id\":\"s\",\"permission_suggestions\":[{\n\"type\":\"setMode\"},7]}\r\n",
        ],
        &expect![[r#"
            ApprovalRequest { request_id: RequestId("ID"), tool_name: "Bash", tool_input: RawValue({"command":"ls"}), cwd: "/w", session_id: "s", permission_suggestions: [], kind: Ask, agent: None, context: None, machine: None }
              = "{\"request_id\":\"ID\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"cwd\":\"/w\",\"session_id\":\"s\"}\n"
            ApprovalRequest { request_id: RequestId("ID"), tool_name: "Bash", tool_input: RawValue({ "z":1.0, "a":"\u0041" }), cwd: "/w", session_id: "s", permission_suggestions: [], kind: Ask, agent: None, context: None, machine: None }
              = "{\"request_id\":\"ID\",\"tool_name\":\"Bash\",\"tool_input\":{ \"z\":1.0, \"a\":\"\\u0041\" },\"cwd\":\"/w\",\"session_id\":\"s\"}\n"
            ApprovalRequest { request_id: RequestId("ID"), tool_name: "Edit", tool_input: RawValue({␍␊}), cwd: "/w", session_id: "s", permission_suggestions: [RawValue({␊"type":"setMode"}), RawValue(7)], kind: Ask, agent: None, context: None, machine: None }
              = "{\"request_id\":\"ID\",\"tool_name\":\"Edit\",\"tool_input\":{  },\"cwd\":\"/w\",\"session_id\":\"s\",\"permission_suggestions\":[{ \"type\":\"setMode\"},7]}\n"
        "#]],
    );
}

#[test]
fn extended_requests() {
    check(
        request,
        &[
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","kind":"settle","agent":"codex","context":{"event":"PostToolUse","ok":false,"prompt_id":"p","agent_id":null,"new":1}}"#,
            r#"{"request_id":"ID","tool_name":"Ask","tool_input":{},"cwd":"/w","session_id":"s","kind":"ask","context":{"takes":["edit","fly","interrupt"],"timeout_seconds":30,"must_ask":"It leaves the folder."}}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","kind":"check","context":{"event":"PreToolUse","mode":"auto","tool_use_id":"toolu_1","asks":"agent"}}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","context":{"event":"PermissionDenied","mode":"auto","reason":"It pushes.","asks":"desk"}}"#,
        ],
        &expect![[r#"
            ApprovalRequest { request_id: RequestId("ID"), tool_name: "Bash", tool_input: RawValue({}), cwd: "/w", session_id: "s", permission_suggestions: [], kind: Settle, agent: Some("codex"), context: Some(RequestContext { event: Some("PostToolUse"), prompt_id: Some("p"), agent_id: None, last_words: None, words_follow: None, ok: Some(false), timeout_seconds: None, takes: None, must_ask: None, mode: None, tool_use_id: None, reason: None, asks: None, answers: None, gated: None, hook_of: None, settings_folder: None, edit_lines: None }), machine: None }
              = "{\"request_id\":\"ID\",\"tool_name\":\"Bash\",\"tool_input\":{},\"cwd\":\"/w\",\"session_id\":\"s\",\"kind\":\"settle\",\"agent\":\"codex\",\"context\":{\"event\":\"PostToolUse\",\"prompt_id\":\"p\",\"ok\":false}}\n"
            ApprovalRequest { request_id: RequestId("ID"), tool_name: "Ask", tool_input: RawValue({}), cwd: "/w", session_id: "s", permission_suggestions: [], kind: Ask, agent: None, context: Some(RequestContext { event: None, prompt_id: None, agent_id: None, last_words: None, words_follow: None, ok: None, timeout_seconds: Some(30), takes: Some([Edit, Interrupt]), must_ask: Some("It leaves the folder."), mode: None, tool_use_id: None, reason: None, asks: None, answers: None, gated: None, hook_of: None, settings_folder: None, edit_lines: None }), machine: None }
              = "{\"request_id\":\"ID\",\"tool_name\":\"Ask\",\"tool_input\":{},\"cwd\":\"/w\",\"session_id\":\"s\",\"context\":{\"timeout_seconds\":30,\"takes\":[\"edit\",\"interrupt\"],\"must_ask\":\"It leaves the folder.\"}}\n"
            ApprovalRequest { request_id: RequestId("ID"), tool_name: "Bash", tool_input: RawValue({}), cwd: "/w", session_id: "s", permission_suggestions: [], kind: Check, agent: None, context: Some(RequestContext { event: Some("PreToolUse"), prompt_id: None, agent_id: None, last_words: None, words_follow: None, ok: None, timeout_seconds: None, takes: None, must_ask: None, mode: Some("auto"), tool_use_id: Some("toolu_1"), reason: None, asks: Some(Agent), answers: None, gated: None, hook_of: None, settings_folder: None, edit_lines: None }), machine: None }
              = "{\"request_id\":\"ID\",\"tool_name\":\"Bash\",\"tool_input\":{},\"cwd\":\"/w\",\"session_id\":\"s\",\"kind\":\"check\",\"context\":{\"event\":\"PreToolUse\",\"mode\":\"auto\",\"tool_use_id\":\"toolu_1\",\"asks\":\"agent\"}}\n"
            ApprovalRequest { request_id: RequestId("ID"), tool_name: "Bash", tool_input: RawValue({}), cwd: "/w", session_id: "s", permission_suggestions: [], kind: Ask, agent: None, context: Some(RequestContext { event: Some("PermissionDenied"), prompt_id: None, agent_id: None, last_words: None, words_follow: None, ok: None, timeout_seconds: None, takes: None, must_ask: None, mode: Some("auto"), tool_use_id: None, reason: Some("It pushes."), asks: Some(Desk), answers: None, gated: None, hook_of: None, settings_folder: None, edit_lines: None }), machine: None }
              = "{\"request_id\":\"ID\",\"tool_name\":\"Bash\",\"tool_input\":{},\"cwd\":\"/w\",\"session_id\":\"s\",\"context\":{\"event\":\"PermissionDenied\",\"mode\":\"auto\",\"reason\":\"It pushes.\",\"asks\":\"desk\"}}\n"
        "#]],
    );
}

#[test]
fn what_an_asker_takes() {
    let takes = |context: &str| {
        let line = r#"{"request_id":"ID","tool_name":"B","tool_input":{},"cwd":"","session_id":"","context":CONTEXT}"#;
        let request =
            ApprovalRequest::decode(line.replace("ID", ID).replace("CONTEXT", context).as_bytes());
        let request = request.expect("a request");
        [AnswerExtra::Always, AnswerExtra::Edit, AnswerExtra::Interrupt]
            .map(|extra| request.takes(extra))
    };
    assert_eq!(takes("null"), [true, false, false]);
    assert_eq!(takes("{}"), [true, false, false]);
    assert_eq!(takes(r#"{"takes":[]}"#), [false, false, false]);
    assert_eq!(takes(r#"{"takes":["interrupt","edit"]}"#), [false, true, true]);
}

#[test]
fn malformed_requests() {
    check(
        request,
        &[
            "",
            "no JSON",
            r#"["ID","Bash",{},"/w","s"]"#,
            r#"{"request_id":"ID"} {}"#,
            r#"{"tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s"}"#,
            r#"{"request_id":"1","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s"}"#,
            r#"{"request_id":"ID","tool_input":{},"cwd":"/w","session_id":"s"}"#,
            r#"{"request_id":"ID","tool_name":"Bash","cwd":"/w","session_id":"s"}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":null,"cwd":"/w","session_id":"s"}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":["secret"],"cwd":"/w","session_id":"s"}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"session_id":"s"}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":null}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","permission_suggestions":{}}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","kind":"shout"}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","context":{"asks":"secret"}}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","context":{"mode":["secret"]}}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","context":["secret"]}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","context":{"takes":"edit"}}"#,
            r#"{"request_id":"ID","tool_name":"Bash","tool_input":{},"cwd":"/w","session_id":"s","context":{"timeout_seconds":-1}}"#,
        ],
        &expect![[r#"
            NotJson { bytes_read: 0 }
              = the line is not one JSON object (read 0 bytes of it)
            NotJson { bytes_read: 0 }
              = the line is not one JSON object (read 0 bytes of it)
            NotJson { bytes_read: 0 }
              = the line is not one JSON object (read 0 bytes of it)
            NotJson { bytes_read: 54 }
              = the line is not one JSON object (read 54 bytes of it)
            WrongField { field: "request_id", expected: "a UUID of version 4" }
              = `request_id` must be a UUID of version 4
            WrongField { field: "request_id", expected: "a UUID of version 4" }
              = `request_id` must be a UUID of version 4
            WrongField { field: "tool_name", expected: "a string" }
              = `tool_name` must be a string
            WrongField { field: "tool_input", expected: "an object" }
              = `tool_input` must be an object
            WrongField { field: "tool_input", expected: "an object" }
              = `tool_input` must be an object
            WrongField { field: "tool_input", expected: "an object" }
              = `tool_input` must be an object
            WrongField { field: "cwd", expected: "a string" }
              = `cwd` must be a string
            WrongField { field: "session_id", expected: "a string" }
              = `session_id` must be a string
            WrongField { field: "permission_suggestions", expected: "an array" }
              = `permission_suggestions` must be an array
            WrongField { field: "kind", expected: "ask, settle, notify or check" }
              = `kind` must be ask, settle, notify or check
            WrongField { field: "asks", expected: "agent or desk" }
              = `asks` must be agent or desk
            WrongField { field: "mode", expected: "a string" }
              = `mode` must be a string
            WrongField { field: "context", expected: "an object" }
              = `context` must be an object
            WrongField { field: "takes", expected: "an array" }
              = `takes` must be an array
            WrongField { field: "timeout_seconds", expected: "a whole number" }
              = `timeout_seconds` must be a whole number
        "#]],
    );
}

#[test]
fn responses() {
    check(
        response,
        &[
            r#"{"request_id":"ID","decision":"allow","message":null,"always_allow_suggestion":{ "type":"addRules" }}"#,
            r#"{"request_id":"ID","decision":"deny","message":"use\nthe script","always_allow_suggestion":null}"#,
            r#"{"request_id":"ID","decision":"timeout","since":"later"}"#,
            r#"{"request_id":"ID","decision":"ask","message":"a rule asks"}"#,
            r#"{"request_id":"ID","decision":"none"}"#,
            r#"{"request_id":"ID","decision":"allow","updated_permissions":[{ "type":"a" },{"type":"b"}],"updated_input":{"command":"ls"}}"#,
            r#"{"request_id":"ID","decision":"deny","interrupt":true,"updated_permissions":null}"#,
            r#"{"request_id":"ID","decision":"allow","by":"Ada"}"#,
            r#"{"request_id":"ID","decision":"timeout","unreachable":true}"#,
            r#"{"request_id":"ID","decision":"deny","interrupt":"secret"}"#,
            r#"{"request_id":"ID","decision":"allow","updated_input":"secret"}"#,
            r#"{"request_id":"ID","decision":"maybe"}"#,
            r#"{"request_id":"ID","decision":{"allow":null}}"#,
            r#"{"request_id":"ID","message":"why"}"#,
            r#"{"request_id":"ID","decision":"deny","message":["secret"]}"#,
            r#"{"request_id":"ID","decision":"allow","always_allow_suggestion":"secret"}"#,
            r#"{"decision":"allow"}"#,
        ],
        &expect![[r#"
            ApprovalResponse { request_id: RequestId("ID"), decision: Allow, message: None, always_allow_suggestion: Some(RawValue({ "type":"addRules" })), updated_permissions: [], updated_input: None, interrupt: false, by: None, unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"allow\",\"message\":null,\"always_allow_suggestion\":{ \"type\":\"addRules\" }}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: Deny, message: Some("use\nthe script"), always_allow_suggestion: None, updated_permissions: [], updated_input: None, interrupt: false, by: None, unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"deny\",\"message\":\"use\\nthe script\",\"always_allow_suggestion\":null}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: Timeout, message: None, always_allow_suggestion: None, updated_permissions: [], updated_input: None, interrupt: false, by: None, unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"timeout\",\"message\":null,\"always_allow_suggestion\":null}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: Ask, message: Some("a rule asks"), always_allow_suggestion: None, updated_permissions: [], updated_input: None, interrupt: false, by: None, unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"ask\",\"message\":\"a rule asks\",\"always_allow_suggestion\":null}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: None, message: None, always_allow_suggestion: None, updated_permissions: [], updated_input: None, interrupt: false, by: None, unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"none\",\"message\":null,\"always_allow_suggestion\":null}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: Allow, message: None, always_allow_suggestion: None, updated_permissions: [RawValue({ "type":"a" }), RawValue({"type":"b"})], updated_input: Some(RawValue({"command":"ls"})), interrupt: false, by: None, unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"allow\",\"message\":null,\"always_allow_suggestion\":null,\"updated_permissions\":[{ \"type\":\"a\" },{\"type\":\"b\"}],\"updated_input\":{\"command\":\"ls\"}}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: Deny, message: None, always_allow_suggestion: None, updated_permissions: [], updated_input: None, interrupt: true, by: None, unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"deny\",\"message\":null,\"always_allow_suggestion\":null,\"interrupt\":true}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: Allow, message: None, always_allow_suggestion: None, updated_permissions: [], updated_input: None, interrupt: false, by: Some("Ada"), unreachable: false, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"allow\",\"message\":null,\"always_allow_suggestion\":null,\"by\":\"Ada\"}\n"
            ApprovalResponse { request_id: RequestId("ID"), decision: Timeout, message: None, always_allow_suggestion: None, updated_permissions: [], updated_input: None, interrupt: false, by: None, unreachable: true, relayed: None }
              = "{\"request_id\":\"ID\",\"decision\":\"timeout\",\"message\":null,\"always_allow_suggestion\":null,\"unreachable\":true}\n"
            WrongField { field: "interrupt", expected: "true or false" }
              = `interrupt` must be true or false
            WrongField { field: "updated_input", expected: "an object" }
              = `updated_input` must be an object
            WrongField { field: "decision", expected: "allow, deny, timeout, ask or none" }
              = `decision` must be allow, deny, timeout, ask or none
            WrongField { field: "decision", expected: "allow, deny, timeout, ask or none" }
              = `decision` must be allow, deny, timeout, ask or none
            WrongField { field: "decision", expected: "allow, deny, timeout, ask or none" }
              = `decision` must be allow, deny, timeout, ask or none
            WrongField { field: "message", expected: "a string" }
              = `message` must be a string
            WrongField { field: "always_allow_suggestion", expected: "an object" }
              = `always_allow_suggestion` must be an object
            WrongField { field: "request_id", expected: "a UUID of version 4" }
              = `request_id` must be a UUID of version 4
        "#]],
    );
}

#[test]
fn request_ids() {
    check(
        request_id,
        &[
            "ID",
            "550E8400-E29B-41D4-B716-446655440000",
            "550e8400-e29b-11d4-a716-446655440000",
            "550e8400-e29b-41d4-c716-446655440000",
            "550e8400-e29b-41d4-a716-44665544000g",
            "550e8400e29b41d4a716446655440000",
            "{ID}",
            "ID ",
            "",
        ],
        &expect![[r#"
            RequestId("ID")
            RequestId("550E8400-E29B-41D4-B716-446655440000")
            nothing
            nothing
            nothing
            nothing
            nothing
            nothing
            nothing
        "#]],
    );
}

#[test]
fn callbacks() {
    let long = format!("ID:{}", "x".repeat(28));
    check(
        callback,
        &[
            "ID:allow",
            "ID:deny",
            "ID:stop",
            "ID:reply",
            "ID:always",
            "ID:always2",
            "ID:always0",
            "ID:always02",
            "ID:always256",
            "ID:pick0.3",
            "ID:pick0",
            "ID:pick+1.3",
            "ID:done",
            "ID:more",
            "ID:Allow",
            "ID:",
            "ID",
            "7:allow",
            "",
            &long,
        ],
        &expect![[r#"
            Allow = "ID:allow"
            Deny = "ID:deny"
            Stop = "ID:stop"
            Reply = "ID:reply"
            Always(0) = "ID:always"
            Always(2) = "ID:always2"
            nothing
            nothing
            nothing
            Pick { question: 0, option: 3 } = "ID:pick0.3"
            nothing
            nothing
            Done = "ID:done"
            More = "ID:more"
            nothing
            nothing
            nothing
            nothing
            nothing
            nothing
        "#]],
    );
}

#[test]
fn callback_data_fits_into_a_button() {
    for action in [Action::Always(u8::MAX), Action::Pick { question: u8::MAX, option: u8::MAX }] {
        let request_id = RequestId::parse(ID).expect("a UUID");
        assert!(Callback { request_id, action }.to_data().len() <= MAX_CALLBACK);
    }
}

proptest! {
    #[test]
    fn any_request_is_one_line_and_comes_back(tool_name: String, cwd: String, said: String) {
        let tool_input = serde_json::json!({ "said": said });
        let request = ApprovalRequest {
            request_id: RequestId::parse(ID).expect("a UUID"),
            tool_name,
            tool_input: serde_json::value::to_raw_value(&tool_input).expect("JSON"),
            cwd,
            session_id: String::new(),
            permission_suggestions: Vec::new(),
            kind: RequestKind::Ask,
            agent: None,
            context: Some(RequestContext { last_words: Some(said), ..RequestContext::default() }),
            machine: None,
        };
        let line = request.to_line();
        prop_assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
        let back = ApprovalRequest::decode(&line).expect("our own line");
        prop_assert_eq!(format!("{back:?}"), format!("{request:?}"));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = (ApprovalRequest::decode(&bytes), ApprovalResponse::decode(&bytes));
    }
}
