//! A question survives what becomes of the line, and of the processes at its ends.

use callgate_client::viewer::Viewer;
use rustix::process::{Pid, Signal, kill_process};

use super::fixture::House;

fn house() -> House {
    let house = House::over_pipe();
    house.up();
    house.wait_until_connected();
    house
}

#[test]
fn an_answer_given_during_a_cut_is_delivered_afterwards() {
    let house = house();
    let mut ada = house.person("Ada");
    let mut hook = house.ask("make one");
    let row = ada.question(&house, "make one");
    house.cut();
    let kept = "Allowed by Ada. buildbox cannot be reached, and gets it when it is back.";
    assert_eq!(ada.allow(&row), (true, kept.to_owned()));
    // Judged without the line, and delivered later.
    let other = house.ask("make two");
    house.until("the box has asked", || {
        house.box_entries().iter().filter(|entry| entry.kind == "asked").count() == 2
    });
    assert!(hook.still_waits());
    house.mend();
    assert_eq!(hook.decision()["behavior"], "allow");
    let row = ada.question(&house, "make two");
    assert!(ada.allow(&row).0);
    assert_eq!(other.decision()["behavior"], "allow");
    house.assert_copied();
    let story = House::story(&house.laptop_entries(), "make one");
    assert_eq!(story, ["asked", "pressed", "decided", "delivered", "closed: Allowed by Ada"]);
    assert!(House::story(&house.box_entries(), "make one").contains(&"delivered".to_owned()));
}

#[test]
fn a_killed_relay_loses_no_question() {
    let house = house();
    let mut ada = house.person("Ada");
    let hook = house.ask("make");
    let row = ada.question(&house, "make");
    house.kill_ssh();
    assert!(ada.allow(&row).0, "it is delivered on the next connection");
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied();
}

#[test]
fn a_killed_desk_here_finds_its_questions_again() {
    let house = house();
    let hook = house.ask("make");
    house.until("it is asked here", || {
        house.laptop_entries().iter().any(|entry| entry.kind == "asked")
    });
    house.kill_desk();
    house.up();
    house.wait_until_connected();
    let mut ada = house.person("Ada");
    let row = ada.question(&house, "make");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    let story = House::story(&house.laptop_entries(), "make");
    assert!(story.contains(&"returned".to_owned()), "{story:?}");
    house.assert_copied();
}

#[test]
fn a_killed_desk_there_finds_its_questions_again() {
    let house = house();
    let mut ada = house.person("Ada");
    let hook = house.ask("make");
    ada.question(&house, "make");
    let desk = Viewer::connect(&house.box_desk_socket()).unwrap().status().unwrap().pid;
    kill_process(Pid::from_raw(i32::try_from(desk).unwrap()).unwrap(), Signal::KILL).unwrap();
    house.until("another desk is there", || {
        let status = Viewer::connect(&house.box_desk_socket()).ok()?.status().ok()?;
        (status.pid != desk && !status.relays.is_empty()).then_some(())
    });
    let row = ada.question(&house, "make");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied();
}

#[test]
fn what_is_settled_there_is_withdrawn_here() {
    let house = house();
    let mut ada = house.person("Ada");
    let hook = house.ask("make");
    let row = ada.question(&house, "make");
    hook.kill();
    house.until("it is withdrawn", || ada.inbox().is_empty());
    assert!(!ada.allow(&row).0);
    let story = House::story(&house.laptop_entries(), "make");
    assert!(story.contains(&"closed: The agent went away".to_owned()), "{story:?}");
    // The same while the line is cut.
    let hook = house.ask("make again");
    ada.question(&house, "make again");
    house.cut();
    hook.kill();
    house.until("it is over there", || {
        House::story(&house.box_entries(), "make again").iter().any(|it| it.starts_with("closed"))
    });
    assert_eq!(ada.inbox().len(), 1, "nobody here knows yet");
    house.mend();
    house.until("it is withdrawn", || ada.inbox().is_empty());
    house.assert_copied();
}
