//! A network between desk and server that is cut, loses answers and comes back.

use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use callgate_store::ChainHead;
use callgate_team_store::{
    AnswerReceipt, AskReceipt, AuditChainReport, EditReceipt, PostgresTeamStore, TeamChange,
    TeamQuestionState, TeamStore, TeamStoreError,
};
use callgate_testkit::network_proxy::{NetworkProxy, NetworkState};
use callgate_testkit::postgres_server::{PASSWORD, PostgresServer, shared_server};
use callgate_testkit::until::until;

use super::fixture::{PATIENCE, settings};
use super::team::{answer, ask, edit, id, ledger};

/// How long a desk behind a cut network waits.
const IMPATIENCE: Duration = Duration::from_millis(500);

fn open_far(proxy: &NetworkProxy, database: &str) -> PostgresTeamStore {
    let url = format!("postgres://admin:{PASSWORD}@{}/{database}?sslmode=disable", proxy.address);
    PostgresTeamStore::open(&settings(&url, "far desk")).unwrap()
}

fn open_near(server: &PostgresServer, database: &str) -> PostgresTeamStore {
    PostgresTeamStore::open(&settings(&server.url(database), "desk")).unwrap()
}

#[test]
fn a_cut_network_answers_nothing_and_holds_nobody_up() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let proxy = NetworkProxy::start(server.port);
    let (mut near, mut far) = (open_near(server, &database), open_far(&proxy, &database));
    far.ask_question(&ask(1)).unwrap();
    proxy.set(NetworkState::Cut);
    far.set_patience(IMPATIENCE);
    // Neither a change nor a look: nothing is answered from what the desk knew before.
    let start = Instant::now();
    let told = far.answer_question(&answer(1, 1, "ada")).unwrap_err();
    assert!(told.is_passing() && told.to_string().contains("does not answer in time"), "{told}");
    assert!(far.open_questions().unwrap_err().is_passing());
    assert!(far.changes_after(0).unwrap_err().is_passing());
    assert!(far.wait_for_changes(0, Duration::from_millis(1)).unwrap_err().is_passing());
    assert!(start.elapsed() < PATIENCE, "each of four calls has ended with its patience");
    far.set_patience(PATIENCE);
    // Another desk goes on, also if the far one was cut off in a transaction.
    near.ask_question(&ask(2)).unwrap();
    assert!(matches!(near.answer_question(&answer(1, 2, "bob")), Ok(AnswerReceipt::Recorded(_))));
    proxy.set(NetworkState::Open);
    let late = until("the network", || far.answer_question(&answer(1, 1, "ada")).ok());
    assert!(matches!(late, AnswerReceipt::TooLate(_)), "{late:?}");
    assert_eq!(far.open_questions().unwrap().len(), 1);
}

#[test]
fn a_lost_acknowledgement_makes_neither_two_nor_none() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let proxy = NetworkProxy::start(server.port);
    let mut near = open_near(server, &database);
    let mut far = open_far(&proxy, &database);
    for number in 0..3 {
        // The server does what it is told, and nobody learns of it.
        proxy.set(NetworkState::LosesAnswers);
        far.set_patience(IMPATIENCE);
        let asked = far.ask_question(&ask(number));
        assert!(matches!(asked, Err(TeamStoreError::Unreachable { .. })), "{asked:?}");
        proxy.set(NetworkState::Open);
        proxy.drop_connections();
        far.set_patience(PATIENCE);
        let again = far.ask_question(&ask(number)).unwrap();
        assert!(matches!(again, AskReceipt::Recorded(_) | AskReceipt::Repeated(_)), "{again:?}");
    }
    // The connection dies while the desk works; the desk itself does it again.
    for number in 10..40 {
        thread::scope(|scope| {
            scope.spawn(|| proxy.drop_connections());
            far.ask_question(&ask(number)).unwrap();
            let receipt = far.answer_question(&answer(number, number, "ada")).unwrap();
            let is_mine =
                matches!(receipt, AnswerReceipt::Recorded(_) | AnswerReceipt::Repeated(_));
            assert!(is_mine, "{receipt:?}");
        });
    }
    assert_eq!(near.open_questions().unwrap().len(), 3);
    assert!(near.find_question(&id(39)).unwrap().is_some());
    let AuditChainReport::Whole { entries, .. } = near.verify_chain("far desk").unwrap().unwrap()
    else {
        panic!()
    };
    assert_eq!(entries, 3 + 2 * 30, "each change was recorded once");
}

#[test]
fn what_was_recorded_without_an_acknowledgement_is_found_again() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let proxy = NetworkProxy::start(server.port);
    let mut near = open_near(server, &database);
    let mut far = open_far(&proxy, &database);
    far.ask_question(&ask(1)).unwrap();
    // The server gets the end of the transaction, and nobody learns of it.
    let lose = |far: &mut PostgresTeamStore| {
        proxy.set(NetworkState::LosesCommits);
        far.set_patience(IMPATIENCE);
    };
    let find = |far: &mut PostgresTeamStore| {
        proxy.set(NetworkState::Open);
        proxy.drop_connections();
        far.set_patience(PATIENCE);
    };
    lose(&mut far);
    let asked = far.ask_question(&ask(2));
    assert!(matches!(asked, Err(TeamStoreError::Unreachable { .. })), "{asked:?}");
    until("the question", || near.find_question(&id(2)).unwrap().is_some());
    find(&mut far);
    let again = far.ask_question(&ask(2)).unwrap();
    assert!(matches!(again, AskReceipt::Repeated(_)), "{again:?}");

    lose(&mut far);
    let answered = far.answer_question(&answer(1, 1, "ada"));
    assert!(matches!(answered, Err(TeamStoreError::Unreachable { .. })), "{answered:?}");
    let state = |near: &mut PostgresTeamStore| near.find_question(&id(1)).unwrap().unwrap().state;
    until("the answer", || state(&mut near) != TeamQuestionState::Open);
    find(&mut far);
    let again = far.answer_question(&answer(1, 1, "ada")).unwrap();
    assert!(matches!(again, AnswerReceipt::Repeated(_)), "{again:?}");

    lose(&mut far);
    let first = edit("ada", 0, 1, Some("{}"));
    let edited = far.edit_document(&first);
    assert!(matches!(edited, Err(TeamStoreError::Unreachable { .. })), "{edited:?}");
    until("the document", || near.find_document(first.kind, "ada").unwrap().is_some());
    find(&mut far);
    let again = far.edit_document(&first).unwrap();
    assert!(matches!(&again, EditReceipt::Repeated(it) if it.version == 1), "{again:?}");

    let entries = ledger(ChainHead::NONE, 3);
    lose(&mut far);
    let copied = far.copy_entries("laptop", ChainHead::NONE, &entries);
    assert!(matches!(copied, Err(TeamStoreError::Unreachable { .. })), "{copied:?}");
    until("the copy", || near.chain_heads(Some("laptop")).unwrap().len() == 1);
    find(&mut far);
    assert_eq!(far.copy_entries("laptop", ChainHead::NONE, &entries).unwrap().seq, 3);
    let AuditChainReport::Whole { entries, .. } = near.verify_chain("far desk").unwrap().unwrap()
    else {
        panic!()
    };
    assert_eq!(entries, 4, "two questions, an answer and an edit, each once");
}

#[test]
fn a_change_is_heard_of_at_once_and_seen_without_being_heard_of() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let (mut near, mut watcher) = (open_near(server, &database), open_near(server, &database));
    near.ask_question(&ask(1)).unwrap();
    thread::scope(|scope| {
        let watching = scope.spawn(|| watcher.wait_for_changes(1, Duration::from_mins(1)));
        let waits = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'
             AND state = 'idle' AND query = 'ROLLBACK'"
        );
        until("it waits", || server.query("postgres", &waits) == "1");
        let start = Instant::now();
        near.ask_question(&ask(2)).unwrap();
        assert_eq!(watching.join().unwrap().unwrap().len(), 1);
        assert!(start.elapsed() < Duration::from_secs(5), "after {:?}", start.elapsed());
    });
    // A hint is no more than that: this change has none.
    thread::scope(|scope| {
        let watching = scope.spawn(|| watcher.wait_for_changes(2, Duration::from_secs(2)));
        let change = "SET search_path = callgate_team;
            UPDATE questions SET last_words = 'So.', changed = last_change() + 1 WHERE changed = 1";
        server.query(&database, change);
        let seen = watching.join().unwrap().unwrap();
        assert_eq!(seen.iter().map(TeamChange::number).collect::<Vec<_>>(), [3]);
    });
}

#[test]
fn a_host_that_hangs_takes_no_time_of_the_next() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    // Its kernel accepts, as that of a machine does whose server is frozen.
    let frozen = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "postgres://admin:{PASSWORD}@{},127.0.0.1:{}/{database}?sslmode=disable",
        frozen.local_addr().unwrap(),
        server.port
    );
    // Without a time of its own it takes all of the patience.
    let mut store = PostgresTeamStore::open(&settings(&url, "desk")).unwrap();
    store.ask_question(&ask(1)).unwrap();
}

#[test]
fn a_watcher_goes_on_after_its_connection_was_lost() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let proxy = NetworkProxy::start(server.port);
    let (mut near, mut far) = (open_near(server, &database), open_far(&proxy, &database));
    near.ask_question(&ask(1)).unwrap();
    assert_eq!(far.wait_for_changes(0, Duration::from_mins(1)).unwrap().len(), 1);
    thread::scope(|scope| {
        let watching = scope.spawn(|| far.wait_for_changes(1, Duration::from_mins(1)).unwrap());
        // It notices the loss, connects again, and reads what it has missed.
        proxy.drop_connections();
        near.ask_question(&ask(2)).unwrap();
        assert_eq!(watching.join().unwrap().len(), 1);
    });
    // Nobody can be told of a change over a cut network, and nobody says that there was none.
    proxy.set(NetworkState::Cut);
    near.ask_question(&ask(3)).unwrap();
    far.set_patience(IMPATIENCE);
    assert!(far.wait_for_changes(2, Duration::from_millis(10)).unwrap_err().is_passing());
    proxy.set(NetworkState::Open);
    far.set_patience(PATIENCE);
    let seen = until("the network", || far.wait_for_changes(2, Duration::from_secs(5)).ok());
    assert_eq!(seen.len(), 1);
}

#[test]
fn a_server_that_has_lost_changes_is_not_believed() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let mut store = open_near(server, &database);
    let mut other = store.connect_again().unwrap();
    assert_eq!(other.last_change().unwrap(), 0);
    for number in 0..5 {
        store.ask_question(&ask(number)).unwrap();
    }
    // As a standby that was behind would have it.
    server.query(&database, "DELETE FROM callgate_team.questions WHERE changed > 3");
    server.query(
        "postgres",
        &format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
        ),
    );
    // Also over a connection that has seen nothing of it: the desk has.
    let told = until("its connection is made again", || other.open_questions().err());
    assert!(matches!(told, TeamStoreError::Behind { seen: 5, found: 3 }), "{told}");
    let told = store.open_questions().unwrap_err();
    assert!(matches!(told, TeamStoreError::Behind { seen: 5, found: 3 }), "{told}");
    let told = store.connect_again().unwrap().ask_question(&ask(9)).unwrap_err();
    assert!(matches!(told, TeamStoreError::Behind { .. }), "{told}");
}
