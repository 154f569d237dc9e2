//! Waiting for the CLI to end.

use std::io;
use std::time::Duration;

use callgate_link::child::Leashed;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

/// How often to look where the kernel does not tell.
const A_MOMENT: Duration = Duration::from_millis(2);

/// Waits until the child has ended.
pub(crate) async fn ended(child: &Leashed) {
    // Where it cannot be told it is looked for.
    told(child).await.ok();
    while matches!(child.has_ended(), Ok(false)) {
        sleep(A_MOMENT).await;
    }
}

/// Waits until the kernel tells that the child has ended.
#[allow(deprecated, reason = "an `OwnedFd` keeps what the replacement's `unsafe` asks for")]
async fn told(child: &Leashed) -> io::Result<()> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or(io::ErrorKind::NotFound)?;
    // It has not been reaped, so the id is still its own.
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    AsyncFd::with_interest(process, Interest::READABLE)?.readable().await?.retain_ready();
    Ok(())
}
