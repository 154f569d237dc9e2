//! A person's decision before a tool call also answers what the agent asks about it afterwards.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callgate_testkit::responses::ResponsesReply;
use callgate_testkit::trial::{AgentProgram, Trial, TrialMode};
use callgate_tools::{Host, McpClient, Tool, blocking};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::gate::{Desk, Gate, callgate};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    command: String,
}

/// What the tool is given.
const COMMAND: &str = "forty and two";

/// Codex asks for permission before it runs a tool of an MCP server, also in `codex exec`.
#[test]
fn codex_asks_nobody_again_about_a_tool_that_was_allowed_at_the_desk() {
    if AgentProgram::Codex.find().is_none() {
        return;
    }
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let add = Tool::blocking("add", "Adds up.", move |sum: Sum, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        format!("{} is a lot", sum.command)
    });
    let folder = tempfile::tempdir().unwrap();
    let host = Host::new([add]).unwrap().named("sums").unwrap();
    let host = host.folder(folder.path().to_owned()).bridge(callgate());
    let session = blocking::start(&host).unwrap();
    let settings = session.mcp_config(McpClient::Codex).unwrap();
    let asks = settings.lines().filter(|line| !line.contains("default_tools_approval_mode"));
    let settings = asks.collect::<Vec<_>>().join("\n");
    let arguments = json!({ "command": COMMAND });
    let call = || ResponsesReply::Tool {
        server: "sums".to_owned(),
        name: "add".to_owned(),
        arguments: arguments.clone(),
    };
    let Some(trial) = Trial::codex_exec(vec![call(), call()], &settings) else { return };
    let agent = AgentProgram::Codex;
    let mode = TrialMode { agent, mode: "", is_attended: false, is_escalated: false };
    let gate = Gate::of_trial(trial, mode, Desk::Answers, "", Path::new(callgate()));
    let played = gate.play(&[COMMAND]);
    let results = &played.outcome.results;
    assert_eq!(runs.load(Ordering::SeqCst), 2, "{results:?}");
    // A person was asked once about each call, before it ran.
    let checked = || ("PreToolUse".to_owned(), COMMAND.to_owned());
    assert_eq!(played.questions, [checked(), checked()], "{:?}", played.decided);
    let from_memory: Vec<_> =
        played.decided.iter().filter(|(event, _)| event == "PermissionRequest").collect();
    assert_eq!(from_memory.len(), 2, "{:?}", played.decided);
    for (_, by) in from_memory {
        assert!(by.ends_with("when the call was checked"), "{by}");
    }
}
