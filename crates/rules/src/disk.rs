//! What a verdict needs from the disk: what is at a path, and where a link leads.
//!
//! The crate itself accesses no disk. The caller of a verdict passes in a [`Disk`]: the real one
//! before something happens, [`NoLinks`] where rules are tested or past acts are judged again,
//! since the disk has changed by then.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// How many links one path may lead through, as in the kernel.
const MOST_LINKS: usize = 40;
/// The most queries of the disk for one verdict. There is a limit, because an agent chooses how
/// many paths it names, and each query may take a while.
pub const MOST_LOOKUPS: usize = 4_096;
/// The most characters of paths that are followed for one verdict. The number of queries alone
/// would not bound the work, because each costs as much as its path is long.
const MOST_LETTERS: usize = 250_000;
/// The most names in folders that are read for one verdict. A folder may have very many, of which
/// few are links.
const MOST_NAMES: usize = 100_000;
/// Links that the system keeps for each process. They lead elsewhere for the agent than for us.
const OF_A_PROCESS: [&str; 4] = ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskEntry {
    Missing,
    /// Something that is not a symbolic link, or that cannot be read.
    Present,
    /// A symbolic link, and the text to which it points.
    Link(String),
}

/// What a verdict needs of the names in a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    pub links: Vec<String>,
    /// The folders, without links.
    pub folders: Vec<String>,
    /// How many names were read, whatever they are.
    pub read_count: usize,
}

pub trait Disk {
    /// Looks at an absolute path without following its last name.
    fn entry(&self, path: &str) -> DiskEntry;

    /// Reads at most this many names in the folder at an absolute path.
    fn list(&self, _folder: &str, _most: usize) -> FolderListing {
        FolderListing::default()
    }

    /// Returns true if something is certainly at an absolute path, if only a link. [`Disk::entry`]
    /// does not tell: it also returns [`DiskEntry::Present`] for what cannot be read.
    fn exists(&self, _path: &str) -> bool {
        false
    }

    /// Returns true if an absolute path certainly leads to a folder.
    fn is_folder(&self, _path: &str) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct NoLinks;

impl Disk for NoLinks {
    fn entry(&self, _path: &str) -> DiskEntry {
        DiskEntry::Present
    }
}

/// Follows an absolute path to its target: without `.`, `..` and symbolic links. The part that
/// does not exist yet is taken as written. Returns `None` if its links form a loop.
pub fn real_path(path: &str, disk: &dyn Disk) -> Option<String> {
    PathFollower::new(disk).real_path(path)
}

/// Follows many paths, such as those of one verdict, and queries the disk once for each name.
pub struct PathFollower<'a> {
    disk: &'a dyn Disk,
    known: RefCell<HashMap<String, DiskEntry>>,
    /// The remaining number of queries.
    left: Cell<usize>,
    /// The remaining number of characters of paths.
    letters: Cell<usize>,
    listings: RefCell<HashMap<String, Rc<FolderListing>>>,
    /// The remaining number of names in folders.
    names: Cell<usize>,
}

impl<'a> PathFollower<'a> {
    /// Creates a follower that has not looked at this disk yet.
    pub fn new(disk: &'a dyn Disk) -> Self {
        Self {
            disk,
            known: RefCell::default(),
            left: Cell::new(MOST_LOOKUPS),
            letters: Cell::new(MOST_LETTERS),
            listings: RefCell::default(),
            names: Cell::new(MOST_NAMES),
        }
    }

    /// Returns true if there was more to follow than is allowed.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0 || self.letters.get() == 0 || self.names.get() == 0
    }

    /// Looks up a path, once for each verdict.
    pub(crate) fn entry(&self, path: &str) -> DiskEntry {
        let is_of_a_process = path.starts_with("/proc/") || OF_A_PROCESS.contains(&path);
        if is_of_a_process {
            return DiskEntry::Present;
        }
        if let Some(entry) = self.known.borrow().get(path) {
            return entry.clone();
        }
        // Once these are spent, nothing counts as a link; verdicts check `is_spent` and ask.
        self.letters.set(self.letters.get().saturating_sub(path.len()));
        if self.is_spent() {
            return DiskEntry::Present;
        }
        let left = self.left.get() - 1;
        self.left.set(left);
        let entry = self.disk.entry(path);
        self.known.borrow_mut().insert(path.to_owned(), entry.clone());
        entry
    }

    /// Returns the links and folders in a folder, which is read once for each verdict.
    pub(crate) fn list(&self, folder: &str) -> Rc<FolderListing> {
        if let Some(listing) = self.listings.borrow().get(folder) {
            return Rc::clone(listing);
        }
        if self.is_spent() {
            return Rc::default();
        }
        let listing = Rc::new(self.disk.list(folder, self.names.get()));
        self.names.set(self.names.get().saturating_sub(listing.read_count));
        self.left.set(self.left.get().saturating_sub(1));
        self.listings.borrow_mut().insert(folder.to_owned(), Rc::clone(&listing));
        listing
    }

    /// Follows an absolute path, see [`real_path`]. Also returns `None` when it has followed more
    /// than is allowed for one verdict.
    pub fn real_path(&self, path: &str) -> Option<String> {
        self.walk(String::new(), path)
    }

    /// Follows `path` from `at`, which is real and has no slash at its end.
    pub(crate) fn walk(&self, mut at: String, path: &str) -> Option<String> {
        self.letters.set(self.letters.get().saturating_sub(at.len() + path.len()));
        if self.is_spent() {
            return None;
        }
        let mut links = MOST_LINKS;
        // A stack, because a link puts its own names before those that are left.
        let mut names: Vec<Cow<'_, str>> = reversed_names(path).map(Cow::Borrowed).collect();
        if path.starts_with('/') {
            at.clear();
        }
        // How much of the path exists; below it nothing can be a link.
        let mut is_there = usize::MAX;
        while let Some(name) = names.pop() {
            match &*name {
                // Like the kernel, this goes up from where a link has led, and not from where it
                // stands.
                ".." => {
                    at.truncate(at.rfind('/').unwrap_or(0));
                    if at.len() < is_there {
                        is_there = usize::MAX;
                    }
                }
                name => {
                    at.push('/');
                    at.push_str(name);
                    if is_there != usize::MAX {
                        continue;
                    }
                    match self.entry(&at) {
                        DiskEntry::Present => {}
                        DiskEntry::Missing => is_there = at.len(),
                        DiskEntry::Link(target) => {
                            // A loop of links would otherwise never end. The kernel gives up after
                            // as many.
                            links = links.checked_sub(1)?;
                            at.truncate(at.len() - name.len() - 1);
                            if target.starts_with('/') {
                                at.clear();
                            }
                            names.extend(
                                reversed_names(&target).map(|name| Cow::Owned(name.to_owned())),
                            );
                        }
                    }
                }
            }
        }
        if at.is_empty() {
            at.push('/');
        }
        Some(at)
    }
}

/// Returns the names of a path, the last first.
fn reversed_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').rev().filter(|name| !matches!(*name, "" | "."))
}

#[cfg(test)]
pub(crate) mod tests;
