//! Input that the agent writes is read leniently, or ignored.

use std::io::Write;

use serde_json::json;

use crate::fixture::{Stage, bash, call};

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
    let ended = stage.start(stage.command(&["hook", "--agent", "gemini"]), bash()).end();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(64), ""));
    assert!(ended.stderr.contains("usage: callgate hook"), "{}", ended.stderr);
    let ended = stage.start(stage.command(&["hook", "--agent", "gemini"]), call().to_string());
    ended.end().denied("usage: callgate hook");
    let ended = stage.start(stage.command(&["hook", "--agent", "gemini"]), "s3cret").end();
    ended.refused("usage: callgate hook");
}
