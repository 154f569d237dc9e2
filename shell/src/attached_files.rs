//! Files that the user drops onto the window or pastes, as the page attaches them to a message.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gtk::{gio, glib};
use serde::Serialize;

/// The most bytes of all files together: what fits into one message.
const MOST_BYTES: u64 = 7_000_000;
const TOO_LARGE: &str = "The files are too large for one message: 7 MB in all.";
const MOST_FILES: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct AttachedFile {
    name: String,
    mime: String,
    /// The content in base64.
    data: String,
    size: usize,
}

impl AttachedFile {
    fn new(name: String, mime: String, content: &[u8]) -> Self {
        Self { name, mime, data: glib::base64_encode(content).into(), size: content.len() }
    }
}

/// Files, and why some of them are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct AttachedFiles {
    pub(crate) files: Vec<AttachedFile>,
    pub(crate) problem: Option<String>,
}

impl AttachedFiles {
    /// Returns a file whose content is known already.
    pub(crate) fn of_content(name: String, mime: String, content: &[u8]) -> Self {
        if content.len() as u64 > MOST_BYTES {
            return Self { files: Vec::new(), problem: Some(TOO_LARGE.to_owned()) };
        }
        Self { files: vec![AttachedFile::new(name, mime, content)], problem: None }
    }

    /// Reads the files at these paths. It may take a while.
    pub(crate) fn read_paths(paths: &[PathBuf]) -> Self {
        let mut read = Self::default();
        let mut room = MOST_BYTES;
        for path in paths.iter().take(MOST_FILES) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match read_content(path, room) {
                Ok(Some(content)) => {
                    room -= content.len() as u64;
                    let (kind, _) = gio::content_type_guess(Some(path), &content);
                    let mime = gio::content_type_get_mime_type(&kind).unwrap_or(kind);
                    read.files.push(AttachedFile::new(name, mime.into(), &content));
                }
                Ok(None) => read.problem = Some(TOO_LARGE.to_owned()),
                Err(error) => read.problem = Some(format!("{name} cannot be attached: {error}")),
            }
        }
        read
    }
}

/// Returns what is in a file, or `None` if it is longer than this.
fn read_content(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    // A pipe or a device might never end, and a folder has no content.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut content = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_and_what_cannot_be_attached_is_told() {
        let folder = std::env::temp_dir().join(format!("callgate-attached-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let plan = folder.join("plan.txt");
        fs::write(&plan, "of the engine").unwrap();
        let read = AttachedFiles::read_paths(std::slice::from_ref(&plan));
        let expected = AttachedFile {
            name: "plan.txt".to_owned(),
            mime: "text/plain".to_owned(),
            data: "b2YgdGhlIGVuZ2luZQ==".to_owned(),
            size: 13,
        };
        assert_eq!(read, AttachedFiles { files: vec![expected.clone()], problem: None });
        let large = folder.join("large");
        File::create(&large).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let read = AttachedFiles::read_paths(&[folder.clone(), large, plan]);
        assert_eq!(read.files, [expected]);
        assert!(read.problem.unwrap().contains("7 MB"));
        let read = AttachedFiles::read_paths(&[folder.clone(), folder.join("missing")]);
        assert!(read.files.is_empty());
        assert!(read.problem.unwrap().starts_with("missing cannot be attached"));
        fs::remove_dir_all(folder).unwrap();
    }
}
