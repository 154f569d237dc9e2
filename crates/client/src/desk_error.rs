//! Why the desk could not be used: the errors and the messages that both of its clients share.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_link::socket::{self, SocketError};
use callgate_wire::desk::{DeskMessage, MAX_MESSAGE, Unreadable, UnreadableReason};
use callgate_wire::frame::{DecodedLine, LineDecoder};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeskError {
    #[error("no desk listens at {0}: start one with `callgate up`")]
    NoDesk(PathBuf),
    /// The socket cannot be used.
    #[error(transparent)]
    Socket(SocketError),
    #[error("cannot talk to the desk: {0}")]
    Io(#[from] io::Error),
    #[error("the connection to the desk has ended: {0}")]
    Closed(String),
    #[error("the desk gave no answer within {} s: look at `callgate up`", .0.as_secs())]
    TimedOut(Duration),
    /// The desk sent something that is not a valid message.
    #[error("the desk's message cannot be used ({0}): is another program at its socket?")]
    Unreadable(#[from] Unreadable),
    #[error("the desk's message has more than {MAX_MESSAGE} bytes: is another program there?")]
    TooLong,
    /// The desk's answer does not belong to the request.
    #[error("the desk's answer does not fit the request: is it of another version?")]
    Unexpected,
    /// This many other messages came before the answer, which is too many.
    #[error("the desk sent {0} messages before its answer")]
    TooMany(usize),
    #[error("the desk cannot do that: {0}")]
    Refused(String),
}

/// Connects to the desk. Returns an error at once if there is none.
pub(crate) fn dial_desk(path: &Path) -> Result<UnixStream, DeskError> {
    socket::connect_to_path(path).map_err(|error| match &error {
        SocketError::Io { source, .. } if is_absent(source) => DeskError::NoDesk(path.to_owned()),
        _ => DeskError::Socket(error),
    })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// Returns the next message that has arrived, if there is one. Messages of unknown kinds are
/// ignored: a later version of the desk may have more.
pub(crate) fn next_message(lines: &mut LineDecoder) -> Result<Option<DeskMessage>, DeskError> {
    loop {
        match lines.next_frame() {
            Some(DecodedLine::Whole(line)) => match DeskMessage::decode(line) {
                Err(Unreadable { reason: UnreadableReason::UnknownKind(_), .. }) => {}
                message => return Ok(Some(message?)),
            },
            Some(DecodedLine::TooLong(_)) => return Err(DeskError::TooLong),
            None => break,
        }
    }
    // The line is refused before its end, which may never come.
    if lines.is_dropping() { Err(DeskError::TooLong) } else { Ok(None) }
}
