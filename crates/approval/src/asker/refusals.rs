//! Distinguishes a desk that refuses a question from one that has died.
//!
//! Both close the connection without an answer. A desk that refuses does so again, soon, and as the
//! same process at the same socket. A desk that was restarted is another process, or has a new
//! socket.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use rustix::process::Pid;

/// A desk that closes this many connections in a row soon after the question refuses it.
const MOST_REFUSALS: u32 = 3;
const SOON: Duration = Duration::from_secs(1);

/// Counts how often one desk has closed the connection soon after the question.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    desk: Option<DeskId>,
    asked: Option<Instant>,
    count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DeskId {
    process: Option<Pid>,
    /// Device, inode and change time of its socket file, if there is one.
    file: Option<(u64, u64, i64, i64)>,
}

impl Refusals {
    /// Notes that the question is asked on this connection.
    pub(super) fn note_asked(&mut self, stream: &UnixStream, path: &Path) {
        let process = socket_peercred(stream).ok().map(|peer| peer.pid);
        let file = fs::symlink_metadata(path).ok();
        let file = file.map(|file| (file.dev(), file.ino(), file.ctime(), file.ctime_nsec()));
        let desk = Some(DeskId { process, file });
        if self.desk != desk {
            self.count = 0;
        }
        self.desk = desk;
        self.asked = Some(Instant::now());
    }

    /// Notes that the connection was closed. Returns true if the desk refuses the question.
    pub(super) fn note_closed(&mut self) -> bool {
        let is_soon = self.asked.is_some_and(|asked| asked.elapsed() < SOON);
        self.count = if is_soon { self.count + 1 } else { 0 };
        self.count >= MOST_REFUSALS
    }
}
