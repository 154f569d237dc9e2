//! The daemon's memory is private: another process of the same user can neither read nor trace it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use callgate_testkit::process::Group;

use crate::fixture::Stage;

/// A user without any rights, for tests that run as root: root may read everything anyway.
const NOBODY: u32 = 65_534;

/// Starts a program as a user who is not root.
fn spawn(mut command: Command) -> Group {
    if rustix::process::getuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Group::spawn(command)
}

/// Who owns the file by which a process can be read and written from outside. The kernel gives that
/// of a process that may not be dumped to root.
fn owner(process: &Group) -> u32 {
    fs::metadata(format!("/proc/{}/mem", process.pid())).unwrap().uid()
}

#[test]
fn the_daemons_memory_is_closed_to_its_own_user() {
    let stage = Stage::unstarted("");
    let program = stage.path("callgate");
    fs::copy(env!("CARGO_BIN_EXE_callgate"), &program).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let config = format!("socket = {:?}\n", stage.path("ask.sock").to_str().unwrap());
    fs::write(stage.path(".config/callgate/config.toml"), config).unwrap();
    if rustix::process::getuid().is_root() {
        for name in ["", ".config", ".config/callgate", ".config/callgate/config.toml"] {
            chown(stage.path(name), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let mut other = Command::new("sleep");
    other.arg("600");
    let other = spawn(other);
    let mut up = Command::new(program);
    up.args(["up", "--no-terminal"]).env_clear().env("HOME", stage.home.folder());
    up.current_dir("/");
    let daemon = spawn(up);
    // The socket's name is there as soon as it is served; only its owner may dial it.
    stage.until("the daemon serves", || stage.path("ask.sock").exists().then_some(()));
    let is_open = || (owner(&other) != 0).then_some(());
    stage.until("another program of the same user can be looked into", is_open);
    assert_eq!(owner(&daemon), 0, "the daemon cannot");
}
