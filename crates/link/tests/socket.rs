//! Sockets: who can reach them, what they replace, and what they refuse.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use callgate_link::socket::{
    SocketError, SocketState, connect_to_path, listen_at_path, probe_path, remove_if_dead,
};

fn dead(path: &Path) {
    drop(UnixListener::bind(path).unwrap());
}

#[test]
fn a_socket_is_its_owners_alone_and_accepts_as_soon_as_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listener = listen_at_path(&path).unwrap();
    assert_eq!(fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no other name is left");
    let mut stream = connect_to_path(&path).unwrap();
    drop(listener.accept().unwrap());
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn what_is_at_a_path_is_told_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert_eq!(probe_path(&path("nothing")).unwrap(), SocketState::Nothing);
    dead(&path("dead"));
    assert_eq!(probe_path(&path("dead")).unwrap(), SocketState::Dead);
    let _listener = listen_at_path(&path("live")).unwrap();
    assert_eq!(probe_path(&path("live")).unwrap(), SocketState::Live);
    fs::write(path("file"), "x").unwrap();
    assert_eq!(probe_path(&path("file")).unwrap(), SocketState::NotASocket);
    symlink(path("live"), path("link")).unwrap();
    assert_eq!(probe_path(&path("link")).unwrap(), SocketState::NotASocket);
}

#[test]
fn only_a_dead_socket_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    dead(&path("dead"));
    let _replaced = listen_at_path(&path("dead")).unwrap();
    assert!(matches!(listen_at_path(&path("dead")), Err(SocketError::InUse(_))));
    connect_to_path(&path("dead")).unwrap();

    fs::write(path("file"), "precious").unwrap();
    let error = listen_at_path(&path("file")).unwrap_err();
    assert!(matches!(error, SocketError::NotASocket(_)));
    assert!(error.to_string().contains("is not a socket; it was left alone"));
    assert_eq!(fs::read(path("file")).unwrap(), b"precious");

    symlink(path("file"), path("link")).unwrap();
    assert!(matches!(listen_at_path(&path("link")), Err(SocketError::NotASocket(_))));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn only_a_dead_socket_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    dead(&path("dead"));
    let _listener = listen_at_path(&path("live")).unwrap();
    fs::write(path("file"), "x").unwrap();
    assert!(remove_if_dead(&path("dead")));
    assert!(!path("dead").exists());
    for stays in ["live", "file"] {
        assert!(!remove_if_dead(&path(stays)));
        assert!(path(stays).exists());
    }
    assert!(!remove_if_dead(&path("nothing")));
}

#[test]
fn a_path_that_is_too_long_is_told_with_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let room = 107 - folder.path().as_os_str().len() - 1;
    let longest = folder.path().join("x".repeat(room));
    let _listener = listen_at_path(&longest).unwrap();
    connect_to_path(&longest).unwrap();
    let too_long = folder.path().join("x".repeat(room + 1));
    for error in [listen_at_path(&too_long).unwrap_err(), connect_to_path(&too_long).unwrap_err()] {
        assert!(
            error.to_string().contains("has 108 bytes, but a socket's path can have 107 at most")
        );
    }
}

#[test]
fn a_connection_that_cannot_be_made_says_to_what() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none");
    let error = connect_to_path(&path).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("cannot connect to {}: No such file or directory (os error 2)", path.display())
    );
}
