//! Whoever reads the log for long, such as a backup, holds up nobody who writes.

use callgate_store::ChainHead;
use callgate_team_store::{AuditChainReport, PostgresTeamStore, TeamStore};
use callgate_testkit::postgres_server::{PostgresServer, postgres_command, shared_server};
use callgate_testkit::process::{DEADLINE, Piped};
use callgate_testkit::until::until;

use super::fixture::{Fixture, settings};
use super::team::{answer, ask, id, ledger};

/// Reads the log in a transaction that stays open, as `pg_dump` does.
fn read_for_long(server: &PostgresServer, database: &str) -> Piped {
    let mut psql = postgres_command("psql");
    psql.args(["-XAtq", "-U", "admin", "-d", database, "-h"]).arg(&server.folder);
    psql.args(["-p", &server.port.to_string()]);
    let mut reader = Piped::spawn(psql);
    reader.send("BEGIN; SELECT 'reads ' || count(*) FROM callgate_team.audit;");
    assert!(reader.recv_line().starts_with("reads "));
    reader
}

#[test]
fn a_backup_over_midnight_holds_nobody_up() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let mut store = PostgresTeamStore::open(&settings(&server.url(&database), "desk")).unwrap();
    let count = "SELECT count(*) FROM pg_inherits
        WHERE inhparent = 'callgate_team.audit'::regclass";
    assert_eq!(server.query(&database, count), "8", "today and a week");
    // As if the last of the days that were prepared had passed.
    server.query(
        &database,
        "DO $$ DECLARE part text; BEGIN FOR part IN SELECT inhrelid::regclass FROM pg_inherits
         WHERE inhparent = 'callgate_team.audit'::regclass LOOP EXECUTE 'DROP TABLE ' || part;
         END LOOP; END $$",
    );
    let reader = read_for_long(server, &database);
    let mut other = PostgresTeamStore::open(&settings(&server.url(&database), "desk-2")).unwrap();
    other.ask_question(&ask(1)).unwrap();
    store.answer_question(&answer(1, 1, "ada")).unwrap();
    store.tend_audit().unwrap();
    assert_eq!(server.query(&database, count), "8");
    drop(reader);
}

#[test]
fn what_somebody_reads_is_removed_another_time() {
    let Some(fixture) = Fixture::new() else { return };
    let Fixture { server, database, .. } = &fixture;
    let (mut store, mut other) = (fixture.open(), fixture.open());
    store.copy_entries("laptop", ChainHead::NONE, &ledger(ChainHead::NONE, 10)).unwrap();
    store.ask_question(&ask(1)).unwrap();
    store.answer_question(&answer(1, 1, "ada")).unwrap();
    store.ask_question(&ask(2)).unwrap();
    fixture.age_entries(6, 40);
    fixture.tamper("UPDATE questions SET closed_ms = closed_ms - 40 * CAST(86400000 AS bigint)");
    let first = |store: &mut dyn TeamStore| {
        let Some(AuditChainReport::Whole { start, .. }) = store.verify_chain("laptop").unwrap()
        else {
            panic!()
        };
        start.seq + 1
    };
    let mut reader = read_for_long(server, database);
    store.tend_audit().unwrap();
    other.answer_question(&answer(2, 2, "ada")).unwrap();
    assert_eq!(first(&mut *store), 1, "somebody reads it");
    assert_eq!(store.find_question(&id(1)).unwrap(), None, "questions go all the same");
    reader.close_stdin();
    assert!(reader.wait_exit(DEADLINE).success());
    until("the removal", || {
        store.tend_audit().unwrap();
        first(&mut *store) == 7
    });
}
