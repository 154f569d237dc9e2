//! What is reserved for answers under way, so that all who ask at once stay within one budget.
//!
//! An answer is paid for when it is over, and nobody knows before what it takes. So the most that
//! it may take is reserved before it is begun, in one transaction with the look at what was spent;
//! processes that share the file see each other's reservations. A reservation is settled with what
//! the answer took. One whose process has died counts as spent in whole.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::check_account;
use super::spend::{self, COLUMNS, Spending, Spent};
use crate::error::StoreError;
use crate::ledger::{self, check_drafts};
use crate::transaction::Transaction;
use crate::{Draft, Store};

/// How long the name of a process may be, in bytes.
const LONGEST_HOLDER: usize = 64;

/// What is to be reserved, for whom and by whom.
#[derive(Debug, Clone, Copy)]
pub struct ReservationRequest<'a> {
    /// The conversation's id, or another name without which no other conversation is found: see
    /// [`Settlement::account`].
    pub account: &'a str,
    /// Now, in milliseconds since 1970.
    pub at_ms: i64,
    /// When the day began.
    pub since_ms: i64,
    /// Names the process.
    pub holder: &'a str,
    /// Reservations of this process that nobody will settle any more; they count as spent.
    pub abandoned: &'a [i64],
    /// The most that the answer may take; where it is none nothing is reserved, only looked at.
    pub most: Option<&'a Spending>,
}

/// How a reservation ends, with what is written to the ledger at the same time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settlement<'a> {
    /// The conversation's id if it is in this file. For one that is kept elsewhere, a name that no
    /// id has: one with a control character.
    pub account: &'a str,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The reservation, if there was one.
    pub reservation: Option<i64>,
    /// What was spent.
    pub spending: Option<&'a Spending>,
    /// Entries for the ledger.
    pub drafts: &'a [Draft],
}

impl Store {
    /// Reserves what an answer may take, unless `check` objects to what was spent and reserved so
    /// far. Reservations whose process does not live any more are settled before. All of it is one
    /// transaction: nobody reserves anything between the look and the reservation.
    pub fn reserve<E>(
        &mut self,
        request: &ReservationRequest<'_>,
        is_alive: impl Fn(&str) -> bool,
        check: impl FnOnce(&Spent) -> Result<(), E>,
    ) -> Result<Result<Option<i64>, E>, StoreError> {
        check_account(request.account)?;
        StoreError::check_length("the name of a process", request.holder, LONGEST_HOLDER)?;
        self.change(|transaction| {
            settle_dead(transaction, request, is_alive)?;
            let spent = spend::spent(transaction, request.account, request.since_ms)?;
            if let Err(objection) = check(&spent) {
                return Ok(Err(objection));
            }
            let reserved =
                request.most.map(|most| write(transaction, request, most)).transpose()?;
            Ok(Ok(reserved))
        })
    }

    /// Ends a reservation: writes down what was spent in its place, with entries of the ledger.
    pub fn settle(&mut self, settlement: &Settlement<'_>) -> Result<(), StoreError> {
        let Settlement { account, at_ms, reservation, spending, drafts } = *settlement;
        check_account(account)?;
        check_drafts(drafts)?;
        self.change(|transaction| {
            release(transaction, reservation)?;
            if let Some(spending) = spending {
                spend::write_for(transaction, account, at_ms, spending)?;
            }
            ledger::write(transaction, drafts).map(drop)
        })
    }
}

/// Removes a reservation.
pub(super) fn release(
    transaction: &Transaction<'_>,
    reservation: Option<i64>,
) -> rusqlite::Result<()> {
    let Some(key) = reservation else { return Ok(()) };
    transaction.execute("DELETE FROM reservations WHERE key = ?", [key]).map(drop)
}

fn write(
    transaction: &Transaction<'_>,
    request: &ReservationRequest<'_>,
    most: &Spending,
) -> rusqlite::Result<i64> {
    let statement = format!(
        "INSERT INTO reservations ({COLUMNS}, at_ms, account, holder)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key"
    );
    let ReservationRequest { at_ms, account, holder, .. } = *request;
    let of: [Value; 3] = [at_ms.into(), account.to_owned().into(), holder.to_owned().into()];
    let values = most.values()?.into_iter().chain(of);
    transaction.query_row(&statement, params_from_iter(values), |row| row.get(0))
}

/// A reservation that somebody made.
struct Reserved {
    key: i64,
    at_ms: i64,
    account: String,
    holder: String,
    most: Spending,
}

/// Turns the reservations that nobody will settle into spendings, on the day on which they were
/// made.
fn settle_dead(
    transaction: &Transaction<'_>,
    request: &ReservationRequest<'_>,
    is_alive: impl Fn(&str) -> bool,
) -> rusqlite::Result<()> {
    let mut last: Option<(String, bool)> = None;
    for reserved in all(transaction)? {
        let is_open = if reserved.holder == request.holder {
            !request.abandoned.contains(&reserved.key)
        } else {
            // They come in the order of their holders, so each is looked for once.
            match &last {
                Some((holder, is_alive)) if *holder == reserved.holder => *is_alive,
                _ => {
                    let found = is_alive(&reserved.holder);
                    last = Some((reserved.holder.clone(), found));
                    found
                }
            }
        };
        if !is_open {
            release(transaction, Some(reserved.key))?;
            spend::write_for(transaction, &reserved.account, reserved.at_ms, &reserved.most)?;
        }
    }
    Ok(())
}

fn all(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<Reserved>> {
    let query = format!(
        "SELECT {COLUMNS}, key, at_ms, account, holder FROM reservations ORDER BY holder, key"
    );
    let mut statement = transaction.prepare(&query)?;
    let rows = statement.query_map([], |row| {
        Ok(Reserved {
            key: row.get("key")?,
            at_ms: row.get("at_ms")?,
            account: row.get("account")?,
            holder: row.get("holder")?,
            most: Spending::read(row)?,
        })
    })?;
    rows.collect()
}
