//! Another PostgreSQL server, or a restored copy, takes the place of the database under two desks
//! that run on. Only the full run does it with servers.

use std::env;

use callgate_testkit::browser::Browser;
use callgate_testkit::network_proxy::NetworkProxy;
use callgate_testkit::postgres_server::PostgresServer;
use callgate_testkit::process::{DEADLINE, run};
use callgate_wire::desk::RemoteState;

use super::people::{invite_person, wait_until_live};
use super::shared_desks::{SharedDesks, TeamCertificates, database_settings};
use super::team_house::{DeskMachine, Person, TeamHouse};

/// Two desks whose database is on a server with a synchronous standby. They know one address, which
/// leads to either.
struct ReplicatedDesks {
    desks: [TeamHouse; 2],
    balancer: NetworkProxy,
    server: PostgresServer,
    standby: PostgresServer,
    address: NetworkProxy,
    database: String,
    _certificates: TeamCertificates,
}

impl ReplicatedDesks {
    /// Starts all, in the full run alone.
    fn start() -> Option<Self> {
        env::var_os("CALLGATE_FULL")?;
        let server = PostgresServer::create()?;
        server.start();
        let (standby, database) = (server.make_standby(), server.make_database());
        let (address, balancer) = (NetworkProxy::start(server.port), NetworkProxy::start(0));
        let certificates = TeamCertificates::make();
        let desks = [1, 2].map(|number| {
            let settings = database_settings(&server, &database, number);
            let (direct, port) = (format!(":{}/", server.port), address.address.port());
            certificates.start_desk(&balancer, &settings.replace(&direct, &format!(":{port}/")))
        });
        balancer.forward_to(desks[0].port);
        Some(Self {
            desks,
            balancer,
            server,
            standby,
            address,
            database,
            _certificates: certificates,
        })
    }

    /// Has the standby take the place of the server, which was killed.
    fn promote_standby(&self) {
        self.standby.promote();
        self.address.forward_to(self.standby.port);
    }

    fn count(&self, sql: &str) -> String {
        self.standby.query(&self.database, &format!("SET search_path = callgate_team; {sql}"))
    }
}

fn until_it_answers(house: &TeamHouse) {
    house.desk.until("the database answers", || {
        run(house.desk.command(&["team", "status"]), DEADLINE).status.success()
    });
}

fn until_it_says(house: &TeamHouse, text: &str) {
    house.desk.until(text, || house.desk.machine.home.text("up.log").contains(text));
}

fn assert_whole(house: &TeamHouse) {
    let told = house.desk.done(&["log", "--team", "--verify"]);
    assert!(told.contains("The log of the team is whole"), "{told}");
}

#[test]
fn two_desks_go_on_with_a_promoted_standby() {
    let Some(page) = Browser::start(1280, 800) else { return };
    let Some(team) = ReplicatedDesks::start() else { return };
    let [one, other] = &team.desks;
    let (member, left) = (one.member("build-7"), one.member("build-9"));
    let (mut ada, mut ben) = (one.desk.person("Ada"), other.desk.person("Ben"));
    team.balancer.forward_to(other.port);
    let link = invite_person(one, "cleo");
    page.open(&link);
    wait_until_live(&page);
    team.balancer.forward_to(one.port);
    let is_out =
        || page.wait_for("she is out", "return document.querySelector('[data-view=sign-in]')");
    one.desk.done(&["team", "revoke", "cleo"]);
    other.desk.done(&["team", "revoke", "build-9"]);
    is_out();
    let answered = member.ask("make one");
    let row_of_one = ada.question(&one.desk, "make one");
    assert!(ada.allow(&row_of_one).0);
    assert_eq!(answered.decision()["behavior"], "allow");
    let [open, mut pressed] = ["make two", "make three"].map(|command| member.ask(command));
    let row_of_two = ben.question(&other.desk, "make two");
    let row_of_three = ada.question(&one.desk, "make three");

    team.server.kill();
    let (_, told) = ada.allow(&row_of_three);
    assert!(told.contains("this counts when it is back"), "{told}");
    let between = member.ask("make four");
    assert!(pressed.still_waits());
    team.promote_standby();

    // A press that waited counts; what was open is answered at the other desk.
    assert_eq!(pressed.decision()["behavior"], "allow");
    until_it_answers(other);
    assert!(ben.deny(&row_of_two).0);
    assert_eq!(open.decision()["behavior"], "deny");
    let row = ben.question(&other.desk, "make four");
    assert!(ben.allow(&row).0);
    assert_eq!(between.decision()["behavior"], "allow");
    for row in [&row_of_one, &row_of_three] {
        assert!(!ben.deny(row).0, "{} was answered", row.summary);
    }
    // Each was asked once, and answered once by whoever was first.
    let all =
        "SELECT string_agg(answered_by || ' ' || decision, ', ' ORDER BY asked_ms) FROM questions";
    assert_eq!(team.count(all), "Ada allow, Ben deny, Ada allow, Ben allow");
    for kind in ["team_asked", "team_answered"] {
        let count = "SELECT count(*), count(DISTINCT question) FROM audit WHERE kind";
        assert_eq!(team.count(&format!("{count} = '{kind}'")), "4|4", "{kind}");
    }
    // Who was revoked stays out.
    for house in &team.desks {
        let listed = house.desk.done(&["team", "list"]);
        assert!(!listed.contains("build-9") && !listed.contains("cleo"), "{listed}");
        until_it_says(house, "another server has taken over the team's database");
    }
    page.open(&link);
    is_out();
    left.until("it is refused", || {
        left.line().and_then(|line| line.text).filter(|text| text.contains("revoked"))
    });
    assert_whole(one);
}

/// Has the machine ask, and the person allow it.
fn ask_and_allow(member: &DeskMachine, (house, person): (&TeamHouse, &mut Person), command: &str) {
    let hook = member.ask(command);
    let row = person.question(&house.desk, command);
    assert!(person.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}

/// Two desks under which an older state of their database takes its place.
struct OlderDatabase<'a> {
    desks: &'a [TeamHouse; 2],
    balancer: &'a NetworkProxy,
    /// Keeps the state of the database for later.
    keep: &'a dyn Fn(),
    /// Puts the state that was kept in the place of the database.
    replace: &'a dyn Fn(),
    count: &'a dyn Fn(&str) -> String,
}

impl OlderDatabase<'_> {
    /// Desks that run have seen more than the database has, so they answer nothing from it, until
    /// somebody starts one again. The other one goes on when the numbers have come past those that
    /// it knows, and must not take them for its own.
    fn check(&self) {
        let [one, other] = self.desks;
        let member = one.member("build-7");
        let (mut ada, mut ben) = (one.desk.person("Ada"), other.desk.person("Ben"));
        let first = member.ask("make one");
        let row_of_one = ada.question(&one.desk, "make one");
        ben.question(&other.desk, "make one");
        (self.keep)();
        for house in self.desks {
            until_it_answers(house);
        }
        member.wait_for_line(RemoteState::Connected);
        ada.question(&one.desk, "make one");
        assert!(ada.allow(&row_of_one).0);
        assert_eq!(first.decision()["behavior"], "allow");
        for number in 0..5 {
            ask_and_allow(&member, (one, &mut ada), &format!("make lost {number}"));
        }
        let mut second = member.ask("make two");
        let row = ada.question(&one.desk, "make two");
        ben.question(&other.desk, "make two");

        (self.replace)();
        for house in self.desks {
            until_it_says(house, "the team's database has lost changes");
        }
        let answered = "SELECT count(*) FROM questions WHERE state = 'answered'";
        let (_, told) = ada.allow(&row);
        assert!(told.contains("this counts when it is back, unless somebody else"), "{told}");
        let status = run(one.desk.command(&["team", "status"]), DEADLINE);
        assert_eq!((self.count)(answered), "0", "{}{}", status.stdout, status.stderr);
        assert!(second.still_waits());

        // Somebody accepts the loss at the other desk.
        other.desk.kill_desk();
        self.balancer.forward_to(other.port);
        self.balancer.drop_connections();
        other.desk.up();
        let mut ben = ben.again(&other.desk);
        member.wait_for_line(RemoteState::Connected);
        let row = ben.question(&other.desk, "make two");
        assert!(ben.deny(&row).0);
        assert_eq!(second.decision()["behavior"], "deny");
        let third = member.ask("make three");
        ben.question(&other.desk, "make three");
        other.desk.until("what is over on its machine is over", || {
            ben.inbox().iter().all(|row| row.summary == "make three")
        });
        // Its number comes before those that the first desk has seen.
        for number in 0..8 {
            ask_and_allow(&member, (other, &mut ben), &format!("make new {number}"));
        }
        until_it_says(one, "another server has taken over the team's database");
        let row = ada.question(&one.desk, "make three");
        one.desk.until("it has all that the database has", || ada.inbox().len() == 1);
        assert!(ada.allow(&row).0);
        assert_eq!(third.decision()["behavior"], "allow");
        let of_two = "SELECT answered_by, decision FROM questions WHERE act LIKE '%make two%'";
        assert_eq!((self.count)(of_two), "Ben|deny", "her press came too late");
        let twice =
            "SELECT count(*) - count(DISTINCT question) FROM audit WHERE kind = 'team_answered'";
        assert_eq!((self.count)(twice), "0");
        assert_whole(one);
        assert_whole(other);
    }
}

#[test]
fn two_desks_answer_nothing_from_a_standby_that_was_behind() {
    let Some(team) = ReplicatedDesks::start() else { return };
    let replaced = OlderDatabase {
        desks: &team.desks,
        balancer: &team.balancer,
        keep: &|| team.server.leave_behind(&team.standby),
        replace: &|| {
            team.server.kill();
            team.standby.start();
            team.promote_standby();
        },
        count: &|sql| team.count(sql),
    };
    replaced.check();
}

#[test]
fn two_desks_answer_nothing_from_a_restored_copy() {
    let Some(team) = SharedDesks::start() else { return };
    let (server, name) = (team.server, &team.database);
    // Whoever copies or renames a database has it alone.
    let alone = |statements: [String; 2]| {
        let close = |is_open| format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {is_open}");
        server.query("postgres", &close("false"));
        let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname";
        server.query("postgres", &format!("{end} = '{name}'"));
        for statement in statements {
            server.query("postgres", &statement);
        }
        server.query("postgres", &close("true"));
    };
    let replaced = OlderDatabase {
        desks: &team.desks,
        balancer: &team.balancer,
        keep: &|| {
            alone([format!("CREATE DATABASE {name}_copy TEMPLATE {name}"), "SELECT 1".into()]);
        },
        replace: &|| {
            alone([
                format!("ALTER DATABASE {name} RENAME TO {name}_lost"),
                format!("ALTER DATABASE {name}_copy RENAME TO {name}"),
            ]);
        },
        count: &|sql| team.count(sql),
    };
    replaced.check();
}
