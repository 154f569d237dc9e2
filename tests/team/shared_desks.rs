//! Several desks of a team behind one address, which share a real PostgreSQL database.

use std::path::Path;
use std::sync::RwLockReadGuard;

use callgate_store::Sha256Hash;
use callgate_testkit::browser::Browser;
use callgate_testkit::certificates::TestAuthority;
use callgate_testkit::network_proxy::NetworkProxy;
use callgate_testkit::page::show;
use callgate_testkit::postgres_server::{PostgresServer, shared_server};
use callgate_testkit::process::Piped;
use callgate_testkit::test_home::TestHome;
use callgate_wire::desk::RemoteState;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::people::{CompanyProvider, begin_sign_in, invite_person, wait_until_live};
use super::team_house::{Asker, DeskMachine, TeamHouse};

/// For how many days they keep what is over: not what is kept without the setting.
const KEPT_DAYS: u32 = 90;

/// Two desks, their database, and what stands before them.
pub(crate) struct SharedDesks {
    pub(crate) desks: [TeamHouse; 2],
    pub(crate) balancer: NetworkProxy,
    pub(crate) server: &'static PostgresServer,
    pub(crate) database: String,
    _certificates: TeamCertificates,
    _used: RwLockReadGuard<'static, ()>,
}

impl SharedDesks {
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(|_| String::new())
    }

    /// Starts desks with more lines of settings, which may have the one address.
    pub(crate) fn start_with(more: impl FnOnce(&NetworkProxy) -> String) -> Option<Self> {
        let server = shared_server()?;
        let used = server.use_server();
        let database = server.make_database();
        let balancer = NetworkProxy::start(0);
        let certificates = TeamCertificates::make();
        let more = more(&balancer);
        let desks = [1, 2].map(|number| {
            let settings = database_settings(server, &database, number);
            certificates.start_desk(&balancer, &format!("{settings}{more}"))
        });
        balancer.forward_to(desks[0].port);
        Some(Self { desks, balancer, server, database, _certificates: certificates, _used: used })
    }

    /// Has new connections come to one of the desks.
    pub(crate) fn lead_to(&self, desk: usize) {
        self.balancer.forward_to(self.desks[desk].port);
    }

    /// Cuts all lines, so that members come to the desk to which the address leads.
    pub(crate) fn move_to(&self, desk: usize) {
        self.lead_to(desk);
        self.balancer.drop_connections();
    }

    pub(crate) fn count(&self, sql: &str) -> String {
        self.server.query(&self.database, &format!("SET search_path = callgate_team; {sql}"))
    }
}

/// The one certificate of all desks.
pub(crate) struct TeamCertificates {
    pub(crate) folder: TempDir,
}

impl TeamCertificates {
    pub(crate) fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [certificate, key] = ["desk.crt", "desk.key"].map(|name| folder.path().join(name));
        TestAuthority::create(folder.path()).certify("IP:127.0.0.1", &certificate, &key);
        Self { folder }
    }

    /// Starts a desk behind `balancer` with these further lines of settings.
    pub(crate) fn start_desk(&self, balancer: &NetworkProxy, settings: &str) -> TeamHouse {
        let folder = self.folder.path();
        let [certificate, key] = ["desk.crt", "desk.key"].map(|name| folder.join(name));
        let settings = format!(
            "certificate = {}\ncertificate_key = {}\n{settings}",
            quoted(&certificate),
            quoted(&key)
        );
        TeamHouse::sharing(&balancer.address.to_string(), &settings, &folder.join("ca.crt"))
    }
}

/// Returns a path as settings have it.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

/// Names the database in the settings of a desk: the second one has a program that prints it.
pub(crate) fn database_settings(server: &PostgresServer, database: &str, number: usize) -> String {
    let url = server.url(database);
    let address = match number {
        2 => format!("database_url_command = [\"echo\", \"{url}\"]"),
        _ => format!("database_url = \"{url}\""),
    };
    format!("desk_name = \"desk-{number}\"\nkeep_days = {KEPT_DAYS}\n{address}\n")
}

#[test]
fn what_is_asked_at_one_desk_is_answered_at_the_other() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    // Invited at one desk, let in at the other.
    team.lead_to(1);
    let member = one.member("build-7");
    assert!(two.desk.done(&["team", "list"]).starts_with("build-7: machine, connected for "));
    let listed = one.desk.done(&["team", "list"]);
    assert!(listed.starts_with("build-7: machine, not connected to this desk"), "{listed}");
    let (mut ada, mut ben) = (one.desk.person("Ada"), two.desk.person("Ben"));
    let hook = member.ask("make one");
    let (of_ada, of_ben) =
        (ada.question(&one.desk, "make one"), ben.question(&two.desk, "make one"));
    assert_eq!(of_ada.question, of_ben.question);
    assert_eq!(of_ada.machine.as_deref(), Some("build-7"));
    assert!(ada.allow(&of_ada).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    two.desk.until("it is closed there", || {
        !ben.inbox().iter().any(|row| row.question == of_ben.question)
    });
    assert!(!ben.allow(&of_ben).0, "it is answered once");
    assert_eq!(team.count("SELECT count(*), max(answered_by) FROM questions"), "1|Ada");
}

/// PostgreSQL takes no zero byte in a text.
#[test]
fn words_that_the_database_does_not_take_cost_no_answer() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, _] = &team.desks;
    let member = one.member("build-7");
    let said = json!({ "type": "assistant", "isSidechain": false,
        "message": { "content": [{ "type": "text", "text": "Cleans \u{0} up." }] } });
    member.machine.home.write("said.jsonl", &format!("{said}\n"));
    let (folder, transcript) =
        (member.machine.home.folder(), member.machine.home.path("said.jsonl"));
    let hook = member.command(&["hook"]);
    let hook = Asker::start_after(hook, folder, "make clean", "For the test", Some(&transcript));
    let mut ada = one.desk.person("Ada");
    let question = ada.question(&one.desk, "make clean");
    assert!(ada.allow(&question).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    assert_eq!(team.count("SELECT last_words FROM questions"), "Cleans  up.");
}

#[test]
fn the_status_says_how_it_stands_with_the_team_and_its_database() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    let member = one.member("build-7");
    invite_person(one, "ada");
    let status = |house: &TeamHouse| house.desk.done(&["team", "status"]);
    let line = |status: &str, about: &str| {
        let line = status.lines().find(|line| line.starts_with(about));
        line.unwrap_or_else(|| panic!("{about}: {status}")).to_owned()
    };
    let told = two.desk.until("it knows the members", || {
        Some(status(two)).filter(|told| told.contains("1 machine, 0 jobs, 1 person"))
    });
    assert!(line(&told, "desk ").contains("desk-2, at "), "{told}");
    assert!(line(&told, "members ").ends_with("connected to this desk: 0"), "{told}");
    assert!(line(&status(one), "members ").ends_with("connected to this desk: 1"));
    assert!(line(&told, "database ").ends_with(" answers"), "{told}");
    assert!(line(&told, "size ").contains("B, of which the audit log "), "{told}");
    assert!(line(&told, "kept ").ends_with(&format!("for {KEPT_DAYS} days")), "{told}");
    assert!(line(&told, "protected ").contains("a role that cannot change or remove"), "{told}");
    assert!(!told.contains("opensesame"), "the password is not shown: {told}");
    // Each desk has few connections, however many machines it serves.
    let mut others: Vec<DeskMachine> = Vec::new();
    for name in ["build-8", "build-9"] {
        others.push(one.member(name));
    }
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'callgate'";
    let count: u32 = team.count(count).parse().unwrap();
    assert!((2..=6).contains(&count), "{count} connections of two desks");
    drop((member, others));
    for desk in [one, two] {
        let shown = desk.desk.done(&["config", "show"]);
        assert!(!shown.contains("opensesame"), "{shown}");
    }
}

#[test]
fn a_killed_desk_loses_nothing_and_its_members_go_to_another() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    let member = one.member("build-7");
    let mut hook = member.ask("make one");
    let mut ben = two.desk.person("Ben");
    let before = ben.question(&two.desk, "make one");
    one.desk.until("it is recorded there, too", || {
        one.desk.entries().iter().any(|entry| entry.kind == "asked")
    });
    one.desk.kill_desk();
    team.lead_to(1);
    member.wait_for_line(RemoteState::Failed);
    member.wait_for_line(RemoteState::Connected);
    assert!(hook.still_waits());
    let row = ben.question(&two.desk, "make one");
    assert_eq!(row.question, before.question, "it is the same question");
    assert!(ben.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    // Whoever was killed learns what became of it.
    one.desk.up();
    let mut ada = one.desk.person("Ada");
    one.desk.until("it has heard of the answer", || {
        one.desk.entries().iter().any(|entry| entry.kind == "closed")
    });
    assert!(ada.inbox().iter().all(|row| row.question != before.question));
    assert_eq!(team.count("SELECT count(*), max(answered_by) FROM questions"), "1|Ben");
}

#[test]
fn a_member_that_is_revoked_at_one_desk_is_out_at_the_other() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    team.lead_to(1);
    let member = one.member("build-7");
    assert_eq!(
        one.desk.done(&["team", "revoke", "build-7"]),
        "build-7 does not belong to the team any more.\n"
    );
    let why = member.until("it says why", || {
        member.line().and_then(|line| line.text).filter(|text| text.contains("revoked"))
    });
    assert!(why.contains("callgate team leave"), "{why}");
    // Nor does the other desk let it in.
    team.lead_to(0);
    member.kill_desk();
    member.up();
    member.until("it is refused", || {
        member.line().and_then(|line| line.text).filter(|text| text.contains("revoked"))
    });
    assert!(!two.desk.done(&["team", "list"]).contains("build-7"));
    let told = two.desk.refused(&["team", "revoke", "build-7"]);
    assert!(told.contains("no member"), "{told}");
}

#[test]
fn an_invitation_is_used_once_at_all_desks() {
    let Some(team) = SharedDesks::start() else { return };
    let invitation = team.desks[0].invite(&["build-7"]);
    team.lead_to(1);
    let [member, other] = [(); 2].map(|()| team.desks[0].new_member());
    let join = |machine: &DeskMachine| machine.command(&["team", "join", &invitation]).output();
    member.until("it joins", || join(&member).unwrap().status.success());
    team.lead_to(0);
    other.until("it is refused", || {
        let told = join(&other).unwrap();
        assert!(!told.status.success());
        String::from_utf8_lossy(&told.stderr).contains("was used already")
    });
}

#[test]
fn rules_and_roles_of_one_desk_hold_at_the_other() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    let rules = "[[rule]]\nname = \"no pushing\"\ndecide = \"deny\"\ncommand = \"git push\"\n";
    one.desk.machine.home.write("team.toml", rules);
    let path = one.desk.machine.home.text_path("team.toml");
    let told = one.desk.done(&["team", "rules", "sign", &path, "--team", "acme"]);
    let key = told.split_whitespace().find(|word| word.len() == 64).unwrap().to_owned();
    let bundle = one.desk.machine.home.text_path("team.bundle");
    one.desk.done(&["team", "rules", "take", &bundle, "--key", &key]);
    two.desk.until("the other desk has them", || {
        two.desk.done(&["team", "rules", "show"]).contains("acme")
    });
    // Its member gets them from there, and they decide there.
    team.lead_to(1);
    let member = one.member("build-7");
    member
        .until("the member has them", || member.done(&["team", "rules", "show"]).contains("acme"));
    assert_eq!(member.ask("git push origin main").decision()["behavior"], "deny");
    one.desk.machine.home.write("r.toml", "[[role]]\nname = \"x\"\npeople = \"ada\"\n");
    let role_file = one.desk.machine.home.text_path("r.toml");
    let told = two.desk.command(&["team", "roles", "--set", "/dev/null/none"]).output().unwrap();
    assert_eq!(told.status.code(), Some(1), "a file that cannot be read changes nothing");
    let told = one.desk.done(&["team", "roles", "--set", &role_file]);
    assert_eq!(told, "All desks of the team take them.\n");
    let file = two.desk.machine.home.path(".config/callgate/roles.toml");
    two.desk.until("the roles are there", || file.exists());
    one.desk.done(&["team", "roles", "--clear"]);
    two.desk.until("the roles are gone", || !file.exists());
}

#[test]
fn without_its_database_a_desk_answers_nothing_and_says_so() {
    let Some(server) = shared_server() else { return };
    let owned = server.own_server();
    let database = server.make_database();
    let balancer = NetworkProxy::start(0);
    let certificates = TeamCertificates::make();
    // A desk that finds no server when it starts runs.
    server.kill();
    let house = certificates.start_desk(&balancer, &database_settings(server, &database, 1));
    balancer.forward_to(house.port);
    let told = house.desk.refused(&["team", "invite", "build-7"]);
    assert!(told.contains("cannot reach the team's database"), "{told}");
    assert!(!told.contains("opensesame"), "the password is not shown");
    let status = house.desk.command(&["team", "status"]).output().unwrap();
    assert_eq!(status.status.code(), Some(1), "{}", String::from_utf8_lossy(&status.stdout));
    server.start();
    let member = house.member("build-7");
    let (mut ada, mut bo) = (house.desk.person("Ada"), member.person("Bo"));
    let mut hook = member.ask("make one");
    let row = ada.question(&house.desk, "make one");
    server.kill();
    let (_, told) = ada.allow(&row);
    assert!(told.contains("this counts when it is back, unless somebody else is faster"), "{told}");
    assert!(hook.still_waits(), "what cannot be recorded is not answered");
    let row = bo.question(&member, "make one");
    assert!(bo.allow(&row).0, "the member's own desk goes on");
    assert_eq!(hook.decision()["behavior"], "allow");
    // What is asked meanwhile is asked at the member alone, since the desk cannot record it.
    let [answered, mut waiting] = ["make three", "make four"].map(|command| member.ask(command));
    let row = bo.question(&member, "make three");
    bo.question(&member, "make four");
    assert!(bo.allow(&row).0);
    assert_eq!(answered.decision()["behavior"], "allow");
    member.until("the line ends", || {
        member.line().is_none_or(|line| line.state != RemoteState::Connected)
    });
    assert!(ada.inbox().iter().all(|row| row.summary == "make one"), "{:?}", ada.inbox());
    assert!(waiting.still_waits());
    server.start();
    house.desk.until("the database answers again", || {
        house.desk.command(&["team", "status"]).output().unwrap().status.success()
    });
    // What still waits comes with the line, and what was answered meanwhile does not.
    let row = ada.question(&house.desk, "make four");
    assert!(ada.allow(&row).0);
    assert_eq!(waiting.decision()["behavior"], "allow");
    let again = member.ask("make two");
    let row = ada.question(&house.desk, "make two");
    assert!(ada.allow(&row).0);
    assert_eq!(again.decision()["behavior"], "allow");
    let count = "SELECT count(*) FROM callgate_team.questions";
    assert_eq!(server.query(&database, count), "3", "one, four and two");
    drop(owned);
}

#[test]
fn a_page_of_a_person_goes_on_at_another_desk() {
    let Some(page) = Browser::start(1280, 800) else { return };
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    let member = one.member("build-7");
    let link = invite_person(one, "ada");
    page.open(&link);
    wait_until_live(&page);
    let hook = member.ask("make one");
    show(&page, "make one");
    // The desk with the line and the page is killed.
    one.desk.kill_desk();
    team.move_to(1);
    page.wait_for("it is noticed", "return document.body.dataset.connection !== 'live'");
    wait_until_live(&page);
    show(&page, "make one");
    page.click("[data-press=allow]");
    assert_eq!(hook.decision()["behavior"], "allow");
    assert_eq!(team.count("SELECT max(answered_by) FROM questions"), "ada");
    // Signed out at one desk is signed out at all.
    two.desk.done(&["team", "revoke", "ada"]);
    page.wait_for("it is signed out", "return document.querySelector('[data-view=sign-in]')");
    one.desk.up();
    team.move_to(0);
    page.open(&link);
    page.wait_for("it is signed out", "return document.querySelector('[data-view=sign-in]')");
}

#[test]
fn a_sign_in_that_one_desk_has_begun_another_one_ends() {
    let Some(page) = Browser::start(1280, 800) else { return };
    let mut provider = None;
    let home = TestHome::new();
    let team = SharedDesks::start_with(|balancer| {
        provider = CompanyProvider::start(&balancer.address.to_string());
        provider.as_ref().map(|provider| provider.settings(&home)).unwrap_or_default()
    });
    let (Some(team), Some(_provider)) = (team, provider) else { return };
    invite_person(&team.desks[0], "ada@example.org");
    // Somebody sees what comes back, and the ticket of the tab.
    page.run_before_pages(
        "if (location.hash.startsWith('#answer=')) {
            sessionStorage.setItem('answer', new URLSearchParams(location.hash.slice(1)).get('answer'));
            sessionStorage.setItem('ticket', sessionStorage.getItem('callgate.sign-in'));
        }",
    );
    begin_sign_in(&page, &team.balancer.address.to_string(), "ada@example.org");
    team.move_to(1);
    page.click("button[type=submit]");
    wait_until_live(&page);
    page.wait_for_text(".nav", "ada@example.org");
    let linked = "SELECT count(*) FROM documents WHERE body LIKE '%viewer/%'";
    assert_eq!(team.count(linked), "1");
    // It was good once, at all desks.
    for desk in [1, 0] {
        team.move_to(desk);
        wait_until_live(&page);
        let told = page.run_async(
            "const done = arguments[arguments.length - 1];
            const [answer, ticket] = ['answer', 'ticket'].map(name => sessionStorage.getItem(name));
            const body = JSON.stringify({ answer, ticket, name: 'a thief' });
            const headers = { 'content-type': 'application/json' };
            fetch('/api/signed-in', { method: 'POST', headers, body })
                .then(async answer => done([answer.status, await answer.text()]), error => done(`${error}`));",
            &json!([]),
        );
        assert_eq!(told[0], 403, "{told}");
        assert!(told[1].as_str().unwrap().contains("The sign-in failed."), "{told}");
    }
}

#[test]
fn the_log_of_the_team_has_the_ledgers_of_all_machines() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    let rules = "[[rule]]\nname = \"no pushing\"\ndecide = \"deny\"\ncommand = \"git push\"\n";
    let member = one.new_member();
    member.machine.home.write(".config/callgate/rules.toml", rules);
    one.let_join(&member, "build-7");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    // Seven entries over one desk, and more over the other: one chain.
    assert_eq!(member.ask("git push origin main").decision()["behavior"], "deny");
    let mut ada = one.desk.person("Ada");
    let hook = member.ask("make one");
    let row = ada.question(&one.desk, "make one");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    team.move_to(1);
    member.wait_for_line(RemoteState::Connected);
    assert_eq!(member.ask("git push origin next").decision()["behavior"], "deny");
    let log = |arguments: &[&str]| two.desk.done(&[&["log", "--team"], arguments].concat());
    two.desk.until("the whole ledger is there", || {
        let whole = member.entries().len();
        log(&["--machine", "build-7", "--json"]).lines().count() == whole
    });
    let copied = log(&["--machine", "build-7", "--json"]);
    let hashes = copied.lines().map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["machine"], "build-7");
        entry["hash"].as_str().unwrap().to_owned()
    });
    let own = member.entries().into_iter().map(|entry| Sha256Hash(entry.hash).to_string());
    assert_eq!(hashes.collect::<Vec<_>>(), own.collect::<Vec<_>>());
    // Who has allowed what, and what the rules have denied.
    let allowed = log(&["--decision", "allow", "--who", "Ada", "--since", "1h"]);
    assert!(allowed.contains("on build-7") && allowed.contains("make one"), "{allowed}");
    let folder = member.machine.home.folder().display().to_string();
    let denied = log(&["--decision", "deny", "--project", &folder]);
    assert_eq!(denied.lines().filter(|line| line.contains("  deny  ")).count(), 2, "{denied}");
    assert!(!log(&["--all"]).contains("opensesame"));
    let of_one = log(&["--verify", "--machine", "build-7"]);
    assert!(of_one.contains("build-7: whole from entry 1 on; its head is "), "{of_one}");
    let whole = log(&["--verify"]);
    assert!(whole.contains("The log of the team is whole: 2 chains"), "{whole}");
    // An export goes on where it has ended, also if that was at another desk.
    let marks = two.desk.machine.home.text_path("exported");
    let export = || log(&["--export", "csv", "--resume", &marks]);
    let first = export();
    assert!(first.contains("\"git push origin next\"") || first.contains("git push origin next"));
    assert_eq!(export(), "");
    assert_eq!(member.ask("git push origin last").decision()["behavior"], "deny");
    let more =
        two.desk.until("what is new is exported", || Some(export()).filter(|it| !it.is_empty()));
    assert!(more.contains("git push origin last") && !more.contains("origin next"), "{more}");
    // Collectors and security systems get each entry with the machine that it is of.
    let otlp = log(&["--export", "otlp", "--machine", "build-7"]);
    let records: Vec<Value> =
        otlp.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), member.entries().len());
    for record in &records {
        let of_host = &record["resourceLogs"][0]["resource"]["attributes"][1];
        assert_eq!(of_host, &json!({ "key": "host.name", "value": { "stringValue": "build-7" } }));
    }
    assert!(otlp.contains("\"callgate.asked\"") && otlp.contains("Bash: make one"), "{otlp}");
    let syslog = log(&["--export", "syslog", "--decision", "deny"]);
    let heads = syslog.lines().map(|line| line.split(' ').skip(2).take(5).collect::<Vec<_>>());
    for head in heads {
        assert!(matches!(head[..], ["build-7", "callgate", "-", _, "-"]), "{head:?}");
    }
    assert!(syslog.contains("git push origin next"), "{syslog}");
    // Or it is written as it grows, in any form.
    let mut following = Piped::spawn(
        two.desk.command(&["log", "--team", "--export", "ndjson", "--follow", "--resume", &marks]),
    );
    assert_eq!(member.ask("git push origin more").decision()["behavior"], "deny");
    while !following.recv_line().contains("git push origin more") {}
    drop(following);
    // Somebody who can write to the database is found out.
    let change = "UPDATE audit SET body = replace(body, 'git push origin next', 'git pull')";
    team.count(change);
    let broken = two.desk.command(&["log", "--team", "--verify"]).output().unwrap();
    let told = String::from_utf8(broken.stdout).unwrap();
    assert_eq!(broken.status.code(), Some(1), "{told}");
    assert!(told.contains("build-7: broken at entry"), "{told}");
    // Without a database there is no such log.
    let told = member.refused(&["log", "--team"]);
    assert!(told.contains("team.database_url"), "{told}");
}
