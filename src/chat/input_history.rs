//! What was typed before, kept in a private file so that the next session has it too.

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

/// What was typed before, the newest last.
#[derive(Debug, Default)]
pub(super) struct InputHistory {
    entries: Vec<String>,
    /// The entry that is shown; `None` while the draft is.
    shown: Option<usize>,
    /// What was typed before an entry was shown.
    draft: String,
}

impl InputHistory {
    pub(super) fn new(entries: Vec<String>) -> Self {
        Self { entries, ..Self::default() }
    }

    /// Adds an entry. Returns false for one that is the same as the last.
    pub(super) fn add(&mut self, entry: &str) -> bool {
        self.shown = None;
        let is_new = self.entries.last().is_none_or(|last| last != entry);
        if is_new {
            self.entries.push(entry.to_owned());
        }
        is_new
    }

    /// Returns the entry before the one that is shown. `draft` is what the editor has now.
    pub(super) fn older(&mut self, draft: &str) -> Option<String> {
        let next = self.shown.unwrap_or(self.entries.len()).checked_sub(1)?;
        if self.shown.is_none() {
            draft.clone_into(&mut self.draft);
        }
        self.shown = Some(next);
        self.entries.get(next).cloned()
    }

    /// Returns the number of the newest entry before the number `before` that contains the words,
    /// in whatever case.
    pub(super) fn find(&self, words: &str, before: Option<usize>) -> Option<usize> {
        let words = words.to_lowercase();
        let older = &self.entries[..before.unwrap_or(self.entries.len())];
        let has = |entry: &String| entry.to_lowercase().contains(&words);
        older.iter().rposition(has).filter(|_| !words.is_empty())
    }

    pub(super) fn entry(&self, number: usize) -> Option<&str> {
        self.entries.get(number).map(String::as_str)
    }

    /// Returns the entry after the one that is shown, and the draft after the last.
    pub(super) fn newer(&mut self) -> Option<String> {
        let next = self.shown? + 1;
        self.shown = Some(next).filter(|next| *next < self.entries.len());
        Some(match self.shown {
            Some(next) => self.entries[next].clone(),
            None => std::mem::take(&mut self.draft),
        })
    }
}

/// The file of an [`InputHistory`]: one JSON string on each line, mode 0600.
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
    fn entries_are_walked_and_the_draft_comes_back() {
        let mut history = InputHistory::new(vec!["one".into(), "two".into()]);
        assert_eq!(history.newer(), None);
        assert_eq!(history.older("dra").as_deref(), Some("two"));
        assert_eq!(history.older("two").as_deref(), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("dra"));
        assert_eq!(history.newer(), None);
        assert!(history.add("three") && !history.add("three"));
        assert_eq!(history.older("").as_deref(), Some("three"));
    }

    #[test]
    fn entries_are_found_by_their_words_from_the_newest_on() {
        let entries = ["make test", "Make it", "list files", "make test"].map(str::to_owned);
        let history = InputHistory::new(entries.to_vec());
        assert_eq!(history.find("MAKE", None), Some(3));
        assert_eq!(history.find("make", Some(3)), Some(1));
        assert_eq!(history.find("make", Some(1)), Some(0));
        assert_eq!(history.find("make", Some(0)), None);
        assert_eq!(history.find("zebra", None), None);
        assert_eq!(history.find("", None), None);
        assert_eq!(history.entry(2), Some("list files"));
    }

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
