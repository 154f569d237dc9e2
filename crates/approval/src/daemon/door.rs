//! A listening socket that stays at its path: if its file is deleted, it is created again.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_link::socket::{self, check_peer};
use callgate_link::sync::lock;
use rustix::process::geteuid;
use tokio::net::{UnixListener, UnixStream};
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::claim::make_folder;
use super::{StartError, Warn, io_error};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long to wait when no connection can be accepted, as when there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) struct Door {
    path: PathBuf,
    listener: UnixListener,
    file: Arc<Mutex<Option<FileId>>>,
    looks: Interval,
    /// Why the socket could not be created again, so that the warning is given once.
    trouble: Option<String>,
    warn: Warn,
}

/// Identifies a file, even against a later one with the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn for_path(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// The file of a socket. It is removed when this is dropped, unless another file has taken its
/// place.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    id: Arc<Mutex<Option<FileId>>>,
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let id = *lock(&self.id);
        if id.is_some() && FileId::for_path(&self.path) == id {
            // If the file cannot be removed, the next daemon replaces it.
            fs::remove_file(&self.path).ok();
        }
    }
}

impl Door {
    /// Serves the socket of the first contract if its path is free, and warns if it is not. Its
    /// folder is shared by all users, so nothing depends on it and nobody else's file is touched.
    pub(super) fn open_legacy(path: &Path, warn: &Warn) -> Option<Self> {
        let opened = match fs::symlink_metadata(path).map(|found| found.uid()) {
            Ok(owner) if owner != geteuid().as_raw() => {
                Err(format!("it belongs to user {owner} and was left alone"))
            }
            _ => Self::open(path, Arc::clone(warn)).map_err(|error| error.to_string()),
        };
        let unserved = |why| {
            let path = path.display();
            warn(&format!("{path} is not served, which only old clients need: {why}"));
        };
        opened.map_err(unserved).ok()
    }

    /// Serves `path`. Needs a running tokio runtime.
    pub(super) fn open(path: &Path, warn: Warn) -> Result<Self, StartError> {
        let listener = listen_at(path)?;
        let mut looks = interval(LOOK_EVERY);
        // The default would make up for missed looks, one right after the other.
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (path, file) = (path.to_owned(), Arc::new(Mutex::new(FileId::for_path(path))));
        Ok(Self { path, listener, file, looks, trouble: None, warn })
    }

    /// Returns the socket's file, which stays right when the file is created again.
    pub(super) fn file(&self) -> SocketFile {
        SocketFile { path: self.path.clone(), id: Arc::clone(&self.file) }
    }

    /// Waits for the next connection of our own user. Returns an error if the system cannot accept
    /// one at the moment.
    pub(super) async fn accept(&mut self) -> io::Result<UnixStream> {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) if check_peer(&stream, &self.path).is_ok() => return Ok(stream),
                    // A process of another user is not told why it is refused.
                    Ok(_) => {}
                    Err(error) => {
                        tokio::time::sleep(PAUSE).await;
                        return Err(error);
                    }
                },
                _ = self.looks.tick() => self.look_after(),
            }
        }
    }

    /// Creates the socket again if its file is gone.
    fn look_after(&mut self) {
        let id = *lock(&self.file);
        if id.is_some() && FileId::for_path(&self.path) == id {
            return;
        }
        // The folder may have been deleted with it.
        let made = make_folder(&self.path).and_then(|()| listen_at(&self.path));
        match made {
            Ok(listener) => {
                self.listener = listener;
                *lock(&self.file) = FileId::for_path(&self.path);
                self.trouble = None;
                let path = self.path.display();
                (self.warn)(&format!("{path} was deleted, and was created again"));
            }
            Err(error) => {
                let why = format!("cannot create a deleted socket again: {error}");
                if self.trouble.as_ref() != Some(&why) {
                    (self.warn)(&why);
                    self.trouble = Some(why);
                }
            }
        }
    }
}

fn listen_at(path: &Path) -> Result<UnixListener, StartError> {
    let listener = socket::listen_at_path(path)?;
    let listen = || {
        listener.set_nonblocking(true)?;
        UnixListener::from_std(listener)
    };
    listen().map_err(|error| io_error("cannot listen at", path, error))
}

#[cfg(test)]
mod tests;
