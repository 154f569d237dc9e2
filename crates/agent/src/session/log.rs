//! What is logged.

use std::fmt;
use std::sync::Arc;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// What keeps the runtime from its work.
    Error,
    /// What is wrong and can be lived with.
    Warn,
    /// What happens.
    Info,
    /// The type and the id of each message.
    Debug,
}

type Sink = dyn Fn(LogLevel, &str) + Send + Sync;

/// Takes what is logged: never arguments, results or secrets.
#[derive(Clone)]
pub struct SessionLog {
    level: LogLevel,
    sink: Arc<Sink>,
}

impl SessionLog {
    /// Gives `sink` what is at least as grave as `level`.
    pub fn new(level: LogLevel, sink: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        Self { level, sink: Arc::new(sink) }
    }

    /// Logs a line, if it is grave enough.
    pub fn say(&self, level: LogLevel, text: &str) {
        if level <= self.level {
            (self.sink)(level, text);
        }
    }

    /// One message, by its type and its id.
    pub(super) fn message(&self, way: &str, kind: &str, id: Option<&str>) {
        if self.level >= LogLevel::Debug {
            let id = id.map(|id| format!(" {id:?}")).unwrap_or_default();
            self.say(LogLevel::Debug, &format!("{way} {kind}{id}"));
        }
    }
}

impl fmt::Debug for SessionLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("level", &self.level).finish_non_exhaustive()
    }
}
