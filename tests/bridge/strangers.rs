//! Neither side of a socket trusts processes of other users.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use callgate_testkit::process::{DEADLINE, Piped, run};
use callgate_tools::{Host, NoArguments, Tool};
use rustix::process::geteuid;
use serde_json::json;

use crate::fixture::{Stage, call, error_of};

/// Nobody's user id on Debian.
const NOBODY: u32 = 65534;

/// Only root can play another user; elsewhere the reason is printed.
fn can_play_another() -> bool {
    let is_root = geteuid().is_root();
    assert!(is_root || std::env::var_os("CI").is_none(), "CI runs these tests as root");
    if !is_root {
        eprintln!("skipped: only root can start a process of another user");
    }
    is_root
}

fn nobody(script: &str, argument: &str) -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command.args(["-c", script, argument]).uid(NOBODY).gid(NOBODY).current_dir("/");
    command.stdin(Stdio::null());
    command
}

fn open_to_all(path: &std::path::Path) {
    fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn the_bridge_does_not_trust_another_users_socket() {
    if !can_play_another() {
        return;
    }
    let stage = Stage::new();
    open_to_all(stage.folder.path());
    fs::remove_file(&stage.socket).unwrap();
    let script = "import socket, sys, time\n\
                  s = socket.socket(socket.AF_UNIX)\n\
                  s.bind(sys.argv[1])\n\
                  s.listen()\n\
                  print('{}', flush=True)\n\
                  time.sleep(60)\n";
    let mut stranger = Piped::spawn(nobody(script, stage.socket.to_str().unwrap()));
    stranger.recv();
    let mut bridge = stage.bridge(&[]);
    bridge.send(call(1, &json!({"secret": "s3cret"})));
    let error = error_of(&bridge.recv(), 1);
    assert!(
        error.contains(&format!("runs as user {NOBODY}, not as user 0: not trusted")),
        "{error}"
    );
    assert!(!error.contains("s3cret"));
}

#[test]
fn the_host_does_not_answer_another_users_process() {
    if !can_play_another() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    open_to_all(folder.path());
    let tool = Tool::blocking("hello", "Greets.", |_: NoArguments, _| "hello");
    let host = Host::new([tool]).unwrap().folder(folder.path());
    let session = callgate_tools::blocking::start(&host).unwrap();
    // Without this the kernel already refuses: the file is its owner's alone.
    open_to_all(session.socket_path());
    let script = "import socket, sys\n\
                  s = socket.socket(socket.AF_UNIX)\n\
                  s.connect(sys.argv[1])\n\
                  body = b'{\"method\":\"call_tool\",\"params\":{\"name\":\"hello\",\"arguments\":{}}}'\n\
                  try:\n\
                  \x20   s.sendall(len(body).to_bytes(4, 'big') + body)\n\
                  \x20   print(s.recv(100))\n\
                  except (BrokenPipeError, ConnectionResetError):\n\
                  \x20   print(b'')\n";
    let stranger = run(nobody(script, session.socket_path().to_str().unwrap()), DEADLINE).success();
    assert_eq!(stranger.stdout, "b''\n");
}
