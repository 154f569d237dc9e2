//! Checks the ledger: whether it is there, private, and whole.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use callgate_mask::text::counted_noun;
use callgate_store::{
    ChainReport, Checkpoint, EntryFilter, RecentReport, Store, StoreError, now_ms,
};
use callgate_wire::hook::AgentProfile;
use callgate_wire::ledger::{AgentCall, LedgerEvent, LedgerKind};
use jiff::tz::TimeZone;
use rustix::fs::statvfs;

use super::finding::Findings;
use crate::log::time;

const ABOUT: &str = "ledger";
/// With less free space than this, in bytes, the ledger may soon not be written any more.
const LITTLE_SPACE: u64 = 100 << 20;

/// How many of the last entries are verified. Verifying all of a long ledger is for `callgate log
/// --verify`, which notes how far it came.
const MOST_WALKED: u64 = 50_000;
const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How many of the last runs are looked at for those without a verdict. More would take long, and a
/// warning needs no exact number.
const MOST_RUNS: usize = 50_000;
const EVIDENCE: &str = "keep a copy, as it may be evidence; move it away to begin a new one";

/// Checks the file, the chain, and the free space.
pub(super) fn check_ledger_file(path: &Path, is_running: bool, findings: &mut Findings) {
    match Store::open_read_only(path) {
        Ok(store) => {
            check_file_modes(path, findings);
            check_chain_end(&store, MOST_WALKED, findings);
            count_unjudged_calls(&store, now_ms(), findings);
        }
        Err(StoreError::Missing(_)) if !is_running => {
            findings.add_ok(ABOUT, "none yet: `callgate up` begins one");
        }
        Err(StoreError::Missing(path)) => {
            let text = format!("{} is gone, while the daemon runs", path.display());
            findings.add_problem(ABOUT, text, "start the daemon again: callgate up");
        }
        // The error says what to do.
        Err(error) => findings.add_problem(ABOUT, error.to_string(), "then run this again"),
    }
    check_free_space(path, findings);
}

fn check_file_modes(path: &Path, findings: &mut Findings) {
    let folder = path.parent().unwrap_or(path);
    for (path, wanted) in [(path, "600"), (folder, "700")] {
        let Ok(metadata) = fs::metadata(path) else { continue };
        if metadata.mode() & 0o077 != 0 {
            let text = format!("others can reach {}", path.display());
            findings.add_problem(ABOUT, text, format!("chmod {wanted} {}", path.display()));
        }
    }
}

/// Verifies the last entries of the chain, and says when the others were last verified.
fn check_chain_end(store: &Store, most: u64, findings: &mut Findings) {
    let path = store.path().display();
    let again = "then run this again";
    match store.verify_recent(most) {
        Ok(RecentReport { verified: ChainReport::Whole { head, .. }, from, is_partial: true }) => {
            match earlier_entries(store, from) {
                Ok(EarlierEntries::Checked(when)) => {
                    let text = format!(
                        "{path} is whole from entry {from} on; checked up to {when}; head: {head}"
                    );
                    findings.add_ok(ABOUT, text);
                }
                Ok(EarlierEntries::Unchecked(when)) => {
                    let text =
                        format!("{path} is whole from entry {from} on; what is before was {when}");
                    findings.add_warning(ABOUT, text, "check all of it: callgate log --verify");
                }
                Ok(EarlierEntries::WrittenAnew(when)) => {
                    let text = format!("{path} was rewritten after it was checked up to {when}");
                    findings.add_problem(ABOUT, text, EVIDENCE);
                }
                Err(error) => findings.add_problem(ABOUT, error.to_string(), again),
            }
        }
        Ok(RecentReport { verified: ChainReport::Whole { entries, head, .. }, .. }) => {
            let text = format!("{path} is whole; entries: {entries}, head: {head}");
            findings.add_ok(ABOUT, text);
        }
        Ok(RecentReport { verified: ChainReport::Broken { seq, why }, .. }) => {
            let text = format!("{path} is broken at entry {seq}: {why}");
            findings.add_problem(ABOUT, text, EVIDENCE);
        }
        Err(error) => findings.add_problem(ABOUT, error.to_string(), again),
    }
}

/// Counts the calls of the last week that ran without a verdict, by agent.
fn count_unjudged_calls(store: &Store, now_ms: i64, findings: &mut Findings) {
    let filter = EntryFilter {
        kinds: vec![LedgerKind::Ran],
        since_ms: Some(now_ms - WEEK_MS),
        ..EntryFilter::default()
    };
    // A ledger that cannot be read is reported above.
    let runs = store.entries_before(&filter, u64::MAX, MOST_RUNS).unwrap_or_default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in runs {
        if let LedgerEvent::Ran(AgentCall { by: Some(_), agent: Some(agent), .. }) = entry.event() {
            *counts.entry(agent).or_default() += 1;
        }
    }
    for (agent, count) in counts {
        let name = AgentProfile::find(&agent).map_or(&*agent, |known| known.name);
        let word = AgentProfile::find(&agent).map_or("", |known| known.word);
        let calls = counted_noun(count, "call");
        let text = format!("{name} ran {calls} without a verdict in the last 7 days");
        let advice = "its hook failed or was late; see `callgate log --kind ran`";
        findings.add_warning(ABOUT, text, format!("{advice} --agent {word}"));
    }
}

/// What is known about the entries before the verified ones, with a description.
enum EarlierEntries {
    Checked(String),
    /// Not all of them were ever checked.
    Unchecked(String),
    /// The entry up to which they were checked has been replaced.
    WrittenAnew(String),
}

fn earlier_entries(store: &Store, from: u64) -> Result<EarlierEntries, StoreError> {
    let Some(Checkpoint { head, at_ms }) = store.last_verified()? else {
        return Ok(EarlierEntries::Unchecked("never checked".to_owned()));
    };
    let at = time::local_time_text(at_ms, &TimeZone::system());
    let seq = head.seq;
    Ok(match store.still_has(&head)? {
        Some(false) => EarlierEntries::WrittenAnew(format!("{seq} at {at}")),
        // If the entry was pruned since, its number still says how far the check came.
        _ if seq + 1 >= from => EarlierEntries::Checked(format!("{seq} at {at}")),
        _ => EarlierEntries::Unchecked(format!("last checked up to {seq} at {at}")),
    })
}

fn check_free_space(path: &Path, findings: &mut Findings) {
    // The ledger, and even its folder, may not have been created yet.
    let there = path.ancestors().find(|path| path.exists());
    let Some(disk) = there.and_then(|path| statvfs(path).ok()) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < LITTLE_SPACE {
        let text = format!("only {} MB are left on the disk of the ledger", free >> 20);
        findings.add_warning(
            ABOUT,
            text,
            "make room, or prune it: callgate log --prune-before 90d",
        );
    }
}

#[cfg(test)]
mod tests;
