//! Before every tool call the hook asks the desk what the rules say, and denies on any failure,
//! because the agent takes silence for a yes.

use std::fs::OpenOptions;
use std::net::Shutdown;
use std::process::Stdio;

use callgate_testkit::process::{DEADLINE, Group};
use callgate_wire::approval::MAX_LINE;
use serde_json::{Value, json};

use crate::fixture::{Asked, Ended, Stage, answered_by, call, event, write};

/// The variable in which Claude Code tells whether somebody is at its terminal.
const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";

/// What the hook of an agent prints for a call that the desk answers with these fields.
fn answered(attended: &str, agent: &str, call: &Value, fields: &str) -> (Value, Ended) {
    let stage = Stage::new();
    let desk = stage.desk();
    let mut command = stage.command(&["hook", "--agent", agent]);
    command.env(ATTENDED, attended);
    let hook = stage.start(command, call.to_string());
    let mut asked = desk.accept();
    asked.assert_waiting();
    asked.answer(fields);
    asked.assert_closed();
    desk.agree();
    (asked.request(), hook.end())
}

fn line(decision: &str, rest: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}"{rest}}}}}"#
    ) + "\n"
}

#[test]
fn the_desk_is_told_what_is_about_to_run() {
    let mut call = call();
    call["permission_mode"] = json!("auto");
    let (mut request, ended) = answered("1", "claude", &call, r#""decision":"none""#);
    ended.printed("");
    request["request_id"].take();
    let expected = json!({
        "request_id": null, "kind": "check", "tool_name": "Bash", "cwd": "/work",
        "tool_input": {"command": "curl -H s3cret", "description": "d"},
        "session_id": "session", "agent": "claude-code",
        "context": {
            "event": "PreToolUse", "prompt_id": "prompt", "timeout_seconds": 300,
            "takes": ["edit"], "mode": "auto", "tool_use_id": "toolu_1", "asks": "agent",
        },
    });
    assert_eq!(request, expected);
}

#[test]
fn the_desk_is_told_who_asks() {
    let asks = |attended: &str, agent: &str, tool: &str, mode: &str| {
        let mut call = call();
        (call["tool_name"], call["permission_mode"]) = (json!(tool), json!(mode));
        let (request, ended) = answered(attended, agent, &call, r#""decision":"none""#);
        ended.printed("");
        request["context"]["asks"].as_str().unwrap().to_owned()
    };
    assert_eq!(asks("1", "claude", "Bash", "default"), "agent");
    assert_eq!(asks("0", "claude", "Bash", "default"), "desk");
    assert_eq!(asks("", "claude", "Bash", "auto"), "desk");
    assert_eq!(asks("1", "claude", "Write", "acceptEdits"), "desk");
    assert_eq!(asks("1", "claude", "Bash", "bypassPermissions"), "desk");
    assert_eq!(asks("1", "codex", "Bash", "default"), "desk");
}

#[test]
fn each_answer_has_its_own_form() {
    let call = call();
    let printed =
        |attended: &str, agent: &str, fields: &str| answered(attended, agent, &call, fields).1;
    let allow = r#""decision":"allow""#;
    printed("1", "claude", allow).printed(&line("allow", ""));
    printed("0", "claude", allow).printed(&line("allow", ""));
    // Codex knows no allow here: it goes on.
    printed("1", "codex", allow).printed("");
    let deny = r#""decision":"deny","message":"The rule says no.""#;
    let denied = line("deny", r#","permissionDecisionReason":"The rule says no.""#);
    printed("1", "claude", deny).printed(&denied);
    printed("1", "codex", deny).printed(&denied);
    let ask = r#""decision":"ask","message":"The rule asks.""#;
    let asked = line("ask", r#","permissionDecisionReason":"The rule asks.""#);
    printed("1", "claude", ask).printed(&asked);
    // Where it would not be understood it is a deny.
    printed("0", "claude", ask).denied("cannot take");
    printed("1", "codex", ask).denied("cannot take");
    for agent in ["claude", "codex"] {
        printed("1", agent, r#""decision":"none""#).printed("");
        printed("1", agent, r#""decision":"timeout""#).denied("nobody answered");
    }
    let edited = r#""decision":"allow","updated_input":{"command":"ls"}"#;
    printed("1", "claude", edited).printed(&line("allow", r#","updatedInput":{"command":"ls"}"#));
    printed("1", "codex", edited).denied("cannot take");
}

/// What a person makes of a call is checked like the call: rules may deny it, or want more than
/// them.
#[test]
fn a_changed_call_is_checked_again() {
    let edited = r#""decision":"allow","updated_input":{"command":"rm -r /"}"#;
    let changed = |event: &Value, fields: &str| {
        let stage = Stage::new();
        let desk = stage.desk();
        let hook = stage.hook(event.to_string());
        let mut first = desk.accept();
        first.answer(edited);
        let mut second = desk.accept();
        second.answer(fields);
        (first.request(), second.request(), hook.end())
    };
    for event in [call(), event("PermissionRequest")] {
        let (first, second, ended) = changed(&event, r#""decision":"none""#);
        assert!(ended.stdout.contains(r#""updatedInput":{"command":"rm -r /"}"#), "{ended:?}");
        assert_ne!(first["request_id"], second["request_id"]);
        assert_eq!(
            (&second["kind"], &second["context"]["asks"]),
            (&json!("check"), &json!("agent"))
        );
        assert_eq!(second["tool_input"], json!({"command": "rm -r /"}));
        for no in [r#""decision":"deny","message":"a rule denies it""#, r#""decision":"timeout""#] {
            let (.., ended) = changed(&event, no);
            assert!(ended.stdout.contains("A person changed this call, but "), "{ended:?}");
            assert!(!ended.stdout.contains("allow\""), "{ended:?}");
        }
    }
}

/// The call is denied when its desk does this.
fn check(act: impl FnOnce(&mut Asked), reason: &str) {
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(call().to_string());
    act(&mut desk.accept());
    hook.end().denied(reason);
    desk.assert_not_dialled();
}

#[test]
fn an_answer_that_cannot_be_used_is_a_deny() {
    check(|asked| asked.send("s3cret\n"), "cannot be used");
    check(|asked| asked.send([0xff, b'\n']), "cannot be used");
    check(|asked| asked.answer(r#""decision":"maybe""#), "`decision` must be");
    check(|asked| asked.send("{\"decision\":\"allow\"}\n"), "`request_id` must be");
    let other = r#"{"request_id":"550e8400-e29b-41d4-a716-446655440000","decision":"allow"}"#;
    check(|asked| asked.send(format!("{other}\n")), "answered another question");
    let cut = |asked: &mut Asked| {
        let whole = format!(r#"{{"request_id":"{}","decision":"allow"}}"#, asked.id());
        asked.send(whole);
        asked.stream.shutdown(Shutdown::Both).unwrap();
    };
    check(cut, "was cut off");
}

#[test]
fn a_desk_that_gives_no_answer_is_a_deny() {
    let stage = Stage::new().patience(1, 1);
    let desk = stage.desk();
    let hook = stage.hook(call().to_string());
    let asked = desk.accept();
    hook.end().denied("no answer within 1 s");
    drop(asked);
    // One that dies and does not come back.
    let stage = Stage::new().patience(300, 0);
    let desk = stage.desk();
    let hook = stage.hook(call().to_string());
    drop((desk.accept(), desk));
    hook.end().denied("start it again with `callgate up`");
    // One that does not know what a check is.
    let stage = Stage::new();
    let desk = stage.desk();
    let hook = stage.hook(call().to_string());
    (0..3).for_each(|_| drop(desk.accept()));
    hook.end().denied("closed the connection without an answer");
}

#[test]
fn a_desk_that_comes_back_is_asked_the_same() {
    let stage = Stage::new().patience(300, 60);
    let desk = stage.desk();
    let hook = stage.hook(call().to_string());
    let first = desk.accept();
    let line = first.line.clone();
    drop((desk, first));
    std::fs::remove_file(&stage.socket).unwrap();
    let desk = stage.desk();
    let mut second = desk.accept();
    assert_eq!(second.line, line);
    second.answer(r#""decision":"none""#);
    second.assert_closed();
    hook.end().printed("");
}

#[test]
fn input_that_cannot_be_used_is_a_deny() {
    let stage = Stage::new();
    let desk = stage.desk();
    let reason = "cannot use the agent's input";
    let name = r#"{"hook_event_name":"PreToolUse""#;
    for rest in ["", ",", r#","tool_name":"Bash","tool_input":{"#, r#","tool_input":{}}"#, "} {}"] {
        stage.hook(format!("{name}{rest}")).end().denied(reason);
    }
    stage.hook([name.as_bytes(), b",\"x\":\"\xff\"}"].concat()).end().denied(reason);
    desk.assert_not_dialled();
    // One that does not fit into a line of the protocol.
    let mut large = call();
    large["tool_input"]["command"] = "x".repeat(MAX_LINE).into();
    let hook = stage.hook(large.to_string());
    assert_eq!(desk.accept().line, "");
    hook.end().denied("ask in fewer words");
}

#[test]
fn input_without_an_end_is_a_deny() {
    let stage = Stage::new();
    let mut command = std::process::Command::new("/bin/sh");
    let script = r#"{ printf '{"hook_event_name":"PreToolUse","x":"'; yes s3cret; } | "$0" hook"#;
    command.args(["-c", script, env!("CARGO_BIN_EXE_callgate")]);
    let ended = stage.start(command, "").end();
    ended.denied("the agent's input has more than 33554432 bytes");
}

#[test]
fn settings_that_cannot_be_read_are_a_deny() {
    let stage = Stage::new();
    let desk = stage.desk();
    for (text, reason) in [("timeout_seconds = 0", "timeout_seconds"), ("socket =", "config.toml")]
    {
        let config = write(&stage, "config.toml", text);
        let command = stage.command(&["hook", "--config", config.to_str().unwrap()]);
        stage.start(command, call().to_string()).end().denied(reason);
    }
    let mut command = stage.command(&["hook"]);
    command.env("CALLGATE_TIMEOUT_SECONDS", "never");
    stage.start(command, call().to_string()).end().denied("CALLGATE_TIMEOUT_SECONDS");
    desk.assert_not_dialled();
}

#[test]
fn a_decision_that_cannot_be_printed_is_a_deny() {
    let stage = Stage::new();
    let desk = stage.desk();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = stage.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(full).stderr(Stdio::null());
    let mut hook = Group::spawn(command);
    let input = call().to_string();
    std::io::Write::write_all(&mut hook.take_stdin(), input.as_bytes()).unwrap();
    desk.accept().answer(r#""decision":"deny""#);
    assert_eq!(hook.wait(DEADLINE).unwrap().code(), Some(2));
    // Nobody reads it any more.
    let mut command = stage.command(&["hook"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut hook = Group::spawn(command);
    std::io::Write::write_all(&mut hook.take_stdin(), input.as_bytes()).unwrap();
    let mut asked = desk.accept();
    drop(hook.take_stdout());
    asked.assert_closed();
    assert_eq!(hook.wait(DEADLINE).unwrap().code(), Some(2));
}

#[test]
fn the_socket_on_the_command_line_is_the_one() {
    let stage = Stage::new();
    let desk = stage.desk();
    let config = stage.folder.path().join("absent.toml");
    let (config, socket) = (config.to_str().unwrap(), stage.socket.to_str().unwrap());
    for (arguments, name) in [
        (&["hook", "--config", config, "--socket", socket][..], "CALLGATE_SOCKET"),
        (&["hook", "--socket", socket][..], "CALLGATE_SOCKET"),
        (&["hook", "--config", config, "--socket", socket][..], "CALLGATE_CONFIG"),
    ] {
        let mut command = stage.command(arguments);
        command.env(name, "/nowhere");
        let hook = stage.start(command, call().to_string());
        desk.accept().answer(r#""decision":"deny","message":"Here.""#);
        hook.end().denied("Here.");
    }
}

#[test]
fn a_call_that_the_agent_blocked_may_be_tried_again() {
    let mut input = event("PermissionDenied");
    input["reason"] = json!("It pushes.");
    input["permission_mode"] = json!("auto");
    let input = input.to_string();
    let answered = |fields: &str| {
        let stage = Stage::new();
        let command = stage.command(&["hook"]);
        answered_by(&stage, command, &input, fields)
    };
    answered(r#""decision":"allow""#).printed(
        "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionDenied\",\"retry\":true}}\n",
    );
    answered(r#""decision":"deny","message":"No.""#).printed("");
    answered(r#""decision":"timeout""#).printed("");
    answered(r#""decision":"allow","updated_input":{}"#).printed("");
    let stage = Stage::new();
    stage.hook(&input).end().printed("");
    stage.hook(r#"{"hook_event_name":"PermissionDenied","x":"#).end().printed("");
    let desk = stage.desk();
    let hook = stage.hook(&input);
    let mut asked = desk.accept();
    let request = asked.request();
    assert_eq!(request.get("kind"), None, "a question is of the kind that needs no name");
    let context = &request["context"];
    assert_eq!(
        (&context["event"], &context["reason"], &context["mode"], &context["takes"]),
        (&json!("PermissionDenied"), &json!("It pushes."), &json!("auto"), &json!([]))
    );
    asked.send("s3cret\n");
    hook.end().printed("");
}
