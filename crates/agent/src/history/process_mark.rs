//! Shows other processes that this one lives, by a file that it keeps locked. The kernel unlocks it
//! when the process dies, however it dies.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use callgate_link::file::{is_at, open_own, try_lock};
use uuid::Uuid;

use super::lock;

/// The extension of such a file; the name before it is that of the process.
const EXTENSION: &str = "holder";

pub(super) struct ProcessMark {
    name: String,
    /// The folder of the files; `None` if no other process can see the reservations.
    pub(super) folder: Option<PathBuf>,
    file: Option<File>,
}

impl ProcessMark {
    /// Creates the mark of a process that shares `file` with others, or shares nothing.
    pub(super) fn beside(file: Option<&Path>) -> Self {
        let name = Uuid::new_v4().simple().to_string();
        Self { name, folder: file.map(lock::folder_beside), file: None }
    }

    /// Makes sure that the file exists and is locked, and returns the name of the process.
    pub(super) fn ensure_file(&mut self) -> io::Result<String> {
        if let Some(folder) = &self.folder
            && !self.file.as_ref().is_some_and(|file| is_at(file, &mark_path(folder, &self.name)))
        {
            lock::create_folder(folder)?;
            let mut options = OpenOptions::new();
            let file =
                open_own(options.write(true).create_new(true), &mark_path(folder, &self.name))?;
            // Nobody asks for it before a reservation names it, so it need not be born locked.
            if !try_lock(&file)? {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.file = Some(file);
        }
        Ok(self.name.clone())
    }

    /// Returns true unless the process of this name has died, or somebody has removed its file.
    pub(super) fn is_alive(folder: Option<&Path>, name: &str) -> bool {
        // It comes from the ledger's file, and must not be a path that leads elsewhere.
        let is_name = name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(folder) = folder.filter(|_| is_name) else { return false };
        let path = mark_path(folder, name);
        match open_own(OpenOptions::new().read(true), &path) {
            Ok(file) => {
                let is_free = matches!(try_lock(&file), Ok(true));
                if is_free {
                    // A file that stays is found dead again.
                    fs::remove_file(&path).ok();
                }
                !is_free
            }
            // In doubt it lives: what a living process has reserved must not be counted as spent.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

impl Drop for ProcessMark {
    fn drop(&mut self) {
        if let (Some(folder), Some(_)) = (&self.folder, &self.file) {
            // A file that stays is found dead, because it is not locked any more.
            fs::remove_file(mark_path(folder, &self.name)).ok();
        }
    }
}

fn mark_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension(EXTENSION)
}

#[cfg(test)]
mod tests;
