//! What the check of a value may cost.

use std::cell::Cell;

use serde_json::Value;

/// How many rules are evaluated, and steps of patterns taken, before a check is given up.
const MOST_STEPS: usize = 10_000_000;
/// How many more there may be for each value and each byte of text in what is checked, so that a
/// large value is not given up for its size alone.
const MORE_STEPS: usize = 20;
/// A check that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CheckTooLong;

/// Whether a value fits.
pub(super) type FitVerdict = Result<bool, CheckTooLong>;

/// What a check may still cost.
#[derive(Debug)]
pub(super) struct StepBudget(Cell<usize>);

impl StepBudget {
    pub(super) fn for_value(value: &Value) -> Self {
        Self(Cell::new(MOST_STEPS + MORE_STEPS * value_size(value)))
    }

    pub(super) fn spend(&self, steps: usize) -> Result<(), CheckTooLong> {
        self.0.set(self.0.get().checked_sub(steps).ok_or(CheckTooLong)?);
        Ok(())
    }
}

/// Returns how many values and bytes of text there are in a value.
fn value_size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(value_size).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, value)| name.len() + value_size(value)).sum::<usize>()
        }
        _ => 1,
    }
}
