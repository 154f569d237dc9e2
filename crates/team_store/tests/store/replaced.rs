//! A server that is replaced by its standby, which only the full run does, or a database by a copy.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use std::{env, thread};

use callgate_team_store::{
    AnswerReceipt, PostgresSettings, PostgresTeamStore, TeamStore, TeamStoreError,
};
use callgate_testkit::postgres_server::{PASSWORD, PostgresServer, shared_server};
use callgate_testkit::until::until;
use rustix::process::Signal;

use super::fixture::settings;
use super::killed::{check_answered, next_random};
use super::team::{answer, ask};

#[test]
fn a_promoted_standby_has_all_that_was_acknowledged() {
    if env::var_os("CALLGATE_FULL").is_none() {
        return;
    }
    let Some(server) = PostgresServer::create() else { return };
    server.start();
    let standby = server.make_standby();
    let database = server.make_database();
    let url = url_of_both(&server, &standby, &database);
    let (is_done, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let acknowledged: BTreeSet<u64> = thread::scope(|scope| {
        let (url, is_done, written) = (&url, &is_done, &written);
        let desks = (0..2).map(|desk: u64| {
            scope.spawn(move || {
                let patience = Duration::from_mins(1);
                let settings =
                    PostgresSettings { patience, ..settings(url, &format!("desk {desk}")) };
                let mut store = PostgresTeamStore::open(&settings).unwrap();
                let (mut acknowledged, mut number) = (Vec::new(), desk * 1_000_000);
                while !is_done.load(Ordering::Relaxed) {
                    number += 1;
                    store.ask_question(&ask(number)).unwrap();
                    let answered = store.answer_question(&answer(number, number, "ada")).unwrap();
                    assert!(!matches!(
                        answered,
                        AnswerReceipt::Unknown | AnswerReceipt::TooLate(_)
                    ));
                    acknowledged.push(number);
                    written.fetch_add(1, Ordering::Relaxed);
                }
                acknowledged
            })
        });
        let desks: Vec<_> = desks.collect();
        let point = 50 + next_random(&mut 0x2545_f491_4f6c_dd1d) % 100;
        until("the writes before the kill", || written.load(Ordering::Relaxed) >= point);
        server.kill();
        standby.promote();
        let point = written.load(Ordering::Relaxed) + 50;
        until("the writes on the standby", || written.load(Ordering::Relaxed) >= point);
        is_done.store(true, Ordering::Relaxed);
        desks.into_iter().flat_map(|desk| desk.join().unwrap()).collect()
    });
    let mut store = PostgresTeamStore::open(&settings(&url, "checker")).unwrap();
    check_answered(&mut store, &acknowledged);
    assert!(acknowledged.len() >= 100, "{}", acknowledged.len());
    assert_eq!(store.open_questions().unwrap(), []);
}

/// Returns the address of both servers.
fn url_of_both(server: &PostgresServer, standby: &PostgresServer, database: &str) -> String {
    let (one, other) = (server.port, standby.port);
    format!("postgres://admin:{PASSWORD}@127.0.0.1:{one},127.0.0.1:{other}/{database}")
}

#[test]
fn a_server_that_hangs_is_replaced_by_its_standby() {
    if env::var_os("CALLGATE_FULL").is_none() {
        return;
    }
    let Some(server) = PostgresServer::create() else { return };
    server.start();
    let standby = server.make_standby();
    let database = server.make_database();
    let url = url_of_both(&server, &standby, &database);
    let patience = Duration::from_secs(5);
    let settings = PostgresSettings { patience, ..settings(&url, "desk") };
    let mut store = PostgresTeamStore::open(&settings).unwrap();
    store.ask_question(&ask(1)).unwrap();
    server.signal(Signal::STOP);
    standby.promote();
    // The connection that hangs takes the patience of the call that had it, and no other.
    assert!(store.open_questions().unwrap_err().is_passing());
    let told = store.answer_question(&answer(1, 1, "ada"));
    let new = PostgresTeamStore::open(&settings).map(drop);
    server.signal(Signal::CONT);
    assert!(matches!(told, Ok(AnswerReceipt::Recorded(_))), "{told:?}");
    new.unwrap();
}

#[test]
fn what_a_standby_that_was_behind_has_is_read_again() {
    if env::var_os("CALLGATE_FULL").is_none() {
        return;
    }
    let Some(server) = PostgresServer::create() else { return };
    server.start();
    let standby = server.make_standby();
    let database = server.make_database();
    let url = url_of_both(&server, &standby, &database);
    let mut desk = PostgresTeamStore::open(&settings(&url, "desk")).unwrap();
    for number in 0..3 {
        desk.ask_question(&ask(number)).unwrap();
    }
    server.leave_behind(&standby);
    for number in 3..5 {
        desk.ask_question(&ask(number)).unwrap();
    }
    assert_eq!(desk.last_change().unwrap(), 5);
    server.kill();
    standby.start();
    standby.promote();
    // A desk that was started again goes on from what the standby has, past what the other has
    // seen.
    let mut other = PostgresTeamStore::open(&settings(&url, "other desk")).unwrap();
    for number in 10..16 {
        other.ask_question(&ask(number)).unwrap();
    }
    let told = desk.changes_after(5).unwrap_err();
    assert!(matches!(told, TeamStoreError::Replaced) && told.is_passing(), "{told}");
    assert_eq!(desk.last_change().unwrap(), 9);
    assert_eq!(desk.changes_after(9).unwrap(), []);
    assert_eq!(desk.open_questions().unwrap().len(), 9);
}

#[test]
fn a_server_without_its_standby_acknowledges_nothing() {
    if env::var_os("CALLGATE_FULL").is_none() {
        return;
    }
    let Some(server) = PostgresServer::create() else { return };
    server.start();
    let standby = server.make_standby();
    let database = server.make_database();
    let patience = Duration::from_secs(3);
    let settings = PostgresSettings { patience, ..settings(&server.url(&database), "desk") };
    let mut store = PostgresTeamStore::open(&settings).unwrap();
    store.ask_question(&ask(1)).unwrap();
    standby.kill();
    assert!(store.answer_question(&answer(1, 1, "ada")).unwrap_err().is_passing());
    standby.start();
    // The standby confirms what was waiting, and the same answer is found to be recorded.
    let receipt = until("the standby", || store.answer_question(&answer(1, 1, "ada")).ok());
    assert!(matches!(receipt, AnswerReceipt::Recorded(_) | AnswerReceipt::Repeated(_)));
}

#[test]
fn what_a_restored_copy_has_is_read_again() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let url = server.url(&database);
    // Whoever copies or renames a database has it alone.
    let alone = |sql: &str| {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ";
        server.query("postgres", &format!("{end}'{database}'"));
        until(sql, || server.try_query("postgres", sql).is_ok());
    };
    let mut desk = PostgresTeamStore::open(&settings(&url, "desk")).unwrap();
    for number in 0..3 {
        desk.ask_question(&ask(number)).unwrap();
    }
    alone(&format!("CREATE DATABASE {database}_copy TEMPLATE {database}"));
    for number in 3..5 {
        desk.ask_question(&ask(number)).unwrap();
    }
    assert_eq!(desk.last_change().unwrap(), 5);
    alone(&format!("ALTER DATABASE {database} RENAME TO {database}_lost"));
    server.query("postgres", &format!("ALTER DATABASE {database}_copy RENAME TO {database}"));
    let told = desk.answer_question(&answer(0, 1, "ada")).unwrap_err();
    assert!(matches!(told, TeamStoreError::Behind { seen: 5, found: 3 }), "{told}");
    // A desk that was started again goes on from what was restored, past what the other has seen.
    let mut other = PostgresTeamStore::open(&settings(&url, "other desk")).unwrap();
    assert_eq!(other.open_questions().unwrap().len(), 3, "nothing was answered");
    for number in 10..16 {
        other.ask_question(&ask(number)).unwrap();
    }
    let told = desk.changes_after(5).unwrap_err();
    assert!(matches!(told, TeamStoreError::Replaced) && told.is_passing(), "{told}");
    assert_eq!((desk.last_change().unwrap(), desk.open_questions().unwrap().len()), (9, 9));
}
