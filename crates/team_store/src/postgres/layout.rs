//! The tables in the server, their migrations, and the rights of this desk to them.

use tokio_postgres::{Client, Error};

use super::faults::ServerFault;
use crate::error::TeamStoreError;

/// The oldest version of PostgreSQL that is used.
pub const OLDEST_SERVER: i32 = 13;

struct LayoutStep {
    sql: &'static str,
    /// The oldest layout whose program can use the tables after this step, so that desks can be
    /// updated one by one.
    usable_from: i32,
}

/// The migrations from an empty database: the first makes version 1, the next one version 2, and so
/// on. A released step is never changed.
const STEPS: [LayoutStep; 3] = [
    LayoutStep { sql: include_str!("v1.sql"), usable_from: 1 },
    LayoutStep { sql: include_str!("v2.sql"), usable_from: 2 },
    LayoutStep { sql: include_str!("v3.sql"), usable_from: 2 },
];

/// The version that all of them make.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "it is short")]
const KNOWN: i32 = STEPS.len() as i32;

/// A desk that has to wait for another one tries again. The migration itself has no time limit,
/// because it depends on the size of the tables.
const BEGIN: &str = "BEGIN; SELECT pg_advisory_xact_lock(7021, 1);
    SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '1min';
    CREATE SCHEMA IF NOT EXISTS callgate_team;
    CREATE TABLE IF NOT EXISTS callgate_team.layout (
        version     int PRIMARY KEY,
        usable_from int NOT NULL,
        applied_at  timestamptz NOT NULL DEFAULT clock_timestamp()
    );";

/// Makes the partitions of the next days, if that of today or of tomorrow is missing.
pub(super) const MAKE_MISSING: &str = "SELECT make_partitions() WHERE EXISTS (
    SELECT FROM generate_series(now_ms() / 86400000, now_ms() / 86400000 + 1) AS day
    WHERE to_regclass('callgate_team.audit_' || to_char(
        to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NULL)";

/// Refuses a server that is too old.
pub(super) async fn check_server(client: &Client) -> Result<(), ServerFault> {
    let row = client.query_one("SELECT current_setting('server_version_num')::int / 10000", &[]);
    Ok(check_version(row.await?.get(0))?)
}

fn check_version(found: i32) -> Result<(), TeamStoreError> {
    let is_old = found < OLDEST_SERVER;
    if is_old { Err(TeamStoreError::TooOld { found, oldest: OLDEST_SERVER }) } else { Ok(()) }
}

/// Returns true if the tables are up to date.
pub(super) async fn is_current(client: &Client) -> Result<bool, ServerFault> {
    Ok(read_version(client).await? >= KNOWN)
}

/// Brings the tables up to date. Other desks may be doing the same.
pub(super) async fn migrate(client: &Client) -> Result<(), ServerFault> {
    client.batch_execute(BEGIN).await?;
    // Another desk may have done it while this one waited for the lock.
    let found = read_version(client).await?;
    let seen = usize::try_from(found).unwrap_or_default();
    for (step, version) in STEPS.iter().zip(1..).skip(seen) {
        client.batch_execute(step.sql).await?;
        let note = "INSERT INTO callgate_team.layout (version, usable_from) VALUES ($1, $2)";
        client.execute(note, &[&version, &step.usable_from]).await?;
    }
    // With each migration, because the role needs rights to what the steps have made.
    client.batch_execute(include_str!("role.sql")).await?;
    client.batch_execute("COMMIT").await?;
    Ok(())
}

/// Returns the version of the tables, 0 if there are none.
async fn read_version(client: &Client) -> Result<i32, ServerFault> {
    let is_there = "SELECT EXISTS (SELECT FROM pg_tables
        WHERE schemaname = 'callgate_team' AND tablename = 'layout')";
    if !client.query_one(is_there, &[]).await?.get::<_, bool>(0) {
        return Ok(0);
    }
    let last =
        "SELECT version, usable_from FROM callgate_team.layout ORDER BY version DESC LIMIT 1";
    let Some(row) = client.query_opt(last, &[]).await? else { return Ok(0) };
    let (found, usable_from): (i32, i32) = (row.get(0), row.get(1));
    // A newer layout is no error as long as this program can use it, so that desks can be updated
    // one by one.
    if usable_from > KNOWN {
        return Err(TeamStoreError::Newer { found, known: KNOWN }.into());
    }
    Ok(found)
}

/// Takes the role of desks, if there is one.
pub(super) async fn take_role(client: &Client) -> Result<(), Error> {
    let may = "SELECT coalesce((SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles
        WHERE rolname = 'callgate_desk'), false)";
    if client.query_one(may, &[]).await?.get(0) {
        // In this way a login that owns the tables gives up its right to change audit entries.
        client.batch_execute("SET ROLE callgate_desk").await?;
    }
    Ok(())
}

/// Sets for how many days entries are kept, if the login may. Returns for how many they were
/// before, if that has changed.
pub(super) async fn set_kept_days(client: &Client, days: i32) -> Result<Option<i32>, Error> {
    // The role is given up for this, because the login may have the right and the role never does.
    client.batch_execute("RESET ROLE").await?;
    let may = "SELECT has_table_privilege('callgate_team.retention', 'UPDATE')";
    let mut before = None;
    if client.query_one(may, &[]).await?.get(0) {
        let note = "UPDATE callgate_team.retention SET days = $1
            FROM (SELECT days FROM callgate_team.retention FOR UPDATE) AS before
            WHERE retention.days <> $1 RETURNING before.days";
        before = client.query_opt(note, &[&days]).await?.map(|row| row.get(0));
    }
    take_role(client).await?;
    Ok(before)
}

/// Returns what names the history of the database: its timeline, which changes when a standby takes
/// over, its server and its own number there, which are others for a copy that was restored. It is
/// `None` if the server does not say.
pub(super) async fn read_history(client: &Client) -> Result<Option<String>, Error> {
    let query = "SELECT concat_ws('/', left(pg_walfile_name(pg_current_wal_lsn()), 8),
        (SELECT system_identifier FROM pg_control_system()),
        (SELECT oid FROM pg_database WHERE datname = current_database()))";
    match client.query_one(query, &[]).await {
        Ok(row) => Ok(row.get(0)),
        // A server that keeps these functions from the login is used without a history.
        Err(error) if error.code().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses a login that lacks a right.
pub(super) async fn check_rights(client: &Client) -> Result<(), ServerFault> {
    let query = "SELECT bool_and(has_table_privilege('callgate_team.' || name, may)) FROM (VALUES
        ('questions', 'SELECT'), ('questions', 'INSERT'), ('questions', 'UPDATE'),
        ('documents', 'SELECT'), ('documents', 'INSERT'), ('documents', 'UPDATE'),
        ('audit', 'SELECT'), ('audit', 'INSERT'), ('chains', 'SELECT'), ('chains', 'INSERT')
        ) AS needed (name, may)";
    if client.query_one(query, &[]).await?.get(0) {
        return Ok(());
    }
    let what = "it may not write questions, documents and audit entries".to_owned();
    Err(TeamStoreError::MissingRights { what }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_is_refused_by_its_version() {
        let told = check_version(12).unwrap_err().to_string();
        assert!(told.contains("is PostgreSQL 12: version 13 is needed"), "{told}");
        check_version(13).unwrap();
    }
}
