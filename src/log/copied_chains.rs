//! The copies of other machines' ledgers: what was copied before a ledger was pruned or replaced,
//! and whether the copies are whole.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_mask::text::{counted_noun, one_line};
use callgate_store::{ChainReport, Store, StoreError};
use serde_json::{Value, json};

use crate::failure::{Failure, write_error_line};

pub(super) const NO_COPY: &str =
    "there is no copy of the ledger of that machine: see `callgate remote list`";

/// Walks all series of the copy of a machine's ledger, or the one that is named. The exit code is 1
/// if any of them is broken.
pub(super) fn verify_copies(path: &Path, name: &str, is_json: bool) -> Result<ExitCode, Failure> {
    let store = Store::open_read_only(path)?;
    let series = store.copied_series(name)?;
    let names: Vec<String> = match series.len() {
        0 | 1 => vec![name.to_owned()],
        _ => series.iter().map(|number| format!("{name}#{number}")).collect(),
    };
    let mut out = io::stdout().lock();
    let mut is_whole = true;
    for chain in &names {
        let report = Store::open_copy(path, chain)?.verify_copy()?;
        match &report {
            ChainReport::Whole { entries: 0, .. } => return Err(NO_COPY.into()),
            ChainReport::Whole { .. } => {}
            ChainReport::Broken { .. } => is_whole = false,
        }
        if is_json {
            writeln!(out, "{}", report_json(chain, &report))?;
        } else {
            writeln!(out, "{}", one_line(&report_line(chain, &report)))?;
        }
    }
    if !is_json && let Some(note) = older_series_note(name, &series) {
        writeln!(out, "{}", one_line(&note))?;
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Says on standard error that there are older series than the one that is shown.
pub(super) fn tell_older_series(store: &Store, name: &str) -> Result<(), StoreError> {
    if let Some(note) = older_series_note(name, &store.copied_series(name)?) {
        write_error_line(&one_line(&note));
    }
    Ok(())
}

fn older_series_note(name: &str, series: &[u64]) -> Option<String> {
    let [first, older @ .., _] = series else { return None };
    let times = counted_noun(older.len() + 1, "time");
    let which = match older.last() {
        None => format!("{name}#{first}"),
        Some(last) => format!("{name}#{first} to {name}#{last}"),
    };
    Some(format!(
        "{name} has pruned or replaced its ledger {times}; what was copied before is shown by \
         --machine {which}"
    ))
}

fn report_line(chain: &str, report: &ChainReport) -> String {
    match report {
        ChainReport::Whole { entries, head, .. } => {
            let first = head.seq - entries + 1;
            format!("{chain}: the copy is whole from entry {first} on; its head is {head}")
        }
        ChainReport::Broken { seq, why } => format!(
            "{chain}: the copy is broken at entry {seq}: {why}; nothing is proven from there on"
        ),
    }
}

fn report_json(chain: &str, report: &ChainReport) -> Value {
    match report {
        ChainReport::Whole { entries, head, .. } => json!({
            "machine": chain, "whole": true, "entries": entries, "head": head.to_string(),
        }),
        ChainReport::Broken { seq, why } => {
            json!({ "machine": chain, "whole": false, "seq": seq, "why": why.to_string() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_series_are_named() {
        let note = |series: &[u64]| older_series_note("box", series);
        assert_eq!((note(&[]), note(&[1])), (None, None));
        let note = note(&[1, 2, 3]).unwrap();
        assert!(note.contains("2 times") && note.ends_with("--machine box#1 to box#2"), "{note}");
        let note = older_series_note("box", &[1, 2]).unwrap();
        assert!(note.contains("1 time;") && note.ends_with("--machine box#1"), "{note}");
    }
}
