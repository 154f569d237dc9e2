//! The steps of `docs/guide/organisation.md`, without containers: the same commands, variables and
//! statements, with a server and desks of the test's own.

use std::collections::BTreeMap;
use std::fs::{self, File};

use callgate_testkit::certificates::TestAuthority;
use callgate_testkit::postgres_server::{PostgresServer, postgres_command};
use callgate_testkit::process::{DEADLINE, run};
use callgate_testkit::test_home::TestHome;
use callgate_testkit::tools::repo_root;
use callgate_wire::desk::RemoteState;

use super::Machine;
use super::shared_desks::SharedDesks;
use super::team_house::DeskMachine;

const OWNER: &str = "ours-7431";
const LOGIN: &str = "desk-7431";
const NEXT_LOGIN: &str = "next-7431";

fn read(name: &str) -> String {
    fs::read_to_string(repo_root().join(name)).unwrap()
}

/// Returns the rest of the one line of the guide that begins so.
fn step(begin: &str) -> String {
    let guide = read("docs/guide/organisation.md");
    let mut found = guide.lines().filter_map(|line| line.trim().strip_prefix(begin));
    let step = found.next().unwrap_or_else(|| panic!("no step {begin}")).to_owned();
    assert_eq!(found.next(), None, "{begin}");
    step
}

/// What stands in the place of the secrets that containers get.
struct Secrets(TestHome);

impl Secrets {
    fn write_url(&self, name: &str, login: &str, server: &PostgresServer) {
        let url = format!("postgres://{login}@127.0.0.1:{}/callgate?sslmode=disable", server.port);
        self.0.write_private(name, &url);
    }

    /// Returns a machine with the variables of a service in the compose file.
    fn machine_of(&self, service: &str) -> DeskMachine {
        let compose = read("examples/organisation/compose.yaml");
        let block = |begin: &str| {
            let block = compose.split_once(begin).unwrap_or_else(|| panic!("no {begin}")).1;
            block.split("\n\n").next().unwrap().to_owned()
        };
        let own = block(&format!("\n  {service}:\n"));
        assert!(own.contains("<<: *desk-environment"), "{own}");
        // What a service says itself goes before what all say.
        let both = block("\nx-desk-environment: &desk-environment\n") + "\n" + &own;
        let variables = both.lines().map(str::trim).filter(|line| line.starts_with("CALLGATE_"));
        let pairs = variables.map(|line| line.split_once(": ").unwrap());
        let variables: BTreeMap<&str, &str> = pairs.collect();
        let mut machine = DeskMachine::new();
        let place = format!("127.0.0.1:{}", machine.keep_port());
        variables.into_iter().fold(machine, |machine, (name, value)| {
            let value = match name {
                "CALLGATE_TEAM_LISTEN" => place.clone(),
                "CALLGATE_TEAM_ADDRESS" => "127.0.0.1:7443".to_owned(),
                _ => value.replace("/run/secrets/", &self.0.text_path("")),
            };
            machine.with_variable(name, &value)
        })
    }
}

fn has_line(desk: &DeskMachine, line: &str) {
    let told = desk.done(&["team", "status"]);
    assert!(told.contains(line), "{told}");
}

#[test]
fn a_database_is_prepared_and_its_login_replaced_while_desks_work() {
    let Some(server) = PostgresServer::create() else { return };
    server.start();
    // The administrator of the image.
    server.query("postgres", "CREATE ROLE postgres SUPERUSER LOGIN");
    let command = step("podman compose exec -T database psql ");
    let arguments = command.strip_suffix(" <database.sql").unwrap();
    let mut psql = postgres_command("psql");
    psql.args(arguments.split(' ').map(|word| match word.strip_suffix("_password=…") {
        Some("owner") => format!("owner_password={OWNER}"),
        Some("desk") => format!("desk_password={LOGIN}"),
        _ => word.to_owned(),
    }));
    psql.env("PGHOST", &server.folder).env("PGPORT", server.port.to_string());
    psql.stdin(File::open(repo_root().join("examples/organisation/database.sql")).unwrap());
    let told = psql.output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));

    let secrets = Secrets(TestHome::new());
    let [certificate, key] = ["desk-certificate", "desk-key"].map(|name| secrets.0.path(name));
    TestAuthority::create(secrets.0.folder()).certify("IP:127.0.0.1", &certificate, &key);
    secrets.write_url("database-url", &format!("callgate_login:{LOGIN}"), &server);
    secrets.write_url("owner-url", &format!("callgate_owner:{OWNER}"), &server);
    let desks = ["desk-1", "desk-2"].map(|service| secrets.machine_of(service));
    // Before the owner has made the tables a desk says who has to.
    let told = desks[0].refused(&["team", "invite", "build-7"]);
    assert!(told.contains("let an owner of the database start once"), "{told}");
    assert!(read("examples/organisation/compose.yaml").contains("\n    command: [team, status]\n"));
    assert_eq!(step("podman compose run --rm "), "owner");
    has_line(&secrets.machine_of("owner"), "database  answers\n");
    for desk in &desks {
        desk.up();
        has_line(desk, "protected the login of this desk cannot change or remove audit entries\n");
    }
    desks[0].done(&["team", "invite", "build-7"]);

    // The statement of the guide for another login, and the desks one after the other.
    let guide = read("docs/guide/organisation.md");
    let (_, statement) = guide.split_once("`CREATE ROLE callgate_login_2").unwrap();
    let (statement, _) = statement.split_once('`').unwrap();
    let statement = statement.replace('…', NEXT_LOGIN);
    server.query("postgres", &format!("CREATE ROLE callgate_login_2{statement}"));
    secrets.write_url("database-url", &format!("callgate_login_2:{NEXT_LOGIN}"), &server);
    for (desk, other) in [(&desks[0], &desks[1]), (&desks[1], &desks[0])] {
        desk.kill_desk();
        let status = other.status().unwrap();
        assert!(status.listening.is_some(), "the other one serves");
        desk.up();
    }
    server.query("postgres", "DROP ROLE callgate_login");
    for desk in &desks {
        has_line(desk, "protected the login of this desk cannot change or remove audit entries\n");
        assert!(desk.done(&["team", "list"]).contains("build-7"));
    }
    desks[1].done(&["team", "invite", "build-8"]);
}

#[test]
fn the_key_of_the_rules_is_replaced_as_the_guide_says() {
    let Some(team) = SharedDesks::start() else { return };
    let [one, two] = &team.desks;
    // Each signs with a key of its own, and denies another command.
    let sign = |command: &str| {
        let signer = Machine::with_rules("");
        let rule = format!("[[rule]]\nname = \"r\"\ndecide = \"deny\"\ncommand = {command:?}\n");
        signer.home.write("team.toml", &rule);
        let told = signer.run(&["team", "rules", "sign", "team.toml", "--team", "acme"]).success();
        let key = told.stdout.trim_end().rsplit(' ').next().unwrap().to_owned();
        (signer.home.text("team.bundle"), key)
    };
    let take = |desk: &DeskMachine, (bundle, key): &(String, String)| {
        desk.machine.home.write("team.bundle", bundle);
        let path = desk.machine.home.text_path("team.bundle");
        desk.done(&["team", "rules", "take", &path, "--key", key]);
    };
    let (before, after) = (sign("git push"), sign("git pull"));
    take(&one.desk, &before);
    take(&two.desk, &before);
    let member = one.member("build-7");
    let has_key = |key: &str| {
        let shown = member.done(&["team", "rules", "show"]);
        shown.starts_with("1 rule (team acme") && shown.ends_with(&format!("key {key}\n"))
    };
    member.until("the member has the rules", || has_key(&before.1));
    assert_eq!(member.ask("git push").decision()["behavior"], "deny");

    take(&one.desk, &after);
    take(&two.desk, &after);
    for house in [one, two] {
        assert!(house.desk.done(&["team", "rules", "show"]).contains(&after.1));
    }
    // Until it has joined again, the old ones hold.
    assert!(has_key(&before.1));
    assert_eq!(member.ask("git push").decision()["behavior"], "deny");
    let invitation = two.invite(&["build-7"]);
    member.done(&["team", "leave"]);
    member.until("it joins again", || {
        run(member.command(&["team", "join", &invitation]), DEADLINE).status.success()
    });
    member.wait_for_line(RemoteState::Connected);
    member.until("the member has the new rules", || has_key(&after.1));
    assert_eq!(member.ask("git pull").decision()["behavior"], "deny");
    let mut bo = member.person("Bo");
    let hook = member.ask("git push");
    let row = bo.question(&member, "git push");
    assert!(bo.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}
