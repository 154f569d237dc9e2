//! What conversations cost.

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params_from_iter};

use crate::Store;
use crate::error::StoreError;
use crate::ledger::sql_number;
use crate::transaction::Transaction;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerCost {
    /// The model's name at its provider.
    pub model: String,
    /// Input tokens that were not cached.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The price in millionths of a dollar; `None` if it is unknown.
    pub micro_usd: Option<u64>,
}

/// The columns of an [`AnswerCost`], in the order of [`AnswerCost::column_values`].
pub(super) const COLUMNS: &str = "model, input, output, cache_read, cache_write, micro_usd";

impl AnswerCost {
    pub(super) fn column_values(&self) -> rusqlite::Result<[Value; 6]> {
        let Self { model, input, output, cache_read, cache_write, micro_usd } = self;
        Ok([
            model.clone().into(),
            sql_number(*input)?.into(),
            sql_number(*output)?.into(),
            sql_number(*cache_read)?.into(),
            sql_number(*cache_write)?.into(),
            micro_usd.map(sql_number).transpose()?.into(),
        ])
    }

    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let count = |column: &str| row.get::<_, i64>(column).map(i64::unsigned_abs);
        Ok(Self {
            model: row.get("model")?,
            input: count("input")?,
            output: count("output")?,
            cache_read: count("cache_read")?,
            cache_write: count("cache_write")?,
            micro_usd: row.get::<_, Option<i64>>("micro_usd")?.map(i64::unsigned_abs),
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostSum {
    /// Tokens read anew.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The price in millionths of a dollar, as far as it is known.
    pub micro_usd: u64,
    /// How many of the answers have an unknown price.
    pub unpriced: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostTotals {
    /// The conversation, in all its time.
    pub conversation: CostSum,
    /// All conversations since a given time, including deleted ones.
    pub all: CostSum,
    /// The most that answers in progress may cost in this conversation.
    pub reserved_conversation: CostSum,
    /// The most that answers in progress may cost in all conversations.
    pub reserved_all: CostSum,
}

/// Selects sums of costs. `total` returns 0 for no rows, and cannot overflow as `sum` does.
const SUMS: &str = "SELECT total(input), total(output), total(cache_read), total(cache_write),
    total(micro_usd), count(*) - count(micro_usd) FROM";

impl Store {
    /// Returns what this conversation has cost, what all have cost since `since_ms`, and what is
    /// reserved. The account is as in [`Settlement::account`](super::Settlement::account).
    pub fn cost_totals(&self, account: &str, since_ms: i64) -> Result<CostTotals, StoreError> {
        read_cost_totals(&self.connection, account, since_ms).map_err(self.explain_failure("read"))
    }
}

pub(super) fn read_cost_totals(
    connection: &Connection,
    account: &str,
    since_ms: i64,
) -> rusqlite::Result<CostTotals> {
    let of_one = "spendings WHERE elsewhere = ?1
        OR conversation = (SELECT key FROM conversations WHERE id = ?1)";
    Ok(CostTotals {
        conversation: sum_costs(connection, of_one, [account])?,
        all: sum_costs(connection, "spendings WHERE at_ms >= ?", [since_ms])?,
        reserved_conversation: sum_costs(connection, "reservations WHERE account = ?", [account])?,
        reserved_all: sum_costs(connection, "reservations", [])?,
    })
}

pub(super) fn write_for(
    transaction: &Transaction<'_>,
    account: &str,
    at_ms: i64,
    spending: &AnswerCost,
) -> rusqlite::Result<()> {
    let key = super::key_of(transaction, account)?;
    // A conversation in another file has no key here, nor has one that was deleted meanwhile. What
    // they cost counts for the day all the same.
    let elsewhere = if key.is_none() { Some(account) } else { None };
    write_spending(transaction, key, elsewhere, at_ms, spending)
}

pub(super) fn write_spending(
    transaction: &Transaction<'_>,
    conversation: Option<i64>,
    elsewhere: Option<&str>,
    at_ms: i64,
    spending: &AnswerCost,
) -> rusqlite::Result<()> {
    let statement = format!(
        "INSERT INTO spendings ({COLUMNS}, at_ms, conversation, elsewhere)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    let of: [Value; 3] = [at_ms.into(), conversation.into(), elsewhere.map(str::to_owned).into()];
    let values = spending.column_values()?.into_iter().chain(of);
    transaction.prepare_cached(&statement)?.execute(params_from_iter(values)).map(drop)
}

fn sum_costs(connection: &Connection, of: &str, values: impl Params) -> rusqlite::Result<CostSum> {
    // A sum too large for an integer is not an error here.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let whole = |row: &Row<'_>, at: usize| row.get::<_, f64>(at).map(|total| total as u64);
    connection.prepare_cached(&format!("{SUMS} {of}"))?.query_row(values, |row| {
        Ok(CostSum {
            input: whole(row, 0)?,
            output: whole(row, 1)?,
            cache_read: whole(row, 2)?,
            cache_write: whole(row, 3)?,
            micro_usd: whole(row, 4)?,
            unpriced: row.get::<_, i64>(5)?.unsigned_abs(),
        })
    })
}
