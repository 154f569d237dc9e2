//! Files for the pickers of a front end.

use serde::{Deserialize, Serialize};

use crate::fields::{Malformed, bounded_text, optional_field};
use crate::raw::Members;

/// The longest query for files, in bytes.
pub const LONGEST_QUERY: usize = 1024;

/// The longest path of a file, in bytes.
pub const LONGEST_PATH: usize = 4096;

/// The file that `read_file` asks for, or some of its lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WantedFile {
    /// Its path; a relative one starts in the working folder.
    pub path: String,
    /// The number of the first line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
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

impl WantedFile {
    pub(super) fn from_members(members: &Members) -> Result<Self, Malformed> {
        const COUNT: &str = "a whole number of at least 1";
        let count = |field: &'static str| match optional_field(members, field, COUNT)? {
            Some(0) => Err(Malformed::wrong_field(field, COUNT)),
            count => Ok(count),
        };
        let path = bounded_text(members, "path", LONGEST_PATH, "a string of at most 4096 bytes")?;
        Ok(Self { path, offset: count("offset")?, limit: count("limit")? })
    }
}

pub(super) fn decode_query(members: &Members) -> Result<String, Malformed> {
    bounded_text(members, "query", LONGEST_QUERY, "a string of at most 1024 bytes")
}
