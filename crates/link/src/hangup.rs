//! Notices when the other end of a socket has hung up, for thousands of sockets at once.
//!
//! A socket whose peer has only stopped sending is not hung up: only one that is closed for good
//! is. What a peer left unread shows as an error, so whoever has sent something can tell whether
//! it was read before the hang-up.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::sockopt::socket_error;

/// How many hang-ups are taken at once.
const BATCH: usize = 256;

/// The sockets that are watched.
#[derive(Debug)]
pub struct Hangups {
    epoll: OwnedFd,
}

impl Hangups {
    /// Watches nothing yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    /// Watches a socket; `name` is what its hang-up is reported by, once. Closing the socket ends
    /// the watching.
    pub fn watch(&self, socket: &impl AsFd, name: u64) -> io::Result<()> {
        // A hang-up is always reported, whatever else is asked for.
        epoll::add(&self.epoll, socket, EventData::new_u64(name), EventFlags::ONESHOT)?;
        Ok(())
    }

    /// Waits for sockets that have hung up; for a thread of its own. Others may be added
    /// meanwhile.
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

/// Whether the peer of a socket that has hung up had read all that was sent to it.
#[must_use]
pub fn has_read_all(socket: &impl AsFd) -> bool {
    match socket_error(socket) {
        Ok(Err(Errno::CONNRESET)) | Err(_) => false,
        Ok(_) => true,
    }
}
