//! A progress bar on standard error. It is shown only if standard error is a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// The width of the bar, in characters.
const WIDTH: u64 = 30;
/// The sequence that erases the bar.
const CLEAR: &str = "\r\x1b[K";

/// A progress bar, which is erased when it is dropped. Any thread may advance it.
#[derive(Debug)]
pub(crate) struct ProgressBar {
    doing: &'static str,
    is_shown: bool,
    /// One more than the percentage that is shown; 0 before anything is shown.
    shown: AtomicU64,
}

impl ProgressBar {
    /// Makes a bar with this title; nothing is shown before it moves.
    pub(crate) fn new(doing: &'static str) -> Self {
        Self { doing, is_shown: io::stderr().is_terminal(), shown: AtomicU64::new(0) }
    }

    /// Moves the bar to `done` of `total`; never back.
    pub(crate) fn move_to(&self, done: u64, total: u64) {
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(0).min(100);
        // Several threads report, not in order. The number alone is shared, so `Relaxed` is enough.
        if self.is_shown && self.shown.fetch_max(percent + 1, Ordering::Relaxed) <= percent {
            write_to_stderr(&render_bar(self.doing, percent));
        }
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        if self.shown.load(Ordering::Relaxed) > 0 {
            write_to_stderr(CLEAR);
        }
    }
}

fn render_bar(doing: &str, percent: u64) -> String {
    let full = percent * WIDTH / 100;
    let part = |sign: &str, count: u64| sign.repeat(usize::try_from(count).unwrap_or_default());
    format!("{CLEAR}{doing} [{}{}] {percent} %", part("#", full), part(".", WIDTH - full))
}

fn write_to_stderr(text: &str) {
    // A terminal that has gone shows no bar.
    io::stderr().write_all(text.as_bytes()).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_from_the_left() {
        let check =
            |percent, expected: &str| assert_eq!(render_bar("Verifying", percent), expected);
        check(0, "\r\x1b[KVerifying [..............................] 0 %");
        check(50, "\r\x1b[KVerifying [###############...............] 50 %");
        check(100, "\r\x1b[KVerifying [##############################] 100 %");
    }
}
