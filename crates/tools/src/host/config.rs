//! Settings with which agents start the bridge.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_link::file::{find_program, is_program, program_folders};
use serde_json::json;

use super::{Host, HostError};
use crate::bridge;

/// The first argument that makes your own program run as the bridge.
const BRIDGE_WORD: &str = "callgate-bridge";
/// Whether this program's `main` can run as the bridge.
static IS_BRIDGE: AtomicBool = AtomicBool::new(false);

/// The client that settings are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpClient {
    /// Claude Code: JSON for `--mcp-config`.
    ClaudeCode,
    /// Codex: TOML for its `config.toml`.
    Codex,
    /// Most others: JSON with an `mcpServers` object.
    Generic,
}

/// The program an agent starts as the bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeCommand {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Makes your program its own bridge: call it first in `main`.
///
/// An agent that was given [`mcp_config`](super::HostSession::mcp_config) then starts your program,
/// and this function serves it and returns the exit code. In every other case it returns `None` at
/// once.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     if let Some(ended) = callgate_tools::run_bridge_if_asked() {
///         return ended;
///     }
///     // Your program.
///     std::process::ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn run_bridge_if_asked() -> Option<ExitCode> {
    IS_BRIDGE.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == BRIDGE_WORD).then(|| bridge::main(arguments))
}

pub(super) fn bridge_command(
    host: &Host,
    socket: &Path,
    schema: &Path,
) -> Result<BridgeCommand, HostError> {
    let (program, word) = find_bridge(host)?;
    // All of it is in the arguments, because Codex and some SDKs start servers without the
    // environment.
    let mut arguments = vec![word.to_owned(), path_text(socket)?, path_text(schema)?];
    if host.connections > 1 {
        arguments.extend(["--connections".to_owned(), host.connections.to_string()]);
    }
    // This host checks arguments itself, so the bridge need not do so once more.
    arguments.push("--host-checks".to_owned());
    Ok(BridgeCommand { program: path_text(&program)?, arguments })
}

fn find_bridge(host: &Host) -> Result<(PathBuf, &'static str), HostError> {
    if let Some(program) = &host.bridge {
        if is_program(program) {
            return Ok((absolute_program(program)?, "bridge"));
        }
        let reason = format!("{} is not an executable file", program.display());
        return Err(HostError::Bridge(reason));
    }
    if IS_BRIDGE.load(Ordering::Relaxed) {
        let program = std::env::current_exe().map_err(|error| {
            HostError::Bridge(format!("cannot find the path of this program: {error}"))
        })?;
        return Ok((program, BRIDGE_WORD));
    }
    let folders = program_folders(&std::env::var_os("PATH").unwrap_or_default());
    let program = find_program("callgate", &folders).ok_or_else(|| {
        HostError::Bridge(
            "no program can serve as the bridge: call run_bridge_if_asked() first in your main, \
             install callgate on the PATH, or set its path with Host::bridge"
                .to_owned(),
        )
    })?;
    Ok((program, "bridge"))
}

/// Makes a path absolute: agents start the bridge from folders of their own.
fn absolute_program(program: &Path) -> Result<PathBuf, HostError> {
    std::path::absolute(program).map_err(|error| {
        HostError::Bridge(format!("cannot make {} absolute: {error}", program.display()))
    })
}

fn path_text(path: &Path) -> Result<String, HostError> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        HostError::Bridge(format!("{} is not UTF-8, which settings need", path.display()))
    })
}

pub(super) fn mcp_config(name: &str, bridge: &BridgeCommand, client: McpClient) -> String {
    let BridgeCommand { program, arguments } = bridge;
    match client {
        McpClient::ClaudeCode => {
            let server = json!({"type": "stdio", "command": program, "args": arguments});
            json!({"mcpServers": {name: server}}).to_string()
        }
        McpClient::Generic => {
            json!({"mcpServers": {name: {"command": program, "args": arguments}}}).to_string()
        }
        McpClient::Codex => {
            let arguments: Vec<String> = arguments.iter().map(|each| toml_string(each)).collect();
            format!(
                "[mcp_servers.{name}]\ncommand = {}\nargs = [{}]\n\
                 # These tools run without a question. Remove the line to be asked first.\n\
                 default_tools_approval_mode = \"approve\"\n",
                toml_string(program),
                arguments.join(", ")
            )
        }
    }
}

/// Returns a TOML basic string. JSON's escapes are TOML's too, except that TOML wants DEL escaped.
fn toml_string(text: &str) -> String {
    json!(text).to_string().replace('\u{7f}', "\\u007F")
}
