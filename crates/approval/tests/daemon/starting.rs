//! One daemon for each socket, and nothing of anybody else's is touched.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use callgate_approval::daemon::{Claim, StartError, lock_path};
use callgate_client::viewer::Viewer;
use callgate_link::socket::SocketError;
use callgate_testkit::until::{until, until_or};

use crate::house::{House, request};

#[test]
fn its_sockets_are_its_owners_alone_and_go_with_it() {
    let mut house = House::new();
    for name in ["ask.sock", "desk.sock", "legacy.sock"] {
        let path = house.folder.path().join(name);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    house.stop();
    assert!(!house.socket().exists() && !house.legacy().exists());
}

#[test]
fn sockets_that_somebody_deletes_are_made_anew() {
    let mut house = House::new();
    let (ask, desk) = (house.socket(), house.folder.path().join("desk.sock"));
    let all = [ask, desk.clone(), house.legacy()];
    for path in &all {
        fs::remove_file(path).unwrap();
    }
    until("they are made anew", || all.iter().all(|path| path.exists()));
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
    let status = Viewer::connect(&desk).unwrap().status().unwrap();
    assert_eq!(status.pid, std::process::id());
    assert!(ask_plainly(&house.legacy()).contains(r#""decision":"allow""#));
    // The file is there before it is told.
    let told = || house.warnings.lock().unwrap().join("\n");
    until_or(told, || told().matches(".sock was deleted").count() >= all.len());
    house.stop();
    assert!(!all.iter().any(|path| path.exists()), "they go with the daemon");
}

#[test]
fn a_second_daemon_refuses_clearly_and_the_first_serves_on() {
    let mut house = House::new();
    let error = house.start().unwrap_err();
    assert!(matches!(error, StartError::Running { .. }), "{error}");
    let us = std::process::id();
    let text = format!("another callgate (process {us}) is already serving");
    assert!(error.to_string().starts_with(&text), "{error}");
    assert!(error.to_string().ends_with(&format!("stop it first with `kill {us}`")), "{error}");
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
}

#[test]
fn a_file_at_its_socket_path_is_left_alone() {
    let mut house = House::new();
    house.stop();
    fs::write(house.socket(), "precious").unwrap();
    let error = house.start().unwrap_err();
    assert!(matches!(error, StartError::Socket(SocketError::NotASocket(_))), "{error}");
    assert_eq!(fs::read_to_string(house.socket()).unwrap(), "precious");
}

#[test]
fn a_dead_socket_is_replaced() {
    let mut house = House::new();
    house.stop();
    drop(std::os::unix::net::UnixListener::bind(house.socket()).unwrap());
    house.start().unwrap();
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
}

#[test]
fn a_claim_that_is_refused_creates_nothing() {
    let house = House::new();
    let new = house.folder.path().join("new");
    let desk_socket = house.folder.path().join("desk.sock");
    for (socket, desk) in
        [(house.socket(), new.join("desk.sock")), (new.join("ask.sock"), desk_socket)]
    {
        let error = Claim::claim_sockets(socket, desk).unwrap_err();
        assert!(matches!(error, StartError::Running { .. }), "{error}");
        assert!(!new.exists());
    }
    // Its socket was deleted, but it is still there.
    fs::remove_file(house.socket()).unwrap();
    let error = Claim::claim_sockets(house.socket(), new.join("desk.sock")).unwrap_err();
    assert!(matches!(error, StartError::Running { .. }), "{error}");
    assert!(!new.exists());
}

#[test]
fn a_foreign_process_at_its_socket_is_no_daemon_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("ask.sock");
    let _foreign = UnixListener::bind(&socket).unwrap();
    let error = Claim::claim_sockets(&socket, folder.path().join("new/desk.sock")).unwrap_err();
    assert!(matches!(error, StartError::Socket(SocketError::InUse(_))), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something was created");
}

#[test]
fn the_lock_of_one_user_is_not_that_of_another() {
    let us = rustix::process::geteuid().as_raw();
    let path = lock_path("/tmp/ask.sock".as_ref());
    assert_eq!(path, Path::new(&format!("/tmp/ask.sock.{us}.lock")));
}

/// Asks at the socket that the first contract named, without any code of ours.
fn ask_plainly(socket: &Path) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    let question = request("rule-allow");
    stream.write_all(&question.to_line()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\n") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).unwrap();
        assert_ne!(count, 0, "no answer");
        answer.extend_from_slice(&bytes[..count]);
    }
    String::from_utf8(answer).unwrap()
}

#[test]
fn clients_of_the_first_contract_are_served_at_its_socket() {
    let house = House::new();
    assert!(ask_plainly(&house.legacy()).contains(r#""decision":"allow""#));
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
    assert_eq!(*house.warnings.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn whatever_stands_at_the_legacy_socket_is_left_alone_and_told_once() {
    let mut house = House::new();
    house.stop();
    fs::write(house.legacy(), "precious").unwrap();
    house.start().unwrap();
    let told = |house: &House| std::mem::take(&mut *house.warnings.lock().unwrap());
    let [warning] = &told(&house)[..] else { panic!("it is told once") };
    assert!(
        warning.contains("legacy.sock is not served, which only old clients need"),
        "{warning}"
    );
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
    house.stop();
    assert_eq!(fs::read_to_string(house.legacy()).unwrap(), "precious");

    fs::remove_file(house.legacy()).unwrap();
    let foreign = UnixListener::bind(house.legacy()).unwrap();
    house.start().unwrap();
    assert_eq!(told(&house).len(), 1);
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
    house.stop();
    assert!(house.legacy().exists(), "a socket that is not ours was removed");

    // A dead one of our own is replaced.
    drop(foreign);
    house.start().unwrap();
    assert_eq!(told(&house), Vec::<String>::new());
    assert!(ask_plainly(&house.legacy()).contains(r#""decision":"allow""#));
    // One that somebody has put there meanwhile is not ours to remove.
    let new = house.folder.path().join("new");
    fs::write(&new, "new").unwrap();
    fs::rename(new, house.legacy()).unwrap();
    house.stop();
    assert_eq!(fs::read_to_string(house.legacy()).unwrap(), "new");
}

#[test]
fn a_legacy_socket_of_another_user_is_left_alone() {
    if !rustix::process::geteuid().is_root() {
        assert!(std::env::var_os("CI").is_none(), "CI runs these tests as root");
        eprintln!("skipped: only root can give a file away");
        return;
    }
    let mut house = House::new();
    house.stop();
    // A dead one: of our own user it would be replaced.
    drop(UnixListener::bind(house.legacy()).unwrap());
    std::os::unix::fs::chown(house.legacy(), Some(65_534), None).unwrap();
    house.start().unwrap();
    let warnings = house.warnings.lock().unwrap().clone();
    let [warning] = &warnings[..] else { panic!("it is told once: {warnings:?}") };
    assert!(warning.ends_with("it belongs to user 65534 and was left alone"), "{warning}");
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
    house.stop();
    assert_eq!(fs::symlink_metadata(house.legacy()).unwrap().uid(), 65_534);
}
