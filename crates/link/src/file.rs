//! Files that only their owner can read.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Creates `path` with mode 0600 and writes `content`; an existing file is an error. When the
/// writing fails nothing is left behind.
pub fn create_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content).inspect_err(|_| {
        // The write's own error is the one to tell.
        std::fs::remove_file(path).ok();
    })
}
