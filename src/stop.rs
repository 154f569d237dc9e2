//! `callgate stop`: ends the desk that runs.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use callgate_approval::terminal::question_line;
use callgate_client::viewer::Viewer;
use callgate_link::socket::server_process;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::config::{DeskFlags, load_config};
use crate::failure::Failure;
use crate::left_open::left_open;
use crate::status::open_questions;
use crate::terminal::width::wrapped_for_terminal;

/// How long the desk may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stop the desk, wherever it runs
///
/// Ends `callgate up` as Ctrl-C in its terminal does, waits until it has ended, and names the
/// questions that it leaves open. A service starts again at the next login, until `callgate up
/// --service --remove` removes it.
#[derive(Debug, clap::Args)]
pub(crate) struct StopArgs {}

/// Ends the desk, and waits for its end.
pub(crate) fn stop_desk(file: Option<&Path>) -> Result<ExitCode, Failure> {
    let config = load_config(file, &DeskFlags::default())?;
    let mut viewer = Viewer::connect(&config.desk_socket.value)?;
    // This is asked before the desk ends, because afterwards there is nobody to ask.
    let open = open_questions(&mut viewer)?;
    let process = viewer.status()?.pid;
    stop_process(process, &config.desk_socket.value)?;
    let questions: Vec<String> = open.rows.iter().map(question_line).collect();
    let mut out = io::stdout().lock();
    writeln!(out, "callgate has stopped; it ran as process {process}.")?;
    let left = wrapped_for_terminal(&left_open(&questions, config.grace_seconds), 2);
    out.write_all(left.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Ends the process that serves this socket, and waits for its end.
pub(crate) fn stop_process(process: u32, socket: &Path) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::Failed(format!("cannot stop process {process}, which serves the desk: {error}"))
    };
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| failed(&"no process has that number here"))?;
    let desk = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(&error))?;
    // It serves after the handle was opened, so the handle is that of the desk.
    if server_process(socket) != Some(process) {
        return Err(failed(
            &"that number belongs to another process here; stop the desk where it was started",
        ));
    }
    pidfd_send_signal(&desk, Signal::TERM).map_err(|error| failed(&error))?;
    let within = Timespec::try_from(PATIENCE).map_err(|error| failed(&error))?;
    let ended = poll(&mut [PollFd::new(&desk, PollFlags::IN)], Some(&within));
    match ended.map_err(|error| failed(&error))? {
        0 => Err(failed(&format!("it has not ended within {} s", PATIENCE.as_secs()))),
        _ => Ok(()),
    }
}
