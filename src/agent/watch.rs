//! Notices that nobody is left to serve: the front end has died, or stopped reading.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use callgate_agent::session::Shutdown;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

/// Starts a thread that watches the front end. The end of standard input usually shows that it is
/// gone, but another process may hold the other end of that.
pub(super) fn watch_front_end(
    parent: Option<OwnedFd>,
    endings: mpsc::Sender<Shutdown>,
) -> io::Result<()> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    thread::Builder::new().name("watch".to_owned()).spawn(move || {
        while is_there(parent.as_ref(), &output) {}
        // A runtime that has ended already does not listen.
        endings.blocking_send(Shutdown::Alone).ok();
    })?;
    Ok(())
}

/// Waits for a change. Returns false if the parent has died or nobody reads our output.
fn is_there(parent: Option<&OwnedFd>, output: &OwnedFd) -> bool {
    // Without flags, only an error and the end of the reader are reported.
    let mut fds = vec![PollFd::new(output, PollFlags::empty())];
    fds.extend(parent.map(|parent| PollFd::new(parent, PollFlags::IN)));
    matches!(poll(&mut fds, None), Err(Errno::INTR))
}
