//! Files for the pickers of a front end.

use serde::{Deserialize, Serialize};

use crate::fields::{Malformed, bounded_text, required_field};
use crate::raw::Members;

/// The longest query for files, in bytes.
pub const LONGEST_QUERY: usize = 1024;

/// The longest path of a file, in bytes.
pub const LONGEST_PATH: usize = 4096;

message_structs! {
    /// The file that `read_file` asks for, or some of its lines.
    #[derive(PartialEq, Eq)]
    pub struct WantedFile {
        /// Its path; a relative one starts in the working folder.
        path: String = decode_path,
        /// The number of the first line, counted from 1.
        offset optional: Option<u64> = decode_line_count,
        limit optional: Option<u64> = decode_line_count,
    }
}

/// The data of the `done` of `find_files`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMatches {
    /// The files and folders that were found, the best match first.
    pub files: Vec<FileMatch>,
    /// Whether there are more, or some folders could not be searched.
    pub truncated: bool,
}

/// A file or folder that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMatch {
    /// Its absolute path.
    pub path: String,
    /// Its path from the working folder, if it lies there; otherwise the absolute one.
    pub name: String,
    /// `file` or `folder`. A reader accepts other words.
    pub kind: String,
}

/// The data of the `done` of `read_file`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileText {
    /// The path, as it was given.
    pub path: String,
    pub content: String,
    pub first_line: u64,
    /// The number of the last line; `first_line` minus one if there is none.
    pub last_line: u64,
    pub total_lines: Option<u64>,
    /// Whether more lines follow.
    pub more: bool,
    /// The size of the file in bytes.
    pub size: u64,
}

fn decode_path(members: &Members, name: &'static str) -> Result<String, Malformed> {
    bounded_text(members, name, LONGEST_PATH, "a string of at most 4096 bytes")
}

fn decode_line_count(members: &Members, name: &'static str) -> Result<u64, Malformed> {
    const COUNT: &str = "a whole number of at least 1";
    let count = required_field(members, name, COUNT)?;
    if count == 0 { Err(Malformed::wrong_field(name, COUNT)) } else { Ok(count) }
}

pub(super) fn decode_query(members: &Members, name: &'static str) -> Result<String, Malformed> {
    bounded_text(members, name, LONGEST_QUERY, "a string of at most 1024 bytes")
}
