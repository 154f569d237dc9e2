//! The layout of the file, and its migrations.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;

/// The application id in the file's header.
const APPLICATION: i64 = 0x4347_6c67;

/// The migrations from an empty file: the first makes version 1, the next one version 2, and so on.
/// A released step is never changed; a new one is added at the end.
pub(crate) const STEPS: &[&str] = &[V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11];

const V1: &str = "
    PRAGMA application_id = 0x43476c67;

    CREATE TABLE entries (
        seq      INTEGER PRIMARY KEY CHECK (seq > 0),
        at_ms    INTEGER NOT NULL,
        kind     TEXT NOT NULL,
        question TEXT,
        body     TEXT NOT NULL,
        hash     BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT;
    CREATE INDEX entries_of_question ON entries (question, seq) WHERE question IS NOT NULL;
    CREATE INDEX entries_asked ON entries (at_ms) WHERE kind = 'asked';
    CREATE INDEX entries_closed ON entries (seq) WHERE kind = 'closed';
    CREATE INDEX entries_anchor ON entries (seq) WHERE kind = 'anchor';

    -- The last entry ever written: entries cut off at the end leave this behind.
    CREATE TABLE head (
        id   INTEGER PRIMARY KEY CHECK (id = 1),
        seq  INTEGER NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT;

    CREATE TABLE secrets (
        name TEXT PRIMARY KEY,
        key  BLOB NOT NULL CHECK (length(key) = 32)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE kept (
        key   TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";

const V2: &str = "
    CREATE TABLE conversations (
        key        INTEGER PRIMARY KEY,
        id         TEXT NOT NULL UNIQUE,
        -- The title that a person gave it, and how it began, for want of one.
        title      TEXT,
        opening    TEXT,
        made_ms    INTEGER NOT NULL,
        -- None until something is written to it.
        used_ms    INTEGER,
        -- Stands for all messages below the number `summarized`.
        summary    TEXT,
        summarized INTEGER NOT NULL DEFAULT 0,
        -- Messages below this number were written before the summary.
        aged       INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX conversations_used ON conversations (used_ms) WHERE used_ms IS NOT NULL;

    CREATE TABLE messages (
        key          INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL,
        number       INTEGER NOT NULL CHECK (number >= 0),
        begins       INTEGER NOT NULL,
        at_ms        INTEGER NOT NULL,
        body         TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX messages_of_conversation ON messages (conversation, number);

    -- They stay when their conversation is deleted: a day's sum counts them.
    CREATE TABLE spendings (
        at_ms        INTEGER NOT NULL,
        conversation INTEGER,
        model        TEXT NOT NULL,
        input        INTEGER NOT NULL,
        output       INTEGER NOT NULL,
        cache_read   INTEGER NOT NULL,
        cache_write  INTEGER NOT NULL,
        micro_usd    INTEGER
    ) STRICT;
    CREATE INDEX spendings_of_conversation ON spendings (conversation)
        WHERE conversation IS NOT NULL;
    CREATE INDEX spendings_at ON spendings (at_ms);
";

/// An index for the links, which are read at every start.
const V3: &str = "
    CREATE INDEX entries_links ON entries (seq) WHERE kind IN ('paired', 'unpaired');
";

/// Reservations, and costs of conversations that are stored in other files.
const V4: &str = "
    -- Names a conversation whose messages are not in this file.
    ALTER TABLE spendings ADD COLUMN elsewhere TEXT;
    CREATE INDEX spendings_elsewhere ON spendings (elsewhere) WHERE elsewhere IS NOT NULL;

    -- A number is never used again: whoever held it may still name it.
    CREATE TABLE reservations (
        key         INTEGER PRIMARY KEY AUTOINCREMENT,
        at_ms       INTEGER NOT NULL,
        account     TEXT NOT NULL,
        -- Names the process that settles it, if that lives.
        holder      TEXT NOT NULL,
        model       TEXT NOT NULL,
        input       INTEGER NOT NULL,
        output      INTEGER NOT NULL,
        cache_read  INTEGER NOT NULL,
        cache_write INTEGER NOT NULL,
        micro_usd   INTEGER
    ) STRICT;
";

/// The open questions, which are read at every start, while there may be a million closed ones.
/// Triggers derive the table from the entries. A question that was never closed is removed after a
/// day.
const V5: &str = "
    CREATE TABLE open_questions (
        question TEXT PRIMARY KEY,
        -- Its first entry of the kind `asked`, and when it was last asked.
        first    INTEGER NOT NULL,
        at_ms    INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO open_questions
        SELECT question, min(seq), max(at_ms) FROM entries asked INDEXED BY entries_asked
        WHERE kind = 'asked' AND question IS NOT NULL AND at_ms >= (unixepoch() - 86400) * 1000
        AND NOT EXISTS (SELECT 1 FROM entries closed
            WHERE closed.question = asked.question AND closed.kind = 'closed')
        GROUP BY question;
    CREATE TRIGGER question_asked AFTER INSERT ON entries
        WHEN NEW.kind = 'asked' AND NEW.question IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM entries WHERE question = NEW.question AND kind = 'closed')
    BEGIN
        INSERT INTO open_questions (question, first, at_ms)
            VALUES (NEW.question, NEW.seq, NEW.at_ms)
            ON CONFLICT (question) DO UPDATE SET at_ms = max(at_ms, excluded.at_ms);
    END;
    CREATE TRIGGER question_closed AFTER INSERT ON entries WHEN NEW.kind = 'closed'
    BEGIN
        DELETE FROM open_questions WHERE question = NEW.question;
    END;
    CREATE TRIGGER questions_abandoned AFTER INSERT ON entries WHEN NEW.kind = 'started'
    BEGIN
        DELETE FROM open_questions WHERE at_ms < NEW.at_ms - 86400000;
    END;
";

/// What a front end chose for a conversation.
const V6: &str = "
    ALTER TABLE conversations ADD COLUMN engine TEXT;
    ALTER TABLE conversations ADD COLUMN model TEXT;
    ALTER TABLE conversations ADD COLUMN mode TEXT;
    -- What the engine itself has to remember of the conversation, in its own form.
    ALTER TABLE conversations ADD COLUMN engine_state TEXT;
";

/// The folder in which a conversation began. Those of earlier versions belong to none.
const V7: &str = "
    ALTER TABLE conversations ADD COLUMN folder TEXT;
";

/// What was shown of a round that is not finished.
const V8: &str = "
    CREATE TABLE fragments (
        conversation INTEGER NOT NULL,
        number       INTEGER NOT NULL,
        body         TEXT NOT NULL,
        PRIMARY KEY (conversation, number)
    ) STRICT, WITHOUT ROWID;
";

/// What turns changed in the user's folders.
const V9: &str = "
    -- A number is never used again: a front end may still name it.
    CREATE TABLE turns (
        turn         INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation INTEGER NOT NULL,
        message      INTEGER NOT NULL,
        at_ms        INTEGER NOT NULL,
        files        INTEGER NOT NULL,
        undone       INTEGER NOT NULL,
        unknown      TEXT,
        bytes        INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX turns_of_conversation ON turns (conversation);

    CREATE TABLE turn_changes (
        turn   INTEGER NOT NULL,
        path   TEXT NOT NULL,
        -- What was there before and after, and the contents, if they are kept.
        states TEXT NOT NULL,
        before BLOB,
        after  BLOB,
        PRIMARY KEY (turn, path)
    ) STRICT;
";

/// Copies of the ledgers of other machines.
const V10: &str = "
    CREATE TABLE copied_entries (
        machine  TEXT NOT NULL,
        -- Counts how often the machine's ledger was replaced, or pruned beyond what was copied.
        series   INTEGER NOT NULL,
        seq      INTEGER NOT NULL CHECK (seq > 0),
        at_ms    INTEGER NOT NULL,
        kind     TEXT NOT NULL,
        question TEXT,
        body     TEXT NOT NULL,
        hash     BLOB NOT NULL CHECK (length(hash) = 32),
        PRIMARY KEY (machine, series, seq)
    ) STRICT;
";

/// The index for the links, with the members of a team, which may end links.
const V11: &str = "
    DROP INDEX entries_links;
    CREATE INDEX entries_links ON entries (seq)
        WHERE kind IN ('paired', 'unpaired', 'invited', 'joined', 'revoked', 'mirrored');
";

/// What a file is found to be before it is used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StoreLayout {
    Empty,
    /// A file of callgate, in this version.
    Ours(i64),
    /// A file of another program.
    Other,
}

/// Finds out what the file is, in one statement, since another process may be creating it.
pub(crate) fn read_layout(connection: &Connection) -> rusqlite::Result<StoreLayout> {
    let (application, version, things): (i64, i64, i64) = connection.query_row(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    Ok(match (application, version, things) {
        (_, 1.., _) if application == APPLICATION => StoreLayout::Ours(version),
        (0, 0, 0) => StoreLayout::Empty,
        _ => StoreLayout::Other,
    })
}

/// Returns an error for a file that `steps` cannot have made.
pub(crate) fn check_layout(
    path: &Path,
    layout: &StoreLayout,
    steps: &[&str],
) -> Result<(), StoreError> {
    let known = version_of_steps(steps);
    match *layout {
        StoreLayout::Other => Err(StoreError::OtherProgram(path.to_owned())),
        StoreLayout::Ours(found) if found > known => {
            Err(StoreError::Newer { path: path.to_owned(), found, known })
        }
        StoreLayout::Ours(_) | StoreLayout::Empty => Ok(()),
    }
}

/// Applies the steps that the file has not seen yet, all or none. Other processes may be doing the
/// same.
pub(crate) fn apply_steps(
    connection: &mut Connection,
    path: &Path,
    steps: &[&str],
) -> Result<(), StoreError> {
    let failed = |error| StoreError::sqlite(path, "bring up to date", error);
    // This look takes no lock, and nearly every file is up to date.
    if read_layout(connection).map_err(failed)? == StoreLayout::Ours(version_of_steps(steps)) {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have applied them before this one got the lock.
    let found = read_layout(&transaction).map_err(failed)?;
    check_layout(path, &found, steps)?;
    let seen =
        if let StoreLayout::Ours(version) = found { usize::try_from(version) } else { Ok(0) };
    for step in steps.iter().skip(seen.unwrap_or(usize::MAX)) {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction.pragma_update(None, "user_version", version_of_steps(steps)).map_err(failed)?;
    transaction.commit().map_err(failed)
}

pub(crate) fn version_of_steps(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
