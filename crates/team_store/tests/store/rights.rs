//! The role of desks adds audit entries, and neither changes nor removes them.

use callgate_store::ChainHead;
use callgate_team_store::{AuditProtection, PostgresTeamStore, TeamStore};
use callgate_testkit::postgres_server::shared_server;

use super::fixture::settings;
use super::refused::make_login;
use super::team::{answer, ask, edit, ledger};

#[test]
fn a_desk_cannot_change_or_remove_audit_entries() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let mut owner = PostgresTeamStore::open(&settings(&server.url(&database), "desk")).unwrap();
    assert_eq!(owner.read_status().unwrap().protection, AuditProtection::Role);
    // A login of its own, which has nothing but the role.
    let url = make_login(server, &database, "desk_login");
    server.query("postgres", "GRANT callgate_desk TO desk_login");
    let mut desk = PostgresTeamStore::open(&settings(&url, "desk")).unwrap();
    assert_eq!(desk.read_status().unwrap().protection, AuditProtection::Login);
    // It can do all that a desk does.
    desk.ask_question(&ask(1)).unwrap();
    desk.answer_question(&answer(1, 1, "ada")).unwrap();
    desk.edit_document(&edit("ada", 0, 1, Some("{}"))).unwrap();
    desk.copy_entries("laptop", ChainHead::NONE, &ledger(ChainHead::NONE, 5)).unwrap();
    desk.tend_audit().unwrap();
    let today = "SELECT min(tableoid::regclass::text) FROM callgate_team.audit";
    let part = server.query(&database, today);
    // Each day has a part of its own.
    let is_by_day = "SELECT bool_and(tableoid::regclass::text = 'callgate_team.audit_' ||
        to_char(to_timestamp(recorded_ms / 1000) AT TIME ZONE 'UTC', 'YYYYMMDD'))
        FROM callgate_team.audit";
    assert_eq!(server.query(&database, is_by_day), "t", "{part}");
    let forbidden = [
        "UPDATE callgate_team.audit SET body = '{}'".to_owned(),
        "DELETE FROM callgate_team.audit".to_owned(),
        "TRUNCATE callgate_team.audit".to_owned(),
        format!("DELETE FROM {part}"),
        format!("TRUNCATE {part}"),
        format!("DROP TABLE {part}"),
        format!("ALTER TABLE callgate_team.audit DETACH PARTITION {part}"),
        "DELETE FROM callgate_team.questions".to_owned(),
        "DELETE FROM callgate_team.chains".to_owned(),
        "UPDATE callgate_team.chains SET start_seq = 3".to_owned(),
        "UPDATE callgate_team.retention SET days = 1".to_owned(),
        "INSERT INTO callgate_team.layout VALUES (9, 9)".to_owned(),
        "CREATE TABLE callgate_team.audit_20200101 ()".to_owned(),
        "CREATE OR REPLACE FUNCTION callgate_team.now_ms() RETURNS bigint LANGUAGE sql AS 'SELECT 1'"
            .to_owned(),
    ];
    for statement in forbidden {
        for role in ["desk_login", "callgate_desk"] {
            let told = server.try_query(&database, &format!("SET ROLE {role}; {statement}"));
            let told = told.expect_err(&statement);
            let is_refused = told.contains("permission denied") || told.contains("must be owner");
            assert!(is_refused, "{statement}: {told}");
        }
    }
    assert!(desk.verify_chain("laptop").unwrap().is_some());
}

#[test]
fn a_login_that_may_not_make_roles_goes_on_and_is_told() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    // The role exists in this server, but this login is no member and cannot become one.
    let database = server.make_database();
    let url = make_login(server, &database, "plain_owner");
    server.query("postgres", &format!("ALTER DATABASE {database} OWNER TO plain_owner"));
    let mut store = PostgresTeamStore::open(&settings(&url, "desk")).unwrap();
    store.ask_question(&ask(1)).unwrap();
    assert_eq!(store.read_status().unwrap().protection, AuditProtection::Nobody);
}
