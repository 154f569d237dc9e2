//! A team's database that is restored from a backup, and the desk that goes on with it.

use std::fs;

use callgate_team_store::{
    AnswerReceipt, AuditChain, AuditChainReport, PostgresSettings, PostgresTeamStore, TeamAnswer,
    TeamStore,
};
use callgate_testkit::certificates::{TestAuthority, run_command};
use callgate_testkit::network_proxy::NetworkProxy;
use callgate_testkit::postgres_server::{PostgresServer, postgres_command, shared_server};
use callgate_testkit::process::{DEADLINE, run};
use callgate_wire::HiddenText;
use callgate_wire::approval::{Decision, RequestId};
use callgate_wire::desk::RemoteState;
use rustix::fs::Mode;

use super::team_house::TeamHouse;

/// Copies a database into another one, which is empty.
fn copy_by_backup(server: &PostgresServer, from: &str, to: &str) {
    let backup = server.folder.join(format!("{from}.backup"));
    let program = |name: &str, database: &str| {
        let mut program = postgres_command(name);
        program.args(["-U", "admin", "-d", database, "-h"]).arg(&server.folder);
        program.args(["-p", &server.port.to_string()]);
        program
    };
    let mut dump = program("pg_dump", from);
    dump.args(["--format=custom", "--file"]).arg(&backup);
    run_command(dump);
    let mut restore = program("pg_restore", to);
    restore.args(["--exit-on-error", "--single-transaction"]).arg(&backup);
    run_command(restore);
}

#[test]
fn a_desk_goes_on_with_a_restored_database() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let (before, after) = (server.make_database(), server.make_database());
    let folder = tempfile::tempdir().unwrap();
    let authority = TestAuthority::create(folder.path());
    let [certificate, key] = ["desk.crt", "desk.key"].map(|name| folder.path().join(name));
    authority.certify("IP:127.0.0.1", &certificate, &key);
    let url_file = folder.path().join("database-url");
    fs::write(&url_file, server.url(&before)).unwrap();
    rustix::fs::chmod(&url_file, Mode::RUSR | Mode::WUSR).unwrap();
    let settings = format!(
        "certificate = {certificate:?}\ncertificate_key = {key:?}\ndesk_name = \"desk-1\"\n\
         database_url_file = {url_file:?}\n"
    );
    let address = NetworkProxy::start(0);
    let house = TeamHouse::sharing(&address.address.to_string(), &settings, &authority.certificate);
    address.forward_to(house.port);
    let (member, invitation) = (house.new_member(), house.invite(&["build-7"]));
    // A desk that has just started does not know the members yet.
    house.desk.until("it lets the machine in", || {
        run(member.command(&["team", "join", &invitation]), DEADLINE).status.success()
    });
    member.up();
    member.wait_for_line(RemoteState::Connected);
    let mut ada = house.desk.person("Ada");
    let (one, two) = (member.ask("make one"), member.ask("make two"));
    let row = ada.question(&house.desk, "make two");
    assert!(ada.allow(&row).0);
    assert_eq!(two.decision()["behavior"], "allow");
    ada.question(&house.desk, "make one");

    let copied = "SELECT count(*) > 0 FROM callgate_team.chains WHERE machine = 'build-7'";
    house.desk.until("its ledger is copied", || server.query(&before, copied) == "t");

    copy_by_backup(server, &before, &after);
    house.desk.kill_desk();
    fs::write(&url_file, server.url(&after)).unwrap();
    house.desk.up();
    let mut ada = ada.again(&house.desk);
    let row = ada.question(&house.desk, "make one");
    assert!(!ada.inbox().iter().any(|row| row.summary == "make two"), "it was answered");
    assert!(ada.allow(&row).0);
    assert_eq!(one.decision()["behavior"], "allow");

    let settings = PostgresSettings {
        url: HiddenText::new(server.url(&after)),
        desk: "checker".to_owned(),
        patience: DEADLINE,
    };
    let mut store = PostgresTeamStore::open(&settings).unwrap();
    let ids =
        server.query(&after, "SELECT id FROM callgate_team.questions WHERE state = 'answered'");
    assert_eq!(ids.lines().count(), 2, "{ids}");
    for (number, id) in ids.lines().enumerate() {
        let second = TeamAnswer {
            id: RequestId::from_random([u8::try_from(number).unwrap(); 16]),
            question: RequestId::parse(id).unwrap(),
            by: "ben".to_owned(),
            members: Vec::new(),
            roles: 0,
            decision: Decision::Deny,
            body: r#"{"decision":"deny","by":"ben"}"#.to_owned(),
        };
        let told = store.answer_question(&second).unwrap();
        assert!(matches!(told, AnswerReceipt::TooLate(_)), "{told:?}");
    }
    for AuditChain { name, .. } in store.chain_heads(None).unwrap() {
        let report = store.verify_chain(&name).unwrap().unwrap();
        assert!(matches!(report, AuditChainReport::Whole { .. }), "{name}: {report:?}");
    }
}
