//! One daemon for each socket, and nothing of anybody else's is touched.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

use callgate_approval::daemon::StartError;
use callgate_approval::viewer::Viewer;
use callgate_link::socket::SocketError;

use crate::house::{DEADLINE, House, request};

#[test]
fn its_sockets_are_its_owners_alone_and_go_with_it() {
    let mut house = House::new();
    for name in ["ask.sock", "desk.sock"] {
        let path = house.folder.path().join(name);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    house.stop();
    assert!(!house.socket().exists());
}

#[test]
fn sockets_that_somebody_deletes_are_made_anew() {
    let house = House::new();
    let (ask, desk) = (house.socket(), house.folder.path().join("desk.sock"));
    for path in [&ask, &desk] {
        fs::remove_file(path).unwrap();
    }
    let end = Instant::now() + DEADLINE;
    while !(ask.exists() && desk.exists()) {
        assert!(Instant::now() < end, "they are not made anew");
        thread::sleep(Duration::from_millis(10));
    }
    assert!(house.ask(request("rule-allow")).join().unwrap().is_ok());
    let status = Viewer::connect(&desk).unwrap().status().unwrap();
    assert_eq!(status.pid, std::process::id());
    let told = house.warnings.lock().unwrap().join("\n");
    assert!(
        told.contains("ask.sock was deleted") && told.contains("desk.sock was deleted"),
        "{told}"
    );
}

#[test]
fn a_second_daemon_refuses_clearly_and_the_first_serves_on() {
    let mut house = House::new();
    let error = house.start().unwrap_err();
    assert!(matches!(error, StartError::Running(_)), "{error}");
    assert!(error.to_string().contains("is already serving"));
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
