//! Walks along the ledger's chain for a viewer, and says what that means.

use callgate_store::{ChainReport, Store};
use callgate_wire::desk::VerifiedLedger;

use crate::rule_desk::WorkMonitor;

const WHOLE: &str = "Every entry follows the one before it: nothing in between was changed or \
    removed. Note the head somewhere else; later it shows that nothing up to there was changed, \
    not even by somebody who can write the file.";

pub(super) fn verify_ledger(
    store: &Store,
    monitor: &WorkMonitor<'_>,
) -> Result<VerifiedLedger, String> {
    let progress = |done, total| monitor.report_progress(done, total);
    let report = store.verify_with(None, &progress).map_err(|error| error.to_string())?;
    let unchained = store.unchained_links().map_err(|error| error.to_string())?;
    Ok(match report {
        ChainReport::Whole { entries, from_anchor, head, .. } => {
            let pruned = from_anchor.map(|anchor| {
                let through = anchor.through;
                format!("Entries up to {through} were pruned; it is verified from there on.")
            });
            let forged = (!unchained.is_empty()).then(|| {
                format!(
                    "But {} of the links beside it are not in the ledger, and so without effect: \
                     somebody wrote them there by hand.",
                    unchained.len()
                )
            });
            let all: Vec<String> =
                [Some(WHOLE.to_owned()), pruned, forged].into_iter().flatten().collect();
            let text = all.join(" ");
            let head = Some(head.to_string());
            VerifiedLedger { whole: unchained.is_empty(), entries, head, text }
        }
        ChainReport::Broken { seq, why } => VerifiedLedger {
            whole: false,
            entries: seq.saturating_sub(1),
            head: None,
            text: format!(
                "The ledger is broken at entry {seq}: {why}. From there on nothing is proven. Keep \
                 a copy of {}: it may be evidence.",
                store.path().display()
            ),
        },
    })
}
