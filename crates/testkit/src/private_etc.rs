//! A copy of `/etc` that a program sees in place of the machine's own, in a mount namespace, so
//! that a test of settings for all users changes nothing on the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::process::{DEADLINE, run};

/// The program that makes namespaces.
const UNSHARE: &str = "/usr/bin/unshare";
/// Puts the folder `$0` in the place of `/etc` and starts the rest.
const SCRIPT: &str = "/bin/mount --bind \"$0\" /etc && exec \"$@\"";

/// A copy of `/etc`, removed when it is dropped.
#[derive(Debug)]
pub struct PrivateEtc {
    folder: TempDir,
}

impl PrivateEtc {
    /// Copies `/etc`, without the settings of agents. Returns `None`, after printing the reason,
    /// where mounts are not possible.
    #[must_use]
    pub fn new() -> Option<Self> {
        let folder = TempDir::with_prefix("etc-").expect("a temporary folder can be made");
        let mut copy = Command::new("/bin/cp");
        // What cannot be read is not needed.
        copy.args(["-a", "/etc/."]).arg(folder.path());
        let _ = run(copy, DEADLINE);
        for name in ["claude-code", "codex"] {
            std::fs::remove_dir_all(folder.path().join(name)).ok();
        }
        let etc = Self { folder };
        let tried = run(wrapped(&Command::new("/bin/true"), etc.folder.path()), DEADLINE);
        if tried.status.success() {
            return Some(etc);
        }
        eprintln!("skipped: there are no mount namespaces here: {}", tried.stderr.trim());
        None
    }

    /// Returns the path of a file below this `/etc`, as other programs see it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a command that runs `command` with this `/etc`.
    pub fn wrapped(&self, command: &Command) -> Command {
        wrapped(command, self.folder.path())
    }
}

/// Returns a command that runs `command` with the folder `etc` in the place of `/etc`. A user who
/// is not root seems to be root then.
pub(crate) fn wrapped(command: &Command, etc: &Path) -> Command {
    let mut wrapped = Command::new(UNSHARE);
    if !rustix::process::geteuid().is_root() {
        wrapped.args(["--user", "--map-root-user"]);
    }
    wrapped.args(["--mount", "/bin/sh", "-c", SCRIPT]).arg(etc);
    wrapped.arg(command.get_program()).args(command.get_args());
    wrapped.env_clear();
    let set = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    wrapped.envs(set);
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}
