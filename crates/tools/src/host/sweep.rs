//! Removes what sessions left behind whose process was killed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use callgate_link::socket::{is_dead, remove_if_dead, sweep_unfinished};
use callgate_wire::tools::{SCHEMA_PREFIX, SCHEMA_SUFFIX, SOCKET_PREFIX, SOCKET_SUFFIX};
use rustix::process::geteuid;

/// Removes dead sockets of ours in `folder`, each with its schema file.
///
/// A socket is named once it accepts connections and a session's schema file never outlives its
/// socket, so a socket of ours that refuses them is proof that the session is over. Everything
/// else is left alone.
pub(super) fn sweep(folder: &Path) {
    sweep_unfinished(folder);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(session_id) else { continue };
        // The socket goes last: while it is there, whatever ends us leaves a trace to the rest.
        if is_dead(&entry.path()) {
            remove_schema(&folder.join(format!("{SCHEMA_PREFIX}{id}{SCHEMA_SUFFIX}")));
            remove_if_dead(&entry.path());
        }
    }
}

fn session_id(name: &str) -> Option<&str> {
    let id = name.strip_prefix(SOCKET_PREFIX)?.strip_suffix(SOCKET_SUFFIX)?;
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    (id.len() == 32 && id.bytes().all(is_hex)).then_some(id)
}

fn remove_schema(path: &Path) {
    let is_ours = fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.uid() == geteuid().as_raw());
    if is_ours {
        // An error means that another session's sweep was quicker.
        fs::remove_file(path).ok();
    }
}
