//! What rules keep out of a search: it is passed by unread, and only counted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::walk::WalkEntry;

/// What a search leaves out, by its tool and the folder in which it begins; `None` when it is
/// nothing. Paths are absolute and named as the input names them, which is how rules judge them.
pub type HiddenFiles = Arc<dyn Fn(&str, &Path) -> Option<HiddenTest> + Send + Sync>;
/// Whether a file or folder below the beginning of a search is left out; a folder with all in it.
pub type HiddenTest = Box<dyn Fn(&Path) -> bool>;

/// What is left out of one search.
pub(super) struct SearchVeil {
    start: PathBuf,
    is_hidden: Option<HiddenTest>,
    /// How much was left out. It must not depend on what is in a file: else one could ask for that,
    /// word by word.
    pub(super) count: usize,
}

impl SearchVeil {
    pub(super) fn new(hidden: &HiddenFiles, tool: &str, start: PathBuf) -> Self {
        Self { is_hidden: hidden(tool, &start), start, count: 0 }
    }

    /// Returns true if an entry is left out; then it is counted.
    pub(super) fn hides(&mut self, entry: &WalkEntry<'_>) -> bool {
        let path = || self.start.join(OsStr::from_bytes(entry.bytes));
        let hides = self.is_hidden.as_ref().is_some_and(|is_hidden| is_hidden(&path()));
        self.count += usize::from(hides);
        hides
    }
}
