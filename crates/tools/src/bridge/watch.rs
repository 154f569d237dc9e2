//! Ends the bridge when it is asked to, or when its client is gone.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use callgate_link::hangup::is_still_served;
use rustix::process::{PidfdFlags, getppid, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag::register_conditional_shutdown;

use super::relay::Relay;

/// Makes a signal end the process at once, with success: this is how clients end a bridge.
pub(super) fn obey_signals() -> io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    // The handler ends the process itself, because clients leave standard input open and the thread
    // that reads it would not notice a flag.
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        register_conditional_shutdown(signal, 0, Arc::clone(&always))?;
    }
    Ok(())
}

/// Watches the client from a thread, and sends heartbeats for the calls under way.
///
/// The end of the input usually shows that the client is gone, but another process may hold the
/// other end. The kernel's parent death signal would not do: it is sent when the *thread* that
/// started us ends.
pub(super) fn watch_client(
    output: OwnedFd,
    heartbeat: Duration,
    relay: Arc<Relay>,
) -> io::Result<()> {
    // Without a pidfd, the parent's end shows only in the input and the output.
    let parent = getppid().and_then(|parent| pidfd_open(parent, PidfdFlags::empty()).ok());
    thread::Builder::new().spawn(move || {
        while is_still_served(parent.as_ref(), &output, Some(heartbeat))
            && relay.send_heartbeats().is_ok()
        {}
        exit_process();
    })?;
    Ok(())
}

/// Ends the process, from any thread.
#[allow(clippy::disallowed_methods, reason = "the bridge owns no file, so nothing is left behind")]
fn exit_process() -> ! {
    std::process::exit(0)
}
