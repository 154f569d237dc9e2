//! What a start removes, and what it leaves alone.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::{Duration, SystemTime};

use callgate_tools::{Host, blocking};

use crate::fixture::{hello, names};

const DEAD: &str = "0123456789abcdef0123456789abcdef";
const LIVE: &str = "11111111111111111111111111111111";

fn start_in(folder: &std::path::Path) {
    blocking::start(&Host::new([hello()]).unwrap().folder(folder)).unwrap().stop();
}

#[test]
fn a_dead_session_goes_with_its_schema_file() {
    let folder = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(folder.path().join(format!("claudecode_ipc_{DEAD}.sock"))).unwrap());
    fs::write(folder.path().join(format!("claudecode_ipc_schema_{DEAD}.json")), "[]").unwrap();
    start_in(folder.path());
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn what_lives_or_is_not_ours_for_sure_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let live = UnixListener::bind(path(&format!("claudecode_ipc_{LIVE}.sock"))).unwrap();
    fs::write(path(&format!("claudecode_ipc_schema_{LIVE}.json")), "[]").unwrap();
    // A schema file without a socket may be of a session that is just starting.
    fs::write(path(&format!("claudecode_ipc_schema_{DEAD}.json")), "[]").unwrap();
    // A regular file and a link under a socket's name, and dead sockets under other names.
    fs::write(path("claudecode_ipc_22222222222222222222222222222222.sock"), "mine").unwrap();
    drop(UnixListener::bind(path("other.sock")).unwrap());
    symlink(path("other.sock"), path("claudecode_ipc_33333333333333333333333333333333.sock"))
        .unwrap();
    drop(UnixListener::bind(path("claudecode_ipc_short.sock")).unwrap());
    drop(UnixListener::bind(path("claudecode_ipc_0123456789ABCDEF0123456789ABCDEF.sock")).unwrap());
    let before = names(folder.path());
    start_in(folder.path());
    assert_eq!(names(folder.path()), before);
    drop(live);
}

#[test]
fn a_busy_socket_with_a_full_queue_is_alive() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join(format!("claudecode_ipc_{LIVE}.sock"));
    let fd = rustix::net::socket(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::STREAM,
        None,
    )
    .unwrap();
    rustix::net::bind(&fd, &rustix::net::SocketAddrUnix::new(&socket).unwrap()).unwrap();
    rustix::net::listen(&fd, 0).unwrap();
    let _first = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    start_in(folder.path());
    assert!(socket.exists());
}

#[test]
fn a_socket_that_never_got_its_name_goes_when_it_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let young = folder.path().join(".cg0000000000000001");
    let old = folder.path().join(".cg0000000000000002");
    drop((UnixListener::bind(&young).unwrap(), UnixListener::bind(&old).unwrap()));
    let hour_ago = SystemTime::now() - Duration::from_hours(1);
    let times =
        rustix::fs::Timestamps { last_access: at(hour_ago), last_modification: at(hour_ago) };
    rustix::fs::utimensat(rustix::fs::CWD, &old, &times, rustix::fs::AtFlags::empty()).unwrap();
    let file = folder.path().join(".cg0000000000000003");
    File::create(&file).unwrap().set_modified(hour_ago).unwrap();
    start_in(folder.path());
    assert_eq!(names(folder.path()), [".cg0000000000000001", ".cg0000000000000003"]);
}

fn at(time: SystemTime) -> rustix::fs::Timespec {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    rustix::fs::Timespec { tv_sec: since.as_secs().cast_signed(), tv_nsec: 0 }
}
