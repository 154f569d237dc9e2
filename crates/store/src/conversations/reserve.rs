//! Reservations for answers in progress, so that everybody who asks at once stays within one
//! budget.
//!
//! The cost of an answer is only known when it is complete. So the most that it may cost is
//! reserved before it begins, in the same transaction that reads what was spent; processes that
//! share the file see each other's reservations. A reservation is settled with the real cost. If
//! its process has died, the whole reservation counts as spent.

use std::collections::HashMap;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::check_account;
use super::spend::{self, AnswerCost, COLUMNS, CostTotals};
use crate::error::StoreError;
use crate::ledger::{self, check_drafts};
use crate::transaction::Transaction;
use crate::{EntryDraft, Store};

/// The longest name of a process, in bytes.
const LONGEST_HOLDER: usize = 64;

#[derive(Debug, Clone, Copy)]
pub struct ReservationRequest<'a> {
    /// The account that pays; see [`Settlement::account`].
    pub account: &'a str,
    /// Now, in milliseconds since 1970.
    pub at_ms: i64,
    /// When the day began.
    pub since_ms: i64,
    /// The name of the process that holds the reservation.
    pub holder: &'a str,
    /// Reservations of this process that will never be settled; they count as spent.
    pub abandoned: &'a [i64],
    /// The most that the answer may cost; if `None`, the budget is checked and nothing is reserved.
    pub most: Option<&'a AnswerCost>,
}

/// The end of a reservation, and the ledger entries written with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settlement<'a> {
    /// The conversation's id, if the conversation is in this file. For one stored elsewhere, a name
    /// that cannot be an id because it contains a control character.
    pub account: &'a str,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    pub reservation: Option<i64>,
    pub spending: Option<&'a AnswerCost>,
    pub drafts: &'a [EntryDraft],
}

impl Store {
    /// Reserves what an answer may cost, unless `check` objects to what was spent and reserved so
    /// far. Reservations of dead processes are settled first. All of it is one transaction: nobody
    /// can reserve anything between the check and the reservation.
    pub fn reserve_cost<E>(
        &mut self,
        request: &ReservationRequest<'_>,
        is_alive: impl Fn(&str) -> bool,
        check: impl FnOnce(&CostTotals) -> Result<(), E>,
    ) -> Result<Result<Option<i64>, E>, StoreError> {
        check_account(request.account)?;
        StoreError::check_length("the name of a process", request.holder, LONGEST_HOLDER)?;
        self.write_in_transaction(|transaction| {
            settle_dead(transaction, request, is_alive)?;
            let spent = spend::read_cost_totals(transaction, request.account, request.since_ms)?;
            if let Err(objection) = check(&spent) {
                // Not an error of the transaction, which has settled the reservations of dead
                // processes.
                return Ok(Err(objection));
            }
            let reserved = request
                .most
                .map(|most| write_reservation(transaction, request, most))
                .transpose()?;
            Ok(Ok(reserved))
        })
    }

    /// Settles a reservation: replaces it by what was spent, and writes entries to the ledger.
    pub fn settle_reservation(&mut self, settlement: &Settlement<'_>) -> Result<(), StoreError> {
        let Settlement { account, at_ms, reservation, spending, drafts } = *settlement;
        check_account(account)?;
        check_drafts(drafts)?;
        self.write_in_transaction(|transaction| {
            remove_reservation(transaction, reservation)?;
            if let Some(spending) = spending {
                spend::write_for(transaction, account, at_ms, spending)?;
            }
            ledger::write_entries(transaction, drafts).map(drop)
        })
    }
}

pub(super) fn remove_reservation(
    transaction: &Transaction<'_>,
    reservation: Option<i64>,
) -> rusqlite::Result<()> {
    let Some(key) = reservation else { return Ok(()) };
    transaction.execute("DELETE FROM reservations WHERE key = ?", [key]).map(drop)
}

fn write_reservation(
    transaction: &Transaction<'_>,
    request: &ReservationRequest<'_>,
    most: &AnswerCost,
) -> rusqlite::Result<i64> {
    let statement = format!(
        "INSERT INTO reservations ({COLUMNS}, at_ms, account, holder)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key"
    );
    let ReservationRequest { at_ms, account, holder, .. } = *request;
    let of: [Value; 3] = [at_ms.into(), account.to_owned().into(), holder.to_owned().into()];
    let values = most.column_values()?.into_iter().chain(of);
    transaction.query_row(&statement, params_from_iter(values), |row| row.get(0))
}

struct StoredReservation {
    key: i64,
    at_ms: i64,
    account: String,
    holder: String,
    most: AnswerCost,
}

/// Turns reservations that will never be settled into costs, on the day on which they were made.
fn settle_dead(
    transaction: &Transaction<'_>,
    request: &ReservationRequest<'_>,
    is_alive: impl Fn(&str) -> bool,
) -> rusqlite::Result<()> {
    let mut alive: HashMap<String, bool> = HashMap::new();
    for reserved in read_reservations(transaction)? {
        let holder = &reserved.holder;
        // Our own process is alive, so only its list tells which of its reservations were dropped.
        let is_open = if holder == request.holder {
            !request.abandoned.contains(&reserved.key)
        } else {
            *alive.entry(holder.clone()).or_insert_with(|| is_alive(holder))
        };
        if !is_open {
            remove_reservation(transaction, Some(reserved.key))?;
            spend::write_for(transaction, &reserved.account, reserved.at_ms, &reserved.most)?;
        }
    }
    Ok(())
}

fn read_reservations(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<StoredReservation>> {
    let query = format!(
        "SELECT {COLUMNS}, key, at_ms, account, holder FROM reservations ORDER BY holder, key"
    );
    let mut statement = transaction.prepare(&query)?;
    let rows = statement.query_map([], |row| {
        Ok(StoredReservation {
            key: row.get("key")?,
            at_ms: row.get("at_ms")?,
            account: row.get("account")?,
            holder: row.get("holder")?,
            most: AnswerCost::from_row(row)?,
        })
    })?;
    rows.collect()
}
