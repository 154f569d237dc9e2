//! Notices that nobody is left to serve: the front end has died, or stopped reading.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use callgate_agent::session::Shutdown;
use callgate_link::hangup::is_still_served;
use tokio::sync::mpsc;

/// Starts a thread that watches the front end. The end of standard input usually shows that it is
/// gone, but another process may hold the other end of that.
pub(super) fn watch_front_end(
    parent: Option<OwnedFd>,
    endings: mpsc::Sender<Shutdown>,
) -> io::Result<()> {
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    thread::Builder::new().name("watch".to_owned()).spawn(move || {
        while is_still_served(parent.as_ref(), &output, None) {}
        // A runtime that has ended already does not listen.
        endings.blocking_send(Shutdown::Alone).ok();
    })?;
    Ok(())
}
