//! The ledger: whether it is there, ours alone, and whole.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use callgate_store::{Store, StoreError, Verified};
use rustix::fs::statvfs;

use super::finding::Findings;

const ABOUT: &str = "ledger";
/// With less than this the ledger may soon not be written any more.
const LITTLE_SPACE: u64 = 100 << 20;

/// Looks at the file, walks the chain, and looks at the disk.
pub(super) fn look(path: &Path, is_running: bool, findings: &mut Findings) {
    match Store::open_read_only(path) {
        Ok(store) => {
            private(path, findings);
            verified(&store, findings);
        }
        Err(StoreError::Missing(_)) if !is_running => {
            findings.ok(ABOUT, "none yet: `callgate up` begins one");
        }
        Err(StoreError::Missing(path)) => {
            let text = format!("{} is gone, while the daemon runs", path.display());
            findings.problem(ABOUT, text, "start the daemon again: callgate up");
        }
        // Each of these says itself what to do.
        Err(error) => findings.problem(ABOUT, error.to_string(), "then run this again"),
    }
    space(path, findings);
}

fn private(path: &Path, findings: &mut Findings) {
    let folder = path.parent().unwrap_or(path);
    for (path, wanted) in [(path, "600"), (folder, "700")] {
        let Ok(metadata) = fs::metadata(path) else { continue };
        if metadata.mode() & 0o077 != 0 {
            let text = format!("others can reach {}", path.display());
            findings.problem(ABOUT, text, format!("chmod {wanted} {}", path.display()));
        }
    }
}

fn verified(store: &Store, findings: &mut Findings) {
    let path = store.path().display();
    match store.verify() {
        Ok(Verified::Whole { entries, head, .. }) => {
            let text = format!("{path} is whole; entries: {entries}, head: {head}");
            findings.ok(ABOUT, text);
        }
        Ok(Verified::Broken { seq, why }) => {
            let text = format!("{path} is broken at entry {seq}: {why}");
            let advice = "keep a copy, as it may be evidence; move it away to begin a new one";
            findings.problem(ABOUT, text, advice);
        }
        Err(error) => findings.problem(ABOUT, error.to_string(), "then run this again"),
    }
}

fn space(path: &Path, findings: &mut Findings) {
    let there = path.ancestors().find(|path| path.exists());
    let Some(disk) = there.and_then(|path| statvfs(path).ok()) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < LITTLE_SPACE {
        let text = format!("only {} MB are left on the disk of the ledger", free >> 20);
        findings.warning(ABOUT, text, "make room, or prune it: callgate log --prune-before 90d");
    }
}
