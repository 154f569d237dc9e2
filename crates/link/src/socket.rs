//! Unix sockets that only their owner can reach.
//!
//! A socket file has mode 0600 from its first moment (the mode is set on the descriptor before
//! `bind`, never by a process-wide umask) and gets its name only once it accepts connections. So a
//! socket that refuses connections is dead: it is never between the two.

use std::ffi::{OsString, c_int, c_void};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, fchmod};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect as connect_fd, listen,
    socket_with,
};
use rustix::process::geteuid;

use crate::random::random_bytes;

/// The longest path of a Unix socket on Linux, without the final NUL.
const LONGEST_PATH: usize = 107;
/// The prefix, followed by sixteen hex digits, of a socket's temporary name.
/// The temporary name is shorter than that of a session, so it fits wherever that one does.
const UNFINISHED_PREFIX: &str = ".cg";
/// A socket that has had its temporary name for this long was left by a process that was killed.
const UNFINISHED_FOR: Duration = Duration::from_mins(1);
/// To whoever connects without waiting, a full queue looks like an absent process, so it is long.
const BACKLOG: i32 = 1024;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// The path does not fit into a socket address.
    #[error(
        "the socket path {path} has {length} bytes, but a socket's path can have {LONGEST_PATH} \
         at most: use a shorter folder"
    )]
    PathTooLong {
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
    },
    #[error("{0} is not a socket; it was left alone: move it away or use another path")]
    NotASocket(PathBuf),
    #[error("another process is serving {0}: stop it or use another path")]
    InUse(PathBuf),
    /// The process at the other end runs under another user.
    #[error("the process behind {path} runs as user {theirs}, not as user {ours}: not trusted")]
    ForeignPeer {
        /// The socket, or a description of it.
        path: PathBuf,
        theirs: u32,
        ours: u32,
    },
    /// The operating system refused.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried, such as "cannot connect to".
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
}

impl SocketError {
    fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { action, path: path.to_owned(), source: source.into() }
    }
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum SocketState {
    Nothing,
    /// A socket that accepts connections.
    Live,
    /// A socket that nobody serves.
    Dead,
    NotASocket,
}

/// Finds out what is at `path`, without ever waiting.
pub fn probe_path(path: &Path) -> Result<SocketState, SocketError> {
    // This look comes first, because a connection to a regular file is refused as well, and the
    // file would be taken for a dead socket.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SocketState::Nothing),
        Err(error) => return Err(SocketError::io("cannot look at", path, error)),
        Ok(metadata) if !metadata.file_type().is_socket() => return Ok(SocketState::NotASocket),
        Ok(_) => {}
    }
    match open_connection(path) {
        Ok(_) => Ok(SocketState::Live),
        Err(SocketError::Io { source, .. }) => match Errno::from_io_error(&source) {
            // A socket of ours gets its name only once it listens, so a refusal proves that nobody
            // serves it.
            Some(Errno::CONNREFUSED) => Ok(SocketState::Dead),
            // It has been removed since the look above.
            Some(Errno::NOENT) => Ok(SocketState::Nothing),
            // Its queue is full, or we may not connect: somebody is there.
            _ => Ok(SocketState::Live),
        },
        Err(error) => Err(error),
    }
}

/// Listens at `path`. A dead socket there is replaced; a live one, or anything else, is an error.
pub fn listen_at_path(path: &Path) -> Result<UnixListener, SocketError> {
    check_length(path)?;
    match probe_path(path)? {
        SocketState::Nothing | SocketState::Dead => {}
        SocketState::Live => return Err(SocketError::InUse(path.to_owned())),
        SocketState::NotASocket => return Err(SocketError::NotASocket(path.to_owned())),
    }
    // Under another name at first: nobody finds a socket here that is not served yet.
    let unfinished = unfinished_name(path)?;
    // The temporary name may be longer than the final one.
    check_length(&unfinished)?;
    let listener = listen_at(&unfinished)?;
    // This replaces a dead socket in one step, so that no other process finds the name free.
    fs::rename(&unfinished, path).map_err(|error| {
        // The error of the rename is the one to report.
        fs::remove_file(&unfinished).ok();
        SocketError::io("cannot create the socket", path, error)
    })?;
    Ok(listener)
}

/// Returns the id of the process that serves `path`; `None` if nobody does, or if it lives in
/// another process namespace.
pub fn server_process(path: &Path) -> Option<u32> {
    let server = read_peer_credentials(&open_connection(path).ok()?).ok()?;
    (server.process != 0).then_some(server.process)
}

/// Who is at the other end of a socket.
struct PeerCredentials {
    /// 0 if the process lives in a PID namespace that is not seen from here.
    process: u32,
    user: u32,
}

/// Returns who is at the other end of a socket. The call of rustix cannot be used: to it, the id 0
/// of a process outside a container is no valid answer.
#[allow(unsafe_code)]
fn read_peer_credentials(socket: &impl AsFd) -> io::Result<PeerCredentials> {
    unsafe extern "C" {
        fn getsockopt(
            socket: c_int,
            level: c_int,
            name: c_int,
            value: *mut c_void,
            size: *mut u32,
        ) -> c_int;
    }
    /// `SOL_SOCKET` and `SO_PEERCRED`, which have the same numbers on every architecture of Linux
    /// except five (Alpha, MIPS, PA-RISC, PowerPC, SPARC), where this fails and no peer is trusted.
    const OPTION: (c_int, c_int) = (1, 17);
    // The id of the process, of the user and of the group.
    let mut value = [0_u32; 3];
    let mut size = 12;
    // SAFETY: the call writes at most `size` bytes to `value`, which has that many.
    let outcome = unsafe {
        getsockopt(
            socket.as_fd().as_raw_fd(),
            OPTION.0,
            OPTION.1,
            value.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    match (outcome, size) {
        (0, 12) => Ok(PeerCredentials { process: value[0], user: value[1] }),
        (0, _) => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn listen_at(path: &Path) -> Result<UnixListener, SocketError> {
    let create = || -> Result<OwnedFd, Errno> {
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        // Before it has a name, so that it is never open to others.
        fchmod(&fd, Mode::RUSR | Mode::WUSR)?;
        bind(&fd, &SocketAddrUnix::new(path)?)?;
        listen(&fd, BACKLOG)?;
        Ok(fd)
    };
    create()
        .map(UnixListener::from)
        .map_err(|error| SocketError::io("cannot create the socket", path, error))
}

fn unfinished_name(path: &Path) -> Result<PathBuf, SocketError> {
    // Random, so that processes that listen at one path at the same time do not share the name.
    let random =
        random_bytes().map_err(|error| SocketError::io("cannot name the socket", path, error))?;
    let mut name = OsString::from(UNFINISHED_PREFIX);
    name.push(format!("{:016x}", u64::from_ne_bytes(random)));
    Ok(path.with_file_name(name))
}

/// Removes sockets in `folder` that never got their final name: ours, dead, and old.
pub fn sweep_unfinished(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let digits = name.to_str().and_then(|name| name.strip_prefix(UNFINISHED_PREFIX));
        let is_named_so = digits.is_some_and(|digits| {
            digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit())
        });
        // A younger one may be between `bind` and `listen`, when a socket refuses connections, too.
        if is_named_so && is_old(&entry.path()) {
            remove_if_dead(&entry.path());
        }
    }
}

fn is_old(path: &Path) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    modified
        .is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > UNFINISHED_FOR))
}

/// Removes `path` if it is a socket of ours that nobody serves; returns true if it did.
#[allow(clippy::must_use_candidate, reason = "the removal is what it is called for")]
pub fn remove_if_dead(path: &Path) -> bool {
    is_dead(path) && fs::remove_file(path).is_ok()
}

/// Returns true if `path` is a socket of ours that nobody serves.
pub fn is_dead(path: &Path) -> bool {
    // No link is followed, because the link would be removed, and not what it leads to.
    let is_ours = fs::symlink_metadata(path).is_ok_and(|metadata| {
        metadata.uid() == geteuid().as_raw() && metadata.file_type().is_socket()
    });
    is_ours && matches!(probe_path(path), Ok(SocketState::Dead))
}

/// Connects to `path`, and checks that the process behind it runs as our user. This never waits: a
/// process that does not accept connections counts as absent.
pub fn connect_to_path(path: &Path) -> Result<UnixStream, SocketError> {
    check_length(path)?;
    let stream = UnixStream::from(open_connection(path)?);
    check_peer(&stream, path)?;
    // Only connecting must not wait; the caller expects a socket that blocks.
    stream.set_nonblocking(false).map_err(|error| SocketError::io("cannot use", path, error))?;
    Ok(stream)
}

fn open_connection(path: &Path) -> Result<OwnedFd, SocketError> {
    let dial = || -> Result<OwnedFd, Errno> {
        // A blocking connection would wait for as long as the queue of the other side is full.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect_fd(&fd, &SocketAddrUnix::new(path)?)?;
        Ok(fd)
    };
    dial().map_err(|error| SocketError::io("cannot connect to", path, error))
}

/// Checks that the process at the other end runs as our user; `path` is for the message.
pub fn check_peer(stream: &impl AsFd, path: &Path) -> Result<(), SocketError> {
    let theirs = read_peer_credentials(stream)
        .map_err(|error| SocketError::io("cannot tell who is behind", path, error))?
        .user;
    let ours = geteuid().as_raw();
    if theirs == ours {
        return Ok(());
    }
    Err(SocketError::ForeignPeer { path: path.to_owned(), theirs, ours })
}

fn check_length(path: &Path) -> Result<(), SocketError> {
    match path.as_os_str().len() {
        length if length > LONGEST_PATH => {
            Err(SocketError::PathTooLong { path: path.to_owned(), length })
        }
        _ => Ok(()),
    }
}
