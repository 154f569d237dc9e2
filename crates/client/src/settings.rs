//! The settings of a client.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use callgate_wire::session::capability;

/// The most turns (messages, edits, `clear_history`) that may be open at once; one more waits.
pub const MOST_TURNS: usize = 192;
/// The most other requests that may be open at once; one more waits.
pub const MOST_OTHER_REQUESTS: usize = 64;
/// The most bytes of requests that wait for the runtime to read them; one more waits. It is more
/// than the longest line, which would otherwise never find room.
pub const MOST_UNSENT: usize = 16 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct ClientSettings {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Environment variables that are set, or removed if `None`; the others are inherited.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Its working folder, or the current one if `None`.
    pub cwd: Option<PathBuf>,
    pub stderr: StderrTarget,
    /// The extensions that the front end accepts, for `hello`.
    pub capabilities: Vec<String>,
    /// How long a running request may have no event.
    pub idle: Duration,
    /// How long the runtime may take to become ready.
    pub start: Duration,
    /// How long a request may wait until the runtime has read it.
    pub taken: Duration,
    /// How long a cancelled request may take to end.
    pub cancelled: Duration,
    /// How many bytes of events may wait in one request before the runtime's output is not read;
    /// four times as many may wait in all requests. A single line may exceed it.
    pub unread: usize,
    /// How long a request with too many unread events may delay the others.
    pub patience: Duration,
    /// The pauses before it is started again.
    pub back_off: RestartBackOff,
    /// How many bytes of events are kept for watchers that start late.
    pub kept: usize,
}

/// The pauses before a runtime that has died is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartBackOff {
    /// The pause after the first death; each further death in a row doubles it.
    pub first: Duration,
    pub most: Duration,
    /// After living this long, a runtime's death counts as the first again.
    pub reset_after: Duration,
    /// The most restarts in a row; without limit if `None`.
    pub most_restarts: Option<u32>,
}

/// Where the runtime's stderr goes.
#[derive(Clone)]
pub enum StderrTarget {
    Inherit,
    /// Nowhere. Only the last line is kept, for [`RuntimeState::Died`](crate::RuntimeState::Died).
    Discard,
    /// Line by line to a function, which must not block. Lines are cut at 8 KiB.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

impl ClientSettings {
    /// Creates settings for a runtime that is started without arguments, with all defaults.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let capabilities = [
            capability::THINKING,
            capability::TOOL_INPUT,
            capability::TOOL_PROGRESS,
            capability::USAGE,
            capability::PERMISSION,
            capability::QUESTION,
            capability::NOTICE,
            capability::TURN_DIFF,
        ];
        Self {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            stderr: StderrTarget::Discard,
            capabilities: capabilities.map(str::to_owned).to_vec(),
            // A runtime that works says so every 20 s.
            idle: Duration::from_mins(1),
            start: Duration::from_secs(20),
            taken: Duration::from_secs(30),
            cancelled: Duration::from_secs(10),
            unread: 16 * 1024 * 1024,
            patience: Duration::from_secs(10),
            back_off: RestartBackOff::default(),
            kept: 8 * 1024 * 1024,
        }
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }
}

impl RestartBackOff {
    /// Returns the pause after this many deaths in a row, or `None` for no restart.
    pub(crate) fn pause_after(&self, deaths: u32) -> Option<Duration> {
        if self.most_restarts.is_some_and(|most| deaths > most) {
            return None;
        }
        let factor = 2_u32.saturating_pow(deaths.saturating_sub(1));
        Some(self.first.saturating_mul(factor).min(self.most))
    }
}

impl Default for RestartBackOff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(200),
            most: Duration::from_secs(30),
            reset_after: Duration::from_mins(1),
            most_restarts: None,
        }
    }
}

impl fmt::Debug for StderrTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inherit => "Inherit",
            Self::Discard => "Discard",
            Self::Lines(_) => "Lines(..)",
        })
    }
}

#[cfg(test)]
mod tests;
