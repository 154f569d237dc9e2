//! A server that is replaced by its synchronous standby. Only the full run does it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use std::{env, thread};

use callgate_team_store::{
    AnswerReceipt, PostgresSettings, PostgresTeamStore, TeamStore, TeamStoreError,
};
use callgate_testkit::certificates::run_command;
use callgate_testkit::postgres_server::{PASSWORD, PostgresServer, postgres_command};
use callgate_testkit::until::until;
use rustix::process::Signal;

use super::fixture::settings;
use super::killed::{check_answered, next_random};
use super::team::{answer, ask};

/// Makes a standby of `server` on which every commit waits.
fn make_standby(server: &PostgresServer) -> PostgresServer {
    let standby = PostgresServer::create_folder().unwrap();
    let mut copy = postgres_command("pg_basebackup");
    copy.arg("-D").arg(standby.data()).args(["-R", "-X", "stream", "-c", "fast", "-U", "admin"]);
    copy.arg("-h").arg(&server.folder).arg("-p").arg(server.port.to_string());
    run_command(copy);
    standby.start();
    server.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
    server.query("postgres", "SELECT pg_reload_conf()");
    until("the standby", || {
        server.query("postgres", "SELECT sync_state FROM pg_stat_replication") == "sync"
    });
    standby
}

#[test]
fn a_promoted_standby_has_all_that_was_acknowledged() {
    if env::var_os("CALLGATE_FULL").is_none() {
        return;
    }
    let Some(server) = PostgresServer::create() else { return };
    server.start();
    let standby = make_standby(&server);
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
        promote(&standby);
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

fn promote(standby: &PostgresServer) {
    let mut promote = postgres_command("pg_ctl");
    promote.args(["promote", "-D"]).arg(standby.data());
    run_command(promote);
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
    let standby = make_standby(&server);
    let database = server.make_database();
    let url = url_of_both(&server, &standby, &database);
    let patience = Duration::from_secs(5);
    let settings = PostgresSettings { patience, ..settings(&url, "desk") };
    let mut store = PostgresTeamStore::open(&settings).unwrap();
    store.ask_question(&ask(1)).unwrap();
    server.signal(Signal::STOP);
    promote(&standby);
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
    let standby = make_standby(&server);
    let database = server.make_database();
    let url = url_of_both(&server, &standby, &database);
    let mut desk = PostgresTeamStore::open(&settings(&url, "desk")).unwrap();
    for number in 0..3 {
        desk.ask_question(&ask(number)).unwrap();
    }
    server.query("postgres", "ALTER SYSTEM RESET synchronous_standby_names");
    server.query("postgres", "SELECT pg_reload_conf()");
    standby.kill();
    for number in 3..5 {
        desk.ask_question(&ask(number)).unwrap();
    }
    assert_eq!(desk.last_change().unwrap(), 5);
    server.kill();
    standby.start();
    promote(&standby);
    // A desk that was started again goes on from what the standby has, past what the other has seen.
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
    let standby = make_standby(&server);
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
