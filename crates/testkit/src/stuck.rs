//! A folder about which nobody gets an answer until the test says so, as on a disk that is away.

use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Holds whoever asks about a path below one folder, until it is released.
pub struct StuckFolder {
    folder: String,
    asked: Mutex<Sender<()>>,
    end: Mutex<Receiver<()>>,
}

impl StuckFolder {
    /// Returns the folder, a receiver that is notified when somebody asks about it, and a guard
    /// that releases everybody when dropped.
    pub fn new(folder: &Path) -> (Self, Receiver<()>, Sender<()>) {
        let ((asked, is_asked), (hold, end)) = (channel(), channel());
        let (asked, end) = (Mutex::new(asked), Mutex::new(end));
        (Self { folder: folder.display().to_string(), asked, end }, is_asked, hold)
    }

    /// Waits for the release if `path` is below the folder.
    pub fn hold_below(&self, path: &str) {
        if path.starts_with(&self.folder) {
            // A test that has seen enough stops listening.
            self.asked.lock().unwrap().send(()).ok();
            self.end.lock().unwrap().recv().ok();
        }
    }
}
