//! A bridge that cannot start says why in one line, and fails; one bad tool does not stop it.

use std::fs;

use callgate_testkit::process::{self, DEADLINE};
use serde_json::json;

use crate::fixture::{Stage, settle};

/// What the bridge says when it cannot start with this schema file.
fn refusal(stage: &Stage, options: &[&str], code: i32) -> String {
    let finished = process::run(stage.command(options), DEADLINE);
    assert_eq!(finished.status.code(), Some(code), "{}", finished.stderr);
    assert_eq!(finished.stdout, "");
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    let folder = stage.folder.path().to_str().unwrap();
    finished.stderr.replace(folder, "FOLDER").trim_end().to_owned()
}

#[test]
fn a_schema_file_that_is_of_no_use_ends_the_start() {
    let stage = Stage::new();
    let entry = r#"{"name":"a","description":"d","input_schema":{"type":"object"}}"#;
    for (content, reason) in [
        ("", "it is not a JSON array of tools: EOF while parsing a value at line 1 column 0"),
        (
            "[{\"name\"",
            "it is not a JSON array of tools: EOF while parsing an object at line 1 column 8",
        ),
        (
            "{}",
            "it is not a JSON array of tools: invalid type: map, expected a sequence at line 1 column 0",
        ),
        (&format!("[{entry},{entry}]"), "two tools are called \"a\""),
        (
            "[{}, 7]",
            "none of its tools can be offered: tool 1 is left out: its `name` is not a string; \
             tool 2 is left out: it is not an object",
        ),
    ] {
        fs::write(&stage.schema, content).unwrap();
        let expected =
            format!("callgate bridge: cannot use the schema file FOLDER/schema.json: {reason}");
        assert_eq!(refusal(&stage, &[], 1), expected);
    }
    fs::remove_file(&stage.schema).unwrap();
    assert_eq!(
        refusal(&stage, &[], 1),
        "callgate bridge: cannot read the schema file FOLDER/schema.json: No such file or directory (os error 2)"
    );
}

#[test]
fn a_wrong_command_line_is_told_with_the_right_one() {
    let stage = Stage::new();
    assert_eq!(
        refusal(&stage, &["--fast"], 64),
        "callgate bridge: unknown option --fast; \
         usage: bridge SOCKET SCHEMA [--connections N] [--heartbeat-ms N] [--host-checks]"
    );
}

#[test]
fn a_bad_tool_is_left_out_with_one_line() {
    let stage = Stage::new();
    let tools = json!([
        {"name": "bad", "description": "d", "input_schema": {"type": "string"}},
        {"name": "open", "description": "d", "input_schema": {}},
        {"name": "good", "description": null, "input_schema": {"type": "object"}},
    ]);
    fs::write(&stage.schema, tools.to_string()).unwrap();
    let mut bridge = stage.bridge(&[]);
    bridge.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let listed = json!([
        {"name": "open", "description": "d", "inputSchema": {"type": "object"}},
        {"name": "good", "inputSchema": {"type": "object"}},
    ]);
    assert_eq!(bridge.recv()["result"]["tools"], listed);
    settle(&mut bridge);
    bridge.close_stdin();
    bridge.wait_exit(DEADLINE);
    assert_eq!(
        bridge.stderr(),
        "callgate bridge: tool 1 is left out: \"bad\" has an `input_schema` without `\"type\": \"object\"`\n"
    );
}
