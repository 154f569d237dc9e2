//! Machines of a team: they join, ask at its desk, and are revoked.

use callgate_wire::desk::RemoteState;
use rustix::process::Signal;
use serde_json::Value;

use super::team_house::{DeskMachine, TeamHouse};

#[test]
fn a_machine_joins_once_asks_and_is_answered() {
    let house = TeamHouse::new(None);
    let invitation = house.invite(&["build-7", "--hours", "1"]);
    let member = DeskMachine::new();
    let told = member.done(&["team", "join", &invitation]);
    assert!(told.contains("as soon as `callgate up` runs"), "{told}");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    let mut ada = house.desk.person("Ada");
    let hook = member.ask("make one");
    let row = ada.question(&house.desk, "make one");
    assert_eq!(row.machine.as_deref(), Some("build-7"));
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied("build-7", &member);
    // Each serves its page here; the member connects, and listens to nobody else.
    assert_eq!((member.count_listening(), house.desk.count_listening()), (1, 2));
    // The same secret opens nothing any more, and an invented one never did.
    let other = DeskMachine::new();
    let told = other.refused(&["team", "join", &invitation]);
    assert!(told.contains("was used already, has expired or was taken back"), "{told}");
    assert!(!other.machine.data("team-line").exists());
    let kinds: Vec<String> = house.desk.entries().into_iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "joined").count(), 1, "{kinds:?}");
    // Neither the secret nor the token is in the ledger.
    let token = member.machine.home.text(".local/share/callgate/team-line");
    let bodies: String = house.desk.entries().into_iter().map(|entry| entry.body).collect();
    for hidden in [invitation, token] {
        let secret = secret_of(&hidden);
        assert!(secret.len() >= 32 && !bodies.contains(&secret));
    }
    let listed = house.desk.done(&["team", "list"]);
    assert!(listed.starts_with("build-7: machine, connected for "), "{listed}");
    let above = house.desk.done(&["status"]);
    let reached = format!("its members reach it at https://127.0.0.1:{}.", house.port);
    assert!(above.contains(&reached), "{above}");
    let below = member.done(&["status"]);
    assert!(below.contains("where this machine is build-7: connected for"), "{below}");
    assert!(!below.contains("People at"), "the line is named once: {below}");
    let doctor = member.command(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("where this machine is build-7: connected for"), "{doctor}");
}

/// Returns the secret in an invitation.
fn secret_of(invitation: &str) -> String {
    use base64::Engine as _;
    let coded = invitation.trim().strip_prefix("callgate-invitation-").unwrap();
    let json = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(coded).unwrap();
    serde_json::from_slice::<Value>(&json).unwrap()["secret"].as_str().unwrap().to_owned()
}

#[test]
fn a_killed_desk_of_the_team_finds_its_questions_again() {
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    let mut hook = member.ask("make one");
    house.desk.until("it is asked there", || {
        house.desk.entries().iter().any(|entry| entry.kind == "asked")
    });
    house.desk.kill_desk();
    let line = member.wait_for_line(RemoteState::Failed);
    assert!(line.text.is_some());
    assert!(hook.still_waits(), "it waits for the line");
    house.desk.up();
    member.wait_for_line(RemoteState::Connected);
    let mut ben = house.desk.person("Ben");
    let row = ben.question(&house.desk, "make one");
    assert!(ben.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied("build-7", &member);
}

#[test]
fn a_killed_desk_of_a_member_finds_its_questions_again() {
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    let mut ada = house.desk.person("Ada");
    let hook = member.ask("make one");
    let row = ada.question(&house.desk, "make one");
    member.kill_desk();
    house.desk.until("the line is cut", || {
        house.views().iter().any(|view| view.state == RemoteState::Failed)
    });
    assert!(ada.inbox().iter().any(|row| row.summary == "make one"), "it stays open");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}

#[test]
fn a_revoked_machine_is_out_at_once() {
    let house = TeamHouse::new(None);
    let (member, other) = (house.member("build-7"), house.member("build-8"));
    let mut ada = house.desk.person("Ada");
    let mut hook = member.ask("make one");
    ada.question(&house.desk, "make one");
    let stays = other.ask("make two");
    let row = ada.question(&house.desk, "make two");
    let told = house.desk.done(&["team", "revoke", "build-7"]);
    assert_eq!(told, "build-7 does not belong to the team any more.\n");
    house.desk.until("its question is withdrawn", || {
        !ada.inbox().iter().any(|row| row.summary == "make one")
    });
    let line = member.wait_for_line(RemoteState::Failed);
    let why = member.until("it says why", || {
        member.line().and_then(|line| line.text).filter(|text| text.contains("revoked"))
    });
    assert!(why.contains("callgate team leave"), "{why} {line:?}");
    assert!(hook.still_waits(), "its own desk still asks");
    assert!(ada.allow(&row).0);
    assert_eq!(stays.decision()["behavior"], "allow");
    assert!(!house.desk.done(&["team", "list"]).contains("build-7"));
    let told = house.desk.refused(&["team", "revoke", "build-7"]);
    assert!(told.contains("the team has no member build-7"), "{told}");
    member.done(&["team", "leave"]);
    member.until("the desk forgets the team", || member.line().is_none());
    // An open invitation is taken back, too.
    let invitation = house.invite(&["build-9"]);
    house.desk.done(&["team", "revoke", "build-9"]);
    let told = member.refused(&["team", "join", &invitation]);
    assert!(told.contains("taken back"), "{told}");
}

#[test]
fn a_new_invitation_renews_the_token_of_a_machine() {
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    let file = ".local/share/callgate/team-line";
    let old = member.machine.home.text(file);
    let invitation = house.invite(&["build-7"]);
    assert_eq!(member.line().unwrap().state, RemoteState::Connected, "the old one is still good");
    let told = member.refused(&["team", "join", &invitation]);
    assert!(told.contains("to leave it: callgate team leave"), "{told}");
    member.done(&["team", "leave"]);
    member.done(&["team", "join", &invitation]);
    assert_ne!(member.machine.home.text(file), old);
    member.wait_for_line(RemoteState::Connected);
    let mut ada = house.desk.person("Ada");
    let hook = member.ask("make one");
    let row = ada.question(&house.desk, "make one");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    // A copy of the old one opens nothing.
    let thief = DeskMachine::new();
    thief.machine.home.make_private_folder(".local/share/callgate");
    thief.machine.home.write_private(file, &old);
    thief.up();
    thief.until("it is refused", || {
        thief.line().and_then(|line| line.text).filter(|text| text.contains("revoked"))
    });
    assert_eq!(house.views().len(), 1, "{:?}", house.views());
}

#[test]
fn a_token_that_was_replaced_ends_the_line_that_it_has_opened() {
    let house = TeamHouse::new(None);
    let mut ada = house.desk.person("Ada");
    let thief = house.member("build-7");
    let kept = thief.ask("make one");
    ada.question(&house.desk, "make one");
    let invitation = house.invite(&["build-7"]);
    // It has no desk yet, so no newer line takes the place of the other.
    let member = DeskMachine::new();
    member.done(&["team", "join", &invitation]);
    let is_refused = |machine: &DeskMachine| {
        machine.until("it is refused", || {
            machine.line().and_then(|line| line.text).filter(|text| text.contains("revoked"))
        })
    };
    is_refused(&thief);
    drop(kept);
    let token = house.invite(&["ci", "--job"]);
    let job = DeskMachine::new().with_variable("CALLGATE_INVITATION", &token);
    job.done(&["team", "join"]);
    let kept = job.ask("make two");
    ada.question(&house.desk, "make two");
    let token = house.invite(&["ci", "--job"]);
    is_refused(&job);
    drop(kept);
    // Its run cannot come back, so nobody is asked about it any more.
    house.desk.until("its question is withdrawn", || {
        !ada.inbox().iter().any(|row| row.summary == "make two")
    });
    let next = DeskMachine::new().with_variable("CALLGATE_INVITATION", &token);
    next.done(&["team", "join"]);
    assert_eq!(next.line().unwrap().state, RemoteState::Connected);
}

#[test]
fn no_verdict_waits_for_a_desk_of_the_team_that_does_not_answer() {
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    let rules = "[[rule]]\nname = \"builds\"\ndecide = \"allow\"\ncommand = \"make build\"\n\
                 [[rule]]\nname = \"no removing\"\ndecide = \"deny\"\ncommand = \"rm *\"\n";
    member.machine.home.write(".config/callgate/rules.toml", rules);
    house.desk.signal_desk(Signal::STOP);
    for (command, decision) in [("make build", "allow"), ("rm -rf build", "deny")] {
        let told = member.machine.hook(env!("CARGO_BIN_EXE_callgate"), &["hook"], command);
        assert!(told.contains(&format!("\"permissionDecision\":\"{decision}\"")), "{told}");
    }
    // Whoever had waited for the line would have seen it end.
    assert_eq!(member.line().unwrap().state, RemoteState::Connected);
    house.desk.signal_desk(Signal::CONT);
    house.assert_copied("build-7", &member);
}

/// When exactly is held by the tests of `line_health`, with a clock of their own.
#[test]
fn whoever_stands_still_is_noticed_at_the_other_end() {
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    house.desk.signal_desk(Signal::STOP);
    let line = member.wait_for_line(RemoteState::Failed);
    assert!(line.text.is_some(), "{line:?}");
    house.desk.signal_desk(Signal::CONT);
    member.wait_for_line(RemoteState::Connected);
    member.signal_desk(Signal::STOP);
    house.desk.until("the desk says that it is away", || {
        house.views().iter().any(|view| view.state == RemoteState::Failed)
    });
    member.signal_desk(Signal::CONT);
    member.wait_for_line(RemoteState::Connected);
}

#[test]
fn a_newer_line_of_a_machine_takes_the_place_of_the_older() {
    let house = TeamHouse::new(None);
    let member = house.member("build-7");
    // The same machine, from a copy of its home.
    let twin = DeskMachine::new();
    twin.machine.home.make_private_folder(".local/share/callgate");
    let file = ".local/share/callgate/team-line";
    twin.machine.home.write_private(file, &member.machine.home.text(file));
    member.kill_desk();
    twin.up();
    twin.wait_for_line(RemoteState::Connected);
    let views = house.views();
    assert_eq!(views.len(), 1, "{views:?}");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    twin.until("the older line has ended", || {
        twin.line().is_some_and(|line| line.state != RemoteState::Connected) || {
            member.line().is_some_and(|line| line.state != RemoteState::Connected)
        }
    });
}

#[test]
fn the_rules_of_the_team_come_down_the_line() {
    let house = TeamHouse::new(None);
    let home = &house.desk.machine.home;
    let rule = |name: &str, command: &str| {
        format!("[[rule]]\nname = \"{name}\"\ndecide = \"deny\"\ncommand = \"{command}\"\n")
    };
    home.write("team.toml", &rule("no force", "git push --force"));
    house.desk.done(&["team", "rules", "sign", "team.toml", "--team", "acme"]);
    let signed = house.desk.done(&["team", "rules", "sign", "team.toml"]);
    let key = signed.trim_end().rsplit(' ').next().unwrap().to_owned();
    house.desk.done(&["team", "rules", "take", "team.bundle", "--key", &key]);
    let member = house.member("build-7");
    let shows = |number: u32| {
        let name = format!("team acme, rules {number}");
        member.until(&name, || member.done(&["team", "rules", "show"]).contains(&name));
    };
    shows(2);
    assert!(member.machine.explain("git push --force").contains("team acme, rules 2"));
    home.write("team.toml", &rule("no deploys", "make deploy"));
    house.desk.done(&["team", "rules", "sign", "team.toml"]);
    house.desk.done(&["team", "rules", "take", "team.bundle"]);
    shows(3);
    assert!(member.machine.explain("make deploy").contains("team acme, rules 3"));
    // A job is under them as soon as it has joined.
    let token = house.invite(&["ci", "--job"]);
    let job = DeskMachine::new().with_variable("CALLGATE_INVITATION", &token);
    job.done(&["team", "join"]);
    assert!(job.machine.explain("make deploy").contains("team acme, rules 3"));
    job.done(&["team", "leave"]);
    // A machine that trusts another team takes nothing, and its invitation stays good.
    let other = DeskMachine::new();
    other.machine.home.write("own.toml", &rule("own", "make own"));
    let signed = other.done(&["team", "rules", "sign", "own.toml", "--team", "other"]);
    let key = signed.trim_end().rsplit(' ').next().unwrap().to_owned();
    other.done(&["team", "rules", "take", "own.bundle", "--key", &key]);
    let invitation = house.invite(&["build-8"]);
    let told = other.refused(&["team", "join", &invitation]);
    assert!(told.contains("rules of another team"), "{told}");
    other.done(&["team", "leave"]);
    other.done(&["team", "join", &invitation]);
}
