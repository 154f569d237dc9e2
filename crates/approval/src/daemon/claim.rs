//! The sockets of a daemon, claimed before anything else is created.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use callgate_link::file::FileLock;
use callgate_link::socket::{self, SocketError, SocketState};
use rustix::process::geteuid;

use super::{StartError, io_error};

/// The sockets of a daemon, and the lock that keeps a second daemon away.
///
/// It is taken before the ledger is opened, so that a second daemon creates nothing.
#[derive(Debug)]
pub struct Claim {
    pub(super) socket: PathBuf,
    pub(super) desk_socket: PathBuf,
    /// The socket for programs that know no other address.
    pub(super) legacy: Option<PathBuf>,
    pub(super) lock: FileLock,
}

impl Claim {
    /// Claims the socket for askers and the one for viewers. Returns an error, before anything is
    /// created, if another process serves one of them or if one of the paths is not a socket.
    pub fn claim_sockets(
        socket: impl Into<PathBuf>,
        desk_socket: impl Into<PathBuf>,
    ) -> Result<Self, StartError> {
        let (socket, desk_socket) = (socket.into(), desk_socket.into());
        let lock_path = lock_path(&socket);
        if is_live(&socket)? {
            // Whoever serves the socket without holding the lock is another program.
            let is_ours = matches!(FileLock::is_held(&lock_path), Ok(true));
            return Err(if is_ours {
                already_running_error(&socket)
            } else {
                SocketError::InUse(socket).into()
            });
        }
        if is_live(&desk_socket)? {
            return Err(already_running_error(&desk_socket));
        }
        // The holder of the lock has created this folder already, so nothing is created next to it.
        make_folder(&socket)?;
        let lock = FileLock::try_lock(&lock_path)
            .map_err(|error| io_error("cannot lock", &lock_path, error))?
            .ok_or_else(|| already_running_error(&socket))?;
        make_folder(&desk_socket)?;
        Ok(Self { socket, desk_socket, legacy: None, lock })
    }

    /// Adds a socket that is served as well, if nobody else uses its path. Whatever else is there
    /// is left alone, and the daemon warns about it once.
    pub fn with_legacy(mut self, path: Option<PathBuf>) -> Self {
        self.legacy = path.filter(|path| *path != self.socket && *path != self.desk_socket);
        self
    }
}

fn is_live(path: &Path) -> Result<bool, SocketError> {
    match socket::probe_path(path)? {
        SocketState::Live => Ok(true),
        SocketState::NotASocket => Err(SocketError::NotASocket(path.to_owned())),
        SocketState::Nothing | SocketState::Dead => Ok(false),
    }
}

fn already_running_error(socket: &Path) -> StartError {
    StartError::Running { socket: socket.to_owned(), process: socket::server_process(socket) }
}

/// Makes the folder of a socket, for its owner alone.
pub(super) fn make_folder(socket: &Path) -> Result<(), StartError> {
    let Some(folder) = socket.parent().filter(|folder| !folder.exists()) else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| io_error("cannot make the folder", folder, error))
}

/// Returns the path of the lock that keeps a second daemon of this user away from a socket. The
/// name contains the user's id, so that users who share a folder do not lock each other out.
pub fn lock_path(socket: &Path) -> PathBuf {
    let mut name = socket.as_os_str().to_owned();
    name.push(format!(".{}.lock", geteuid().as_raw()));
    name.into()
}
