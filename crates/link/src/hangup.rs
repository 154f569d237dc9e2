//! Notices when the peer of a socket has hung up, for thousands of sockets at once, and when
//! whoever a process serves is gone.
//!
//! A peer that has only stopped sending has not hung up; one that has closed the socket has. Data
//! that the peer left unread shows as an error, so a sender can tell whether everything was read
//! before the hang-up.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::ioctl;
use rustix::net::sockopt::socket_error;

/// How many hang-ups are reported at once.
const BATCH: usize = 256;

#[derive(Debug)]
pub struct HangupWatcher {
    epoll: OwnedFd,
}

impl HangupWatcher {
    pub fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    /// Watches a socket. Its hang-up is reported once, by `name`. Closing the socket ends the
    /// watch.
    pub fn watch(&self, socket: &impl AsFd, name: u64) -> io::Result<()> {
        // A hang-up is always reported, whatever else is requested.
        // Without `ONESHOT` the socket would be reported again and again until it is closed.
        epoll::add(&self.epoll, socket, EventData::new_u64(name), EventFlags::ONESHOT)?;
        Ok(())
    }

    /// Waits for sockets that have hung up. Others may be added from other threads meanwhile.
    pub fn next(&self) -> io::Result<Vec<u64>> {
        let mut events = Vec::with_capacity(BATCH);
        while events.is_empty() {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(events.iter().map(|event| event.data.u64()).collect())
    }
}

/// Waits until the process that we serve is gone: until nobody reads `output` any more, or `parent`
/// has died. Returns true if it is still there after `limit`; `None` is no limit.
///
/// The end of the input does not show that for certain, because another process may hold the other
/// end.
pub fn is_still_served(
    parent: Option<&OwnedFd>,
    output: &OwnedFd,
    limit: Option<Duration>,
) -> bool {
    // Without flags, only an error and the end of the reader are reported.
    let mut fds = vec![PollFd::new(output, PollFlags::empty())];
    fds.extend(parent.map(|parent| PollFd::new(parent, PollFlags::IN)));
    let limit = limit.map(|limit| Timespec {
        tv_sec: limit.as_secs().cast_signed(),
        tv_nsec: i64::from(limit.subsec_nanos()),
    });
    // After an interruption nothing is known, and the caller asks again.
    matches!(poll(&mut fds, limit.as_ref()), Ok(0) | Err(Errno::INTR))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// It has read everything.
    Read,
    /// Some of it is unread, and the peer is still there.
    Unread,
    /// The peer has gone without reading everything.
    Lost,
}

/// Returns what the peer of a socket has done so far with the data that was sent to it.
pub fn peer_receipt(socket: &impl AsFd) -> Receipt {
    // The kernel records the error before it discards what was unread, so the error is asked for
    // last.
    let unread = unread_size(socket);
    match (unread, socket_error(socket)) {
        (_, Ok(Err(Errno::CONNRESET)) | Err(_)) | (Err(_), _) => Receipt::Lost,
        (Ok(0), _) => Receipt::Read,
        (Ok(_), _) => Receipt::Unread,
    }
}

/// Returns how much memory the unread data takes; 0 if everything was read.
#[allow(unsafe_code)]
fn unread_size(socket: &impl AsFd) -> rustix::io::Result<c_int> {
    /// `SIOCOUTQ`, which has the same number on every architecture of Linux except three (Alpha,
    /// MIPS, PowerPC), where it fails and nothing counts as read.
    const OUT_QUEUE: ioctl::Opcode = 0x5411;
    // SAFETY: this opcode writes one `int`, the length of the socket's queue, and nothing else.
    unsafe { ioctl::ioctl(socket, ioctl::Getter::<OUT_QUEUE, c_int>::new()) }
}
