//! Folders that `callgate install` made for an agent's settings. They go when our files go; folders
//! that were there before stay, also empty ones.
//!
//! The topmost folder that was made has a mark, an empty file.

use std::fs;
use std::io;
use std::path::Path;

const MARK: &str = ".made-by-callgate";

pub(super) fn mark_made_folder(folder: &Path) -> io::Result<()> {
    fs::write(folder.join(MARK), "")
}

/// Removes the folders above a file that is gone, up to `base`, as far as they were made by us and
/// are empty. What is in use by others stays, without the mark.
pub(super) fn remove_empty_folders(file: &Path, base: &Path) {
    let above = || file.ancestors().skip(1).take_while(|folder| *folder != base);
    let is_made = |folder: &&Path| folder.join(MARK).is_file();
    // What is above the topmost mark was there before.
    let Some(last) = above().filter(is_made).last() else { return };
    let mut is_empty = true;
    for folder in above() {
        if is_made(&folder) {
            // A mark that stays does no harm.
            fs::remove_file(folder.join(MARK)).ok();
        }
        // A folder that is not empty stays, and so do those above it.
        is_empty = is_empty && fs::remove_dir(folder).is_ok();
        if folder == last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_go_that_were_made_and_are_empty() {
        let home = tempfile::tempdir().unwrap();
        let base = home.path();
        let file = base.join("there/made/inner/file");
        let folder = |name: &str| base.join(name);
        fs::create_dir_all(folder("there/made/inner")).unwrap();
        remove_empty_folders(&file, base);
        assert!(folder("there/made/inner").is_dir(), "nothing says that we have made it");
        mark_made_folder(&folder("there/made")).unwrap();
        remove_empty_folders(&file, base);
        assert!(folder("there").is_dir() && !folder("there/made").exists());
        // Somebody else has put something there.
        fs::create_dir_all(folder("there/made/inner")).unwrap();
        mark_made_folder(&folder("there/made")).unwrap();
        fs::write(folder("there/made/inner/theirs"), "").unwrap();
        remove_empty_folders(&file, base);
        let left = |name: &str| fs::read_dir(folder(name)).unwrap().count();
        assert_eq!((left("there/made"), left("there/made/inner")), (1, 1));
    }
}
