//! What waits is bounded, whatever comes.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use callgate_testkit::until::until;

use super::*;

const LONG: usize = MOST_UNREAD_BYTES;

/// An input with nothing but long lines.
#[derive(Clone, Default)]
struct LongLines {
    read: Arc<AtomicUsize>,
    /// The files of the thread that reads.
    thread: Arc<OnceLock<PathBuf>>,
}

impl LongLines {
    /// Returns true if the thread that reads waits for something.
    fn is_asleep(&self) -> bool {
        let stat = self.thread.get().map(|files| fs::read_to_string(files.join("stat")).unwrap());
        stat.is_some_and(|stat| stat.rsplit_once(')').unwrap().1.starts_with(" S "))
    }
}

impl Read for LongLines {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.thread.get_or_init(|| fs::canonicalize("/proc/thread-self").unwrap());
        let before = self.read.load(Ordering::SeqCst);
        // Up to the end of a line.
        let count = into.len().min(LONG - before % LONG);
        into[..count].fill(b'x');
        self.read.store(before + count, Ordering::SeqCst);
        if (before + count).is_multiple_of(LONG) {
            into[count - 1] = b'\n';
        }
        Ok(count)
    }
}

#[tokio::test]
async fn few_long_lines_wait_and_all_are_carried() {
    let input = LongLines::default();
    let mut lines = ThreadedLines::open(input.clone(), io::sink()).unwrap();
    until("the reader waits", || input.is_asleep());
    // One waits in the queue, and one for its place there.
    assert_eq!(input.read.load(Ordering::SeqCst), 2 * LONG);
    for _ in 0..4 * MOST_UNREAD {
        assert_eq!(lines.next().await.unwrap().size(), LONG - 1);
    }
    // A reader that waits for a place is not left behind.
    drop(lines);
    let files = input.thread.get().unwrap();
    until("the reader has ended", || !files.exists());
}
