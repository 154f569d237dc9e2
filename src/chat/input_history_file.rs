//! The private file with what was typed before, so that the next session has it too.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use callgate_link::file::{create_private, create_private_folder, open_own};

/// The most entries that are kept.
const MOST_ENTRIES: usize = 1000;
/// The longest entry that is kept, in bytes.
const LONGEST_ENTRY: usize = 16 * 1024;
/// How many bytes of the file are read: of a larger one, the end.
const MOST_READ: u64 = 32 * 1024 * 1024;

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
        let (text, is_whole) = read_end(file)?;
        // The first line of a part may be the end of one.
        let lines = text.lines().skip(usize::from(!is_whole));
        let mut entries: Vec<String> =
            lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        // It is shortened rarely, because that writes all of it anew.
        if !is_whole || entries.len() > 2 * MOST_ENTRIES {
            entries.drain(..entries.len().saturating_sub(MOST_ENTRIES));
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
            create_private_folder(folder)?;
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

/// Reads the end of the file, and whether that is all of it.
fn read_end(mut file: File) -> io::Result<(String, bool)> {
    let before = file.metadata()?.len().saturating_sub(MOST_READ);
    file.seek(SeekFrom::Start(before))?;
    let mut bytes = Vec::new();
    file.take(MOST_READ).read_to_end(&mut bytes)?;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), before == 0))
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
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = file.path.parent().unwrap();
        assert_eq!((mode(&file.path), mode(folder)), (0o600, 0o700));
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

    #[test]
    fn a_file_that_is_too_large_is_shortened() {
        let home = tempfile::tempdir().unwrap();
        let file = InputHistoryFile::in_folder(home.path());
        // Six bytes of the file each.
        let longest = "\u{1}".repeat(LONGEST_ENTRY);
        let mut all = vec![longest; 400];
        all.push("the last".to_owned());
        file.replace(&all).unwrap();
        let read = file.read().unwrap();
        assert!(read.len() > 300, "{}", read.len());
        assert_eq!(read, all[all.len() - read.len()..]);
        assert!(fs::metadata(&file.path).unwrap().len() <= MOST_READ);
        assert_eq!(file.read().unwrap(), read);
    }
}
