//! The budget of one verdict.
//!
//! An agent chooses what is judged, so no input may cost much. Everything that parses, compares or
//! follows takes steps from one budget, about one for each character.
//! When the budget is spent, parsing ends and comparisons find nothing, and the verdict is to ask:
//! a rule that denies has either matched already or not.
//!
//! The budget belongs to the thread while a verdict is made, rather than being an argument of every
//! function, so that no comparison of two patterns can omit it. Outside [`run_with_budget`] nothing
//! is counted.

use std::cell::Cell;

/// The most steps for reading an act. A longer one is judged by its beginning and asked about.
pub(crate) const READING: usize = 500_000;
/// The most steps for finding the paths in an act.
pub(crate) const PLACING: usize = 500_000;
/// The most steps for judging an act. They are apart from those for reading it, so that what was
/// read of a long act is still compared with the rules that deny.
pub(crate) const JUDGING: usize = 1_000_000;
/// The cost of one word of a command besides its characters: it is kept, and looked up in lists.
pub(crate) const WORD: usize = 64;
/// The cost of one more piece of a word.
pub(crate) const PIECE: usize = 16;
/// Why something that was too long is asked about.
pub(crate) const TOO_LONG: &str = "it is too long to judge";

thread_local! {
    /// What is left of the budget; `None` if nothing is counted.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    /// Whether something was left out for another reason.
    static IS_CUT: Cell<bool> = const { Cell::new(false) };
}

/// Restores the previous state, also when a check in a test panics.
struct OpenBudget;

impl Drop for OpenBudget {
    fn drop(&mut self) {
        LEFT.set(None);
    }
}

/// Does some work with a budget, and returns whether it was enough. Nested work shares the budget,
/// because limits of their own for nested loops would multiply.
pub(crate) fn run_with_budget<T>(most: usize, work: impl FnOnce() -> T) -> (T, bool) {
    let _opened = LEFT.get().is_none().then(|| {
        LEFT.set(Some(most));
        IS_CUT.set(false);
        OpenBudget
    });
    let result = work();
    (result, !is_spent() && !IS_CUT.get())
}

/// Takes steps from the budget; false if it is spent, and from then on.
pub(crate) fn spend_budget(steps: usize) -> bool {
    let Some(left) = LEFT.get() else { return true };
    let left = left.saturating_sub(steps);
    LEFT.set(Some(left));
    left > 0
}

pub(crate) fn is_spent() -> bool {
    LEFT.get() == Some(0)
}

/// Notes that something was left out although there are steps left: it was too deep, or too many.
pub(crate) fn note_omission() {
    IS_CUT.set(true);
}

pub(crate) fn exhaust_budget() {
    spend_budget(usize::MAX);
}

#[cfg(test)]
mod tests;
