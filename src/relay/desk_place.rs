//! Where the desk of a box is, and how a relay starts and stops it.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use callgate_approval::viewer_token::new_viewer_token;
use callgate_client::DeskError;
use callgate_client::viewer::Viewer;
use callgate_wire::HiddenText;

use crate::config::Config;
use crate::failure::Failure;
use crate::stop::stop_process;

/// What the desk prints when it serves.
pub(crate) const READY: &str = "ready";
pub(crate) const LONGEST_KEY: u64 = 256;

/// Where the desk of a box is, and how it is started.
#[derive(Debug, Clone)]
pub(crate) struct RelayDeskPlace {
    pub(crate) desk_socket: PathBuf,
    settings_file: Option<PathBuf>,
}

impl RelayDeskPlace {
    pub(crate) fn new(config: &Config, file: Option<&Path>) -> Self {
        let desk_socket = config.desk_socket.value.clone();
        Self { desk_socket, settings_file: file.map(Path::to_owned) }
    }

    /// Starts a desk that outlives this process. Returns the key by which it knows its relay: it is
    /// in the memory of both, and nowhere else.
    pub(crate) fn start_desk(&self) -> Result<HiddenText, String> {
        let failed = |error: io::Error| format!("cannot start the desk of this machine: {error}");
        let token = new_viewer_token().map_err(failed)?;
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        if let Some(file) = &self.settings_file {
            command.arg("--config").arg(file);
        }
        // The desk outlives this process, and would keep the file system of its folder busy.
        command.args(["relay", "--desk"]).current_dir("/");
        // Standard error is read only if the desk does not start. Nobody reads it later, and the
        // desk drops its warnings then.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut desk = command.spawn().map_err(failed)?;
        if let Some(mut input) = desk.stdin.take() {
            // The token goes through a pipe, because everybody on the machine can read a command
            // line. A desk that does not take it any more says below why it has failed.
            writeln!(input, "{}", token.reveal()).ok();
        }
        let mut said = String::new();
        if let Some(output) = desk.stdout.take() {
            let mut first = BufReader::new(output.take(LONGEST_KEY));
            #[allow(clippy::disallowed_methods, reason = "a few bytes of our own child")]
            first.read_line(&mut said).map_err(failed)?;
        }
        if said.trim() == READY {
            return Ok(token);
        }
        let why = desk.stderr.take().map(|output| io::read_to_string(output.take(4096)));
        desk.wait().map_err(failed)?;
        let why = why.transpose().map_err(failed)?.unwrap_or_default();
        Err(format!("cannot start the desk of this machine: {}", why.trim()))
    }

    /// Stops the desk here if a relay has started it.
    pub(crate) fn stop_own_desk(&self) -> Result<(), Failure> {
        let status = match Viewer::connect(&self.desk_socket) {
            Err(DeskError::NoDesk(_)) => return Ok(()),
            viewer => viewer?.status()?,
        };
        // A desk that a person has started is not for a relay to stop.
        if status.is_relay { stop_process(status.pid, &self.desk_socket) } else { Ok(()) }
    }
}
