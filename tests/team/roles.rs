//! People of a team: what rules demand of them, what their roles cover, and how they leave.

use callgate_store::{EntryDraft, Sha256Hash, Store, now_ms};
use callgate_wire::desk::{HiddenText, RemoteState};
use callgate_wire::ledger::{AnswerChannel, LedgerEvent, ViewerPaired};

use super::team_house::{DeskMachine, Person, TeamHouse};

const DEPLOYS: &str = r#"
[[rule]]
name = "deploys"
decide = "ask"
command = "make deploy"
two_people = true
not_own = true
"#;

/// Has a person of the team join, as their page would, and returns them at that page.
pub(crate) fn join_person(house: &TeamHouse, name: &str) -> Person {
    house.desk.done(&["team", "invite", name, "--person"]);
    let token = HiddenText::new(format!("{name:0<64}"));
    let hash = Sha256Hash::hash_bytes(token.reveal().as_bytes());
    let paired = LedgerEvent::ViewerPaired(ViewerPaired {
        channel: Some(AnswerChannel::Viewer),
        by: "A page".to_owned(),
        links: Some(vec![format!("viewer/{hash}")]),
        person: Some(name.to_owned()),
    });
    let mut store = Store::open(&house.desk.database()).unwrap();
    store.append_entries(&[EntryDraft::new(now_ms(), None, &paired)]).unwrap();
    Person::with_token(&house.desk, token)
}

/// A machine of a person, with rules that demand two people and none of its own.
fn laptop_of(house: &TeamHouse, owner: &str) -> DeskMachine {
    let member = DeskMachine::new();
    member.machine.home.write(".config/callgate/rules.toml", DEPLOYS);
    let invitation = house.invite(&["laptop", "--owner", owner]);
    member.done(&["team", "join", &invitation]);
    member.up();
    member.wait_for_line(RemoteState::Connected);
    member
}

#[test]
fn two_people_allow_what_the_machine_of_a_third_asks() {
    let house = TeamHouse::new(None);
    let mut olga = house.desk.person("Olga");
    let (mut ada, mut ben) = (join_person(&house, "ada"), join_person(&house, "ben"));
    let member = laptop_of(&house, "ada");
    // Nobody there can be asked without a desk: the agent itself must not decide.
    let alone = super::Machine::with_rules(DEPLOYS);
    let told = alone.hook(env!("CARGO_BIN_EXE_callgate-hook"), &[], "make deploy");
    assert!(told.contains("\"deny\"") && told.contains("Two people have to allow this"), "{told}");

    let mut hook = member.ask("make deploy");
    let mut bo = member.person("Bo");
    let row = bo.question(&member, "make deploy");
    let above = "Two people of the team have to allow this: it waits at the team's desk.";
    assert_eq!(bo.allow(&row), (false, above.to_owned()));

    let row = ada.question(&house.desk, "make deploy");
    assert!(row.demands.two_people && row.demands.not_own);
    let own = "Your own machine asks this: somebody else has to allow it. You may deny it.";
    assert_eq!(ada.allow(&row), (false, own.to_owned()));
    let first = "ben allowed; one more person is needed";
    assert_eq!(ben.allow(&row), (false, format!("{first}.")));
    let row = olga.question(&house.desk, "make deploy");
    assert_eq!(row.demand_text().as_deref(), Some(first), "on every face");
    assert!(!ben.allow(&row).0, "he is one person");
    assert!(hook.still_waits());
    // The first allow is in the ledger.
    house.desk.kill_desk();
    house.desk.up();
    let mut olga = olga.again(&house.desk);
    let row = olga.question(&house.desk, "make deploy");
    assert_eq!(row.allowed_by.as_deref(), Some("ben"));
    assert!(olga.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    let log = house.desk.done(&["log", "--json"]);
    assert!(log.contains(r#""by":"ben and Olga""#), "{log}");
    let log = member.done(&["log", "--json"]);
    assert!(log.contains(r#""by":"ben and Olga at "#), "{log}");
}

#[test]
fn a_machine_stays_that_of_its_owner_when_it_is_invited_again() {
    let house = TeamHouse::new(None);
    let mut ada = join_person(&house, "ada");
    let member = laptop_of(&house, "ada");
    house.invite(&["laptop"]);
    let hook = member.ask("make deploy");
    let row = ada.question(&house.desk, "make deploy");
    let own = "Your own machine asks this: somebody else has to allow it. You may deny it.";
    assert_eq!(ada.allow(&row), (false, own.to_owned()));
    assert!(house.desk.done(&["team", "list"]).contains("laptop: machine of ada"));
    drop(hook);
}

#[test]
fn no_machine_has_the_name_that_roles_give_to_the_desk() {
    let house = TeamHouse::new(None);
    for kind in ["--machine", "--job"] {
        let told = house.desk.refused(&["team", "invite", "desk", kind]);
        assert!(told.contains("a machine cannot be called desk"), "{told}");
    }
    house.desk.done(&["team", "invite", "desk", "--person"]);
    let told = house.desk.refused(&["remote", "add", "desk"]);
    assert!(told.contains("a machine cannot be called desk"), "{told}");
}

#[test]
fn roles_and_revocations_count_for_the_next_press() {
    let house = TeamHouse::new(None);
    let _olga = house.desk.person("Olga");
    let (mut ben, mut cleo) = (join_person(&house, "ben"), join_person(&house, "cleo"));
    let told = house.desk.done(&["team", "roles"]);
    assert!(told.ends_with(": every person of the team may answer everything.\n"), "{told}");
    let roles = |text: &str| house.desk.machine.home.write(".config/callgate/roles.toml", text);
    roles(
        "[[role]]\nname = \"desk\"\npeople = [\"ben\", \"carl\"]\nmachine = \"desk\"\nclass = \"run\"\n",
    );
    let told = house.desk.done(&["team", "roles"]);
    let warning = "warning: role `desk` names `carl`, who is not a person of the team\n";
    assert!(told.contains(warning), "{told}");
    let people = "the owner of this desk: everything\nben: desk (machine desk; class run)\n\
                  cleo: nothing: no role names them\n";
    assert!(told.ends_with(people), "{told}");

    let hook = house.desk.ask("make one");
    let row = cleo.question(&house.desk, "make one");
    let none = "None of your roles lets you answer this.".to_owned();
    assert_eq!(cleo.allow(&row), (false, none.clone()));
    assert!(ben.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    // A file with a mistake leaves the owner, and says so.
    roles("[[role]]\nname = \"desk\"\n");
    let hook = house.desk.ask("make two");
    let row = ben.question(&house.desk, "make two");
    assert_eq!(ben.allow(&row), (false, none));
    let doctor = house.desk.command(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("a role names its `people`"), "{doctor}");
    roles("[[role]]\nname = \"all\"\npeople = \"*\"\n");
    // Whoever is revoked does not answer any more, and is not taken for somebody else.
    house.desk.done(&["team", "revoke", "ben"]);
    let (is_done, text) = ben.allow(&row);
    assert!(!is_done && text.contains("may not answer"), "{text}");
    assert!(cleo.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}

/// `~` is the home of whoever asks, which is another on each machine.
#[test]
fn roles_are_about_the_project_and_the_agent_of_the_machine_that_asks() {
    let house = TeamHouse::new(None);
    let mut olga = house.desk.person("Olga");
    let [mut cleo, mut dora, mut eva] = ["cleo", "dora", "eva"].map(|it| join_person(&house, it));
    let member = house.member("build-7");
    let role = |name: &str, limit: &str| {
        format!("[[role]]\nname = \"{name}\"\npeople = \"{name}\"\n{limit}\n")
    };
    let roles = role("cleo", "project = \"~/engine\"")
        + &role("dora", "agent = \"claude*\"\nproject = \"~/engine\"")
        + &role("eva", "agent = \"codex*\"");
    house.desk.machine.home.write(".config/callgate/roles.toml", &roles);
    let none = (false, "None of your roles lets you answer this.".to_owned());
    let ask = |asker: &DeskMachine, folder: &str, command: &str| {
        let folder = asker.machine.home.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        asker.ask_in(&folder, command, "For the test")
    };
    let hook = ask(&member, "engine/src", "make engine");
    let row = cleo.question(&house.desk, "make engine");
    assert_eq!(eva.allow(&row), none, "it is another agent");
    assert!(cleo.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    let hook = ask(&member, "engine", "make again");
    let row = dora.question(&house.desk, "make again");
    assert!(dora.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    let hook = ask(&member, "other", "make other");
    let row = cleo.question(&house.desk, "make other");
    for person in [&mut cleo, &mut dora, &mut eva] {
        assert_eq!(person.allow(&row), none, "it is another project");
    }
    assert!(olga.deny(&row).0);
    assert_eq!(hook.decision()["behavior"], "deny");
    // The same at the desk's own machine.
    let hook = ask(&house.desk, "engine", "make here");
    let row = cleo.question(&house.desk, "make here");
    assert!(cleo.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}
