//! Verifies the ledger, and prunes it.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_mask::text::{counted_entries, one_line};
use callgate_store::{ChainFault, ChainHead, ChainReport, Checkpoint, NotedHead, Store, now_ms};
use callgate_wire::ledger::{EntriesPruned, LedgerEvent};
use jiff::tz::TimeZone;
use serde_json::json;

use super::{Failure, time};
use crate::failure::write_error_line;
use crate::terminal::progress::ProgressBar;

const NOTHING_TO_REMOVE: &str =
    "Nothing to remove: what is older is gone already, or belongs to an open question.";

/// Says whether the ledger is whole and whether somebody wrote links beside it. The exit code is 1
/// if anything is wrong. The ledger of the settings notes how far it was verified; a copy, which
/// may be evidence, is never written to.
pub(super) fn verify_chain(
    path: &Path,
    noted: Option<ChainHead>,
    is_json: bool,
    is_own: bool,
) -> Result<ExitCode, Failure> {
    let store = Store::open_read_only(path)?;
    let bar = ProgressBar::new("Verifying the ledger");
    let verified = store.verify_with(noted, &|done, all| bar.move_to(done, all))?;
    drop(bar);
    if let (ChainReport::Whole { head, .. }, true) = (&verified, is_own) {
        note_checkpoint(path, *head);
    }
    // Links are read from the chain alone, so these open nothing; but somebody has tried.
    let unchained = store.unchained_links()?;
    let said = match (&verified, is_json) {
        (_, true) => as_json(&verified, &unchained),
        (ChainReport::Whole { entries, from_anchor, head, noted }, _) => {
            whole_chain_report(*entries, from_anchor.as_ref(), *head, *noted)
        }
        (ChainReport::Broken { seq, why }, _) => broken_chain_report(store.path(), *seq, *why),
    };
    writeln!(io::stdout(), "{said}")?;
    if !is_json && !unchained.is_empty() {
        writeln!(io::stdout(), "{}", forged_links(&unchained))?;
    }
    Ok(match verified {
        ChainReport::Whole { .. } if unchained.is_empty() => ExitCode::SUCCESS,
        ChainReport::Whole { .. } | ChainReport::Broken { .. } => ExitCode::FAILURE,
    })
}

/// Notes for `callgate doctor` how far the ledger was checked, and when.
fn note_checkpoint(path: &Path, head: ChainHead) {
    let checkpoint = Checkpoint { head, at_ms: now_ms() };
    let noted = Store::open(path).and_then(|mut store| store.note_verified(&checkpoint));
    if let Err(error) = noted {
        write_error_line(&format!(
            "the ledger is whole, but that cannot be recorded in it: {error}"
        ));
    }
}

fn as_json(verified: &ChainReport, unchained: &[String]) -> String {
    let mut said = match verified {
        ChainReport::Whole { entries, from_anchor, head, noted } => json!({
            "whole": true,
            "entries": entries,
            "head": head.to_string(),
            "pruned_through": from_anchor.as_ref().map(|anchor| anchor.through),
            "noted": match noted {
                NotedHead::NotGiven => None,
                NotedHead::Found => Some("found"),
                NotedHead::Pruned => Some("pruned"),
            },
        }),
        ChainReport::Broken { seq, why } => {
            json!({ "whole": false, "seq": seq, "why": why.to_string() })
        }
    };
    said["unchained_links"] = json!(unchained);
    said.to_string()
}

/// Describes links that somebody has written beside the ledger.
fn forged_links(unchained: &[String]) -> String {
    let links: Vec<_> = unchained.iter().map(|link| one_line(link)).collect();
    format!(
        "Not linked, because the ledger does not have them, but somebody wrote them beside it: {}. \
         Somebody tried to be let in: find out who can write this file.",
        links.join(", ")
    )
}

fn whole_chain_report(
    entries: u64,
    from: Option<&EntriesPruned>,
    head: ChainHead,
    noted: NotedHead,
) -> String {
    let mut lines = vec![format!("The ledger is whole: {}.", counted_entries(entries))];
    if let Some(anchor) = from {
        let through = anchor.through;
        lines.push(format!("Those up to {through} were pruned; it is verified from there on."));
    }
    lines.push(match noted {
        NotedHead::NotGiven => format!(
            "Its head is {head}\nNote that somewhere else: with --verify --head it shows later \
             that nothing up to there was changed, not even by somebody who can write the file."
        ),
        NotedHead::Found => {
            format!("The head that you noted is part of it. Its head now is {head}")
        }
        NotedHead::Pruned => format!(
            "The entry of the head that you noted was pruned, so nothing can be said about it. Its \
             head now is {head}"
        ),
    });
    lines.join("\n")
}

fn broken_chain_report(path: &Path, seq: u64, why: ChainFault) -> String {
    let before = match seq {
        0 | 1 => "Nothing in it is proven.".to_owned(),
        seq => {
            format!("The entries before it are consistent; from entry {seq} on nothing is proven.")
        }
    };
    format!(
        "The ledger is broken at entry {seq}: {why}.\n{before}\nKeep a copy of {}: it may be \
         evidence. To begin a new ledger, stop `callgate up`, move the file away and start again.",
        path.display()
    )
}

/// Says what would be removed.
pub(super) fn show_prunable(path: &Path, before_ms: i64) -> Result<ExitCode, Failure> {
    let store = Store::open_read_only(path)?;
    let said = match store.preview_pruning(before_ms)? {
        Some(anchor) => format!(
            "{}, {}, can be removed. Nothing was removed yet: add --yes to do it.",
            counted_entries(anchor.count),
            pruned_period(&anchor)
        ),
        None => NOTHING_TO_REMOVE.to_owned(),
    };
    writeln!(io::stdout(), "{said}")?;
    Ok(ExitCode::SUCCESS)
}

/// Removes what is older.
pub(super) fn prune_entries(path: &Path, before_ms: i64) -> Result<ExitCode, Failure> {
    // An absent ledger is not created for this.
    drop(Store::open_read_only(path)?);
    let pruned = Store::open(path).and_then(|mut store| store.prune(before_ms))?;
    let said = match pruned.anchor.as_ref().map(|entry| (entry, entry.event())) {
        Some((entry, LedgerEvent::Anchor(anchor))) => {
            let head = ChainHead { seq: entry.seq, hash: entry.hash };
            let (removed, period) = (counted_entries(pruned.removed), pruned_period(&anchor));
            format!("Removed {removed}, {period}.\nThe head is now {head}")
        }
        _ => NOTHING_TO_REMOVE.to_owned(),
    };
    writeln!(io::stdout(), "{said}")?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the time from the first to the last of the entries that an anchor stands for.
fn pruned_period(anchor: &EntriesPruned) -> String {
    let zone = TimeZone::system();
    format!(
        "from {} to {}",
        time::local_time_text(anchor.from_ms, &zone),
        time::local_time_text(anchor.to_ms, &zone)
    )
}
