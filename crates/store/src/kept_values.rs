//! Values kept beside the ledger, which are not chained: random keys and small settings.

use rusqlite::{Connection, OptionalExtension, params};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::Store;
use crate::error::StoreError;

/// The longest key for [`Store::keep_value`], in bytes.
pub const LONGEST_KEY: usize = 256;
/// The longest value for [`Store::keep_value`], in bytes.
pub const LONGEST_VALUE: usize = 2 * 1024 * 1024;

const KEEP: &str = "INSERT OR REPLACE INTO kept (key, value) VALUES (?, ?)";
const FORGET: &str = "DELETE FROM kept WHERE key = ?";

impl Store {
    /// Returns the random key of this name. It is created on first use and never changes.
    pub fn find_or_make_secret(&mut self, name: &str) -> Result<[u8; 32], StoreError> {
        StoreError::check_length("the name of a key", name, LONGEST_KEY)?;
        let failed = self.explain_failure("keep a key in");
        if let Some(key) = self.known_secret(name).map_err(&failed)? {
            return Ok(key);
        }
        // If another process creates a key at the same time, the first one written counts.
        let fresh = random_key()
            .map_err(|error| StoreError::io("cannot make a key for", &self.path, error))?;
        self.connection
            .execute(
                "INSERT OR IGNORE INTO secrets (name, key) VALUES (?, ?)",
                params![name, fresh],
            )
            .map_err(&failed)?;
        self.known_secret(name).map_err(failed).map(|key| key.unwrap_or(fresh))
    }

    fn known_secret(&self, name: &str) -> rusqlite::Result<Option<[u8; 32]>> {
        let query = "SELECT key FROM secrets WHERE name = ?";
        self.connection.query_row(query, [name], |row| row.get(0)).optional()
    }

    /// Keeps `value` under `key`, replacing what was there. It stays until
    /// [`append_with`](Self::append_with) removes it.
    pub fn keep_value(&mut self, key: &str, value: &str) -> Result<(), StoreError> {
        check_kept(key, value)?;
        let keep = |connection: &Connection| connection.prepare_cached(KEEP)?.execute([key, value]);
        keep(&self.connection).map_err(self.explain_failure("write to")).map(drop)
    }

    pub fn kept_value(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.read_row("SELECT value FROM kept WHERE key = ?", [key], |row| row.get(0))
    }

    /// Returns all values whose keys begin with `prefix`, in the order of their keys.
    pub fn kept_under(&self, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        // The comparison lets the index be used. The prefix itself is compared as text, because
        // `LIKE` would give a meaning to `%` and `_`.
        let query = "SELECT key, value FROM kept WHERE key >= ?1
                     AND substr(key, 1, length(?1)) = ?1 ORDER BY key";
        self.read_rows(query, [prefix], |row| Ok((row.get(0)?, row.get(1)?)))
    }
}

/// Keeps or forgets values within a transaction, in this order.
pub(crate) fn write_kept(
    connection: &Connection,
    keeps: &[(String, Option<String>)],
) -> rusqlite::Result<()> {
    for (key, value) in keeps {
        match value {
            Some(value) => connection.prepare_cached(KEEP)?.execute([key, value])?,
            None => connection.prepare_cached(FORGET)?.execute([key])?,
        };
    }
    Ok(())
}

pub(crate) fn check_kept(key: &str, value: &str) -> Result<(), StoreError> {
    StoreError::check_length("the name of a setting", key, LONGEST_KEY)?;
    StoreError::check_length("a setting", value, LONGEST_VALUE)
}

fn random_key() -> rustix::io::Result<[u8; 32]> {
    let mut key = [0; 32];
    let mut filled = 0;
    while filled < key.len() {
        filled += getrandom(&mut key[filled..], GetRandomFlags::empty())?;
    }
    Ok(key)
}
