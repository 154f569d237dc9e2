//! The walk of a search: from handle to handle, never through a link, and with limits.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, statat};
use rustix::io::{Errno, dup};

use super::ignored::IgnoreRules;
use crate::tool::files::CancelFlag;
use crate::tool::files::beneath::open_listed_folder;
use crate::tool::files::error_text::{FileKind, errno_text};
use crate::tool::files::list_files;
use crate::tool::files::roots::FileLocation;

/// How deeply nested folders may be; each level costs a handle.
pub(in crate::tool::files) const MOST_DEPTH: usize = 64;
pub(in crate::tool::files) const MOST_ENTRIES: usize = 500_000;
pub(in crate::tool::files) const MOST_TIME: Duration = Duration::from_secs(20);

pub(in crate::tool::files) struct WalkEntry<'a> {
    pub(in crate::tool::files) folder: BorrowedFd<'a>,
    pub(in crate::tool::files) name: &'a OsStr,
    /// Its names, relative to the start of the search.
    pub(in crate::tool::files) path: &'a [&'a str],
    /// Its path, relative to the start of the search.
    pub(in crate::tool::files) bytes: &'a [u8],
    pub(in crate::tool::files) kind: FileKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tool::files) enum FolderStep {
    /// Enters the entry if it is a folder.
    On,
    Past,
    /// Ends the walk: enough was found.
    Enough,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::tool::files) struct SearchGaps {
    pub(in crate::tool::files) ended: Option<&'static str>,
    /// The number of folders that are nested too deeply.
    pub(in crate::tool::files) deep: usize,
    /// The number of folders on which another file system is mounted.
    pub(in crate::tool::files) mounted: usize,
    /// The number of folders that could not be read completely.
    pub(in crate::tool::files) unread: usize,
    /// The number of files and whole folders that rules exclude.
    pub(in crate::tool::files) hidden: usize,
}

/// One open folder on the path to the current entry.
struct WalkLevel {
    folder: OwnedFd,
    names: std::vec::IntoIter<(CString, FileKind)>,
    length: usize,
    ignored: IgnoreRules,
}

pub(in crate::tool::files) struct FolderWalk<'a> {
    stop: &'a CancelFlag,
    includes_ignored: bool,
    until: Instant,
    /// The number of entries read so far.
    seen: usize,
    /// The ignore files above the start, from the top, each with the names that lead from it to the
    /// start.
    above: Vec<(Vec<String>, IgnoreRules)>,
    levels: Vec<WalkLevel>,
    /// The path of the current entry, relative to the start.
    path: Vec<u8>,
    names: Vec<String>,
    gaps: SearchGaps,
}

impl<'a> FolderWalk<'a> {
    pub(in crate::tool::files) fn new(
        place: &FileLocation<'_>,
        includes_ignored: bool,
        stop: &'a CancelFlag,
    ) -> Result<Self, String> {
        let start = place.open_folder().map_err(errno_text)?;
        let mut walk = Self {
            stop,
            includes_ignored,
            until: Instant::now() + MOST_TIME,
            seen: 0,
            above: if includes_ignored { Vec::new() } else { ignore_rules_above(place) },
            levels: Vec::new(),
            path: Vec::new(),
            names: Vec::new(),
            gaps: SearchGaps::default(),
        };
        walk.enter(start).map_err(errno_text)?;
        Ok(walk)
    }

    /// Calls `visit` for every entry, sorted by name, with a folder before its contents.
    pub(in crate::tool::files) fn visit_all(
        mut self,
        visit: &mut dyn FnMut(&WalkEntry<'_>) -> FolderStep,
    ) -> Result<SearchGaps, String> {
        while let Some(level) = self.levels.last_mut() {
            let Some((name, kind)) = level.names.next() else {
                self.levels.pop();
                continue;
            };
            self.path.truncate(level.length);
            self.names.truncate(self.levels.len() - 1);
            self.stop.check_unset()?;
            if !self.may_go_on() || self.visit_entry(&name, kind, visit) == FolderStep::Enough {
                break;
            }
        }
        Ok(self.gaps)
    }

    fn may_go_on(&mut self) -> bool {
        if Instant::now() > self.until {
            self.gaps.ended = Some("it takes too long");
        }
        self.gaps.ended.is_none()
    }

    fn visit_entry(
        &mut self,
        name: &CStr,
        kind: FileKind,
        visit: &mut dyn FnMut(&WalkEntry<'_>) -> FolderStep,
    ) -> FolderStep {
        let Some(level) = self.levels.last() else { return FolderStep::Enough };
        let name = OsStr::from_bytes(name.to_bytes());
        let kind =
            if kind == FileKind::Other { find_kind(level.folder.as_fd(), name) } else { kind };
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name.as_bytes());
        // Patterns see odd bytes as replaced, and results show them as they are.
        self.names.push(name.to_string_lossy().into_owned());
        let path: Vec<&str> = self.names.iter().map(String::as_str).collect();
        // Git never lists `.git`, so no ignore file names it.
        if !self.includes_ignored && (name == ".git" || self.is_ignored(&path, kind)) {
            return FolderStep::Past;
        }
        let folder = level.folder.as_fd();
        let next = visit(&WalkEntry { folder, name, path: &path, bytes: &self.path, kind });
        if next == FolderStep::On && kind == FileKind::Folder {
            self.go_down(name);
        }
        next
    }

    fn is_ignored(&self, path: &[&str], kind: FileKind) -> bool {
        let is_folder = kind == FileKind::Folder;
        // From the inside out: the rule nearest to the entry decides, as in git.
        let below = self.levels.iter().enumerate().rev();
        let mut below =
            below.filter_map(|(depth, l)| l.ignored.ignores_path(&path[depth..], is_folder));
        let mut above = self.above.iter().rev().filter_map(|(names, ignored)| {
            let whole: Vec<&str> =
                names.iter().map(String::as_str).chain(path.iter().copied()).collect();
            ignored.ignores_path(&whole, is_folder)
        });
        below.next().or_else(|| above.next()).unwrap_or(false)
    }

    fn go_down(&mut self, name: &OsStr) {
        if self.levels.len() >= MOST_DEPTH {
            self.gaps.deep += 1;
            return;
        }
        let Some(level) = self.levels.last() else { return };
        match open_listed_folder(level.folder.as_fd(), name).and_then(|folder| self.enter(folder)) {
            Err(Errno::XDEV) => self.gaps.mounted += 1,
            // Somebody removed it or put a link in its place.
            Ok(()) | Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR) => {}
            Err(_) => self.gaps.unread += 1,
        }
    }

    fn enter(&mut self, folder: OwnedFd) -> Result<(), Errno> {
        // Of a copy: the folder stays open for what is beneath it.
        let (names, are_all) = list_files::sorted_names(dup(&folder)?)?;
        self.gaps.unread += usize::from(!are_all);
        self.seen += names.len();
        if self.seen > MOST_ENTRIES {
            self.gaps.ended = Some("it has more entries than one search reads");
            return Ok(());
        }
        let ignored = if self.includes_ignored {
            IgnoreRules::default()
        } else {
            IgnoreRules::from_folder(folder.as_fd())
        };
        let names = names.into_iter();
        self.levels.push(WalkLevel { folder, names, length: self.path.len(), ignored });
        Ok(())
    }
}

/// Returns the type of an entry if its folder does not report it.
fn find_kind(folder: BorrowedFd<'_>, name: &OsStr) -> FileKind {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(FileKind::Other, |stat| FileKind::from_stat(&stat))
}

/// Returns the ignore files in the folders above, up to the allowed one.
fn ignore_rules_above(place: &FileLocation<'_>) -> Vec<(Vec<String>, IgnoreRules)> {
    let names: Vec<String> =
        place.rest.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let at = |depth: usize| {
        let rest = place.rest.iter().take(depth).collect();
        let folder = FileLocation { rest, ..place.clone() }.open_folder().ok()?;
        Some((names[depth..].to_vec(), IgnoreRules::from_folder(folder.as_fd())))
    };
    (0..names.len()).filter_map(at).collect()
}

/// Returns the prefix that makes results in `path` usable as paths.
pub(in crate::tool::files) fn result_prefix(path: &str, prefix: &str) -> String {
    let mut base = String::new();
    for part in [path.trim_start_matches("./"), prefix] {
        if !matches!(part, "" | ".") {
            base.push_str(part);
            if !part.ends_with('/') {
                base.push('/');
            }
        }
    }
    base
}

impl SearchGaps {
    /// Returns true if the walk is incomplete. What rules exclude does not count.
    pub(in crate::tool::files) fn is_unfinished(&self) -> bool {
        self.ended.is_some() || self.deep + self.mounted + self.unread > 0
    }

    /// Describes what was skipped, for the model.
    pub(in crate::tool::files) fn notes(&self) -> String {
        let mut notes = String::new();
        let mut note = |text: String| notes.extend(["\n[", &text, "]"]);
        if let Some(reason) = self.ended {
            note(format!("the search ended early, as {reason}: search a folder in it"));
        }
        if self.deep > 0 {
            note(format!("folders deeper than {MOST_DEPTH}, not searched: {}", self.deep));
        }
        if self.mounted > 0 {
            note(format!("mounted folders, not searched: {}", self.mounted));
        }
        if self.unread > 0 {
            note(format!("folders not read completely: {}", self.unread));
        }
        if self.hidden > 0 {
            note(format!("files and folders excluded by rules: {}", self.hidden));
        }
        notes
    }
}
