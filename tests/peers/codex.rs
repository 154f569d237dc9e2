//! Codex as a client, with the settings that `mcp_config` returns.

use std::fs::OpenOptions;
use std::io::Write;

use callgate_testkit::codex::Codex;
use callgate_testkit::process::run;
use callgate_testkit::responses::{Responses, ResponsesReply};
use callgate_tools::McpClient;
use serde_json::{Value, json};

use crate::fixture::{DEADLINE, Fixture, NAME};

/// A call of one of the host's tools.
fn uses(tool: &str, arguments: Value) -> ResponsesReply {
    ResponsesReply::Tool { server: NAME.to_owned(), name: tool.to_owned(), arguments }
}

/// What Codex tells its model of each call, with these settings for the server.
fn told(
    fixture: &Fixture,
    settings: &str,
    calls: impl IntoIterator<Item = ResponsesReply>,
) -> Vec<String> {
    let fake = Responses::start(calls.into_iter().chain([ResponsesReply::text("Done.")]));
    let codex = Codex::new(&fake, "").exec("Go");
    let path = codex.home().join(".codex/config.toml");
    let mut config = OpenOptions::new().append(true).open(path).unwrap();
    writeln!(config, "\n{settings}").unwrap();
    drop(config);
    let done = run(codex.command(), DEADLINE).success();
    fake.assert_nothing_refused();
    assert!(done.stdout.contains("Done."), "{}", done.stdout);
    fixture.calls.wait_until_none();
    fake.outputs()
}

/// Without a terminal nobody can be asked, so only tools run that the settings approve.
#[test]
fn codex_calls_the_tools_that_its_settings_approve() {
    if Codex::find().is_none() {
        return;
    }
    let fixture = Fixture::sequential();
    let settings = fixture.settings(McpClient::Codex);
    let add = || uses("add", json!({"a": 40, "b": 2}));
    let failure = uses("fail", json!({"text": "no such day"}));
    let misfit = uses("add", json!({"a": "7; rm", "b": 2}));
    let outputs = told(&fixture, &settings, [add(), failure, misfit]);
    assert!(outputs[0].contains("42"), "{outputs:?}");
    assert!(outputs[1].contains("ValueError: no such day"), "{outputs:?}");
    assert!(outputs[2].contains("ToolArgumentError"), "{outputs:?}");

    let unapproved: Vec<&str> =
        settings.lines().filter(|line| !line.contains("default_tools_approval_mode")).collect();
    let unapproved = unapproved.join("\n");
    let outputs = told(&fixture, &unapproved, [add()]);
    assert!(!outputs[0].contains("42"), "{outputs:?}");
}
