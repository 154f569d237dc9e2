//! What hooks are told by the real Claude Code CLI 2.1.325, by everything less friendly, and by
//! transcripts.

use std::fmt::Write;

use expect_test::{Expect, expect};
use serde_json::Value;

use super::*;

const ID: &str = "550e8400-e29b-41d4-a716-446655440000";
const RECORDED: [&str; 2] = [
    include_str!("../../tests/data/hooks-2.1.325.ndjson"),
    include_str!("../../tests/data/hooks-2.1.325-more.ndjson"),
];
const TRANSCRIPT: &str = include_str!("../../tests/data/transcript-2.1.325.jsonl");
const SUBAGENT: &str = include_str!("../../tests/data/transcript-2.1.325-subagent.jsonl");

fn id() -> RequestId {
    RequestId::parse(ID).unwrap()
}

/// Returns the request line that comes of a hook's input, or why there is none.
fn asked(input: &str) -> String {
    let input = match AgentHookInput::from_bytes(input.as_bytes(), None) {
        Ok(input) => input,
        Err(error) => return error.to_string(),
    };
    match input.request(id()) {
        Ok(request) => String::from_utf8(request.to_line()).unwrap(),
        Err(error) => error.to_string(),
    }
}

fn check(input: &str, expected: &Expect) {
    expected.assert_eq(asked(input).trim_end());
}

#[test]
fn recorded_inputs_become_requests() {
    let mut told = String::new();
    for line in RECORDED.iter().flat_map(|file| file.lines()) {
        let stdin = Members::from_text(line).unwrap().get("stdin").unwrap().get();
        let input = AgentHookInput::from_bytes(stdin.as_bytes(), None).unwrap();
        let Some(kind) = input.event().kind() else {
            told += "nothing\n";
            continue;
        };
        let request = input.request(id()).unwrap();
        let members = input.members.clone();
        if members.get("tool_name").is_some() {
            assert_eq!(request.tool_input.get(), members.get("tool_input").unwrap().get());
        }
        let given = members.get("permission_suggestions").map_or(0, |list| blocks_of(list).len());
        assert_eq!(request.permission_suggestions.len(), given);
        assert_eq!(request.kind, kind);
        assert_eq!(Some(&*request.session_id), members.string("session_id").as_deref());
        assert_eq!(Some(&*request.cwd), members.string("cwd").as_deref());
        let context = request.context.unwrap();
        assert_eq!(context.prompt_id, members.string("prompt_id").map(Into::into));
        assert_eq!(context.agent_id, members.string("agent_id").map(Into::into));
        let RequestContext { event, takes, ok, last_words, .. } = context;
        let (kind, tool) = (serde_json::to_value(kind).unwrap(), request.tool_name);
        let (kind, event) = (kind.as_str().unwrap(), event.unwrap());
        let said = last_words.map(|words| words.len());
        writeln!(told, "{kind} {event} {tool}, takes {takes:?}, ok {ok:?}, said {said:?}").unwrap();
    }
    expect![[r"
        nothing
        nothing
        check PreToolUse Bash, takes Some([Edit]), ok None, said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        settle PostToolUse Bash, takes None, ok Some(true), said None
        settle Stop Stop, takes None, ok None, said Some(97)
        settle SessionEnd SessionEnd, takes None, ok None, said None
        ask Elicitation Elicitation, takes Some([Edit, Interrupt]), ok None, said None
        notify Notification Notification, takes None, ok None, said None
        settle PostToolUseFailure Bash, takes None, ok Some(false), said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Write, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Write, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest WebFetch, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest Read, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest mcp__toy__echo, takes Some([Always, Edit, Interrupt]), ok None, said None
        check PreToolUse AskUserQuestion, takes Some([Edit]), ok None, said None
        ask PermissionRequest AskUserQuestion, takes Some([Always, Edit, Interrupt]), ok None, said None
        settle PostToolUse AskUserQuestion, takes None, ok Some(true), said None
        ask PermissionRequest ExitPlanMode, takes Some([Always, Edit, Interrupt]), ok None, said None
        ask PermissionRequest ExitPlanMode, takes Some([Always, Edit, Interrupt]), ok None, said None
        settle PostToolUse ExitPlanMode, takes None, ok Some(true), said None
        settle PostToolUse Agent, takes None, ok Some(true), said None
        ask PermissionRequest Bash, takes Some([Always, Edit, Interrupt]), ok None, said None
        settle PostToolUse Bash, takes None, ok Some(true), said None
        ask Elicitation Elicitation, takes Some([Edit, Interrupt]), ok None, said None
        notify Notification Notification, takes None, ok None, said None
    "]]
    .assert_eq(&told);
}

fn blocks_of(list: Json<'_>) -> Vec<Value> {
    serde_json::from_str(list.get()).unwrap()
}

#[test]
fn what_crosses_keeps_its_bytes() {
    check(
        r#"{"session_id":"s","cwd":"/w","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"z":1.0, "a":"\u00e9\ud800","n":1e400},"permission_suggestions":[{"b":1, "a":2.50}],"new_field":[1]}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Bash","tool_input":{"z":1.0, "a":"\u00e9\ud800","n":1e400},"cwd":"/w","session_id":"s","permission_suggestions":[{"b":1, "a":2.50}],"agent":"claude-code","context":{"event":"PermissionRequest","takes":["always","edit","interrupt"]}}"#
        ]],
    );
    check(
        "{\"hook_event_name\":\n\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"a\":\n1},\"tool_response\":{\"big\":[]}}",
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Bash","tool_input":{"a": 1},"cwd":"","session_id":"","kind":"settle","agent":"claude-code","context":{"event":"PostToolUse","ok":true}}"#
        ]],
    );
}

#[test]
fn missing_and_strange_fields_are_filled_or_passed_over() {
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash"}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Bash","tool_input":{},"cwd":"","session_id":"","agent":"claude-code","context":{"event":"PermissionRequest","takes":["always","edit","interrupt"]}}"#
        ]],
    );
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":null,"cwd":null,"session_id":7,"permission_suggestions":{},"prompt_id":[],"agent_id":"","transcript_path":null}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Bash","tool_input":{},"cwd":"","session_id":"","agent":"claude-code","context":{"event":"PermissionRequest","takes":["always","edit","interrupt"]}}"#
        ]],
    );
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":"ls"}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Bash","tool_input":{"input":"ls"},"cwd":"","session_id":"","agent":"claude-code","context":{"event":"PermissionRequest","takes":["always","edit","interrupt"]}}"#
        ]],
    );
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_input":{}}"#,
        &expect!["it has no `tool_name`"],
    );
    check(
        r#"{"hook_event_name":"PermissionRequest","tool_name":5}"#,
        &expect!["it has no `tool_name`"],
    );
    check(
        r#"{"hook_event_name":null,"tool_name":"secret"}"#,
        &expect!["it has no `hook_event_name`"],
    );
    check("[]", &expect!["it is not a JSON object (read 0 bytes of it)"]);
    check("secret", &expect!["it is not a JSON object (read 0 bytes of it)"]);
    check("", &expect!["it is not a JSON object (read 0 bytes of it)"]);
}

#[test]
fn events_without_a_tool_tell_what_they_are_about() {
    check(
        r#"{"hook_event_name":"Elicitation","cwd":"/w","session_id":"s","mcp_server_name":"toy","message":"your name?","mode":"form","requested_schema":{"type":"object"},"tool_name":"x"}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Elicitation","tool_input":{"message":"your name?","requested_schema":{"type":"object"},"mcp_server_name":"toy","mode":"form"},"cwd":"/w","session_id":"s","agent":"claude-code","context":{"event":"Elicitation","takes":["edit","interrupt"]}}"#
        ]],
    );
    check(
        r#"{"hook_event_name":"Notification","cwd":"/w","session_id":"s","message":"Claude needs you","notification_type":"permission_prompt"}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Notification","tool_input":{"message":"Claude needs you","notification_type":"permission_prompt"},"cwd":"/w","session_id":"s","kind":"notify","agent":"claude-code","context":{"event":"Notification"}}"#
        ]],
    );
    check(
        r#"{"hook_event_name":"SessionEnd","reason":"other"}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"SessionEnd","tool_input":{"reason":"other"},"cwd":"","session_id":"","kind":"settle","agent":"claude-code","context":{"event":"SessionEnd"}}"#
        ]],
    );
    check(
        r#"{"hook_event_name":"Stop","prompt_id":"p","last_assistant_message":" Done. "}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Stop","tool_input":{},"cwd":"","session_id":"","kind":"settle","agent":"claude-code","context":{"event":"Stop","prompt_id":"p","last_words":"Done."}}"#
        ]],
    );
}

#[test]
fn codex_is_known_by_its_turn() {
    check(
        r#"{"session_id":"s","transcript_path":null,"cwd":"/w","hook_event_name":"PermissionRequest","model":"gpt","turn_id":"t1","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        &expect![[
            r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w","session_id":"s","agent":"codex","context":{"event":"PermissionRequest","prompt_id":"t1","takes":[],"mode":"default"}}"#
        ]],
    );
}

#[test]
fn an_event_is_glimpsed_in_what_cannot_be_read() {
    let glimpse = |text: &str| agents::CLAUDE.guess_event(text.as_bytes()).map(|event| event.event);
    assert_eq!(glimpse(r#"{"hook_event_name":"Stop","x":"#), Some(AgentHookEvent::Stop));
    assert_eq!(
        glimpse(r#"{"a":1, "hook_event_name" : "PostToolUse""#),
        Some(AgentHookEvent::PostToolUse)
    );
    assert_eq!(glimpse(r#"{"hook_event_name":"New"#), Some(AgentHookEvent::Other));
    assert_eq!(glimpse(r#"{"hook_event_name":5,"a":"Stop"}"#), None);
    assert_eq!(glimpse(r#"{"hook_event_name""#), None);
    assert_eq!(glimpse("Stop"), None);
}

/// Returns the lines of the recorded transcript up to and with the `count`th of the conversation.
fn conversation(count: usize) -> String {
    let mut seen = 0;
    let lines = TRANSCRIPT.lines().take_while(|line| {
        let kind = Members::from_text(line).unwrap().string("type").unwrap();
        let is_before = seen < count;
        seen += usize::from(matches!(&*kind, "user" | "assistant"));
        is_before
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn check_words(tail: &str, tool: Option<&str>, text: Option<&str>, is_behind: bool) {
    let expected = LastWords { text: text.map(Into::into), is_behind, is_empty: false };
    assert_eq!(find_last_words(tail.as_bytes(), true, tool, false), expected, "{tail}");
}

/// Nothing of the conversation is there, so it is only about to be written.
fn check_empty(tail: &str) {
    let expected = LastWords { text: None, is_behind: true, is_empty: true };
    assert_eq!(find_last_words(tail.as_bytes(), true, Some("Bash"), false), expected, "{tail}");
}

#[test]
fn the_last_words_of_a_recorded_transcript_are_found() {
    // The prompt; words and call; its result; words and call; its result; the end.
    let bash = Some("Bash");
    check_empty("");
    check_empty(&conversation(0));
    check_words(&conversation(1), bash, None, true);
    check_words(&conversation(2), bash, Some("first words"), false);
    check_words(&conversation(3), bash, Some("first words"), false);
    check_words(&conversation(4), bash, Some("first words"), true);
    check_words(&conversation(5), bash, Some("LATEST words"), false);
    check_words(&conversation(6), bash, Some("LATEST words"), false);
    check_words(TRANSCRIPT, bash, Some("done"), false);
    let expected = LastWords { text: Some("fine".into()), ..LastWords::default() };
    assert_eq!(find_last_words(SUBAGENT.as_bytes(), true, bash, true), expected);
    // In a main transcript, what subagents say is not what the agent says.
    check_empty(SUBAGENT);
}

#[test]
fn a_transcript_may_be_cut_anywhere() {
    for cut in (0..TRANSCRIPT.len()).step_by(11) {
        let words = find_last_words(&TRANSCRIPT.as_bytes()[cut..], false, Some("Bash"), false);
        let is_known = words.text.as_deref().is_none_or(|text| text == "done");
        assert!(is_known && !words.is_behind, "{cut}: {words:?}");
    }
}

#[test]
fn calls_that_run_together_are_told_apart() {
    let call = |id: &str, name: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{name}"}}]}}}}"#
        )
    };
    let result = |id: &str| {
        format!(r#"{{"type":"user","message":{{"content":[{{"tool_use_id":"{id}"}}]}}}}"#)
    };
    let said = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"Both."},{"type":"text","text":" "}]}}"#;
    let lines = [said.to_owned(), call("1", "Read"), call("2", "Bash"), result("1")].join("\n");
    check_words(&lines, Some("Bash"), Some("Both."), false);
    check_words(&lines, Some("Read"), Some("Both."), true);
    check_words(&lines, None, Some("Both."), false);
    let lines = [lines, result("2")].join("\r\n");
    check_words(&lines, Some("Bash"), Some("Both."), true);
    check_words(&lines, None, Some("Both."), true);
}

#[test]
fn strange_transcripts_have_no_words() {
    check_empty("no JSON\n{\"type\":\"assistant\"");
    check_words(r#"{"type":"assistant"}"#, None, None, false);
    check_words(r#"{"type":"assistant","message":{"content":5}}"#, None, None, false);
    check_words(
        r#"{"type":"assistant","message":{"content":"Plain."}}"#,
        None,
        Some("Plain."),
        false,
    );
    check_words(r#"{"type":"assistant","message":{"content":[1,{"text":2}]}}"#, None, None, false);
    assert_eq!(find_last_words(b"\xff\n\xff", false, None, false), LastWords::default());
}

#[test]
fn long_words_keep_their_end() {
    let text = "ä".repeat(MAX_WORDS);
    assert_eq!(cut_last_words(&format!(" {text}\n")), text);
    let longer = format!("x{text}");
    assert_eq!(cut_last_words(&longer), format!("…{}", "ä".repeat(MAX_WORDS - 1)));
    assert_eq!(cut_last_words(&longer).chars().count(), MAX_WORDS);
    assert_eq!(cut_last_words(""), "");
}
