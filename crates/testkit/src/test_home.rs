//! A home folder of a test's own.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::process::Group;
use crate::until::until_or;

/// The path of the settings file in a home.
const SETTINGS: &str = ".config/callgate/config.toml";

/// A home folder in which nothing of this machine is found, and which goes with the test.
#[derive(Debug)]
pub struct TestHome {
    folder: TempDir,
}

impl TestHome {
    #[expect(clippy::new_without_default, reason = "it makes a folder")]
    #[must_use]
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder can be made") }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Returns a path as settings have it.
    pub fn text_path(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Makes a folder that belongs to the user alone.
    pub fn make_private_folder(&self, name: &str) {
        fs::create_dir_all(self.path(name)).expect("a folder can be made");
        self.set_mode(name, 0o700);
    }

    /// Writes a file, and makes its folder.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("it can be made");
        fs::write(path, text).expect("the file can be written");
    }

    /// Writes a file that the user alone can read.
    pub fn write_private(&self, name: &str, text: &str) {
        self.write(name, text);
        self.set_mode(name, 0o600);
    }

    pub fn set_mode(&self, name: &str, mode: u32) {
        let mode = PermissionsExt::from_mode(mode);
        fs::set_permissions(self.path(name), mode).expect("the mode can be set");
    }

    /// Returns the text of a file, which is empty if there is none.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn settings_file(&self) -> PathBuf {
        self.path(SETTINGS)
    }

    pub fn write_settings(&self, text: &str) {
        self.write(SETTINGS, text);
    }

    /// Returns the command of a program with its home and working folder here, and nothing else in
    /// its environment.
    pub fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("HOME", self.folder());
        command.current_dir(self.folder()).stdin(Stdio::null());
        command
    }

    /// Starts a desk whose socket is `ask.sock` in this home, and waits until it serves. What it
    /// writes is appended to `up.log`.
    pub fn start_desk(&self, mut up: Command) -> Group {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.path("up.log"));
        let log = log.expect("a log can be written");
        up.stdin(Stdio::null()).stdout(log.try_clone().expect("a log can be shared")).stderr(log);
        let desk = Group::spawn(up);
        self.wait_for_desk();
        desk
    }

    /// Waits until a desk serves `ask.sock`.
    pub fn wait_for_desk(&self) {
        let log = || format!("the desk serves\n{}", self.text("up.log"));
        until_or(log, || UnixStream::connect(self.path("ask.sock")).is_ok());
    }
}
