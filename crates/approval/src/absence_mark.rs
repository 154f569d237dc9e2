//! A file that says when a hook last let a call run without a desk, so that the next desk does not
//! miss its check.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub fn mark_absence(database: &Path) -> io::Result<()> {
    if let Some(folder) = database.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // The time is all that counts. A file that is cut and written again costs the call a fifth of a
    // millisecond, since ext4 then writes it to the disk at once.
    let mark = File::options().append(true).create(true).open(mark_beside(database))?;
    mark.set_modified(SystemTime::now())
}

pub(crate) fn last_absence(database: &Path) -> Option<SystemTime> {
    fs::metadata(mark_beside(database)).and_then(|mark| mark.modified()).ok()
}

fn mark_beside(database: &Path) -> PathBuf {
    database.with_file_name("last-absence")
}
