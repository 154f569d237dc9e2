//! `callgate rules suggest`: proposes the rules that would have answered most of what people
//! allowed anyway.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_mask::text;
use callgate_policy::{MOST_BEYOND, RuleSurroundings, suggest_from_ledger};
use callgate_rules::{GuardedSet, Policy};
use callgate_store::Store;

use crate::failure::Failure;
use crate::terminal::progress::ProgressBar;

/// Suggests rules and prints them, as text that can be put into a file of rules.
pub(super) fn print_suggestions(
    policy: &Policy,
    guarded: &GuardedSet,
    around: &RuleSurroundings,
    database: &Path,
) -> Result<ExitCode, Failure> {
    let store = Store::open_read_only(database)?;
    let bar = ProgressBar::new("Looking for rules");
    let show = |done, total| {
        bar.move_to(done, total);
        true
    };
    let found = suggest_from_ledger(policy, guarded, around, &store, &show)?;
    drop(bar);
    let mut output = io::stdout().lock();
    let Some(found) = found.filter(|found| !found.suggestions.is_empty()) else {
        writeln!(
            output,
            "# no rule would have saved several questions without letting more through"
        )?;
        return Ok(ExitCode::SUCCESS);
    };
    for (at, suggestion) in found.suggestions.iter().enumerate() {
        if at > 0 {
            writeln!(output)?;
        }
        writeln!(output, "# saves {} questions", suggestion.saves)?;
        for row in found.calls_beyond(suggestion) {
            writeln!(output, "# also lets through: {}", text::one_line(&row.summary))?;
        }
        let more = suggestion.beyond.len().saturating_sub(MOST_BEYOND);
        if more > 0 {
            writeln!(output, "# … and {more} more")?;
        }
        output.write_all(suggestion.rule.toml.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
