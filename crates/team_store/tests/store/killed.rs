//! Servers and desks that are killed at seeded points. What was acknowledged is there, once.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{env, thread};

use callgate_store::ChainHead;
use callgate_team_store::{
    AnswerReceipt, AskReceipt, AuditChain, AuditChainReport, PostgresTeamStore, TeamQuestionState,
    TeamStore,
};
use callgate_testkit::postgres_server::shared_server;
use callgate_testkit::process::{DEADLINE, Piped};
use callgate_testkit::until::until;

use super::fixture::settings;
use super::team::{answer, ask, id, ledger};

/// Names the database to the desk that is killed.
const URL: &str = "CALLGATE_TEST_TEAM_DATABASE";
const FIRST: &str = "CALLGATE_TEST_TEAM_FIRST";

/// Returns the next of a series of numbers that look random.
pub(crate) fn next_random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Checks that exactly these questions are there, each with its answer, and that chains are whole.
pub(crate) fn check_answered(store: &mut dyn TeamStore, acknowledged: &BTreeSet<u64>) {
    for number in acknowledged {
        let found = store.find_question(&id(*number)).unwrap();
        let state = found.unwrap_or_else(|| panic!("question {number} is lost")).state;
        let TeamQuestionState::Answered(found) = state else { panic!("{number}: {state:?}") };
        assert_eq!(found.id, answer(*number, *number, "ada").id);
    }
    for AuditChain { name: machine, head } in store.chain_heads(None).unwrap() {
        let report = store.verify_chain(&machine).unwrap().unwrap();
        let AuditChainReport::Whole { head: found, .. } = report else { panic!("{report:?}") };
        assert_eq!(found, head);
    }
}

#[test]
fn a_killed_server_loses_nothing_that_it_has_acknowledged() {
    let Some(server) = shared_server() else { return };
    let _owned = server.own_server();
    let database = server.make_database();
    let (is_done, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let acknowledged: BTreeSet<u64> = thread::scope(|scope| {
        let (url, is_done, written) = (server.url(&database), &is_done, &written);
        let desks = (0..3).map(|desk: u64| {
            let url = url.clone();
            scope.spawn(move || {
                let mut store =
                    PostgresTeamStore::open(&settings(&url, &format!("desk {desk}"))).unwrap();
                let copies = ledger(ChainHead::NONE, 5000);
                let mut head = ChainHead::NONE;
                let (mut acknowledged, mut number) = (Vec::new(), desk * 1_000_000);
                while !is_done.load(Ordering::Relaxed) {
                    number += 1;
                    let asked = store.ask_question(&ask(number)).unwrap();
                    assert!(!matches!(asked, AskReceipt::OtherQuestion));
                    let answered = store.answer_question(&answer(number, number, "ada")).unwrap();
                    assert!(!matches!(
                        answered,
                        AnswerReceipt::Unknown | AnswerReceipt::TooLate(_)
                    ));
                    let next = usize::try_from(head.seq).unwrap();
                    let copies = &copies[next..(next + 3).min(copies.len())];
                    head = store.copy_entries(&format!("box {desk}"), head, copies).unwrap();
                    acknowledged.push(number);
                    written.fetch_add(1, Ordering::Relaxed);
                }
                acknowledged
            })
        });
        let desks: Vec<_> = desks.collect();
        let mut seed = 0x2545_f491_4f6c_dd1d;
        for _ in 0..4 {
            // A point in the middle of the writes, counted in them and not in time.
            let point = written.load(Ordering::Relaxed) + 5 + next_random(&mut seed) % 40;
            until("the writes before the kill", || written.load(Ordering::Relaxed) >= point);
            server.kill();
            server.start();
        }
        let point = written.load(Ordering::Relaxed) + 20;
        until("the writes after the last kill", || written.load(Ordering::Relaxed) >= point);
        is_done.store(true, Ordering::Relaxed);
        desks.into_iter().flat_map(|desk| desk.join().unwrap()).collect()
    });
    let mut store = PostgresTeamStore::open(&settings(&server.url(&database), "checker")).unwrap();
    check_answered(&mut store, &acknowledged);
    assert!(acknowledged.len() > 40, "{}", acknowledged.len());
    // None is there twice: each change has its entry, once.
    let count = |kind: &str| {
        let sql = format!(
            "SELECT count(*) || ' ' || count(DISTINCT question) FROM callgate_team.audit
             WHERE kind = '{kind}'"
        );
        server.query(&database, &sql)
    };
    let all = format!("{0} {0}", acknowledged.len());
    assert_eq!((count("team_asked"), count("team_answered")), (all.clone(), all));
    assert_eq!(store.open_questions().unwrap(), []);
}

#[test]
fn sessions_that_the_server_ends_are_made_again() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let mut store = PostgresTeamStore::open(&settings(&server.url(&database), "desk")).unwrap();
    let end_sessions = format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = '{database}' AND application_name = 'callgate'"
    );
    let written = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut seed = 0x0123_4567_89ab_cdef;
            let mut point = 0;
            while point < 50 {
                until("the writes before the end", || written.load(Ordering::Relaxed) >= point);
                server.query("postgres", &end_sessions);
                point += next_random(&mut seed) % 6;
            }
        });
        for number in 0..60 {
            store.ask_question(&ask(number)).unwrap();
            store.answer_question(&answer(number, number, "ada")).unwrap();
            written.fetch_add(1, Ordering::Relaxed);
        }
    });
    check_answered(&mut store, &(0..60).collect());
}

/// Is the desk that [`a_killed_desk_loses_nothing_and_holds_nobody_up`] starts and kills. By itself
/// it does nothing.
#[test]
fn desk_process() {
    let (Ok(url), Ok(first)) = (env::var(URL), env::var(FIRST)) else { return };
    let mut store = PostgresTeamStore::open(&settings(&url, "killed desk")).unwrap();
    let first: u64 = first.parse().unwrap();
    for number in first..first + 100_000 {
        store.ask_question(&ask(number)).unwrap();
        store.answer_question(&answer(number, number, "ada")).unwrap();
        println!("answered {number}");
    }
}

#[test]
fn a_killed_desk_loses_nothing_and_holds_nobody_up() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let mut other = PostgresTeamStore::open(&settings(&server.url(&database), "desk")).unwrap();
    let (mut acknowledged, mut seed) = (BTreeSet::new(), 0x9e37_79b9_7f4a_7c15);
    for round in 0..4 {
        let mut command = Command::new(env::current_exe().unwrap());
        // The address is in the environment: anybody can read arguments.
        command.args(["--exact", "killed::desk_process", "--nocapture"]);
        command.env(URL, server.url(&database)).env(FIRST, (round * 1_000_000).to_string());
        let mut desk = Piped::spawn(command);
        let last = 1 + next_random(&mut seed) % 30;
        let mut count = 0;
        while count < last {
            let line = desk.recv_line();
            if let Some((_, number)) = line.split_once("answered ") {
                acknowledged.insert(number.parse().unwrap());
                count += 1;
            }
        }
        desk.signal(rustix::process::Signal::KILL);
        // What it had announced before it died counts, too.
        while let Some(line) = desk.recv_line_or_end() {
            if let Some((_, number)) = line.split_once("answered ") {
                acknowledged.insert(number.parse().unwrap());
            }
        }
        assert!(!desk.wait_exit(DEADLINE).success());
        other.ask_question(&ask(90_000_000 + round)).unwrap();
    }
    check_answered(&mut other, &acknowledged);
    // The questions that it had asked and not answered are found, and answered by another desk.
    for question in other.open_questions().unwrap() {
        let mut answer = answer(0, 500_000 + question.changed, "bob");
        answer.question = question.id;
        assert!(matches!(other.answer_question(&answer), Ok(AnswerReceipt::Recorded(_))));
    }
    assert_eq!(other.open_questions().unwrap(), []);
}
