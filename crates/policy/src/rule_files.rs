//! Files with rules: where those of projects are, how they are read, and how a change is noticed.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use callgate_link::text_file::read_text_file;
use callgate_mask::text::without_mark;
use callgate_rules::{RuleFile, Trust};
use callgate_settings::Config;

use crate::team_file::TeamFile;

/// Where the rules of a project are, below its folder.
pub const PROJECT_RULES: &str = ".callgate/rules.toml";
/// The largest rule file that is read, in bytes.
const LONGEST_FILE: u64 = 1024 * 1024;

/// Returns where the roles of a team are: beside the user's rules.
pub fn roles_path(config: &Config) -> PathBuf {
    config.rules.with_file_name("roles.toml")
}

/// Reads a rule file. An absent file has no rules; a file that cannot be read allows nothing.
pub fn read_rule_file(path: &Path, trust: Trust) -> RuleFile {
    if trust == Trust::Team {
        return TeamFile::at(path).rule_file();
    }
    let name = path.display().to_string();
    // A project can put anything at this path: a pipe, a device, a link to one.
    match read_text_file(path, LONGEST_FILE) {
        Ok(text) => RuleFile::from_toml(&name, without_mark(&text), trust),
        Err(error) if is_absent(&error) => RuleFile::from_toml(&name, "", trust),
        Err(error) => RuleFile::unreadable(&name, &error.to_string(), trust),
    }
}

fn is_absent(error: &io::Error) -> bool {
    // Where `.callgate` is a file, no rules can be below it.
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Returns the rules of this folder and those above it, each with its folder.
pub fn read_project_files(folder: &Path) -> Vec<(PathBuf, RuleFile)> {
    let with_rules = folder.ancestors().filter(|folder| folder.join(PROJECT_RULES).exists());
    with_rules
        .map(|folder| {
            (folder.to_owned(), read_rule_file(&folder.join(PROJECT_RULES), Trust::Project))
        })
        .collect()
}

/// The metadata by which a change of a file is noticed. A desk compares it at each question, so
/// that no file has to be read then.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// A file that takes the place of another one may have its length and its time.
    inode: u64,
    length: u64,
    changed: (i64, i64),
}

impl FileStamp {
    pub fn of_path(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        let changed = (metadata.mtime(), metadata.mtime_nsec());
        Ok(Self { inode: metadata.ino(), length: metadata.len(), changed })
    }
}
