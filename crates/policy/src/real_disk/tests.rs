//! What is found at a path, and a disk that does not answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use callgate_rules::disk::real_path;
use callgate_testkit::stuck::StuckFolder;

use super::*;

/// A disk that does not answer about anything below one folder until it is released.
pub(crate) struct StuckDisk(StuckFolder);

impl StuckDisk {
    pub(crate) fn new(folder: &Path) -> (Arc<Self>, Receiver<()>, Sender<()>) {
        let (stuck, asked, hold) = StuckFolder::new(folder);
        (Arc::new(Self(stuck)), asked, hold)
    }
}

impl Disk for StuckDisk {
    fn entry(&self, path: &str) -> DiskEntry {
        self.0.hold_below(path);
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
