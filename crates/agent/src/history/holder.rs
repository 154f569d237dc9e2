//! Shows other processes that this one lives, by a file that it keeps locked. The kernel unlocks it
//! when the process dies, however it dies.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use callgate_link::file::{open_own, try_lock};
use uuid::Uuid;

use super::lock;

/// The extension of such a file; the name before it is that of the process.
const EXTENSION: &str = "holder";

/// The mark of a process that makes reservations.
pub(super) struct ProcessMark {
    name: String,
    /// The folder of the files; `None` if no other process can see the reservations.
    folder: Option<PathBuf>,
    file: Option<File>,
}

impl ProcessMark {
    /// Creates the mark of a process that shares `file` with others, or shares nothing.
    pub(super) fn beside(file: Option<&Path>) -> Self {
        let name = Uuid::new_v4().simple().to_string();
        Self { name, folder: file.map(lock::folder_beside), file: None }
    }

    /// Makes sure that the file exists and is locked, and returns the name of the process.
    pub(super) fn show(&mut self) -> io::Result<String> {
        if let Some(folder) = &self.folder
            && !self.file.as_ref().is_some_and(|file| is_at(file, &path(folder, &self.name)))
        {
            lock::make(folder)?;
            let mut options = OpenOptions::new();
            let file = open_own(options.write(true).create_new(true), &path(folder, &self.name))?;
            if !try_lock(&file)? {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.file = Some(file);
        }
        Ok(self.name.clone())
    }

    /// Returns true unless the process of this name has died, or somebody has removed its file.
    pub(super) fn is_alive(folder: Option<&Path>, name: &str) -> bool {
        let is_name = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(folder) = folder.filter(|_| is_name) else { return false };
        let path = path(folder, name);
        match open_own(OpenOptions::new().read(true), &path) {
            Ok(file) => {
                let is_free = matches!(try_lock(&file), Ok(true));
                if is_free {
                    // A file that stays is found dead again.
                    fs::remove_file(&path).ok();
                }
                !is_free
            }
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Returns the folder of the files.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }
}

impl Drop for ProcessMark {
    fn drop(&mut self) {
        if let (Some(folder), Some(_)) = (&self.folder, &self.file) {
            // A file that stays is found dead, because it is not locked any more.
            fs::remove_file(path(folder, &self.name)).ok();
        }
    }
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension(EXTENSION)
}

/// Returns true if `path` still leads to this file.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    let open = file.metadata().map(identity).ok();
    open.is_some() && open == fs::symlink_metadata(path).map(identity).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_alive_as_long_as_it_holds_its_file() {
        let place = tempfile::tempdir().unwrap();
        let mut holder = ProcessMark::beside(Some(&place.path().join("ledger.db")));
        let folder = holder.folder().unwrap();
        let is_alive = |name: &str| ProcessMark::is_alive(Some(&folder), name);
        let name = holder.show().unwrap();
        assert_eq!(holder.show().unwrap(), name);
        assert!(is_alive(&name));
        let path = path(&folder, &name);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        // A hand has removed the file: the next look at it makes it again.
        fs::remove_file(&path).unwrap();
        assert!(!is_alive(&name));
        assert_eq!(holder.show().unwrap(), name);
        assert!(is_alive(&name));
        drop(holder);
        assert!(!path.exists());
        assert!(!is_alive(&name));
    }

    #[test]
    fn a_file_that_nobody_holds_is_one_of_the_dead_and_goes() {
        let place = tempfile::tempdir().unwrap();
        let name = "0123456789abcdef0123456789abcdef";
        let path = path(place.path(), name);
        fs::write(&path, "").unwrap();
        assert!(!ProcessMark::is_alive(Some(place.path()), name));
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_name_of_a_process_is_dead_and_opens_nothing() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("locks");
        fs::create_dir(&folder).unwrap();
        let outside = place.path().join("outside.holder");
        fs::write(&outside, "").unwrap();
        for name in ["", "../outside", "x", "0123456789abcdef0123456789abcde/"] {
            assert!(!ProcessMark::is_alive(Some(&folder), name), "{name}");
        }
        assert!(outside.exists());
        assert!(!ProcessMark::is_alive(None, "0123456789abcdef0123456789abcdef"));
    }
}
