//! Tells a desk that does not want a question from one that has died.
//!
//! Both close the connection without an answer. The one that does not want it does so again, soon
//! and as the same process at the same socket; one that was started anew is another process, or has
//! made its socket anew.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use rustix::process::Pid;

/// A desk that closes so many connections in a row soon after the question does not want it.
const MOST_REFUSALS: u32 = 3;
const SOON: Duration = Duration::from_secs(1);

/// How often one desk has closed the connection soon after the question.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    desk: Option<DeskId>,
    asked: Option<Instant>,
    count: u32,
}

/// Which desk a connection leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DeskId {
    process: Option<Pid>,
    /// Device, inode and time of change of its socket file, where it has one.
    file: Option<(u64, u64, i64, i64)>,
}

impl Refusals {
    /// Notes that the question is put on this connection.
    pub(super) fn ask(&mut self, stream: &UnixStream, path: &Path) {
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

    /// Notes that the connection was closed. Returns true if the desk does not want the question.
    pub(super) fn closed(&mut self) -> bool {
        let is_soon = self.asked.is_some_and(|asked| asked.elapsed() < SOON);
        self.count = if is_soon { self.count + 1 } else { 0 };
        self.count >= MOST_REFUSALS
    }
}
