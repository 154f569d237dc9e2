//! Questions and documents as rows of the server.

use callgate_store::EntryDraft;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::audit_rows;
use super::database_link::ServerSession;
use super::faults::ServerFault;
use super::statements;
use crate::audit::{AuditLabels, AuditProtection};
use crate::document::{DocumentRow, TeamDocument, document_name};
use crate::error::TeamResult;
use crate::question::{QuestionRow, TeamQuestion, question_name};
use crate::{TeamChange, TeamStoreStatus};

/// Begins a transaction in which nobody else changes questions or documents, so that changes have
/// the order of their numbers.
const BEGIN: &str = "BEGIN; SELECT pg_advisory_xact_lock(7021, 2)";

/// What a transaction is about to change.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// What a row of a table stands for.
pub(super) trait RowValue: Sized {
    /// Reads the row, unless it has something that this version of callgate does not write.
    fn read_row(row: &Row) -> TeamResult<Self>;

    /// Names the row for a person.
    fn row_name(row: &Row) -> String;

    fn change_number(&self) -> u64;
}

impl RowValue for TeamQuestion {
    fn read_row(row: &Row) -> TeamResult<Self> {
        QuestionRow::from_postgres(row).read()
    }

    fn row_name(row: &Row) -> String {
        question_name(row.get("id"))
    }

    fn change_number(&self) -> u64 {
        self.changed
    }
}

impl RowValue for TeamDocument {
    fn read_row(row: &Row) -> TeamResult<Self> {
        DocumentRow::from_postgres(row).read()
    }

    fn row_name(row: &Row) -> String {
        document_name(row.get("kind"), row.get("name"))
    }

    fn change_number(&self) -> u64 {
        self.changed
    }
}

/// Does `write`, which returns the columns of what it has changed, and records the change in the
/// chain of `desk` by the entry that `audit` makes of it. Returns `None` if it changed nothing.
pub(super) async fn change_row<T: RowValue>(
    session: &mut ServerSession,
    desk: &str,
    write: &'static str,
    values: Values<'_>,
    audit: impl Fn(&T) -> (AuditLabels, EntryDraft),
) -> Result<Option<T>, ServerFault> {
    // Before the transaction, in which every desk that writes waits for this one.
    let statement = session.prepare(write).await?;
    session.client.batch_execute(BEGIN).await?;
    let Some(row) = session.client.query_opt(&statement, values).await? else {
        // Nothing has changed, so other writers need not wait for the lock.
        session.client.batch_execute("ROLLBACK").await?;
        return Ok(None);
    };
    let changed = T::read_row(&row)?;
    audit_rows::append_and_commit(session, desk, audit(&changed)).await?;
    // Only after the commit: a number that was rolled back would make every server seem to be
    // behind.
    session.mark_seen(changed.change_number());
    Ok(Some(changed))
}

/// Reads the one row that a query finds.
pub(super) async fn read_one<T: RowValue>(
    session: &mut ServerSession,
    query: &'static str,
    values: Values<'_>,
) -> Result<Option<T>, ServerFault> {
    let statement = session.prepare(query).await?;
    let row = session.client.query_opt(&statement, values).await?;
    let found = row.as_ref().map(T::read_row).transpose()?;
    if let Some(found) = &found {
        session.mark_seen(found.change_number());
    }
    Ok(found)
}

/// Reads what a query finds. Rows that cannot be read, such as those with a word of a newer
/// callgate, are left out, so that nobody does without the others.
pub(super) async fn read_all<T: RowValue>(
    session: &mut ServerSession,
    query: &'static str,
    values: Values<'_>,
) -> Result<Vec<T>, ServerFault> {
    let rows = query_rows(session, query, values).await?;
    Ok(read_rows(session, &rows))
}

pub(super) async fn query_rows(
    session: &mut ServerSession,
    query: &'static str,
    values: Values<'_>,
) -> Result<Vec<Row>, ServerFault> {
    let statement = session.prepare(query).await?;
    Ok(session.client.query(&statement, values).await?)
}

/// Reads rows, except for those that cannot be read.
pub(super) fn read_rows<T: RowValue>(session: &mut ServerSession, rows: &[Row]) -> Vec<T> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        match T::read_row(row) {
            Ok(value) => found.push(value),
            Err(_) => session.note_unread(T::row_name(row)),
        }
    }
    found.iter().map(T::change_number).max().inspect(|last| session.mark_seen(*last));
    found
}

/// Reads changes of both kinds in one view, so that none between them is missed.
pub(super) async fn read_changes(
    session: &mut ServerSession,
    after: u64,
) -> Result<Vec<TeamChange>, ServerFault> {
    let after = crate::audit::sql_number(after);
    session.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let questions = read_all(session, statements::CHANGED_QUESTIONS, &[&after]).await?;
    let documents = read_all(session, statements::CHANGED_DOCUMENTS, &[&after]).await?;
    // It has only read, so this ends it as well as a commit.
    session.client.batch_execute("ROLLBACK").await?;
    Ok(crate::order_changes(questions, documents))
}

pub(super) async fn read_status(
    session: &mut ServerSession,
) -> Result<TeamStoreStatus, ServerFault> {
    let row = session.client.query_one(statements::STATUS, &[]).await?;
    let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
    let protection = match (row.get(3), row.get(4)) {
        (false, _) => AuditProtection::Login,
        (true, false) => AuditProtection::Role,
        (true, true) => AuditProtection::Nobody,
    };
    Ok(TeamStoreStatus {
        bytes: unsigned(row.get(0)),
        audit_bytes: unsigned(row.get(1)),
        day_bytes: row.get::<_, Option<i64>>(5).map(unsigned),
        kept_days: u32::try_from(row.get::<_, i32>(2)).unwrap_or_default(),
        protection,
    })
}
