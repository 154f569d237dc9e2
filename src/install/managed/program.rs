//! Whether somebody other than root could change the program of a hook for all users.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The mode bits with which the group or others may write.
const WRITABLE: u32 = 0o022;
/// The bit of a folder in which each may remove only their own files.
const STICKY: u32 = 0o1000;

/// Returns a note if somebody other than root can change `program` or a folder above it.
pub(super) fn changeable_program_note(program: &Path) -> Option<String> {
    // Links are resolved, because the folders above a link may be safe while those above the
    // program are not.
    let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let weak = program.ancestors().find(|path| {
        let Ok(metadata) = fs::metadata(path) else { return false };
        let mode = metadata.mode();
        // The owner counts whatever the mode is, because an owner can change the mode.
        metadata.uid() != 0 || (mode & WRITABLE != 0 && mode & STICKY == 0)
    })?;
    Some(format!(
        "somebody other than root can change {}, and with it the hook of everybody: better copy \
         callgate and callgate-hook to /usr/local/bin and run the command with that program",
        weak.display()
    ))
}
