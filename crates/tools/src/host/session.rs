//! A session: a socket on which agents call a host's tools.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use callgate_link::socket::{is_dead, remove_if_dead, sweep_unfinished};
use callgate_link::{file, socket};
use callgate_wire::tools::{SCHEMA_PREFIX, SCHEMA_SUFFIX, SOCKET_PREFIX, SOCKET_SUFFIX};
use rustix::process::geteuid;
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};
use uuid::Uuid;

use crate::mcp::LARGEST_SCHEMA_FILE;

use super::config::{self, BridgeCommand, McpClient};
use super::{Host, HostError, connection};

/// How many connections a session serves at once, over all bridges.
const MOST_CONNECTIONS: usize = 256;
/// How long to wait when the system has no descriptor left for a connection.
const BREATH: Duration = Duration::from_millis(50);

/// A started host. When it is dropped or [`stop`](Self::stop)ped it ends at once: running calls are
/// cancelled, connections closed, and its files removed.
#[derive(Debug)]
pub struct HostSession {
    host: Host,
    files: SessionFiles,
    serving: JoinHandle<()>,
}

/// A session's files, removed when this is dropped.
#[derive(Debug)]
struct SessionFiles {
    socket: PathBuf,
    schema: PathBuf,
}

impl Drop for SessionFiles {
    /// Removes the schema file first, so that a process killed in between leaves a dead socket,
    /// which the next session sweeps away.
    fn drop(&mut self) {
        for path in [&self.schema, &self.socket] {
            // An error means that somebody else has removed it.
            fs::remove_file(path).ok();
        }
    }
}

impl HostSession {
    pub(super) fn start(host: Host) -> Result<Self, HostError> {
        // A session counts its own calls, and not those of the host's other sessions.
        let host = Host { running: Arc::default(), ..host };
        let runtime = Handle::try_current().map_err(|_| HostError::NoRuntime)?;
        // Agents start the bridge from folders of their own.
        let folder = host.folder.clone().unwrap_or_else(std::env::temp_dir);
        let folder = std::path::absolute(folder).map_err(HostError::Runtime)?;
        let schema = host.schema_file();
        let (size, limit) = (schema.len(), LARGEST_SCHEMA_FILE);
        if size > limit {
            return Err(HostError::TooLarge { size, limit });
        }
        sweep_dead_sockets(&folder);
        // A random name, because two sessions that start on the same path at the same moment could
        // both succeed.
        let id = Uuid::new_v4().simple();
        let files = SessionFiles {
            socket: folder.join(format!("{SOCKET_PREFIX}{id}{SOCKET_SUFFIX}")),
            schema: folder.join(format!("{SCHEMA_PREFIX}{id}{SCHEMA_SUFFIX}")),
        };
        let listener = socket::listen_at_path(&files.socket)?;
        // The schema file comes after the socket and goes before it, so that a socket always shows
        // whether it is in use. A process that is killed in between leaves nothing that a sweep
        // does not find.
        file::create_private(&files.schema, &schema)
            .map_err(|source| HostError::SchemaFile { path: files.schema.clone(), source })?;
        listener.set_nonblocking(true).map_err(HostError::Runtime)?;
        let listener = UnixListener::from_std(listener).map_err(HostError::Runtime)?;
        let serving =
            runtime.spawn(accept_connections(host.clone(), listener, files.socket.clone()));
        Ok(Self { host, files, serving })
    }

    /// Returns the socket's path.
    #[must_use]
    pub fn socket_path(&self) -> &Path {
        &self.files.socket
    }

    /// Returns the schema file's path.
    #[must_use]
    pub fn schema_path(&self) -> &Path {
        &self.files.schema
    }

    /// Returns the program that an agent has to start, and its arguments.
    pub fn bridge_command(&self) -> Result<BridgeCommand, HostError> {
        let SessionFiles { socket, schema } = &self.files;
        config::bridge_command(&self.host, socket, schema)
    }

    /// Returns settings for an agent, with this session's bridge as an MCP server.
    pub fn mcp_config(&self, client: McpClient) -> Result<String, HostError> {
        Ok(config::mcp_config(&self.host.name, &self.bridge_command()?, client))
    }

    /// Returns true if a call is running.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.host.running.load(Ordering::Relaxed) > 0
    }

    /// Ends the session without waiting for anything.
    pub fn stop(self) {}
}

impl Drop for HostSession {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Serves connections. Dropping this drops all of them, and with them their calls.
async fn accept_connections(host: Host, listener: UnixListener, path: PathBuf) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = listener.accept().await;
        // Those that have ended would count otherwise.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) if connections.len() < MOST_CONNECTIONS => {
                // A process of another user gets no answer, not even a reason.
                if socket::check_peer(&stream, &path).is_ok() {
                    connections.spawn(connection::serve_bridge(host.clone(), stream));
                }
            }
            // One too many: dropping it closes it.
            Ok(_) => {}
            Err(_) => tokio::time::sleep(BREATH).await,
        }
    }
}

/// Removes dead sockets of ours in `folder`, each with its schema file.
///
/// A socket gets its name once it accepts connections, and a session's schema file never outlives
/// its socket. So a socket of ours that refuses connections proves that the session is over.
/// Everything else is left alone.
fn sweep_dead_sockets(folder: &Path) {
    sweep_unfinished(folder);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(session_id) else { continue };
        // The socket goes last: as long as it is there, the rest can still be found after a crash.
        if is_dead(&entry.path()) {
            remove_schema(&folder.join(format!("{SCHEMA_PREFIX}{id}{SCHEMA_SUFFIX}")));
            remove_if_dead(&entry.path());
        }
    }
}

fn session_id(name: &str) -> Option<&str> {
    let id = name.strip_prefix(SOCKET_PREFIX)?.strip_suffix(SOCKET_SUFFIX)?;
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (id.len() == 32 && id.bytes().all(is_hex)).then_some(id)
}

fn remove_schema(path: &Path) {
    let is_ours = fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.uid() == geteuid().as_raw());
    if is_ours {
        // An error means that another session's sweep was quicker.
        fs::remove_file(path).ok();
    }
}
