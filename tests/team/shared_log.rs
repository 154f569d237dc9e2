//! The log of a team as commands read it that have nothing but the address of the database.

use callgate_store::{ChainHead, EntryDraft, LedgerEntry, now_ms};
use callgate_team_store::{AuditCopy, AuditLabels, PostgresSettings, PostgresTeamStore, TeamStore};
use callgate_testkit::network_proxy::NetworkProxy;
use callgate_testkit::postgres_server::{PostgresServer, shared_server};
use callgate_testkit::process::{DEADLINE, Piped, run};
use callgate_testkit::until::until;
use callgate_wire::HiddenText;
use serde_json::Value;

use super::shared_desks::{SharedDesks, TeamCertificates};
use super::team_house::DeskMachine;

/// Returns a machine whose settings name the database.
fn machine_at(server: &PostgresServer, database: &str, more: &str) -> DeskMachine {
    let machine = DeskMachine::new();
    set_database(&machine, server, database, more);
    machine
}

fn set_database(machine: &DeskMachine, server: &PostgresServer, database: &str, more: &str) {
    let url = server.url(database);
    // Commands read no certificate.
    let certificate = "certificate = \"/none/desk.crt\"\ncertificate_key = \"/none/desk.key\"";
    let team = format!("[team]\ndatabase_url = \"{url}\"\n{certificate}\n{more}");
    machine.machine.home.write_settings(&format!("[page]\nport = 0\n{team}"));
    machine.machine.home.set_mode(".config/callgate/config.toml", 0o600);
}

fn open_store(server: &PostgresServer, database: &str) -> PostgresTeamStore {
    let (url, desk) = (HiddenText::new(server.url(database)), "desk:checker".to_owned());
    PostgresTeamStore::open(&PostgresSettings { url, desk, patience: DEADLINE }).unwrap()
}

/// Copies `count` entries of a machine's ledger, and returns where it ends.
fn copy(store: &mut dyn TeamStore, after: ChainHead, count: u64, at_ms: i64) -> ChainHead {
    let mut head = after;
    let copies = (0..count).map(|_| {
        let body = r#"{"tool":"Bash"}"#.to_owned();
        let draft = EntryDraft { at_ms, kind: "ran".to_owned(), question: None, body };
        let entry = LedgerEntry::chain_draft(&head, draft);
        head = entry.head();
        AuditCopy { labels: AuditLabels::default(), entry }
    });
    let copies: Vec<_> = copies.collect();
    store.copy_entries("laptop", after, &copies).unwrap()
}

/// Returns the numbers of the entries of the machine that were written.
fn numbers(lines: &str) -> Vec<u64> {
    let read = |line: &str| {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["machine"], "laptop");
        entry["seq"].as_u64().unwrap()
    };
    lines.lines().map(read).collect()
}

#[test]
fn whoever_reads_does_not_shorten_how_long_the_log_is_kept() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let days = || server.query(&database, "SELECT days FROM callgate_team.retention");
    assert_eq!(open_store(server, &database).set_kept_days(3650).unwrap(), Some(400));
    let machine = machine_at(server, &database, "");
    let status = machine.done(&["team", "status"]);
    assert!(status.contains("audit entries and closed questions for 3650 days"), "{status}");
    // Settings that say so are noted by two commands alone.
    set_database(&machine, server, &database, "keep_days = 500\n");
    machine.done(&["log", "--team"]);
    machine.done(&["team", "list"]);
    machine.command(&["doctor"]).output().unwrap();
    assert_eq!(days(), "3650");
    let status = run(machine.command(&["team", "status"]), DEADLINE).success();
    assert!(status.stdout.contains("for 500 days"), "{}", status.stdout);
    let told =
        "for 500 days from now on and no longer for 3650, and the desks remove what is older";
    assert!(status.stderr.contains(told), "{}", status.stderr);
    let status = run(machine.command(&["team", "status"]), DEADLINE).success();
    assert_eq!(status.stderr, "");
    let url = server.url(&database);
    let settings = format!("database_url = \"{url}\"\nkeep_days = 600\n");
    let balancer = NetworkProxy::start(0);
    let certificates = TeamCertificates::make();
    let house = certificates.start_desk(&balancer, &settings);
    house.desk.until("the desk notes it", || days() == "600");
    let log = || house.desk.machine.home.text("up.log");
    house
        .desk
        .until("it says so", || log().contains("600 days from now on and no longer for 500:"));
}

#[test]
fn whoever_follows_the_log_goes_on_after_the_server_was_away() {
    let Some(server) = shared_server() else { return };
    let _owned = server.own_server();
    let database = server.make_database();
    let mut store = open_store(server, &database);
    let head = copy(&mut store, ChainHead::NONE, 2, now_ms());
    let machine = machine_at(server, &database, "");
    let marks = machine.machine.home.text_path("exported");
    let mut following = Piped::spawn(
        machine.command(&["log", "--team", "--export", "ndjson", "--follow", "--resume", &marks]),
    );
    let next = |following: &mut Piped| numbers(&following.recv_line());
    assert_eq!((next(&mut following), next(&mut following)), (vec![1], vec![2]));
    server.kill();
    until("it says that the server is away", || {
        following.stderr().contains("cannot reach the team's database")
    });
    server.start();
    copy(&mut store, head, 2, now_ms());
    assert_eq!((next(&mut following), next(&mut following)), (vec![3], vec![4]));
    // What does not pass by itself ends it.
    server.query("postgres", &format!("DROP DATABASE {database} WITH (FORCE)"));
    assert_eq!(following.wait_exit(DEADLINE).code(), Some(1));
    assert!(following.stderr().contains("does not exist on the server"), "{}", following.stderr());
}

#[test]
fn programs_are_given_the_last_entries_too() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let mut store = open_store(server, &database);
    let head = copy(&mut store, ChainHead::NONE, 10, now_ms());
    let machine = machine_at(server, &database, "");
    let log = |more: &[&str]| machine.done(&[&["log", "--team"], more].concat());
    for format in [&["--json"][..], &["--export", "ndjson"]] {
        assert_eq!(numbers(&log(&[format, &["-n", "3"]].concat())), [8, 9, 10], "{format:?}");
        assert_eq!(numbers(&log(&[format, &["-n", "0"]].concat())).len(), 10, "{format:?}");
    }
    assert_eq!(log(&["--json", "-n", "3", "--grep", "nothing has this"]), "");
    // Who follows is given the last ones and what comes after them.
    let mut following =
        Piped::spawn(machine.command(&["log", "--team", "--json", "-n", "1", "--follow"]));
    assert_eq!(numbers(&following.recv_line()), [10]);
    copy(&mut store, head, 2, now_ms());
    assert_eq!([numbers(&following.recv_line()), numbers(&following.recv_line())], [[11], [12]]);
}

#[test]
fn what_was_removed_before_it_was_exported_is_told() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    let mut store = open_store(server, &database);
    // The clock of the machine is an hour behind.
    let slow = now_ms() - 3_600_000;
    let head = copy(&mut store, ChainHead::NONE, 10, slow);
    let machine = machine_at(server, &database, "");
    let marks = machine.machine.home.text_path("exported");
    let export = |more: &[&str]| {
        let words = ["log", "--team", "--export", "ndjson"];
        run(machine.command(&[&words, more].concat()), DEADLINE).success()
    };
    assert_eq!(numbers(&export(&["--since", "5m"]).stdout), (1..=10).collect::<Vec<_>>());
    let shown = machine.done(&["log", "--team", "--all", "--since", "5m", "--json"]);
    assert_eq!(numbers(&shown).len(), 10);
    assert!(export(&["--until", "5m"]).stdout.is_empty(), "they were recorded now");
    assert_eq!(numbers(&export(&["--resume", &marks]).stdout).len(), 10);
    copy(&mut store, head, 10, slow);
    server.query(
        &database,
        "SET search_path = callgate_team; DO $$ DECLARE day bigint := now_ms() / 86400000 - 500;
         BEGIN EXECUTE format('CREATE TABLE %I PARTITION OF audit FOR VALUES FROM (%s) TO (%s)',
             'audit_' || to_char(to_timestamp(day * 86400) AT TIME ZONE 'UTC', 'YYYYMMDD'),
             day * 86400000, (day + 1) * 86400000); END $$;
         UPDATE audit SET recorded_ms = recorded_ms - 500 * 86400000::bigint WHERE seq <= 15",
    );
    store.tend_audit().unwrap();
    let rest = export(&["--resume", &marks]);
    assert_eq!(numbers(&rest.stdout), (16..=20).collect::<Vec<_>>());
    let told = "laptop: entries 11 to 15 are missing here: the database removed them as too old";
    assert!(rest.stderr.contains(told), "{}", rest.stderr);
    let again = export(&["--resume", &marks]);
    assert_eq!((again.stdout, again.stderr), (String::new(), String::new()));
}

#[test]
fn an_invitation_ends_by_the_clock_of_the_database() {
    let Some(server) = shared_server() else { return };
    let _used = server.use_server();
    let database = server.make_database();
    open_store(server, &database);
    // That clock is two hours ahead of the desk's.
    server.query(
        &database,
        "CREATE OR REPLACE FUNCTION callgate_team.now_ms() RETURNS bigint LANGUAGE sql STABLE
         AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 7200000 $$",
    );
    let settings = format!("database_url = \"{}\"\n", server.url(&database));
    let balancer = NetworkProxy::start(0);
    let certificates = TeamCertificates::make();
    let house = certificates.start_desk(&balancer, &settings);
    let invite = || house.desk.command(&["team", "invite", "build-7", "--hours", "1"]).output();
    house.desk.until("the invitation", || invite().unwrap().status.success());
    let left = "SELECT substring(body FROM '\"until_ms\":([0-9]+)')::bigint
        - callgate_team.now_ms() FROM callgate_team.documents";
    let left: i64 = server.query(&database, left).parse().unwrap();
    assert!((3_000_000..=3_600_000).contains(&left), "{left}");
    let listed = house.desk.done(&["team", "list"]);
    assert!(listed.contains("invitation good until "), "{listed}");
}

#[test]
fn a_clock_that_is_set_while_a_desk_runs_counts_soon() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, _] = &team.desks;
    let token = one.invite(&["ci", "--job", "--hours", "1"]);
    let job = one.new_member().with_variable("CALLGATE_INVITATION", &token);
    // A desk that has just started may not have reached its database yet.
    job.until("it joins", || run(job.command(&["team", "join"]), DEADLINE).status.success());
    // As if the clock of the desks, which was two hours behind, were set right there.
    team.server.query(
        &team.database,
        "CREATE OR REPLACE FUNCTION callgate_team.now_ms() RETURNS bigint LANGUAGE sql STABLE
         AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 7200000 $$",
    );
    job.until("its token is over", || {
        // The desk looks at its members when somebody asks for them.
        one.views();
        job.line().and_then(|line| line.text).filter(|text| text.contains("its time is over"))
    });
}
