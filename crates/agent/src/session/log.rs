//! The log of a session.

use std::fmt;
use std::sync::Arc;

callgate_wire::words! {
    #[derive(PartialOrd, Ord)]
    pub enum LogLevel {
        /// Something prevents the runtime from working.
        Error "error",
        /// Something is wrong, and the runtime continues.
        Warn "warn",
        Info "info",
        /// The type and id of each message.
        Debug "debug",
    }
}

type Sink = dyn Fn(LogLevel, &str) + Send + Sync;

/// Receives log lines, which never hold arguments, results or secrets.
#[derive(Clone)]
pub struct SessionLog {
    level: LogLevel,
    sink: Arc<Sink>,
}

impl SessionLog {
    /// Creates a log that passes lines of `level` and above to `sink`.
    pub fn new(level: LogLevel, sink: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        Self { level, sink: Arc::new(sink) }
    }

    pub fn write_line(&self, level: LogLevel, text: &str) {
        if level <= self.level {
            (self.sink)(level, text);
        }
    }

    pub(super) fn warn(&self, text: &str) {
        self.write_line(LogLevel::Warn, text);
    }

    pub(super) fn write_message(&self, way: &str, kind: &str, id: Option<&str>) {
        if self.level >= LogLevel::Debug {
            let id = id.map(|id| format!(" {id:?}")).unwrap_or_default();
            self.write_line(LogLevel::Debug, &format!("{way} {kind}{id}"));
        }
    }
}

impl fmt::Debug for SessionLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionLog").field("level", &self.level).finish_non_exhaustive()
    }
}
