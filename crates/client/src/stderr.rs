//! The stderr of the runtime: passed on line by line, and the last line kept with secrets masked.

use std::sync::{Arc, Mutex, PoisonError};

use callgate_mask::SecretVariables;
use callgate_wire::frame::{DecodedLine, LineDecoder};
use tokio::io::{AsyncRead, AsyncReadExt};
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
        let reading = tokio::spawn(follow(pipe, stderr, Arc::clone(&last)));
        Self { last, reading }
    }

    /// Waits for the end of stderr.
    pub(crate) async fn read_to_its_end(&mut self) {
        (&mut self.reading).await.ok();
    }

    /// Returns the last line, masked and shortened.
    pub(crate) fn last_words(&self, secrets: &SecretVariables) -> Option<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(shown(&last, secrets))
    }
}

impl Drop for StderrFollower {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn follow(
    mut pipe: impl AsyncRead + Unpin,
    stderr: StderrTarget,
    last: Arc<Mutex<Option<String>>>,
) {
    let tell = |line: &str| {
        if let StderrTarget::Lines(tell) = &stderr {
            tell(line);
        }
        if !line.trim().is_empty() {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(line.to_owned());
        }
    };
    let mut lines = LineDecoder::new(LONGEST_LINE);
    while let Ok(count) = pipe.read(lines.space()).await {
        lines.filled(count);
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

/// Returns a line of stderr, masked and shortened.
fn shown(line: &str, secrets: &SecretVariables) -> String {
    let masked = secrets.mask(line);
    let clean = masked.trim().chars().filter(|c| !c.is_control());
    clean.take(LONGEST_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_line_is_told_and_the_last_is_kept_without_secrets() {
        let secrets = SecretVariables::new([("MY_API_KEY".into(), "hunter2-hunter2".into())]);
        let told = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&told);
        let stderr =
            StderrTarget::Lines(Arc::new(move |line| sink.lock().unwrap().push(line.len())));
        let text = format!(
            "one\n{}\n\nit is hunter2-hunter2 and ghp_0123456789abcdefghijABCDEFGHIJ012345\x1b[0m",
            "x".repeat(9000)
        );
        let mut follower = StderrFollower::start(std::io::Cursor::new(text), stderr);
        follower.read_to_its_end().await;
        assert_eq!(*told.lock().unwrap(), [3, 22, 70]);
        let words = follower.last_words(&secrets);
        let expected = "it is [hidden 1: secret variable] and [hidden 2: GitHub token][0m";
        assert_eq!(words.as_deref(), Some(expected));
    }

    #[tokio::test]
    async fn long_words_are_cut_and_silence_is_nothing() {
        let mut follower =
            StderrFollower::start(std::io::Cursor::new("ä".repeat(2000)), StderrTarget::Discard);
        follower.read_to_its_end().await;
        assert_eq!(
            follower.last_words(&SecretVariables::default()).unwrap().chars().count(),
            LONGEST_WORDS
        );
        let mut silent =
            StderrFollower::start(std::io::Cursor::new(" \n\n"), StderrTarget::Discard);
        silent.read_to_its_end().await;
        assert_eq!(silent.last_words(&SecretVariables::default()), None);
    }
}
