//! The private file with what was typed before, so that the next session has it too.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use callgate_link::file::{create_private, open_own};
use callgate_link::text_file::read_limited_text;

/// The most entries that are kept.
const MOST_ENTRIES: usize = 1000;
/// The longest entry that is kept, in bytes.
const LONGEST_ENTRY: usize = 16 * 1024;
/// The largest file that is read.
const LARGEST_FILE: u64 = 32 * 1024 * 1024;

/// The file of what was typed: one JSON string on each line, mode 0600.
#[derive(Debug)]
pub(super) struct InputHistoryFile {
    path: PathBuf,
}

impl InputHistoryFile {
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("chat_history") }
    }

    /// Reads the entries. A line that is not one is ignored, and a file that has become too long is
    /// shortened.
    pub(super) fn read(&self) -> io::Result<Vec<String>> {
        let file = match open_own(OpenOptions::new().read(true), &self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            file => file?,
        };
        let text = read_limited_text(file, LARGEST_FILE)?;
        let mut entries: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        // It is shortened rarely, because that writes all of it anew.
        if entries.len() > 2 * MOST_ENTRIES {
            entries.drain(..entries.len() - MOST_ENTRIES);
            self.replace(&entries)?;
        }
        Ok(entries)
    }

    /// Appends an entry, unless it is very long.
    pub(super) fn append(&self, entry: &str) -> io::Result<()> {
        if entry.len() > LONGEST_ENTRY {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        // Several chats append to one file, so each entry is one write.
        let mut file = open_own(OpenOptions::new().append(true).create(true), &self.path)?;
        file.write_all(entry_line(entry)?.as_bytes())
    }

    fn replace(&self, entries: &[String]) -> io::Result<()> {
        let lines: io::Result<String> = entries.iter().map(|entry| entry_line(entry)).collect();
        let beside = self.path.with_extension(format!("{}.new", std::process::id()));
        create_private(&beside, lines?.as_bytes())?;
        fs::rename(beside, &self.path)
    }
}

fn entry_line(entry: &str) -> io::Result<String> {
    Ok(serde_json::to_string(entry)? + "\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_file_is_private_and_survives_odd_entries() {
        let home = tempfile::tempdir().unwrap();
        let file = InputHistoryFile::in_folder(&home.path().join("data"));
        assert_eq!(file.read().unwrap(), Vec::<String>::new());
        file.append("two\nlines \u{1b}[31m").unwrap();
        file.append(&"x".repeat(LONGEST_ENTRY + 1)).unwrap();
        file.append("ä").unwrap();
        let mode = fs::metadata(&file.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(&file.path, fs::read_to_string(&file.path).unwrap() + "not JSON\n").unwrap();
        assert_eq!(file.read().unwrap(), ["two\nlines \u{1b}[31m", "ä"]);
    }

    #[test]
    fn a_long_file_is_shortened() {
        let home = tempfile::tempdir().unwrap();
        let file = InputHistoryFile::in_folder(home.path());
        let all: Vec<String> = (0..=2 * MOST_ENTRIES).map(|number| number.to_string()).collect();
        file.append("first").unwrap();
        file.replace(&all).unwrap();
        assert_eq!(file.read().unwrap().len(), MOST_ENTRIES);
        assert_eq!(fs::read_to_string(&file.path).unwrap().lines().count(), MOST_ENTRIES);
        assert_eq!(file.read().unwrap().last().unwrap(), "2000");
    }
}
