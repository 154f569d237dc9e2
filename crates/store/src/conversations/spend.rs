//! What conversations cost.

use rusqlite::{Connection, Params, Row, params};

use crate::Store;
use crate::error::StoreError;
use crate::ledger::number;
use crate::transaction::Transaction;

/// What one answer cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    /// The model, as its provider names it.
    pub model: String,
    /// Tokens read anew.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens put into a cache.
    pub cache_write: u64,
    /// In millionths of a dollar; none when nobody knows the price.
    pub micro_usd: Option<u64>,
}

/// What several answers cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    /// Tokens read anew.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Tokens put into a cache.
    pub cache_write: u64,
    /// In millionths of a dollar, as far as the prices are known.
    pub micro_usd: u64,
    /// How many of the answers have no known price.
    pub unpriced: u64,
}

/// What a conversation and all of them cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// One conversation, ever.
    pub conversation: Sum,
    /// All of them since a time, also those that were deleted.
    pub all: Sum,
}

const SUMS: &str = "SELECT total(input), total(output), total(cache_read), total(cache_write),
    total(micro_usd), count(*) - count(micro_usd) FROM spendings";

impl Store {
    /// What this conversation cost, and what all cost at `since_ms` or later.
    pub fn spent(&self, conversation: &str, since_ms: i64) -> Result<Spent, StoreError> {
        let of_one = "conversation = (SELECT key FROM conversations WHERE id = ?)";
        let read = || {
            Ok(Spent {
                conversation: sum(&self.connection, of_one, [conversation])?,
                all: sum(&self.connection, "at_ms >= ?", [since_ms])?,
            })
        };
        read().map_err(self.failed("read"))
    }
}

pub(super) fn write(
    transaction: &Transaction<'_>,
    conversation: i64,
    at_ms: i64,
    spending: &Spending,
) -> rusqlite::Result<()> {
    let Spending { model, input, output, cache_read, cache_write, micro_usd } = spending;
    let values = params![
        at_ms,
        conversation,
        model,
        number(*input)?,
        number(*output)?,
        number(*cache_read)?,
        number(*cache_write)?,
        micro_usd.map(number).transpose()?,
    ];
    transaction
        .prepare_cached(
            "INSERT INTO spendings
             (at_ms, conversation, model, input, output, cache_read, cache_write, micro_usd)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(values)
        .map(drop)
}

fn sum(connection: &Connection, which: &str, values: impl Params) -> rusqlite::Result<Sum> {
    // A sum that no whole number can hold is no error here.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let whole = |row: &Row<'_>, at: usize| row.get::<_, f64>(at).map(|total| total as u64);
    connection.prepare_cached(&format!("{SUMS} WHERE {which}"))?.query_row(values, |row| {
        Ok(Sum {
            input: whole(row, 0)?,
            output: whole(row, 1)?,
            cache_read: whole(row, 2)?,
            cache_write: whole(row, 3)?,
            micro_usd: whole(row, 4)?,
            unpriced: row.get::<_, i64>(5)?.unsigned_abs(),
        })
    })
}
