//! A write transaction whose statements are prepared once.

use std::ops::Deref;

use rusqlite::Connection;

/// A transaction in which nobody else writes. It is rolled back unless it is committed.
/// Rusqlite's own prepares `BEGIN` and `COMMIT` anew each time.
#[derive(Debug)]
pub(crate) struct Transaction<'a>(&'a Connection);

impl<'a> Transaction<'a> {
    /// Begins a transaction, once nobody else writes. The exclusive borrow of the connection
    /// prevents nested transactions.
    pub(crate) fn begin(connection: &'a mut Connection) -> rusqlite::Result<Self> {
        // A transaction that begins with reading fails at its first write if somebody has written
        // since.
        run_statement(connection, "BEGIN IMMEDIATE")?;
        Ok(Self(connection))
    }

    /// Commits. On an error, nothing was written.
    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        run_statement(self.0, "COMMIT")
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // After a commit, and after some errors, SQLite has already ended it.
        if !self.0.is_autocommit() {
            // The error that led here is the one to report.
            run_statement(self.0, "ROLLBACK").ok();
        }
    }
}

fn run_statement(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests;
