//! Offers a function of this process to any MCP client, and calls it through the bridge.
//!
//! `cargo run --example host_a_tool` shows every step: the client below starts this program again
//! as the bridge, as an agent CLI would. With `-- --wait` it prints the settings for Claude Code,
//! Codex and others instead, and serves until it is interrupted.

#![allow(clippy::print_stdout, reason = "an example is there to be seen")]

use std::process::ExitCode;

use callgate_tools::{Host, HostSession, McpClient, Tool, run_bridge_if_asked};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

type Failure = Box<dyn std::error::Error>;

#[derive(Deserialize, JsonSchema)]
struct Weigh {
    /// What to weigh, as in "a pint of milk".
    thing: String,
}

fn weigh() -> Tool {
    Tool::blocking("weigh", "Weighs a thing on the scales of this process.", |args: Weigh, _| {
        format!("{} weighs {} g, says process {}", args.thing, args.thing.len(), std::process::id())
    })
}

fn main() -> Result<ExitCode, Failure> {
    if let Some(ended) = run_bridge_if_asked() {
        return Ok(ended);
    }
    tokio::runtime::Runtime::new()?.block_on(async {
        let session = Host::new([weigh()])?.start()?;
        match std::env::args().nth(1).as_deref() {
            Some("--wait") => wait(&session).await,
            _ => ask(&session).await,
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What an agent does: start the bridge, look at the tools, call one.
async fn ask(session: &HostSession) -> Result<(), Failure> {
    let bridge = session.bridge_command()?;
    let mut command = Command::new(bridge.program);
    command.args(bridge.arguments);
    let client = ().serve(TokioChildProcess::new(command)?).await?;
    for tool in client.list_all_tools().await? {
        println!("tool    {}: {}", tool.name, tool.description.unwrap_or_default());
    }
    let arguments =
        serde_json::json!({"thing": "a feather"}).as_object().cloned().unwrap_or_default();
    let call = CallToolRequestParams::new("weigh").with_arguments(arguments);
    let answer = client.call_tool(call).await?;
    println!("answer  {}", serde_json::to_string(&answer)?);
    println!("this is process {}", std::process::id());
    client.cancel().await?;
    Ok(())
}

async fn wait(session: &HostSession) -> Result<(), Failure> {
    println!("Claude Code:  claude --mcp-config '{}'", session.mcp_config(McpClient::ClaudeCode)?);
    println!("Codex:\n{}", session.mcp_config(McpClient::Codex)?);
    println!("others:  {}", session.mcp_config(McpClient::Generic)?);
    println!("Serving. Ctrl-C ends it.");
    // However it is told to end, it leaves no files.
    let mut ended = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = ended.recv() => {}
    }
    Ok(())
}
