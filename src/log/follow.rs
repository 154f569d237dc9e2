//! Follows the ledger: shows what is added, whether or not a daemon runs.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use callgate_store::{Store, StoreError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::Failure;
use super::ledger_pages::LedgerPages;
use crate::failure::write_error_line;

/// How often the file is looked at.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Waits until there is a ledger to read.
pub(super) fn wait_for(path: &Path) -> Result<Store, Failure> {
    write_error_line(&format!("there is no ledger at {} yet: waiting", path.display()));
    loop {
        match Store::open_read_only(path) {
            Err(StoreError::Missing(_)) => wait_a_little()?,
            store => return Ok(store?),
        }
    }
}

/// Writes new entries until nobody reads them any more.
pub(super) fn follow_ledger<W: Write>(
    store: &Store,
    pages: &mut LedgerPages<'_, W>,
) -> Result<(), Failure> {
    let mut seen = None;
    loop {
        // The version is read first: what is added in the meantime is found next time.
        let version = store.data_version()?;
        if seen != Some(version) {
            pages.write_rest()?;
            seen = Some(version);
        }
        wait_a_little()?;
    }
}

/// Waits. Fails at once if nobody reads our output any more.
pub(super) fn wait_while_read(time: Duration) -> Result<(), Failure> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        wait_a_little()?;
    }
    Ok(())
}

/// Waits a little. Fails at once if nobody reads our output any more.
fn wait_a_little() -> Result<(), Failure> {
    let stdout = io::stdout();
    // Without flags, only an error and the end of the reader are reported.
    let mut output = [PollFd::new(&stdout, PollFlags::empty())];
    match poll(&mut output, Some(&PAUSE)) {
        Ok(0) | Err(Errno::INTR) => Ok(()),
        Ok(_) => Err(Failure::Output(io::ErrorKind::BrokenPipe.into())),
        Err(error) => Err(Failure::Output(error.into())),
    }
}
