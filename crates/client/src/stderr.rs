//! The stderr of the runtime: passed on line by line, and the last line kept with secrets masked.

use std::sync::{Arc, Mutex};

use callgate_link::sync::lock;
use callgate_link::tokio::fill_lines;
use callgate_mask::SecretVariables;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use tokio::io::AsyncRead;
use tokio::task::JoinHandle;

use crate::StderrTarget;

/// The longest line; a longer one is cut.
const LONGEST_LINE: usize = 8 * 1024;
/// How much of the last line is kept, in characters.
const LONGEST_WORDS: usize = 400;

/// A task that reads the stderr of one process until this is dropped.
#[derive(Debug)]
pub(crate) struct StderrFollower {
    last: Arc<Mutex<Option<String>>>,
    reading: JoinHandle<()>,
}

impl StderrFollower {
    pub(crate) fn start(
        pipe: impl AsyncRead + Unpin + Send + 'static,
        stderr: StderrTarget,
    ) -> Self {
        let last = Arc::default();
        let reading = tokio::spawn(follow_pipe(pipe, stderr, Arc::clone(&last)));
        Self { last, reading }
    }

    pub(crate) async fn read_to_its_end(&mut self) {
        (&mut self.reading).await.ok();
    }

    /// Returns the last line, masked and shortened.
    pub(crate) fn last_words(&self, secrets: &SecretVariables) -> Option<String> {
        let last = lock(&self.last).take()?;
        Some(masked_line(&last, secrets))
    }
}

impl Drop for StderrFollower {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn follow_pipe(
    mut pipe: impl AsyncRead + Unpin,
    stderr: StderrTarget,
    last: Arc<Mutex<Option<String>>>,
) {
    let tell = |line: &str| {
        if let StderrTarget::Lines(tell) = &stderr {
            tell(line);
        }
        if !line.trim().is_empty() {
            *lock(&last) = Some(line.to_owned());
        }
    };
    let mut lines = LineDecoder::new(LONGEST_LINE);
    while let Ok(count) = fill_lines(&mut pipe, &mut lines).await {
        let mut next = if count == 0 { lines.finish() } else { lines.next_frame() };
        while let Some(line) = next {
            match line {
                DecodedLine::Whole(line) => tell(&String::from_utf8_lossy(line)),
                DecodedLine::TooLong(line) => tell(&format!("(a line of {} bytes)", line.size)),
            }
            next = lines.next_frame();
        }
        if count == 0 {
            return;
        }
    }
}

fn masked_line(line: &str, secrets: &SecretVariables) -> String {
    let masked = secrets.mask(line);
    let clean = masked.trim().chars().filter(|c| !c.is_control());
    clean.take(LONGEST_WORDS).collect()
}

#[cfg(test)]
mod tests;
