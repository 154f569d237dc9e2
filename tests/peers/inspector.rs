//! The MCP Inspector's command line: strict about schemas, speaks every era, and has a load
//! generator.

use callgate_testkit::process::{Finished, run};
use callgate_testkit::tools;
use callgate_tools::McpClient;
use serde_json::{Value, json};

use crate::fixture::{DEADLINE, Fixture, NAME, ODD_TEXT, PIXEL};

/// The eras it offers, and the protocol version each settles on.
const ERAS: [(&str, &str); 3] =
    [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("modern", "2026-07-28")];
/// What it ends with when the tool has failed.
const TOOL_FAILED: i32 = 5;

/// Runs one command in one era; `None` where there is no Inspector.
fn inspect(fixture: &Fixture, era: &str, arguments: &[&str]) -> Option<Finished> {
    let mut command = tools::inspector()?;
    let config = fixture.home().join("servers.json");
    std::fs::write(&config, fixture.mcp_config(McpClient::Generic).to_string()).unwrap();
    command.env("HOME", fixture.home()).current_dir(fixture.home());
    command.arg("--cli").arg("--config").arg(config).args(["--server", NAME]);
    command.args(["--protocol-era", era, "--format", "json"]).args(arguments);
    Some(run(command, DEADLINE))
}

/// What a command that succeeded has printed.
fn result(finished: Finished) -> Value {
    let finished = finished.success();
    let printed: Value = serde_json::from_str(&finished.stdout).unwrap();
    printed["result"].clone()
}

fn call(fixture: &Fixture, era: &str, tool: &str, arguments: &Value) -> Option<Finished> {
    let arguments = arguments.to_string();
    let call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", &arguments];
    inspect(fixture, era, &call)
}

#[test]
fn the_handshake_settles_on_the_right_version() {
    let fixture = Fixture::sequential();
    for (era, version) in ERAS {
        let Some(done) = inspect(&fixture, era, &["--method", "initialize"]) else { return };
        let result = result(done);
        assert_eq!(result["protocolVersion"], version, "{era}: {result}");
        assert_eq!(result["serverInfo"]["name"], "callgate", "{era}: {result}");
        assert!(result["capabilities"]["tools"].is_object(), "{era}: {result}");
    }
}

#[test]
fn every_tool_is_listed_and_none_is_found_wanting() {
    let fixture = Fixture::sequential();
    for (era, _) in ERAS {
        for list in [&["--method", "tools/list"][..], &["--method", "tools/list", "--strict"]] {
            let Some(done) = inspect(&fixture, era, list) else { return };
            let result = result(done);
            let tools = result["tools"].as_array().unwrap().iter();
            let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
            assert_eq!(names, fixture.names(), "{era} {list:?}");
        }
    }
}

#[test]
fn calls_give_their_results() {
    let fixture = Fixture::sequential();
    for (era, _) in ERAS {
        let Some(done) = call(&fixture, era, "echo", &json!({"text": ODD_TEXT})) else { return };
        assert_eq!(result(done)["content"], json!([{"type": "text", "text": ODD_TEXT}]), "{era}");
        let done = call(&fixture, era, "structured", &json!({"x": 1, "y": -2})).unwrap();
        assert_eq!(result(done)["structuredContent"], json!({"x": -1, "y": 2}), "{era}");
    }
    let done = call(&fixture, "auto", "picture", &json!({})).unwrap();
    let picture = json!({"type": "image", "data": PIXEL, "mimeType": "image/png"});
    assert_eq!(result(done)["content"][1], picture);
}

#[test]
fn a_failed_call_says_what_failed() {
    let fixture = Fixture::sequential();
    for (era, _) in ERAS {
        let Some(done) = call(&fixture, era, "fail", &json!({"text": "no such day"})) else {
            return;
        };
        assert_eq!(done.status.code(), Some(TOOL_FAILED), "{era}: {}", done.stderr);
        let printed: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(printed["result"]["isError"], true, "{era}: {printed}");
        let text = printed["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("ValueError") && text.contains("no such day"), "{era}: {text}");
    }
}

#[test]
fn under_load_every_call_is_answered() {
    let load = ["--load", "--load-requests", "200", "--load-concurrency", "10"];
    let echo = ["--method", "tools/call", "--tool-name", "echo", "--tool-args-json"];
    let arguments = [&echo[..], &[r#"{"text":"hi"}"#], &load[..]].concat();
    for fixture in [Fixture::sequential(), Fixture::parallel()] {
        for (era, _) in ERAS {
            let Some(done) = inspect(&fixture, era, &arguments) else { return };
            let result = result(done);
            let counts = ["requests", "ok", "toolErrors", "errors"].map(|name| &result[name]);
            assert_eq!(counts, [200, 200, 0, 0].map(Value::from).each_ref(), "{era}: {result}");
        }
    }
}
