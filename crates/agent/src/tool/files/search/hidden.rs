//! What rules exclude from a search: it is skipped unread, and only counted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::walk::WalkEntry;

/// Returns what a search skips, given its tool and the folder in which it starts; `None` if it
/// skips nothing. Paths are absolute and named as in the input, which is how rules judge them.
pub type HiddenFiles = Arc<dyn Fn(&str, &Path) -> Option<HiddenTest> + Send + Sync>;
/// Decides whether a file, or a folder with everything in it, is skipped by a search.
pub type HiddenTest = Box<dyn Fn(&Path) -> bool>;

pub(in crate::tool::files) struct HiddenFilter {
    start: PathBuf,
    is_hidden: Option<HiddenTest>,
    /// How many entries were skipped. The number must not depend on the contents of a file, because
    /// one could otherwise guess them word by word.
    pub(in crate::tool::files) count: usize,
}

impl HiddenFilter {
    pub(in crate::tool::files) fn new(hidden: &HiddenFiles, tool: &str, start: PathBuf) -> Self {
        Self { is_hidden: hidden(tool, &start), start, count: 0 }
    }

    /// Returns true if an entry is skipped, and counts it.
    pub(in crate::tool::files) fn hides(&mut self, entry: &WalkEntry<'_>) -> bool {
        let path = || self.start.join(OsStr::from_bytes(entry.bytes));
        let hides = self.is_hidden.as_ref().is_some_and(|is_hidden| is_hidden(&path()));
        self.count += usize::from(hides);
        hides
    }
}
