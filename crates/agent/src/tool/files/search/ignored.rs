//! Ignore files: `.gitignore`, `.ignore` and `.git/info/exclude`, read as git reads them.

use std::ffi::OsStr;
use std::os::fd::BorrowedFd;

use super::glob::{GlobDialect, GlobPattern, LONGEST};
use crate::tool::files::beneath::{open_child_file, read_whole_file};

/// A larger ignore file is not read.
const MOST_BYTES: u64 = 1024 * 1024;
/// How many lines of an ignore file are used. Every entry of a search is compared with all of them.
const MOST_RULES: usize = 10_000;
/// The files that are read in each folder; a later one overrides an earlier one.
const FILES: [&str; 3] = [".git/info/exclude", ".gitignore", ".ignore"];

#[derive(Debug, Default)]
pub(in crate::tool::files) struct IgnoreRules {
    rules: Vec<IgnoreRule>,
}

#[derive(Debug)]
struct IgnoreRule {
    pattern: GlobPattern,
    is_negated: bool,
    only_folders: bool,
}

impl IgnoreRules {
    /// Reads the ignore files of a folder. One that is a link, is too large or cannot be read is
    /// skipped.
    pub(in crate::tool::files) fn from_folder(folder: BorrowedFd<'_>) -> Self {
        let mut ignored = Self::default();
        for file in FILES {
            // No link is followed: lines of a file elsewhere would show in what the search leaves
            // out.
            let opened = open_child_file(folder, OsStr::new(file));
            if let Ok(Ok(Some(bytes))) = opened.map(|(file, _)| read_whole_file(file, MOST_BYTES)) {
                ignored.add_lines(&String::from_utf8_lossy(&bytes));
            }
        }
        ignored
    }

    pub(in crate::tool::files) fn add_lines(&mut self, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rules =
            text.split('\n').filter_map(|line| parse_rule(line.strip_suffix('\r').unwrap_or(line)));
        let room = MOST_RULES.saturating_sub(self.rules.len());
        self.rules.extend(rules.take(room));
    }

    /// Returns whether a path, given as its names from this folder on, is ignored; `None` if no
    /// pattern matches.
    pub(in crate::tool::files) fn ignores_path(
        &self,
        path: &[&str],
        is_folder: bool,
    ) -> Option<bool> {
        let fits =
            |rule: &&IgnoreRule| (is_folder || !rule.only_folders) && rule.pattern.fits(path);
        // As in git, the last one that fits decides.
        self.rules.iter().rev().find(fits).map(|rule| !rule.is_negated)
    }
}

fn parse_rule(line: &str) -> Option<IgnoreRule> {
    if line.starts_with('#') || line.len() > LONGEST {
        return None;
    }
    let (is_negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let line = without_blanks(line);
    let (only_folders, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    if line.is_empty() {
        return None;
    }
    let pattern = GlobPattern::from_text(line, GlobDialect { escapes: true, folds: false });
    // A slash before the end ties a pattern to the folder of its file.
    let pattern = if line.contains('/') { pattern } else { pattern.at_any_depth() };
    Some(IgnoreRule { pattern, is_negated, only_folders })
}

/// Removes trailing spaces from a line, except one that is escaped by a backslash.
fn without_blanks(line: &str) -> &str {
    let bare = line.trim_end_matches(' ');
    let escapes = bare.len() - bare.trim_end_matches('\\').len();
    let is_kept = escapes % 2 == 1 && bare.len() < line.len();
    if is_kept { &line[..=bare.len()] } else { bare }
}
