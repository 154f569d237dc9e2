//! A store to be tested, and the hands of somebody who has access to its tables.

use std::sync::RwLockReadGuard;
use std::time::Duration;

use callgate_team_store::{PostgresSettings, PostgresTeamStore, TeamStore};
use callgate_testkit::postgres_server::{PostgresServer, shared_server};
use callgate_wire::HiddenText;

/// How long a call may take in tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Fixture {
    pub(crate) database: String,
    pub(crate) server: &'static PostgresServer,
    _used: RwLockReadGuard<'static, ()>,
}

impl Fixture {
    /// Makes an empty database on the real server, or returns `None` if there is no PostgreSQL.
    pub(crate) fn new() -> Option<Self> {
        let server = shared_server()?;
        let used = server.use_server();
        Some(Self { database: server.make_database(), server, _used: used })
    }

    /// Opens a connection, as one desk has several and several desks have theirs.
    pub(crate) fn open(&self) -> Box<dyn TeamStore> {
        let settings = settings(&self.server.url(&self.database), "desk");
        let mut store = PostgresTeamStore::open(&settings).unwrap();
        store.set_kept_days(30).unwrap();
        Box::new(store)
    }

    /// Runs a statement that no desk would run.
    pub(crate) fn tamper(&self, sql: &str) {
        self.server.query(&self.database, &format!("SET search_path = callgate_team; {sql}"));
    }

    /// Makes the first entries of all chains older.
    pub(crate) fn age_entries(&self, through: u64, days: u64) {
        let ms = days * 86_400_000;
        self.tamper(&format!(
            "DO $$ DECLARE day bigint := (now_ms() - {ms}) / 86400000; BEGIN
             EXECUTE format('CREATE TABLE %I PARTITION OF audit FOR VALUES FROM (%s) TO (%s)',
                 'audit_' || to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD'),
                 day * 86400000, (day + 1) * 86400000); END $$"
        ));
        self.tamper(&format!(
            "UPDATE audit SET recorded_ms = recorded_ms - {ms} WHERE seq <= {through}"
        ));
    }
}

pub(crate) fn settings(url: &str, desk: &str) -> PostgresSettings {
    let (url, desk) = (HiddenText::new(url), desk.to_owned());
    PostgresSettings { url, desk, patience: PATIENCE }
}
