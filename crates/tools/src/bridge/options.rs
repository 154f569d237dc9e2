//! The bridge's command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

const USAGE: &str =
    "usage: bridge SOCKET SCHEMA [--connections N] [--heartbeat-ms N] [--host-checks]";
/// The help of the bridge.
pub const HELP: &str = "\
Carry the tool calls of an MCP client to the program that has the tools

MCP clients start the bridge as their server. It lists the tools from the schema file, and sends
calls to the socket. A program built on `callgate-tools` prints settings that start it so.

Usage: bridge [OPTIONS] <SOCKET> <SCHEMA>

Arguments:
  <SOCKET>  The socket of the program that has the tools
  <SCHEMA>  The file in which that program describes its tools

Options:
      --connections <N>   The number of calls that the program takes at once, 1 to 64 [default: 1]
      --heartbeat-ms <N>  How often a client that waits is told that its call is still running, in
                          milliseconds, 1 to 3600000 [default: 10000]
      --host-checks       Leave it to the program to check arguments against the schemas
  -h, --help              Print help
  -V, --version           Print version
";
const DEFAULT_HEARTBEAT: Duration = Duration::from_secs(10);
const LONGEST_HEARTBEAT_MS: u32 = 3_600_000;
/// No client makes more calls at once than this.
const MOST_CONNECTIONS: u32 = 64;

/// The parsed command line of the bridge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeOptions {
    /// The host's socket.
    pub socket: PathBuf,
    /// The schema file that the host has written.
    pub schema: PathBuf,
    /// How many connections the host offers; each is sequential.
    pub connections: usize,
    /// How often a waiting client is notified that its call is still running.
    pub heartbeat: Duration,
    /// Whether the host checks arguments, so that the bridge need not.
    pub host_checks: bool,
}

impl BridgeOptions {
    /// Parses the arguments that follow the word `bridge`. The error is a sentence for the user.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut paths = Vec::new();
        let (mut connections, mut heartbeat, mut host_checks) = (1, DEFAULT_HEARTBEAT, false);
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some(flag @ "--connections") => {
                    connections = parse_number(flag, arguments.next(), MOST_CONNECTIONS)? as usize;
                }
                Some(flag @ "--heartbeat-ms") => {
                    let beat = parse_number(flag, arguments.next(), LONGEST_HEARTBEAT_MS)?;
                    heartbeat = Duration::from_millis(beat.into());
                }
                Some("--host-checks") => host_checks = true,
                Some(flag) if flag.starts_with("--") => {
                    return Err(format!("unknown option {flag}; {USAGE}"));
                }
                // A path need not be UTF-8.
                _ => paths.push(PathBuf::from(argument)),
            }
        }
        match <[PathBuf; 2]>::try_from(paths) {
            Ok([socket, schema]) => {
                Ok(Self { socket, schema, connections, heartbeat, host_checks })
            }
            Err(_) => Err(format!("a socket and a schema file are needed; {USAGE}")),
        }
    }
}

fn parse_number(flag: &str, value: Option<OsString>, most: u32) -> Result<u32, String> {
    let value = value.and_then(|value| value.to_str().and_then(|text| text.parse().ok()));
    value
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| format!("{flag} takes a whole number from 1 to {most}; {USAGE}"))
}

#[cfg(test)]
mod tests;
