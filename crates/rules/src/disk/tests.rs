//! Links are followed as the kernel follows them.

use std::cell::Cell;

use super::*;

/// A disk with some links, on which all else is there unless its name begins with `new`.
pub(crate) struct MadeUpDisk<'a> {
    pub(crate) links: &'a [(&'a str, &'a str)],
    pub(crate) looks: Cell<usize>,
    /// How often a folder was read.
    listings: Cell<usize>,
    /// How many names each folder has.
    name_count: usize,
}

impl<'a> MadeUpDisk<'a> {
    pub(crate) fn new(links: &'a [(&'a str, &'a str)]) -> Self {
        Self { links, looks: Cell::new(0), listings: Cell::new(0), name_count: links.len() }
    }
}

impl Disk for MadeUpDisk<'_> {
    fn entry(&self, path: &str) -> DiskEntry {
        self.looks.set(self.looks.get() + 1);
        match self.links.iter().find(|(name, _)| *name == path) {
            Some((_, target)) => DiskEntry::Link((*target).to_owned()),
            None if path.contains("/new") => DiskEntry::Missing,
            None => DiskEntry::Present,
        }
    }

    /// Also returns the folders above links: of the others it is not known what they are.
    fn list(&self, folder: &str, _most: usize) -> FolderListing {
        self.listings.set(self.listings.get() + 1);
        let folder = format!("{}/", folder.trim_end_matches('/'));
        let below = || self.links.iter().filter_map(|(path, _)| path.strip_prefix(&*folder));
        let links: Vec<String> =
            below().filter(|path| !path.contains('/')).map(str::to_owned).collect();
        let folders: Vec<String> =
            below().filter_map(|path| Some(path.split_once('/')?.0.to_owned())).collect();
        FolderListing { links, folders, read_count: self.name_count }
    }
}

#[test]
fn a_folder_is_read_once_and_its_names_count() {
    let mut disk = MadeUpDisk::new(&[("/a/link", "/b"), ("/a/below/link", "/c")]);
    disk.name_count = 30_000;
    let follower = PathFollower::new(&disk);
    for _ in 0..1_000 {
        let listing = follower.list("/a");
        assert_eq!(
            (&*listing.links, &*listing.folders),
            (&["link".into()][..], &["below".into()][..])
        );
    }
    assert_eq!(disk.listings.get(), 1);
    for folder in ["/b", "/c", "/d"] {
        assert!(!follower.is_spent());
        follower.list(folder);
    }
    assert!(follower.is_spent(), "120,000 names were read");
    follower.list("/e");
    assert_eq!(disk.listings.get(), 4);
}

#[test]
fn links_are_followed_as_the_kernel_does() {
    let disk = MadeUpDisk::new(&[
        ("/a/out", "/srv/out"),
        ("/a/in", "src"),
        ("/a/up", "../b"),
        ("/a/hanging", "../new/x"),
        ("/a/circle", "circle"),
        ("/a/twice", "in/../up"),
        ("/proc/self", "17"),
        ("/dev/stdin", "/proc/self/fd/0"),
    ]);
    for (path, expected) in [
        ("/", Some("/")),
        ("/a/x", Some("/a/x")),
        ("/a//./x/", Some("/a/x")),
        ("/a/out/y", Some("/srv/out/y")),
        ("/a/out/../y", Some("/srv/y")),
        ("/a/in/y", Some("/a/src/y")),
        ("/a/up", Some("/b")),
        ("/a/hanging", Some("/new/x")),
        ("/a/new/y/../../out", Some("/srv/out")),
        ("/a/new/../../../..", Some("/")),
        ("/a/twice/z", Some("/b/z")),
        ("/a/circle", None),
        ("/a/circle/x", None),
        ("/proc/self/x", Some("/proc/self/x")),
        ("/dev/stdin", Some("/dev/stdin")),
    ] {
        assert_eq!(real_path(path, &disk).as_deref(), expected, "{path}");
    }
}

#[test]
fn the_disk_is_asked_once_for_each_name_and_not_too_often() {
    let disk = MadeUpDisk::new(&[]);
    let follower = PathFollower::new(&disk);
    for _ in 0..3 {
        assert_eq!(follower.real_path("/a/b/c").as_deref(), Some("/a/b/c"));
    }
    assert_eq!(disk.looks.get(), 3);
    // Nothing lies below what is not there.
    assert_eq!(follower.real_path("/new/x/y/z").as_deref(), Some("/new/x/y/z"));
    assert_eq!(disk.looks.get(), 4);
    assert!(!follower.is_spent());
    for number in 0..2 * MOST_LOOKUPS {
        follower.real_path(&format!("/{number}"));
    }
    assert_eq!(disk.looks.get(), MOST_LOOKUPS);
    assert!(follower.is_spent());
    let disk = MadeUpDisk::new(&[]);
    let follower = PathFollower::new(&disk);
    follower.real_path(&"/x".repeat(1_000_000));
    assert!(follower.is_spent() && disk.looks.get() < MOST_LOOKUPS);
}
