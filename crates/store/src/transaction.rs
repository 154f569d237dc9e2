//! A transaction in which nobody else writes, begun and ended by statements that are parsed once.

use std::ops::Deref;

use rusqlite::Connection;

/// Takes back what was written in it, unless it is committed.
#[derive(Debug)]
pub(crate) struct Transaction<'a>(&'a Connection);

impl<'a> Transaction<'a> {
    /// Waits until nobody else writes. That the connection is borrowed alone keeps one transaction
    /// out of another.
    pub(crate) fn begin(connection: &'a mut Connection) -> rusqlite::Result<Self> {
        run(connection, "BEGIN IMMEDIATE")?;
        Ok(Self(connection))
    }

    /// From here on what was written stays. When it fails, nothing of it does.
    pub(crate) fn commit(self) -> rusqlite::Result<()> {
        run(self.0, "COMMIT")
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
        // SQLite has ended it by itself after a commit, and after some of its errors.
        if !self.0.is_autocommit() {
            // The error that led here is the one to tell.
            run(self.0, "ROLLBACK").ok();
        }
    }
}

fn run(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests;
