//! Checks the daemon: its sockets, its lock and its status.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

use callgate_approval::daemon::lock_path;
use callgate_client::DeskError;
use callgate_client::viewer::Viewer;
use callgate_link::file::FileLock;
use callgate_link::socket::{SocketState, probe_path, server_process};
use callgate_mask::text::time_span;
use callgate_store::now_ms;
use callgate_web::PageAddress;
use callgate_wire::desk::{DeskReach, DeskStatus, NamedLink, RemoteState};
use rustix::process::geteuid;

use super::finding::Findings;
use crate::config::{Config, WhenAbsent};
use crate::status::{listening_line, relay_lines, team_line};

const START: &str = "start it: callgate up";
/// How long the page may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A daemon that has answered.
#[derive(Debug)]
pub(super) struct RunningDesk {
    pub(super) status: DeskStatus,
    pub(super) links: Vec<NamedLink>,
}

/// Checks the daemon; returns what it reports if it runs.
pub(super) fn check_running_desk(config: &Config, findings: &mut Findings) -> Option<RunningDesk> {
    let hooks = check_socket("the socket for hooks", &config.socket.value, findings);
    check_socket("the socket for viewers", &config.desk_socket.value, findings);
    check_lock(&config.socket.value, hooks, findings);
    match ask_desk(&config.desk_socket.value) {
        Ok(running) => {
            report_status(config, &running.status, findings);
            check_legacy_socket(config, &running.status, findings);
            check_page(config, findings);
            Some(running)
        }
        Err(DeskError::NoDesk(_)) => {
            findings.add_problem("daemon", describe_when_absent(config.gate.when_absent), START);
            None
        }
        Err(error) => {
            findings.add_problem("daemon", error.to_string(), "start it again: callgate up");
            None
        }
    }
}

/// Says whether old clients, which know only the legacy socket, reach this desk.
fn check_legacy_socket(config: &Config, status: &DeskStatus, findings: &mut Findings) {
    let Some(path) = &config.legacy_socket.0 else { return };
    let shown = path.display();
    let text = match server_process(path) {
        Some(process) if process == status.pid => format!("{shown}, the socket for old clients"),
        _ => format!("{shown} is not served by this daemon, which only old clients need"),
    };
    findings.add_ok("socket", text);
}

/// Says where the page is, and whether anything answers there.
fn check_page(config: &Config, findings: &mut Findings) {
    if !config.page.enabled {
        return findings.add_ok("page", "turned off (`page.enabled` is false)");
    }
    let again = "start it again, and read what it says: callgate up";
    match PageAddress::read_for_desk(&config.desk_socket.value) {
        Ok(Some(address)) => {
            let place = SocketAddr::from((Ipv4Addr::LOCALHOST, address.port()));
            match TcpStream::connect_timeout(&place, PATIENCE) {
                Ok(_) => findings.add_ok("page", format!("served at {address}")),
                Err(error) => {
                    let text = format!("nothing answers at {address}: {error}");
                    findings.add_problem("page", text, again);
                }
            }
        }
        Ok(None) => findings.add_problem("page", "`callgate up` does not serve the page", again),
        Err(error) => {
            findings.add_problem("page", format!("the file with its address: {error}"), again);
        }
    }
}

/// Returns what applies while no daemon runs.
fn describe_when_absent(when_absent: WhenAbsent) -> String {
    let rest = match when_absent {
        WhenAbsent::Agent => {
            "what no rule names is left to the agent, which runs it in modes that ask nobody \
             (`gate.when_absent` is `agent`)"
        }
        WhenAbsent::Deny => "whatever no rule allows is denied (`gate.when_absent` is `deny`)",
    };
    format!(
        "`callgate up` is not running. The hook itself reads your rules: what they deny is denied, \
         what they want you to decide is asked by the agent or, where it cannot ask, denied; {rest}"
    )
}

fn ask_desk(path: &Path) -> Result<RunningDesk, DeskError> {
    let mut viewer = Viewer::connect(path)?;
    Ok(RunningDesk { status: viewer.status()?, links: viewer.links()? })
}

/// Returns what is at a socket's path, if that can be found out.
fn check_socket(what: &str, path: &Path, findings: &mut Findings) -> Option<SocketState> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let shown = path.display();
    let about = "socket";
    if !metadata.file_type().is_socket() {
        let text = format!("{shown}, {what}, is not a socket");
        findings.add_problem(about, text, "move it away, or set another path");
        return Some(SocketState::NotASocket);
    }
    let (owner, ours) = (metadata.uid(), geteuid().as_raw());
    if owner != ours {
        let text = format!("{shown}, {what}, belongs to user {owner}, not to user {ours}");
        findings.add_problem(
            about,
            text,
            "set another path in your settings, such as one in your home",
        );
        return None;
    }
    let mode = metadata.mode() & 0o777;
    if mode != 0o600 {
        let text = format!("{shown}, {what}, has mode {mode:o}, not 600");
        findings.add_problem(about, text, format!("chmod 600 {shown}"));
        return probe_path(path).ok();
    }
    let found = probe_path(path).ok()?;
    if found == SocketState::Live {
        findings.add_ok(about, format!("{shown}, {what}"));
    }
    // The next daemon replaces a dead one.
    Some(found)
}

/// Checks the lock, which shows whether a daemon of ours serves the socket.
fn check_lock(socket: &Path, found: Option<SocketState>, findings: &mut Findings) {
    let path = lock_path(socket);
    if !path.exists() && found != Some(SocketState::Live) {
        return;
    }
    let shown = path.display();
    let held = FileLock::is_held(&path);
    match (held, found) {
        (Ok(false), Some(SocketState::Live)) => {
            let text = format!("{} is served by something that is not callgate", socket.display());
            findings.add_problem("lock", text, "stop it, or set another path for `socket`");
        }
        (Ok(true), Some(SocketState::Live)) => findings.add_ok("lock", format!("{shown} is held")),
        (Ok(true), _) => {
            let text = format!("a daemon holds {shown}, but {} is gone", socket.display());
            let advice = "look again in a moment: the daemon creates it again; if it does not, stop \
                          that daemon and start it again: callgate up";
            findings.add_problem("lock", text, advice);
        }
        (Ok(false), _) => {}
        (Err(error), _) => {
            let text = format!("cannot use {shown}: {error}");
            findings.add_problem("lock", text, "move it away, or set another path for `socket`");
        }
    }
}

fn report_status(config: &Config, status: &DeskStatus, findings: &mut Findings) {
    let DeskStatus { version, pid, uptime_seconds, open, .. } = status;
    let ours = env!("CARGO_PKG_VERSION");
    if version == ours {
        let text = format!(
            "{} {version} runs as process {pid}, for {}; open questions: {open}",
            if status.is_relay { "the desk of `callgate relay`" } else { "`callgate up`" },
            time_span(*uptime_seconds)
        );
        findings.add_ok("daemon", text);
    } else {
        let text = format!("`callgate up` is of version {version}, and this is {ours}");
        findings.add_warning("daemon", text, "start it again: callgate up");
    }
    let is_other = |theirs: &str, ours: &Path| {
        // The daemon may know the path with links or without.
        let real = ours.canonicalize().unwrap_or_else(|_| ours.to_owned());
        theirs != ours.display().to_string() && theirs != real.display().to_string()
    };
    for (what, theirs, ours) in [
        ("serves hooks at", &status.socket, &config.socket.value),
        ("keeps its ledger in", &status.database, &config.database),
    ] {
        if is_other(theirs, ours) {
            let text = format!("the daemon {what} {theirs}; your settings say {}", ours.display());
            findings.add_problem(
                "daemon",
                text,
                "start it again with the same settings: callgate up",
            );
        }
    }
    for line in relay_lines(status, now_ms()) {
        findings.add_ok("relay", line);
    }
    if let Some(line) = listening_line(status) {
        findings.add_ok("team", line);
    }
    if let Some(line) = team_line(status, now_ms()) {
        let is_connected =
            status.team.as_ref().is_some_and(|team| team.state == RemoteState::Connected);
        if is_connected {
            findings.add_ok("team", line);
        } else {
            let advice = "questions wait meanwhile; to leave the team: callgate team leave";
            findings.add_warning("team", line, advice);
        }
    }
    // The desk of a relay is left out, because its questions wait for the desk above.
    if !status.is_relay {
        check_reach(&status.reach, findings);
    }
}

/// Warns if nobody can be reached: every question then falls back at once.
fn check_reach(reach: &DeskReach, findings: &mut Findings) {
    let has_phones = reach.telegram.as_ref().is_some_and(|phones| phones.bot.is_some());
    if !reach.terminal && !has_phones && reach.viewers.paired == 0 {
        let text = "nobody can be reached, so every question goes back to its agent at once";
        let advice = "run `callgate up` in a terminal, or link your phone: callgate pair";
        findings.add_problem("daemon", text, advice);
    }
}

#[cfg(test)]
mod tests;
