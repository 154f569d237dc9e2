//! What is found at a path, and a disk that does not answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use callgate_rules::disk::real_path;

use super::*;

/// A disk that does not answer about anything below one folder until it is released.
pub(crate) struct StuckDisk {
    folder: String,
    asked: Mutex<Sender<()>>,
    end: Mutex<Receiver<()>>,
}

impl StuckDisk {
    /// Returns the disk, a receiver that is notified when the disk was asked about the folder, and
    /// a guard that releases the disk when dropped.
    pub(crate) fn new(folder: &Path) -> (Arc<Self>, Receiver<()>, Sender<()>) {
        let ((asked, is_asked), (hold, end)) = (channel(), channel());
        let (asked, end) = (Mutex::new(asked), Mutex::new(end));
        let folder = folder.display().to_string();
        (Arc::new(Self { folder, asked, end }), is_asked, hold)
    }
}

impl Disk for StuckDisk {
    fn entry(&self, path: &str) -> DiskEntry {
        if path.starts_with(&self.folder) {
            // A test that has seen enough stops listening.
            self.asked.lock().unwrap().send(()).ok();
            self.end.lock().unwrap().recv().ok();
        }
        RealDisk.entry(path)
    }
}

#[test]
fn links_lead_where_the_system_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let path = |name: &str| root.join(name).display().to_string();
    fs::create_dir(path("there")).unwrap();
    fs::write(path("there/file"), "").unwrap();
    symlink("there", path("link")).unwrap();
    symlink(path("nowhere"), path("hanging")).unwrap();
    symlink("circle", path("circle")).unwrap();
    for (name, expected) in [
        ("there/file", Some("there/file")),
        ("link/file", Some("there/file")),
        ("link/../link/new", Some("there/new")),
        ("hanging/x", Some("nowhere/x")),
        ("there/file/x", Some("there/file/x")),
        ("circle", None),
    ] {
        assert_eq!(real_path(&path(name), &RealDisk), expected.map(path), "{name}");
    }
    assert_eq!(RealDisk.entry(&path("new")), DiskEntry::Missing);
    assert_eq!(RealDisk.entry(&path("there/file/x")), DiskEntry::Missing);
    assert_eq!(RealDisk.entry(&path("there")), DiskEntry::Present);
    assert_eq!(RealDisk.entry(&path("link")), DiskEntry::Link("there".to_owned()));
}
