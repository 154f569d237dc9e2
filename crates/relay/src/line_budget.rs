//! How much memory lines that are still arriving may take, over all machines.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many bytes of lines that are not whole yet may be in memory at once. Many machines share it.
#[derive(Debug)]
pub struct LineBudget {
    most: usize,
    taken: AtomicUsize,
}

impl LineBudget {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicUsize::new(0) })
    }
}

/// What one line takes of the budget. It is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct BudgetShare {
    budget: Arc<LineBudget>,
    taken: usize,
}

impl BudgetShare {
    pub(crate) fn of(budget: Arc<LineBudget>) -> Self {
        Self { budget, taken: 0 }
    }

    /// Makes the share as large as this. Returns false if that is more than is left.
    pub(crate) fn resize(&mut self, wanted: usize) -> bool {
        let more = wanted.saturating_sub(self.taken);
        // Taken before it is compared: two lines must not get the same room. `Relaxed` is enough,
        // because no other memory depends on the count.
        let all = self.budget.taken.fetch_add(more, Ordering::Relaxed) + more;
        self.budget.taken.fetch_sub(self.taken.saturating_sub(wanted), Ordering::Relaxed);
        // Also if it is too much, because the bytes are in memory until the line has ended.
        self.taken = wanted;
        more == 0 || all <= self.budget.most
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.resize(0);
    }
}
