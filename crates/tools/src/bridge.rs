//! The bridge: a stdio MCP server, started by the agent CLI, whose tools live in another process.
//!
//! It uses plain blocking threads (no async runtime, so it starts quickly), answers what it can
//! from the schema file, and carries calls to the host's socket.

mod connections;
mod options;
mod output;
mod relay;
mod watch;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use callgate_link::blocking::fill_lines;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use callgate_wire::tools::{ErrorPayload, error_type};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};

use crate::mcp::{self, Catalogue, LARGEST_SCHEMA_FILE, McpAction, McpCall};
pub use options::{BridgeOptions, HELP};
use output::BridgeOutput;
use relay::Relay;

/// The exit code after a wrong command line, as in sysexits.
const USAGE: u8 = 64;

/// Runs the bridge with the arguments that follow the word `bridge`, until its client ends it.
///
/// A bridge that cannot start writes the reason to standard error in one line and fails. Once
/// started it always succeeds, however it ends. `--help` and `--version` print what they promise.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let has = |long: &str, short: &str| arguments.iter().any(|word| word == long || word == short);
    if has("--help", "-h") {
        return print_text(HELP);
    }
    if has("--version", "-V") {
        return print_text(concat!("callgate-bridge ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    let options = match BridgeOptions::parse(arguments) {
        Ok(options) => options,
        Err(usage) => return report_failure(&usage, USAGE),
    };
    match run_bridge(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => report_failure(&reason, 1),
    }
}

fn print_text(text: &str) -> ExitCode {
    // A reader that has gone away is not our failure.
    io::stdout().write_all(text.as_bytes()).ok();
    ExitCode::SUCCESS
}

fn report_failure(reason: &str, code: u8) -> ExitCode {
    print_error(reason);
    ExitCode::from(code)
}

/// Serves until the client ends it. The error is a sentence for the user.
fn run_bridge(options: BridgeOptions) -> Result<(), String> {
    let system = |error: io::Error| format!("cannot start: {error}");
    // This comes first: a client may change its mind at once.
    watch::obey_signals().map_err(system)?;
    let catalogue = read_catalogue(&options.schema)?;
    // Not the handles of the standard library: the buffer of its input would hide from `poll` what
    // has arrived, and `send_call` watches the input while it sends.
    let stdin = io::stdin().as_fd().try_clone_to_owned().map_err(system)?;
    let stdout = io::stdout().as_fd().try_clone_to_owned().map_err(system)?;
    let input = File::from(stdin.try_clone().map_err(system)?);
    let output = BridgeOutput::new(stdout.try_clone().map_err(system)?, stdin);
    let relay = Relay::new(options.socket, options.connections, Arc::clone(&output));
    watch::watch_client(stdout, options.heartbeat, Arc::clone(&relay)).map_err(system)?;
    let checks = !options.host_checks;
    let mut bridge = Bridge { catalogue, checks, input, output, relay };
    // A client that cannot be read or written any more is gone, as at the end of the input.
    bridge.serve().ok();
    bridge.output.wait_for_late_lines();
    Ok(())
}

fn read_catalogue(path: &Path) -> Result<Catalogue, String> {
    let mut file = Vec::new();
    // One byte more than the limit is enough to detect a file that is too large, however large it
    // is.
    File::open(path)
        .and_then(|opened| opened.take(LARGEST_SCHEMA_FILE as u64 + 1).read_to_end(&mut file))
        .map_err(|error| format!("cannot read the schema file {}: {error}", path.display()))?;
    let (catalogue, left_out) = Catalogue::from_schema_file(&file)
        .map_err(|reason| format!("cannot use the schema file {}: {reason}", path.display()))?;
    for reason in left_out {
        print_error(&reason);
    }
    Ok(catalogue)
}

/// The state of the thread that reads requests.
struct Bridge {
    catalogue: Catalogue,
    /// Whether the bridge checks arguments, because the host does not.
    checks: bool,
    input: File,
    output: Arc<BridgeOutput>,
    relay: Arc<Relay>,
}

impl Bridge {
    /// Answers requests until the input ends.
    fn serve(&mut self) -> io::Result<()> {
        let mut lines = LineDecoder::new(mcp::LONGEST_REQUEST);
        while self.read_more(&mut lines)? {
            loop {
                let buffered = lines.buffered();
                let Some(line) = lines.next_frame() else { break };
                // A line end takes at most two bytes: anything more belongs to the next line.
                let is_last = buffered <= line.size() + 2;
                self.handle_line(line, is_last)?;
            }
        }
        // The last line of a file may lack its line end.
        if let Some(line) = lines.finish() {
            self.handle_line(line, true)?;
        }
        if is_regular_file(&self.input) {
            self.relay.wait_for_answers();
        }
        Ok(())
    }

    /// Reads more; returns false at the end of the input.
    fn read_more(&mut self, lines: &mut LineDecoder) -> io::Result<bool> {
        loop {
            match fill_lines(&mut self.input, lines) {
                // Some clients hand over a pipe in non-blocking mode.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.input, PollFlags::IN)], None)?;
                }
                read => return read.map(|count| count > 0),
            }
        }
    }

    /// Answers a line. `is_last` says that no other line has been read yet.
    fn handle_line(&self, line: DecodedLine<'_>, is_last: bool) -> io::Result<()> {
        let answer = match line {
            DecodedLine::Whole(line) => mcp::answer(&self.catalogue, line),
            DecodedLine::TooLong(line) => mcp::refuse_too_long(&line),
        };
        match answer {
            McpAction::Reply(reply) => self.output.write_soon(reply.into_bytes()),
            McpAction::Call(call) => match self.check_arguments(&call) {
                Ok(()) => self.relay.send_call(&call, is_last.then_some(&self.input)),
                Err(reason) => {
                    let kind = error_type::ARGUMENT.into();
                    let error = ErrorPayload { message: reason.into(), kind };
                    self.output.write_soon(call.ticket().error_reply(&error).into_line())
                }
            },
            McpAction::Cancel(id) => {
                self.relay.cancel(id);
                Ok(())
            }
            McpAction::Nothing => Ok(()),
        }
    }

    /// Checks the arguments of a call, unless the host does.
    fn check_arguments(&self, call: &McpCall<'_>) -> Result<(), String> {
        if self.checks {
            self.catalogue.check_arguments(&call.name, call.arguments.get())
        } else {
            Ok(())
        }
    }
}

/// Returns true if the input is a file. At the end of a file somebody still waits for the answers;
/// the end of a pipe means that the client has gone.
fn is_regular_file(input: &File) -> bool {
    fstat(input).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

fn print_error(reason: &str) {
    // If standard error is closed, there is nobody to notify.
    writeln!(io::stderr(), "callgate bridge: {reason}").ok();
}
