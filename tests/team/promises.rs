//! What a team's desk promises, whatever keeps it: its own ledger in `SQLite`, or the PostgreSQL
//! that two desks share. Each function is a test on both, with real desks, and `SIGKILL` between
//! their steps.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Barrier;
use std::thread;

use callgate_testkit::process::{DEADLINE, run};
use callgate_wire::desk::{InboxRow, RemoteState};
use serde_json::Value;

use super::roles::join_person;
use super::shared_desks::SharedDesks;
use super::team_house::{Asker, DeskMachine, Person, TeamHouse};

/// The desks of a team, by what keeps what they promise.
enum Team {
    Ledger(Box<TeamHouse>),
    Database(Box<SharedDesks>),
}

impl Team {
    /// Returns the desk at which machines have their lines, and one at which people answer.
    fn desks(&self) -> [&TeamHouse; 2] {
        match self {
            Self::Ledger(house) => [house, house],
            Self::Database(team) => [&team.desks[0], &team.desks[1]],
        }
    }

    fn all_desks(&self) -> &[TeamHouse] {
        match self {
            Self::Ledger(house) => std::slice::from_ref(house),
            Self::Database(team) => &team.desks,
        }
    }

    /// Kills all desks and starts them again.
    fn restart(&self) {
        self.all_desks().iter().for_each(|house| house.desk.kill_desk());
        self.all_desks().iter().for_each(|house| house.desk.up());
    }

    /// Returns how often it is recorded that a question was asked.
    fn count_asked(&self, question: &str) -> usize {
        match self {
            Self::Ledger(_) => self.bodies("asked", question).len(),
            Self::Database(_) => self.bodies("team_asked", question).len(),
        }
    }

    /// Returns the recorded answers to a question.
    fn answers(&self, question: &str) -> Vec<String> {
        let bodies = match self {
            Self::Ledger(_) => self.bodies("decided", question),
            Self::Database(_) => self.bodies("team_answered", question),
        };
        let decisions = bodies.iter().map(|body| body["decision"].as_str().unwrap().to_owned());
        // That the time is over is no answer: the desk may notice it before the machine says so.
        decisions.filter(|decision| decision != "timeout").collect()
    }

    fn bodies(&self, kind: &str, question: &str) -> Vec<Value> {
        let bodies: Vec<String> = match self {
            Self::Ledger(house) => {
                let entries = house.desk.entries().into_iter();
                let is_wanted =
                    |kind_of: &str, of: Option<&str>| kind_of == kind && of == Some(question);
                let wanted = entries.filter(|it| is_wanted(&it.kind, it.question.as_deref()));
                wanted.map(|entry| entry.body).collect()
            }
            Self::Database(team) => {
                let sql = "SELECT body FROM audit WHERE kind";
                let found = team.count(&format!("{sql} = '{kind}' AND question = '{question}'"));
                found.lines().map(str::to_owned).collect()
            }
        };
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
    }

    /// Returns what was recorded since the last look, in the form of an export.
    fn read_on(&self, mark: &mut String) -> Vec<Value> {
        let desk = &self.desks()[1].desk;
        let words = ["log", "--export", "ndjson"];
        let more = match self {
            Self::Ledger(_) => vec!["--after", mark.as_str()],
            Self::Database(_) => vec!["--team", "--resume", mark.as_str()],
        };
        let printed = desk.done(&[&words[..], &more].concat());
        let read: Vec<Value> =
            printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        if let (Self::Ledger(_), Some(last)) = (self, read.last()) {
            *mark = last["seq"].to_string();
        }
        read
    }

    fn verify(&self) -> (bool, String) {
        let team = if matches!(self, Self::Database(_)) { &["--team"][..] } else { &[] };
        let words = [&["log", "--verify"], team].concat();
        let told = run(self.desks()[1].desk.command(&words), DEADLINE);
        (told.status.success(), told.stdout)
    }

    fn tamper(&self, from: &str, to: &str) {
        let set = |table| format!("UPDATE {table} SET body = replace(body, '{from}', '{to}')");
        match self {
            Self::Ledger(house) => {
                let file = rusqlite::Connection::open(house.desk.database()).unwrap();
                file.execute_batch(&set("entries")).unwrap();
            }
            Self::Database(team) => drop(team.count(&set("audit"))),
        }
    }
}

macro_rules! promises {
    ($($name:ident,)*) => {
        mod of_one_desk_with_sqlite {
            $(#[test]
            fn $name() {
                super::$name(&super::Team::Ledger(Box::new(super::TeamHouse::new(None))));
            })*
        }

        mod of_two_desks_with_postgresql {
            $(#[test]
            fn $name() {
                let Some(team) = super::SharedDesks::start() else { return };
                super::$name(&super::Team::Database(Box::new(team)));
            })*
        }
    };
}

promises! {
    what_has_taken_effect_was_recorded,
    a_question_is_answered_at_most_once,
    a_question_is_asked_once_and_outlives_a_kill,
    a_question_is_over_with_its_time,
    whoever_reads_on_from_a_mark_reads_each_entry_once,
    an_invitation_is_used_once,
    roles_that_two_set_at_once_are_those_of_one,
    the_log_is_whole_until_somebody_changes_it,
}

/// Has the machine ask, and waits until a person has the question.
fn ask(person: &mut Person, at: &TeamHouse, member: &DeskMachine, what: &str) -> (Asker, InboxRow) {
    let hook = member.ask(what);
    (hook, person.question(&at.desk, what))
}

fn what_has_taken_effect_was_recorded(team: &Team) {
    let [one, other] = team.desks();
    let member = one.member("build-7");
    let mut ada = other.desk.person("Ada");
    // How many answers were given when everybody is killed, and perhaps not one of them recorded.
    for given in [1, 3, 2] {
        let ask = |number| ask(&mut ada, other, &member, &format!("make {given} of {number}"));
        let asked: Vec<(Asker, InboxRow)> = (0..3).map(ask).collect();
        for (_, row) in &asked[..given] {
            ada.allow(row);
        }
        team.restart();
        ada = ada.again(&other.desk);
        for (hook, row) in asked {
            other.desk.until("it is answered", || {
                if ada.inbox().iter().any(|open| open.question == row.question) {
                    ada.allow(&row);
                }
                !team.answers(&row.question).is_empty()
            });
            assert_eq!(hook.decision()["behavior"], "allow");
            assert_eq!(team.answers(&row.question), ["allow"], "{}", row.summary);
        }
    }
    let (is_whole, told) = team.verify();
    assert!(is_whole, "{told}");
}

fn a_question_is_answered_at_most_once(team: &Team) {
    let [one, other] = team.desks();
    let member = one.member("build-7");
    let mut ada = one.desk.person("Ada");
    let mut ben = match team {
        // Ada would have to agree to a second link at her desk.
        Team::Ledger(house) => join_person(house, "ben"),
        Team::Database(_) => other.desk.person("Ben"),
    };
    for number in 0..8 {
        let (hook, row) = ask(&mut ada, one, &member, &format!("make {number}"));
        ben.question(&other.desk, &row.summary);
        let start = Barrier::new(2);
        thread::scope(|scope| {
            let allowing = scope.spawn(|| {
                start.wait();
                ada.allow(&row)
            });
            start.wait();
            ben.deny(&row);
            allowing.join().unwrap();
        });
        let decision = hook.decision();
        let given = [decision["behavior"].as_str().unwrap()];
        assert_eq!(team.answers(&row.question), given);
        // Whoever did not hear of it and presses again changes nothing.
        ada.allow(&row);
        ben.deny(&row);
        assert_eq!(team.answers(&row.question), given);
    }
}

fn a_question_is_asked_once_and_outlives_a_kill(team: &Team) {
    let [one, other] = team.desks();
    let member = one.member("build-7");
    let mut ada = other.desk.person("Ada");
    let (mut hook, row) = ask(&mut ada, other, &member, "make one");
    // The hook asks its desk again, and the machine its team.
    member.kill_desk();
    member.up();
    member.wait_for_line(RemoteState::Connected);
    team.restart();
    member.wait_for_line(RemoteState::Connected);
    let mut ada = ada.again(&other.desk);
    let again = ada.question(&other.desk, "make one");
    assert_eq!((again.question, team.count_asked(&row.question)), (row.question.clone(), 1));
    assert_eq!(ada.inbox().len(), 1);
    assert!(hook.still_waits());
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    assert_eq!(team.answers(&row.question), ["allow"]);
}

fn a_question_is_over_with_its_time(team: &Team) {
    let [one, other] = team.desks();
    let member = one.new_member();
    member.machine.home.write_settings("timeout_seconds = 5\n[page]\nport = 0\n");
    one.let_join(&member, "build-7");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    let mut ada = other.desk.person("Ada");
    let (mut hook, row) = ask(&mut ada, other, &member, "make one");
    other.desk.until("its time is over", || ada.inbox().is_empty());
    assert!(!ada.allow(&row).0);
    other.desk.until("the hook has ended", || !hook.still_waits());
    assert_eq!(hook.printed(), "");
    assert_eq!((team.count_asked(&row.question), team.answers(&row.question).len()), (1, 0));
}

fn whoever_reads_on_from_a_mark_reads_each_entry_once(team: &Team) {
    let [one, other] = team.desks();
    let member = one.member("build-7");
    let mut ada = other.desk.person("Ada");
    let mut mark = match team {
        Team::Ledger(_) => "0".to_owned(),
        Team::Database(_) => other.desk.machine.home.text_path("mark"),
    };
    let mut read = Vec::new();
    for number in 0..3 {
        let (hook, row) = ask(&mut ada, other, &member, &format!("make {number}"));
        assert!(ada.allow(&row).0);
        assert_eq!(hook.decision()["behavior"], "allow");
        read.extend(team.read_on(&mut mark));
        if number == 1 {
            team.restart();
            member.wait_for_line(RemoteState::Connected);
            ada = ada.again(&other.desk);
        }
        let is_answer = |entry: &&Value| {
            let kind = entry["kind"].as_str().unwrap();
            entry["question"] == row.question.as_str()
                && ["decided", "team_answered"].contains(&kind)
        };
        let of_team = |entry: &&Value| entry["machine"] != "build-7";
        assert_eq!(read.iter().filter(is_answer).filter(of_team).count(), 1, "{read:?}");
    }
    let name = |entry: &Value| (entry["machine"].to_string(), entry["seq"].as_u64().unwrap());
    let names: Vec<_> = read.iter().map(name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "none twice");
    for machine in names.iter().map(|(machine, _)| machine).collect::<BTreeSet<_>>() {
        let numbers = names.iter().filter(|(it, _)| it == machine).map(|(_, seq)| *seq);
        let numbers: Vec<u64> = numbers.collect();
        let whole: Vec<u64> = (numbers[0]..).take(numbers.len()).collect();
        assert_eq!(numbers, whole, "{machine}: none left out, in their order");
    }
}

fn an_invitation_is_used_once(team: &Team) {
    let [one, other] = team.desks();
    // A desk that has just started may not have reached its database yet.
    let _first = one.member("build-1");
    let invitation = one.invite(&["build-7"]);
    let machines = [(); 4].map(|()| one.new_member());
    let start = Barrier::new(machines.len());
    let join = |machine: &DeskMachine| {
        start.wait();
        run(machine.command(&["team", "join", &invitation]), DEADLINE).status.success()
    };
    let joined: Vec<bool> = thread::scope(|scope| {
        let joining = machines.each_ref().map(|machine| scope.spawn(|| join(machine)));
        joining.map(|joining| joining.join().unwrap()).into()
    });
    assert_eq!(joined.iter().filter(|joined| **joined).count(), 1, "{joined:?}");
    let winner = &machines[joined.iter().position(|joined| *joined).unwrap()];
    winner.up();
    winner.wait_for_line(RemoteState::Connected);
    // Of two that revoke it one does.
    let start = Barrier::new(2);
    let revoke = |house: &TeamHouse| {
        start.wait();
        run(house.desk.command(&["team", "revoke", "build-7"]), DEADLINE).status.success()
    };
    let revoked = thread::scope(|scope| {
        let revoking = [one, other].map(|house| scope.spawn(|| revoke(house)));
        revoking.map(|revoking| revoking.join().unwrap())
    });
    assert_eq!(revoked.iter().filter(|revoked| **revoked).count(), 1, "{revoked:?}");
    team.restart();
    winner.until("it is refused", || {
        winner.line().and_then(|line| line.text).filter(|text| text.contains("revoked"))
    });
    assert!(!other.desk.done(&["team", "list"]).contains("build-7"));
}

fn roles_that_two_set_at_once_are_those_of_one(team: &Team) {
    let desks = team.desks();
    // Both know the team.
    let _member = desks[0].member("build-7");
    let texts = ["ada", "ben"].map(|name| format!("[[role]]\nname = \"x\"\npeople = \"{name}\"\n"));
    let start = Barrier::new(2);
    thread::scope(|scope| {
        for (number, (house, text)) in desks.into_iter().zip(&texts).enumerate() {
            let (start, home) = (&start, &house.desk.machine.home);
            scope.spawn(move || {
                let name = format!("roles-{number}.toml");
                home.write(&name, text);
                start.wait();
                house.desk.done(&["team", "roles", "--set", &home.text_path(&name)]);
            });
        }
    });
    team.restart();
    let path = |house: &TeamHouse| house.desk.machine.home.path(".config/callgate/roles.toml");
    let [one, other] = desks.map(path);
    desks[1].desk.until("both have the same", || {
        let found = fs::read_to_string(&one).ok()?;
        (fs::read_to_string(&other).ok()? == found).then_some(())
    });
    let found = fs::read_to_string(&one).unwrap();
    assert!(texts.contains(&found), "{found}");
}

fn the_log_is_whole_until_somebody_changes_it(team: &Team) {
    let [one, other] = team.desks();
    let member = one.member("build-7");
    let mut ada = other.desk.person("Ada");
    let (hook, row) = ask(&mut ada, other, &member, "make one");
    assert!(ada.deny(&row).0);
    assert_eq!(hook.decision()["behavior"], "deny");
    let (is_whole, told) = team.verify();
    assert!(is_whole && told.contains("is whole"), "{told}");
    assert_eq!(team.answers(&row.question), ["deny"]);
    team.tamper("deny", "allow");
    let (is_whole, told) = team.verify();
    assert!(!is_whole && told.contains("broken"), "{told}");
}
