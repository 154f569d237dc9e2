//! Files that a message names with an at sign: completing their names, and attaching them.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_wire::session::Attachment;

/// The most names that are offered.
const MOST_NAMES: usize = 200;

/// Where files are looked for that a message names.
#[derive(Debug, Clone)]
pub struct ChatFolders {
    pub working: PathBuf,
    /// What a tilde stands for.
    pub home: Option<PathBuf>,
}

impl ChatFolders {
    fn expanded_path(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.working.join(path),
        }
    }
}

/// The word at the cursor that may name a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileWord<'a> {
    /// Where the word begins, its at sign included.
    pub(crate) start: usize,
    /// The path as far as it is typed.
    path: &'a str,
    is_quoted: bool,
}

impl<'a> FileWord<'a> {
    /// Returns the word before the cursor, if it begins with an at sign. A path with blanks is in
    /// double quotes: `@"my file.txt"`.
    pub(crate) fn before_cursor(text: &'a str, cursor: usize) -> Option<Self> {
        let before = &text[..cursor];
        let quoted = before.rfind("@\"").filter(|at| !before[at + 2..].contains('"'));
        let plain = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        // Before the plain word, because a path in quotes may have blanks.
        if let Some(start) = quoted.filter(|at| begins_word(before, *at)) {
            return Some(Self { start, path: &before[start + 2..], is_quoted: true });
        }
        let path = before[plain..].strip_prefix('@')?;
        Some(Self { start: plain, path, is_quoted: false })
    }

    /// Returns the words that could replace this one, sorted. Hidden files are offered only after a
    /// dot.
    pub(crate) fn completions(&self, folders: &ChatFolders) -> Vec<String> {
        let (above, name) = match self.path.rsplit_once('/') {
            Some((above, name)) => (format!("{above}/"), name),
            None => (String::new(), self.path),
        };
        // A folder that cannot be read has no names to offer.
        let entries = fs::read_dir(folders.expanded_path(&above)).into_iter().flatten().flatten();
        let offered = entries.filter_map(|entry| {
            let found = entry.file_name().into_string().ok()?;
            let is_hidden = found.starts_with('.') && !name.starts_with('.');
            // No word could name it: a quoted one ends at the first quote.
            let is_odd = found.contains(|c: char| c.is_control() || c == '"');
            if !found.starts_with(name) || is_hidden || is_odd {
                return None;
            }
            let is_folder = fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
            let path = format!("{above}{found}{}", if is_folder { "/" } else { "" });
            Some(self.word(&path, is_folder))
        });
        // Cut before they are sorted, so that a huge folder is not read to its end at every Tab.
        let mut words: Vec<String> = offered.take(MOST_NAMES).collect();
        words.sort_unstable();
        words
    }

    fn word(&self, path: &str, is_folder: bool) -> String {
        if !self.is_quoted && !path.contains(char::is_whitespace) {
            return format!("@{path}");
        }
        format!("@\"{path}{}", if is_folder { "" } else { "\"" })
    }
}

/// Returns the beginning that all words share.
pub(crate) fn common_beginning(words: &[String]) -> &str {
    let Some((first, others)) = words.split_first() else { return "" };
    let shared = |other: &String| {
        let same = first.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(c, _)| c.len_utf8()).sum::<usize>()
    };
    &first[..others.iter().map(shared).min().unwrap_or(first.len())]
}

/// Returns the files that a message names, each once. A word that names no file is only a word.
pub fn find_attachments(message: &str, folders: &ChatFolders) -> Vec<Attachment> {
    let mut found: Vec<Attachment> = Vec::new();
    for path in named_paths(message) {
        let full = folders.expanded_path(path);
        let is_file = fs::metadata(&full).is_ok_and(|found| found.is_file());
        let Some(path) = full.to_str().filter(|_| is_file) else { continue };
        let file = Attachment::File { path: path.to_owned(), mime: media_type(&full).to_owned() };
        if !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

fn named_paths(message: &str) -> Vec<&str> {
    let mut paths = Vec::new();
    for (at, _) in message.match_indices('@') {
        // Inside a word it belongs to a mail address.
        if !begins_word(message, at) {
            continue;
        }
        let rest = &message[at + 1..];
        let path = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map_or("", |(path, _)| path),
            None => rest.split(char::is_whitespace).next().unwrap_or_default(),
        };
        paths.push(path);
        // The end of a sentence is not part of a name.
        paths.push(path.trim_end_matches(['.', ',', ':', ';', '?', '!', ')']));
    }
    paths.retain(|path| !path.is_empty());
    paths
}

fn begins_word(text: &str, at: usize) -> bool {
    text[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || before == '(')
}

/// Returns the media type by the name's ending; everything else is sent as text.
fn media_type(path: &Path) -> &'static str {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        _ => "text/plain",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(folder: &tempfile::TempDir) -> ChatFolders {
        ChatFolders { working: folder.path().to_owned(), home: None }
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["notes.txt", "notes.md", "my file.txt", ".hidden", "src/lib.rs", "a.PNG"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        folder
    }

    #[test]
    fn names_are_completed() {
        let folder = folder();
        let check = |text: &str, expected: &[&str]| {
            let word = FileWord::before_cursor(text, text.len());
            let words = word.map(|word| word.completions(&folders(&folder))).unwrap_or_default();
            assert_eq!(words, expected, "{text}");
        };
        check("see @no", &["@notes.md", "@notes.txt"]);
        check("see @s", &["@src/"]);
        check("@src/l", &["@src/lib.rs"]);
        check("@my", &["@\"my file.txt\""]);
        check("say @\"my f", &["@\"my file.txt\""]);
        check("@.h", &["@.hidden"]);
        check("@none/x", &[]);
        check("mail me at a@no", &[]);
        check("no", &[]);
        let word = FileWord::before_cursor("see @no", 7).unwrap();
        assert_eq!(common_beginning(&word.completions(&folders(&folder))), "@notes.");
        assert_eq!(common_beginning(&[]), "");
    }

    #[test]
    fn files_that_exist_are_attached_once() {
        let folder = folder();
        let message = "Compare @notes.txt, @notes.txt and (@\"my file.txt\") with @a.PNG? \
                       Ask @ada, a@notes.md, @src and @none.txt.";
        let files: Vec<(String, String)> = find_attachments(message, &folders(&folder))
            .into_iter()
            .map(|file| match file {
                Attachment::File { path, mime } => {
                    (path.rsplit('/').next().unwrap().to_owned(), mime)
                }
                Attachment::Inline { .. } => panic!("{file:?}"),
            })
            .collect();
        let named = |name: &str, mime: &str| (name.to_owned(), mime.to_owned());
        let text = "text/plain";
        assert_eq!(
            files,
            [named("notes.txt", text), named("my file.txt", text), named("a.PNG", "image/png")]
        );
    }
}
