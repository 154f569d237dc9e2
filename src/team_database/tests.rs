//! What the watching thread does when the server fails now and then.

use callgate_team_store::{PostgresSettings, PostgresTeamStore};
use callgate_testkit::postgres_server::shared_server;
use callgate_testkit::process::DEADLINE;
use callgate_wire::HiddenText;

use super::*;

/// Makes every change of the days fail as if somebody had locked the table.
const LOCKED: &str = "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'busy' USING ERRCODE = 'lock_not_available'; END $$;
    CREATE TRIGGER fail BEFORE UPDATE ON callgate_team.retention
    FOR EACH STATEMENT EXECUTE FUNCTION fail()";

fn begin_news(warn: &Warn) -> DatabaseNews {
    DatabaseNews {
        state: watch::channel(DatabaseState::Connecting).0,
        documents: watch::channel(0).0,
        changes: broadcast::channel(MOST_NEWS).0,
        unread: UnreadRows { warn: Arc::clone(warn), told: Mutex::default() },
        ahead_ms: AtomicI64::new(0),
    }
}

#[test]
fn a_server_that_is_busy_at_first_is_told_the_days_later() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let url = HiddenText::new(server.url(&database));
    let settings = PostgresSettings { url, desk: "one".to_owned(), patience: DEADLINE };
    // This makes the tables.
    PostgresTeamStore::open(&settings).unwrap();
    let settings = PostgresSettings { patience: Duration::from_secs(2), ..settings };
    let store = Box::new(PostgresTeamStore::prepare(&settings).unwrap());
    server.query(&database, LOCKED);
    let warn: Warn = Arc::new(|_| {});
    let news = begin_news(&warn);
    let told = Vec::new();
    let mut watcher =
        DatabaseWatcher { store, warn, kept_days: Some(7), last: None, clock_at: None, told };
    assert!(!watcher.watch_once(&news));
    server.query(&database, "DROP TRIGGER fail ON callgate_team.retention");
    assert!(watcher.watch_once(&news));
    assert_eq!(server.query(&database, "SELECT days FROM callgate_team.retention"), "7");
}
