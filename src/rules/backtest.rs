//! `callgate rules backtest`: shows what rules would have decided on everything in the ledger.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_mask::text::counted_noun;
use callgate_mask::{mask_text, text};
use callgate_policy::{read_turned_question, replay_ledger};
use callgate_rules::{Backtest, Policy, RuleDecision, TurnedVerdict};
use callgate_store::{Store, StoreError};
use callgate_surroundings::rule_surroundings;

use crate::failure::Failure;
use crate::terminal::progress::ProgressBar;

/// How many changed decisions are printed.
const MOST_PRINTED: usize = 50;

/// Applies the rules to the ledger and prints the result.
pub(super) fn run_backtest(policy: &Policy, database: &Path) -> Result<ExitCode, Failure> {
    let store = Store::open_read_only(database)?;
    let bar = ProgressBar::new("Judging the ledger");
    let show = |done, total| {
        bar.move_to(done, total);
        true
    };
    let result = replay_ledger(policy, &rule_surroundings(), &store, &show)?.unwrap_or_default();
    drop(bar);
    print_backtest(&result, &store)?;
    Ok(if result.let_through_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_backtest(result: &Backtest, store: &Store) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let count = |decision| result.count(decision);
    writeln!(
        output,
        "{}: {} would be allowed, {} denied, {} asked",
        counted_noun(result.acts, "question"),
        count(RuleDecision::Allow),
        count(RuleDecision::Deny),
        count(RuleDecision::Ask) + count(RuleDecision::Confirm)
    )?;
    let lists = [
        ("denied then, let through now", result.let_through_count, &result.let_through),
        ("allowed then, denied now", result.newly_denied_count, &result.newly_denied),
    ];
    for (what, count, list) in lists {
        if count > 0 {
            writeln!(output, "{count} {what}:")?;
        }
        for turned in list.iter().take(MOST_PRINTED) {
            writeln!(output, "  {}", describe_turned(turned, store)?)?;
        }
        if count > MOST_PRINTED {
            writeln!(output, "  … and {} more", count - MOST_PRINTED)?;
        }
    }
    Ok(())
}

/// Describes a question that the rules decide differently, on one line.
fn describe_turned(turned: &TurnedVerdict, store: &Store) -> Result<String, StoreError> {
    let (_, entry, asked) = read_turned_question(store, turned)?;
    let id = entry.and_then(|entry| entry.question).unwrap_or_default();
    let id: String = id.chars().take(8).collect();
    let summary = mask_text(&asked.summary).shown().to_owned();
    let because = text::one_line(&turned.verdict.because);
    Ok(format!("{id} {}: {because}", text::one_line(&summary)))
}
