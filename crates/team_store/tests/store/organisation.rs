//! What `docs/guide/organisation.md` promises an administrator: the roles of its file, a backup
//! that is restored, and desks of two versions side by side.

use callgate_store::ChainHead;
use callgate_team_store::{
    AnswerReceipt, AuditChain, AuditChainReport, AuditProtection, PostgresTeamStore, TeamStore,
    TeamStoreError,
};
use callgate_testkit::certificates::run_command;
use callgate_testkit::postgres_server::{PostgresServer, postgres_command, shared_server};
use callgate_testkit::tools::repo_root;

use super::fixture::settings;
use super::team::{answer, ask, ledger};

/// Makes the role of desks, as every desk does that may.
const MAKE_ROLE: &str = "CREATE ROLE callgate_desk NOLOGIN;";

/// Runs the file that prepares a server. The role of desks is there, as other tests use this
/// server, and nothing of a run before.
fn prepare(server: &PostgresServer) {
    server.try_query("postgres", MAKE_ROLE).ok();
    for database in ["callgate", "restored"] {
        server.query("postgres", &format!("DROP DATABASE IF EXISTS {database}"));
    }
    server.query("postgres", "DROP ROLE IF EXISTS callgate_owner, callgate_login");
    let mut psql = postgres_command("psql");
    psql.args(["-Xq", "-U", "admin", "-d", "postgres", "-h"]).arg(&server.folder);
    psql.args(["-p", &server.port.to_string()]);
    psql.args(["-v", "owner_password=it's ours", "-v", "desk_password=desk-7431"]);
    // The server's user may not read the repository.
    let script = std::fs::read_to_string(repo_root().join("examples/organisation/database.sql"));
    let file = server.folder.join("database.sql");
    let script = script.unwrap();
    assert!(script.contains(MAKE_ROLE));
    std::fs::write(&file, script.replace(MAKE_ROLE, "")).unwrap();
    run_command({
        psql.arg("-f").arg(file);
        psql
    });
}

/// Copies a database with the programs that the guide names.
fn back_up_and_restore(server: &PostgresServer, from: &str, to: &str) {
    let backup = server.folder.join("callgate.backup");
    let mut dump = postgres_command("pg_dump");
    dump.args(["--format=custom", "--dbname", from, "--file"]).arg(&backup);
    run_command(dump);
    server.query("postgres", "CREATE DATABASE restored OWNER callgate_owner");
    let mut restore = postgres_command("pg_restore");
    restore.args(["--exit-on-error", "--single-transaction", "--dbname", to]).arg(&backup);
    run_command(restore);
}

#[test]
fn a_database_is_prepared_backed_up_and_restored_as_the_guide_says() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    prepare(server);
    let url = |login: &str, database: &str| {
        format!("postgres://{login}@127.0.0.1:{}/{database}", server.port)
    };
    let (owner, login) = ("callgate_owner:it%27s%20ours", "callgate_login:desk-7431");
    // Without tables, the desk says who has to make them.
    let told = PostgresTeamStore::open(&settings(&url(login, "callgate"), "desk-1")).unwrap_err();
    assert!(told.to_string().contains("let an owner of the database start once"), "{told}");
    let mut by_owner =
        PostgresTeamStore::open(&settings(&url(owner, "callgate"), "owner")).unwrap();
    assert_eq!(by_owner.set_kept_days(90).unwrap(), Some(400));
    assert_eq!(by_owner.set_kept_days(90).unwrap(), None);
    let mut desk = PostgresTeamStore::open(&settings(&url(login, "callgate"), "desk-1")).unwrap();
    let status = desk.read_status().unwrap();
    assert_eq!(status.protection, AuditProtection::Login);
    assert_eq!(desk.set_kept_days(1).unwrap(), None);
    assert_eq!(status.kept_days, 90, "the owner alone says for how long entries are kept");
    desk.ask_question(&ask(1)).unwrap();
    desk.ask_question(&ask(2)).unwrap();
    desk.answer_question(&answer(2, 2, "ada")).unwrap();
    let entries = ledger(ChainHead::NONE, 10);
    let head = desk.copy_entries("laptop", ChainHead::NONE, &entries[..5]).unwrap();

    back_up_and_restore(server, &url(owner, "callgate"), &url(owner, "restored"));
    // What comes later is not in the backup.
    desk.copy_entries("laptop", head, &entries[5..]).unwrap();
    let mut desk = PostgresTeamStore::open(&settings(&url(login, "restored"), "desk-1")).unwrap();
    assert_eq!(desk.read_status().unwrap().protection, AuditProtection::Login);
    let open = desk.open_questions().unwrap();
    assert_eq!(open.iter().map(|question| &question.id).collect::<Vec<_>>(), [&ask(1).id]);
    let again = desk.answer_question(&answer(2, 3, "ben")).unwrap();
    assert!(matches!(again, AnswerReceipt::TooLate(_)), "{again:?}");
    let first = desk.answer_question(&answer(1, 4, "ben")).unwrap();
    assert!(matches!(first, AnswerReceipt::Recorded(_)), "{first:?}");
    let second = desk.answer_question(&answer(1, 5, "ada")).unwrap();
    assert!(matches!(second, AnswerReceipt::TooLate(_)), "{second:?}");
    // The machine sends again what is missing, and both chains are whole.
    let laptop = AuditChain { name: "laptop".to_owned(), head };
    assert_eq!(desk.chain_heads(Some("laptop")).unwrap(), [laptop]);
    desk.copy_entries("laptop", head, &entries[5..]).unwrap();
    desk.tend_audit().unwrap();
    for AuditChain { name, head: end } in desk.chain_heads(None).unwrap() {
        let report = desk.verify_chain(&name).unwrap().unwrap();
        let AuditChainReport::Whole { head, .. } = report else { panic!("{name}: {report:?}") };
        assert_eq!(head, end);
    }
}

#[test]
fn desks_are_updated_one_by_one() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let settings = settings(&server.url(&database), "desk-1");
    let mut old = PostgresTeamStore::open(&settings).unwrap();
    old.ask_question(&ask(1)).unwrap();
    let version: i32 =
        server.query(&database, "SELECT max(version) FROM callgate_team.layout").parse().unwrap();
    // A newer desk has added a column, and a table that only it knows.
    let add = |columns: &str, usable_from: i32| {
        server.query(
            &database,
            &format!(
                "BEGIN; {columns} INSERT INTO callgate_team.layout (version, usable_from)
                 SELECT max(version) + 1, {usable_from} FROM callgate_team.layout; COMMIT"
            ),
        );
    };
    add(
        "ALTER TABLE callgate_team.questions ADD COLUMN priority int;
         ALTER TABLE callgate_team.audit ADD COLUMN region text;
         CREATE TABLE callgate_team.later (id int);",
        version,
    );
    // The old one goes on, over the connection that it has and over a new one.
    old.answer_question(&answer(1, 1, "ada")).unwrap();
    let mut again = PostgresTeamStore::open(&settings).unwrap();
    again.ask_question(&ask(2)).unwrap();
    again.copy_entries("laptop", ChainHead::NONE, &ledger(ChainHead::NONE, 5)).unwrap();
    assert!(matches!(again.verify_chain("laptop"), Ok(Some(AuditChainReport::Whole { .. }))));
    assert_eq!(old.open_questions().unwrap().len(), 1);
    // A change that it cannot work with is reported before anything is written.
    add("", version + 2);
    let told = PostgresTeamStore::open(&settings).unwrap_err();
    assert!(matches!(told, TeamStoreError::Newer { .. }), "{told}");
}
