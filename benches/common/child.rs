//! A child of the benchmark, which does not outlive it.

use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::watchdog::Watchdog;

/// A running program. It is ended when this is dropped.
pub(crate) struct Watched {
    pub(crate) child: Arc<Mutex<Child>>,
    pid: u32,
    /// `None` once it is closed.
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: ChildStdout,
}

impl Watched {
    pub(crate) fn start(name: &str, command: &mut Command, watchdog: &Watchdog) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        let pid = child.id();
        let input = child.stdin.take();
        let output = child.stdout.take().expect("stdout is piped");
        let child = Arc::new(Mutex::new(child));
        watchdog.watch(&child);
        Self { child, pid, input, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        child.kill().ok();
        child.wait().ok();
    }
}
