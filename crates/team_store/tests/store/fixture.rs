//! A store to be tested, and the hands of somebody who has access to its tables.

use std::sync::RwLockReadGuard;
use std::time::Duration;

use callgate_team_store::{PostgresSettings, PostgresTeamStore, SqliteTeamStore, TeamStore};
use callgate_testkit::postgres_server::{PostgresServer, shared_server};
use callgate_wire::HiddenText;
use rusqlite::Connection;
use tempfile::TempDir;

/// How long a call may take in tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

#[allow(clippy::large_enum_variant, reason = "there is one for each test")]
pub(crate) enum Fixture {
    Sqlite {
        folder: TempDir,
        base: SqliteTeamStore,
    },
    Postgres {
        database: String,
        server: &'static PostgresServer,
        _used: RwLockReadGuard<'static, ()>,
    },
}

impl Fixture {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = SqliteTeamStore::open(&folder.path().join("team.sqlite"), "desk", 30).unwrap();
        Self::Sqlite { folder, base }
    }

    pub(crate) fn postgres() -> Option<Self> {
        let server = shared_server()?;
        let used = server.use_server();
        Some(Self::Postgres { database: server.make_database(), server, _used: used })
    }

    /// Opens a connection, as one desk has several and several desks have theirs.
    pub(crate) fn open(&self) -> Box<dyn TeamStore> {
        match self {
            Self::Sqlite { base, .. } => base.connect_again().unwrap(),
            Self::Postgres { server, database, .. } => {
                let settings = settings(&server.url(database), "desk");
                let mut store = PostgresTeamStore::open(&settings).unwrap();
                store.set_kept_days(30).unwrap();
                Box::new(store)
            }
        }
    }

    /// Runs a statement that no desk would run.
    pub(crate) fn tamper(&self, sql: &str) {
        match self {
            Self::Sqlite { folder, .. } => {
                let connection = Connection::open(folder.path().join("team.sqlite")).unwrap();
                connection
                    .execute_batch(
                        "DROP TRIGGER IF EXISTS audit_unchanged;
                    DROP TRIGGER IF EXISTS audit_kept;",
                    )
                    .unwrap();
                connection.execute_batch(sql).unwrap();
            }
            Self::Postgres { server, database, .. } => {
                server.query(database, &format!("SET search_path = callgate_team; {sql}"));
            }
        }
    }

    /// Makes the first entries of all chains older.
    pub(crate) fn age_entries(&self, through: u64, days: u64) {
        let ms = days * 86_400_000;
        if matches!(self, Self::Postgres { .. }) {
            self.tamper(&format!(
                "DO $$ DECLARE day bigint := (now_ms() - {ms}) / 86400000; BEGIN
                 EXECUTE format('CREATE TABLE %I PARTITION OF audit FOR VALUES FROM (%s) TO (%s)',
                     'audit_' || to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD'),
                     day * 86400000, (day + 1) * 86400000); END $$"
            ));
        }
        self.tamper(&format!(
            "UPDATE audit SET recorded_ms = recorded_ms - {ms} WHERE seq <= {through}"
        ));
    }
}

pub(crate) fn settings(url: &str, desk: &str) -> PostgresSettings {
    let (url, desk) = (HiddenText::new(url), desk.to_owned());
    PostgresSettings { url, desk, patience: PATIENCE }
}
