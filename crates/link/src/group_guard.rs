//! Ends a process group when our process ends, however it ends.
//!
//! The parent death signal of a [`LeashedChild`](crate::child::LeashedChild) reaches the child
//! alone. If our process is killed, what the child has started would go on. So a small process of
//! its own waits for the end of ours, which it notices by a pipe, and then ends the group.

use std::io::{self, PipeWriter, pipe};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Waits for the end of the pipe, and ends the group. Both commands are built into the shell, so
/// the guard needs no `PATH` and can be given an empty environment.
const SCRIPT: &str = r#"read -r _; kill -s KILL -- "-$1""#;

/// Guards one process group. Dropping it ends the guard and leaves the group alone.
#[derive(Debug)]
pub struct GroupGuard {
    guard: Child,
    /// Open as long as our process lives. No child inherits it.
    _alive: PipeWriter,
}

impl GroupGuard {
    /// Starts to guard a group. The caller drops the guard before the id can belong to another
    /// group, which is when the leader is reaped.
    pub fn start(group: u32) -> io::Result<Self> {
        let (waiting, alive) = pipe()?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "callgate-guard", &group.to_string()]);
        // A signal to the group of our process must not end it before us.
        command.env_clear().current_dir("/").process_group(0);
        command.stdin(waiting).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { guard: command.spawn()?, _alive: alive })
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        // The pipe is closed after this; the guard would take that for the end of our process.
        // An error means that it has ended already, and there is nobody to report it to.
        self.guard.kill().ok();
        self.guard.wait().ok();
    }
}
