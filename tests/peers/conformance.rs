//! The protocol's own conformance suite. It speaks HTTP only, so `clients/http.mjs` translates.

use std::fs;
use std::process::Command;

use callgate_testkit::process::{Piped, run};
use callgate_testkit::tools;
use callgate_tools::{CallContext, NoArguments, Tool, ToolContent, ToolError};
use serde_json::{Value, json};

use crate::fixture::{DEADLINE, Fixture, PIXEL, script};

/// Scenarios that fail, as they should: of what a server of tools does not offer, and of the HTTP
/// in between. The suite fails if one of them passes, or another one does not.
const BEYOND: &str = "\
server:
  - logging-set-level
  - completion-complete
  - tools-call-with-logging
  - tools-call-sampling
  - tools-call-elicitation
  - elicitation-sep1034-defaults
  - elicitation-sep1330-enums
  - server-sse-polling
  - resources-list
  - resources-read-text
  - resources-read-binary
  - resources-templates-read
  - resources-subscribe
  - resources-unsubscribe
  - prompts-list
  - prompts-get-simple
  - prompts-get-with-args
  - prompts-get-embedded-resource
  - prompts-get-with-image
  - dns-rebinding-protection
";

fn item(item: Value) -> ToolContent {
    ToolContent::other(serde_json::from_value(item).unwrap())
}

fn audio() -> ToolContent {
    item(json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}))
}

fn image() -> ToolContent {
    ToolContent::image(PIXEL, "image/png")
}

fn resource() -> ToolContent {
    let resource = json!({"uri": "test://embedded", "mimeType": "text/plain", "text": "Inside."});
    item(json!({"type": "resource", "resource": resource}))
}

/// The tools that the suite calls.
fn tools_of_the_suite() -> Vec<Tool> {
    let returns = |name: &str, content: fn() -> Vec<ToolContent>| {
        Tool::blocking(name, "Returns content.", move |_: NoArguments, _| content())
    };
    let fails = |_: NoArguments, _: CallContext| -> Result<(), ToolError> {
        Err(ToolError::new("It was meant to fail."))
    };
    let reports = |_: NoArguments, call: CallContext| {
        for step in [0.0, 50.0, 100.0] {
            call.report(step, Some(100.0), None);
        }
        "reported"
    };
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"type": "object", "properties": {"city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": false,
    });
    vec![
        returns("test_simple_text", || vec![ToolContent::text("A simple text.")]),
        returns("test_image_content", || vec![image()]),
        returns("test_audio_content", || vec![audio()]),
        returns("test_embedded_resource", || vec![resource()]),
        returns("test_multiple_content_types", || {
            vec![ToolContent::text("Several:"), image(), resource()]
        }),
        Tool::blocking("test_error_handling", "Fails.", fails),
        Tool::blocking("test_tool_with_progress", "Reports its progress.", reports),
        Tool::raw_blocking("json_schema_2020_12_tool", "Has a schema.", schema, |_, _| "fine"),
    ]
}

#[test]
fn a_host_passes_the_conformance_suite_of_the_protocol() {
    let Some(mut suite) = tools::conformance() else { return };
    let module = |path| tools::conformance_module(path).unwrap();
    let fixture = Fixture::serving(tools_of_the_suite(), 1);
    let bridge = fixture.bridge();
    let facts = json!({
        "modules": {"http": module("server/streamableHttp.js"), "stdio": module("client/stdio.js")},
        "command": bridge.program, "arguments": bridge.arguments,
    });
    let mut command = Command::new(tools::node22().unwrap());
    command.arg(script("http.mjs")).arg(facts.to_string());
    let mut http = Piped::spawn(command).deadline(DEADLINE);
    let port = http.recv()["port"].as_u64().unwrap();

    let beyond = fixture.home().join("beyond.yml");
    fs::write(&beyond, BEYOND).unwrap();
    suite.args(["server", "--suite", "all", "--url", &format!("http://127.0.0.1:{port}/mcp")]);
    suite.arg("--expected-failures").arg(beyond).current_dir(fixture.home());
    let done = run(suite, 2 * DEADLINE);
    assert!(done.status.success(), "{}\n{}", done.stdout, done.stderr);
    for scenario in ["ping", "tools-list", "tools-call-with-progress", "json-schema-2020-12"] {
        assert!(done.stdout.contains(&format!("Running scenario: {scenario} ")), "{}", done.stdout);
    }
    http.close_stdin();
    assert!(http.wait_exit(DEADLINE).success(), "{}", http.stderr());
}
