//! What is said when the server cannot be used. No error contains a part of the address.

use std::time::Duration;

use callgate_team_store::{PostgresSettings, PostgresTeamStore, TeamStore, TeamStoreError};
use callgate_testkit::postgres_server::{PASSWORD, PostgresServer, shared_server};

use super::fixture::{PATIENCE, settings};
use super::team::ask;

/// Opens a store that has to be refused. Returns what is said, which has none of these words.
fn refusal(url: &str, secrets: &[&str], patience: Duration) -> TeamStoreError {
    let settings = PostgresSettings { patience, ..settings(url, "desk") };
    assert!(!format!("{settings:?}").contains(url));
    let error = PostgresTeamStore::open(&settings).unwrap_err();
    for text in [error.to_string(), format!("{error:?}")] {
        for secret in secrets {
            assert!(!text.contains(secret), "{text} contains {secret}");
        }
    }
    error
}

fn check(url: &str, secrets: &[&str], expected: &str) {
    let told = refusal(url, secrets, PATIENCE).to_string();
    assert!(told.contains(expected), "{told}");
}

/// The same for a server that may come back, for which the store waits.
fn check_unreachable(url: &str, secrets: &[&str]) {
    let error = refusal(url, secrets, Duration::from_millis(300));
    assert!(error.is_passing(), "{error}");
}

#[test]
fn each_refusal_says_what_is_wrong() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let (database, port) = (server.make_database(), server.port);
    let secrets = ["ada", "s3cret", "vault", "db.example", "127.0.0.1", &database];
    let at = |user: &str, host: &str, name: &str| format!("postgres://{user}:s3cret@{host}/{name}");
    check("mysql://ada:s3cret@db.example/vault", &secrets, "is not a URL such as");
    check("host=db.example user=ada password=s3cret", &secrets, "is not a URL such as");
    check("postgres://ada:s3cret@db.example:x/vault", &secrets, "is not a URL such as");
    check("postgres://ada:s3cret@db.example/vault?wrong=s3cret", &secrets, "is not a URL such as");
    check_unreachable(&at("ada", "127.0.0.1:1", "vault"), &secrets);
    check_unreachable(&at("ada", "db.example", "vault"), &secrets);
    let here = format!("127.0.0.1:{port}");
    check(&at("admin", &here, &database), &secrets, "refuses the login");
    check(&at("ada", &here, &database), &secrets, "refuses the login");
    let missing = format!("postgres://admin:{PASSWORD}@{here}/vault");
    check(
        &format!("{missing}?sslmode=disable"),
        &[PASSWORD, "vault"],
        "does not exist on the server",
    );
    // The certificate is for `localhost`, and nobody here trusts who made it.
    let name = format!("postgres://admin:{PASSWORD}@localhost:{port}/{database}?sslmode=require");
    check(&name, &[PASSWORD, "localhost", &database], "certificate of the team's database is not");
}

#[test]
fn a_certificate_is_checked_against_its_authority_and_its_host() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let roots = server.authority();
    let url = |host: &str| {
        let (port, roots) = (server.port, roots.display());
        format!(
            "postgres://admin:{PASSWORD}@{host}:{port}/{database}?sslmode=require&sslrootcert={roots}"
        )
    };
    let mut store = PostgresTeamStore::open(&settings(&url("localhost"), "desk")).unwrap();
    store.ask_question(&ask(1)).unwrap();
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'callgate' AND datname = current_database()";
    assert_eq!(server.query(&database, encrypted), "t");
    check(&url("127.0.0.1"), &[PASSWORD, "127.0.0.1", &database], "it is for another host");
    let nowhere = url("localhost").replace("ca.crt", "nothing.crt");
    check(&nowhere, &[PASSWORD, "nothing.crt"], "has no certificate that can be read");
}

#[test]
fn a_desk_can_start_while_the_server_is_away() {
    let url = format!("postgres://ada:s3cret@127.0.0.1:{}/vault", unused_port());
    let settings =
        PostgresSettings { patience: Duration::from_millis(100), ..settings(&url, "desk") };
    let mut store = PostgresTeamStore::prepare(&settings).unwrap();
    for _ in 0..2 {
        assert!(store.ask_question(&ask(1)).unwrap_err().is_passing());
        assert!(store.open_questions().unwrap_err().is_passing());
    }
    assert_eq!(format!("{store:?}"), r#"PostgresTeamStore { desk: "desk", .. }"#);
}

fn unused_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Makes a login, and returns its address.
pub(crate) fn make_login(server: &PostgresServer, database: &str, name: &str) -> String {
    let made = format!("CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'");
    // It may be there from a run before at the same server.
    let made = server.try_query("postgres", &made);
    assert!(made.as_ref().err().is_none_or(|told| told.contains("already exists")), "{made:?}");
    server.url(database).replace("admin", name)
}

#[test]
fn a_login_without_rights_is_told_so() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let url = make_login(server, &database, "stranger");
    // It may not make the tables, and not use them when somebody else has.
    check(&url, &[PASSWORD, "stranger", &database], "lacks rights");
    PostgresTeamStore::open(&settings(&server.url(&database), "desk")).unwrap();
    check(&url, &[PASSWORD, "stranger", &database], "lacks rights");
}

#[test]
fn tables_are_brought_up_to_date_once() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let url = server.url(&database);
    // Four desks start at once on an empty database.
    std::thread::scope(|scope| {
        for number in 0..4 {
            let url = &url;
            scope.spawn(move || {
                let mut store = PostgresTeamStore::open(&settings(url, "desk")).unwrap();
                store.ask_question(&ask(number)).unwrap();
            });
        }
    });
    let versions =
        "SELECT string_agg(version::text, ',' ORDER BY version) FROM callgate_team.layout";
    assert_eq!(server.query(&database, versions), "1,2,3");
    // A newer callgate has changed the tables: compatibly, then not.
    server.query(&database, "INSERT INTO callgate_team.layout VALUES (4, 2)");
    PostgresTeamStore::open(&settings(&url, "desk")).unwrap();
    server.query(&database, "INSERT INTO callgate_team.layout VALUES (5, 5)");
    check(&url, &[PASSWORD], "written by a newer callgate (its layout is version 5, known is 3)");
}
