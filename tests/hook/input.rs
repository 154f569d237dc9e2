//! Input that the agent writes is read leniently, or ignored.

use std::io::Write;

use serde_json::{Value, json};

use crate::fixture::{Stage, bash, call, event};

#[test]
fn what_the_agent_left_out_is_filled_in() {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash"}"#);
    let mut asked = desk.accept();
    let request = asked.request();
    let folder = stage.folder.path().canonicalize().unwrap();
    assert_eq!(request["cwd"], folder.to_str().unwrap());
    assert_eq!(request["session_id"], format!("pid-{}", std::process::id()));
    assert_eq!(request["tool_input"], json!({}));
    asked.answer(r#""decision":"allow""#);
    assert_eq!(hook.end().code, Some(0));
}

#[test]
fn input_that_is_none_is_no_yes_to_anything() {
    let stage = Stage::new();
    let desk = stage.desk();
    let reason = "cannot use the agent's input";
    for input in ["", "\n", "s3cret", "{\"s3cret\":", "[]", "{}", r#"{"tool_name":"s3cret"}"#] {
        stage.hook(input).end().refused(reason);
    }
    stage.hook(b"{\"hook_event_name\":\"\xff\"}").end().refused(reason);
    stage.hook(r#"{"hook_event_name":"PermissionRequest"}"#).end().fell_back("no `tool_name`");
    desk.assert_not_dialled();
}

#[test]
fn an_agent_need_not_close_the_pipe() {
    let stage = Stage::new();
    let desk = stage.desk();
    let mut hook = stage.start_open(stage.command(&["hook"]));
    let input = bash();
    let (start, end) = input.split_at(100);
    let mut stdin = hook.stdin.take().unwrap();
    stdin.write_all(start.as_bytes()).unwrap();
    stdin.flush().unwrap();
    stdin.write_all(end.as_bytes()).unwrap();
    let mut asked = desk.accept();
    asked.answer(r#""decision":"allow""#);
    assert_eq!(hook.end().code, Some(0));
}

#[test]
fn an_endless_input_is_not_read_to_its_end() {
    let stage = Stage::new();
    let mut command = std::process::Command::new("/bin/sh");
    let script = "yes s3cret | \"$0\" hook";
    command.args(["-c", script, env!("CARGO_BIN_EXE_callgate")]);
    let ended = stage.start(command, "").end();
    ended.refused("the agent's input has more than 33554432 bytes");
}

#[test]
fn a_wrong_command_line_is_told() {
    let stage = Stage::new();
    let ended = stage.start(stage.command(&["hook", "--agent", "cursor"]), bash()).end();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(64), ""));
    assert!(ended.stderr.contains("usage: callgate hook"), "{}", ended.stderr);
    let ended = stage.start(stage.command(&["hook", "--agent", "cursor"]), call().to_string());
    ended.end().denied("usage: callgate hook");
    let ended = stage.start(stage.command(&["hook", "--agent", "cursor"]), "s3cret").end();
    ended.refused("usage: callgate hook");
}

/// JSON that another program may read differently: inputs of a tool, and why they are refused.
const AMBIGUOUS: [(&str, &str); 5] = [
    (r#"{"command":"touch made # \ud800"}"#, "half of a surrogate pair"),
    (r#"{"command":"ls","\udc00":1}"#, "half of a surrogate pair"),
    (r#"{"command":"ls","command":"touch made"}"#, "the same key twice"),
    (r#"{"command":"ls","a":[{"b":0,"\u0062":0}]}"#, "the same key twice"),
    (r#"{"command":"ls","timeout":1e400}"#, "too large or too precise"),
];

/// The text of an event with this input of a tool.
fn with_input(event: &Value, input: &str) -> String {
    let mut event = event.clone();
    event["tool_input"] = json!("HERE");
    event.to_string().replace(r#""HERE""#, input)
}

#[test]
fn input_that_can_be_read_in_two_ways_is_denied_in_every_mode() {
    let stage = Stage::new();
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(127), "]".repeat(127));
    let cases = AMBIGUOUS.into_iter().chain([(deep.as_str(), "more than 128 levels")]);
    for ((input, reason), mode) in
        cases.zip(["default", "auto", "bypassPermissions"].iter().cycle())
    {
        for agent in ["claude", "codex"] {
            let mut call = call();
            call["permission_mode"] = json!(mode);
            let hook = stage.command(&["hook", "--agent", agent]);
            stage.start(hook, with_input(&call, input)).end().denied(reason);
            let hook = stage.command(&["hook", "--agent", agent]);
            let ended = stage.start(hook, with_input(&event("PermissionRequest"), input)).end();
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
            let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
            let output = &printed["hookSpecificOutput"];
            assert_eq!(output["hookEventName"], "PermissionRequest", "{output}");
            assert_eq!(output["decision"]["behavior"], "deny", "{output}");
            let message = output["decision"]["message"].as_str().unwrap();
            assert!(message.contains(reason), "{message}");
        }
    }
}

/// The events at which an agent asks are refused whatever part of the input is ambiguous; silence
/// refuses a call that the agent has blocked.
#[test]
fn every_part_of_the_input_has_to_be_clear() {
    let stage = Stage::new();
    let twice = call().to_string().replacen('{', r#"{"tool_name":"Read","#, 1);
    stage.hook(twice).end().denied("the same key twice");
    let renamed = call().to_string().replacen('{', r#"{"hook_event_name":"Stop","#, 1);
    stage.hook(renamed).end().denied("the same key twice");
    let blocked = with_input(&event("PermissionDenied"), AMBIGUOUS[0].0);
    stage.hook(blocked).end().printed("");
    let form = r#"{"hook_event_name":"Elicitation","message":"\ud800","mode":"form"}"#;
    let declined = r#"{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"decline"}}"#;
    stage.hook(form).end().printed(&format!("{declined}\n"));
}

/// A desk that runs has the call for its ledger, and is not waited for. What only reports is
/// reported.
#[test]
fn a_desk_learns_of_ambiguous_input() {
    let stage = Stage::new();
    let desk = stage.desk();
    let (input, reason) = AMBIGUOUS[2];
    let hook = stage.hook(with_input(&call(), input));
    let asked = desk.accept();
    assert!(asked.line.contains(input), "{}", asked.line);
    hook.end().denied(reason);
    let hook = stage.hook(with_input(&event("PostToolUse"), input));
    assert!(desk.accept().line.contains(input));
    hook.end().printed("");
}
