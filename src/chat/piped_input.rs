//! Standard input as a part of a message: a pipe, a file or a socket, read to its end.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use callgate_link::text_file::read_limited_text;
use rustix::fs::{FileType, fstat};

use crate::failure::write_error_line;

/// The longest text that is read, in bytes.
const LONGEST_INPUT: u64 = 8 * 1024 * 1024;
/// After this time it is said what the program waits for.
const SILENT_FOR: Duration = Duration::from_secs(2);

/// Returns true if standard input is something that is read to its end: not a terminal, a device
/// or nothing at all.
pub(super) fn is_given() -> bool {
    let Ok(stat) = fstat(io::stdin()) else { return false };
    matches!(
        FileType::from_raw_mode(stat.st_mode),
        // Some programs hand on sockets in place of pipes.
        FileType::Fifo | FileType::RegularFile | FileType::Socket
    )
}

/// Reads standard input to its end, and says so if that takes a while.
pub(super) fn read_standard_input() -> io::Result<String> {
    let (reads, has_read) = sync_channel(1);
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        // Nobody waits for it any more when the program ends.
        reads.send(read_limited_text(io::stdin(), LONGEST_INPUT)).ok();
    })?;
    let text = match has_read.recv_timeout(SILENT_FOR) {
        Err(RecvTimeoutError::Timeout) => {
            write_error_line(
                "waits for the end of standard input, which is a part of the message; \
                 `< /dev/null` leaves it out",
            );
            has_read.recv().map_err(io::Error::other)
        }
        read => read.map_err(io::Error::other),
    };
    text.flatten()
}
