//! Notices when a desk starts. The kernel reports new files, so nothing is looked at again and
//! again.

use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// How often a new socket is tried before it listens, and how long the pauses are.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// Calls `arrived` whenever a desk begins to listen at its socket. A thread waits for that as long
/// as the program runs.
pub(crate) fn watch_for_desk(
    socket: PathBuf,
    arrived: impl Fn() + Send + 'static,
) -> io::Result<()> {
    let changes = inotify::init(CreateFlags::CLOEXEC)?;
    let thread = thread::Builder::new().name("desk arrival".to_owned());
    thread.spawn(move || {
        // An error means that there is nothing to wait for any more.
        wait_for_arrival(&changes, &socket, &arrived).ok();
    })?;
    Ok(())
}

fn wait_for_arrival(changes: &OwnedFd, socket: &Path, arrived: &impl Fn()) -> io::Result<()> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut events = Reader::new(changes, &mut buffer);
    // Both are needed, because a desk renames its socket into place and makes the folders above it.
    let flags = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
    loop {
        let (folder, name) = nearest_folder(socket);
        // A folder that is watched already is not watched twice.
        match inotify::add_watch(changes, folder, flags) {
            Ok(_) => {}
            // It was removed just now: another one is the nearest.
            Err(Errno::NOENT | Errno::NOTDIR) => continue,
            Err(error) => return Err(error.into()),
        }
        // What was made before the watch is not reported.
        if socket.exists() {
            tell_when_listening(socket, arrived);
        }
        // If the next folder towards the socket has appeared, that one is to be watched.
        while nearest_folder(socket) == (folder, name) {
            let event = events.next()?;
            if event.events().contains(ReadFlags::IGNORED) {
                // A folder is gone, and its watch with it.
                break;
            }
            let made = event.file_name().map(CStr::to_bytes);
            if folder.join(name) == socket && made == Some(name.as_bytes()) {
                tell_when_listening(socket, arrived);
            }
        }
    }
}

/// Returns the folder of the socket, or the nearest one above it that exists, and what is to appear
/// there.
fn nearest_folder(socket: &Path) -> (&Path, &OsStr) {
    let mut way = socket.ancestors();
    let mut below = way.next().unwrap_or(socket);
    for folder in way {
        if folder.is_dir() {
            return (folder, below.file_name().unwrap_or_default());
        }
        below = folder;
    }
    (Path::new("/"), OsStr::new(""))
}

/// Waits until somebody listens, which is a moment after the socket was made.
fn tell_when_listening(socket: &Path, arrived: &impl Fn()) {
    for _ in 0..TRIES {
        if UnixStream::connect(socket).is_ok() {
            return arrived();
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc::channel;

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn a_socket_is_noticed_whenever_it_is_made_and_wherever_its_folder_was() {
        let home = tempfile::tempdir().unwrap();
        let socket = home.path().join("share/callgate/desk.sock");
        let (sender, arrived) = channel();
        watch_for_desk(socket.clone(), move || sender.send(()).unwrap()).unwrap();
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        for _ in 0..3 {
            let listener = UnixListener::bind(&socket).unwrap();
            arrived.recv_timeout(SOON).unwrap();
            fs::write(home.path().join("share/callgate/other"), "").unwrap();
            drop(listener);
            fs::remove_file(&socket).unwrap();
            // A socket that is made just when its folder is noticed may be reported twice.
            while arrived.try_recv().is_ok() {}
        }
        fs::remove_dir_all(home.path().join("share")).unwrap();
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        arrived.recv_timeout(SOON).unwrap();
    }

    #[test]
    fn the_nearest_folder_is_watched() {
        let home = tempfile::tempdir().unwrap();
        let socket = home.path().join("a/b/desk.sock");
        assert_eq!(nearest_folder(&socket), (home.path(), OsStr::new("a")));
        fs::create_dir_all(home.path().join("a/b")).unwrap();
        assert_eq!(nearest_folder(&socket), (&*home.path().join("a/b"), OsStr::new("desk.sock")));
    }
}
