//! A running runtime: requests in, responses out, and their times.

use std::io::{Read, Write};
use std::process::Command;
use std::time::Instant;

use callgate_wire::frame::{DecodedLine, LineDecoder};

use crate::common::child::Watched;
use crate::common::watchdog::Watchdog;

/// The longest line.
const LONGEST: usize = 64 << 20;

/// How the important lines are recognised; nothing else in a line is read.
pub(crate) struct Words {
    pub(crate) name: &'static str,
    /// The beginning of a line with a piece of the answer.
    pub(crate) token: &'static str,
    /// The text in a line that ends the answer.
    pub(crate) end: &'static str,
    /// The text in a line that reports an error.
    pub(crate) error: &'static str,
}

/// A contender's process.
pub(crate) struct Runtime {
    words: &'static Words,
    child: Watched,
    lines: LineDecoder,
}

/// One answer.
pub(crate) struct Reply {
    /// When the whole request was written.
    pub(crate) written: Instant,
    /// When the first piece was read.
    pub(crate) first: Option<Instant>,
    /// When the end was read.
    pub(crate) ended: Instant,
    /// The number of pieces.
    pub(crate) tokens: usize,
}

impl Runtime {
    pub(crate) fn start(words: &'static Words, command: &mut Command, watchdog: &Watchdog) -> Self {
        let child = Watched::start(words.name, command, watchdog);
        Self { words, child, lines: LineDecoder::new(LONGEST) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Waits until it accepts requests.
    pub(crate) fn wait_until_ready(&mut self) {
        let Words { name, .. } = self.words;
        let line = self.next(|line| String::from_utf8_lossy(line).into_owned());
        assert!(line.starts_with(r#"{"type":"ready""#), "{name} is not ready: {line}");
    }

    /// Sends a message, and reads until the end.
    pub(crate) fn ask(&mut self, request: &str) -> Reply {
        let Words { name, token, end, error } = self.words;
        let input = self.child.input.as_mut().expect("it is never closed");
        input.write_all(request.as_bytes()).unwrap_or_else(|why| panic!("{name}: {why}"));
        let (written, mut first, mut tokens) = (Instant::now(), None, 0);
        loop {
            let is_end = self.next(|line| {
                if line.starts_with(token.as_bytes()) {
                    first.get_or_insert_with(Instant::now);
                    tokens += 1;
                    return false;
                }
                let failed = holds(line, error);
                assert!(!failed, "{name} says: {}", String::from_utf8_lossy(line));
                holds(line, end)
            });
            if is_end {
                return Reply { written, first, ended: Instant::now(), tokens };
            }
        }
    }

    /// Examines the next line.
    fn next<T>(&mut self, look: impl FnOnce(&[u8]) -> T) -> T {
        let name = self.words.name;
        loop {
            match self.lines.next_frame() {
                Some(DecodedLine::Whole(line)) => return look(line),
                Some(DecodedLine::TooLong(line)) => {
                    panic!("{name} wrote a line of {} bytes", line.size)
                }
                None => {}
            }
            let count = self.child.output.read(self.lines.space()).unwrap_or(0);
            assert!(count > 0, "{name} has ended");
            self.lines.mark_filled(count);
        }
    }
}

fn holds(line: &[u8], part: &str) -> bool {
    line.windows(part.len()).any(|window| window == part.as_bytes())
}
