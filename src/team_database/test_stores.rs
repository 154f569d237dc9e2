//! A database for a test, on the real server.

use callgate_team_store::{PostgresSettings, PostgresTeamStore, TeamStore};
use callgate_testkit::postgres_server::shared_server;
use callgate_testkit::process::DEADLINE;
use callgate_wire::HiddenText;

/// Returns two connections to an empty database, or `None` without PostgreSQL.
pub(crate) fn open_two_stores() -> Option<[Box<dyn TeamStore>; 2]> {
    let server = shared_server()?;
    let (url, desk) = (HiddenText::new(server.url(&server.make_database())), "one".to_owned());
    let settings = PostgresSettings { url, desk, patience: DEADLINE };
    Some([(); 2].map(|()| Box::new(PostgresTeamStore::open(&settings).unwrap()) as _))
}
