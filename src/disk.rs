//! The disk of this machine, as verdicts see it.

use std::fs;
use std::io::ErrorKind;

use callgate_rules::{Disk, DiskEntry};

/// The disk of this machine. A look at it may block, for example on a network that is gone, so it
/// is not for a thread that must not wait.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn entry(&self, path: &str) -> DiskEntry {
        match fs::read_link(path) {
            Ok(target) => DiskEntry::Link(target.to_string_lossy().into_owned()),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                DiskEntry::Missing
            }
            // It is not a link; or we may not look, and then the agent cannot go there either.
            Err(_) => DiskEntry::Present,
        }
    }
}

/// A disk that does not answer about anything below one folder until it is released.
#[cfg(test)]
pub(crate) struct StuckDisk {
    folder: String,
    asked: std::sync::Mutex<std::sync::mpsc::Sender<()>>,
    end: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
}

#[cfg(test)]
impl StuckDisk {
    /// Returns the disk, a receiver that is notified when the disk was asked about the folder, and
    /// a guard that releases the disk when dropped.
    pub(crate) fn new(
        folder: &std::path::Path,
    ) -> (std::sync::Arc<Self>, std::sync::mpsc::Receiver<()>, std::sync::mpsc::Sender<()>) {
        let ((asked, is_asked), (hold, end)) =
            (std::sync::mpsc::channel(), std::sync::mpsc::channel());
        let (asked, end) = (std::sync::Mutex::new(asked), std::sync::Mutex::new(end));
        let folder = folder.display().to_string();
        (std::sync::Arc::new(Self { folder, asked, end }), is_asked, hold)
    }
}

#[cfg(test)]
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use callgate_rules::disk::real;

    use super::*;

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
            assert_eq!(real(&path(name), &RealDisk), expected.map(path), "{name}");
        }
        assert_eq!(RealDisk.entry(&path("new")), DiskEntry::Missing);
        assert_eq!(RealDisk.entry(&path("there/file/x")), DiskEntry::Missing);
        assert_eq!(RealDisk.entry(&path("there")), DiskEntry::Present);
        assert_eq!(RealDisk.entry(&path("link")), DiskEntry::Link("there".to_owned()));
    }
}
