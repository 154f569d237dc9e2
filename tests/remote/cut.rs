//! A question survives what becomes of the line, and of the processes at its ends.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use callgate_client::viewer::Viewer;
use callgate_testkit::process::{DEADLINE, Group, run};
use rustix::process::{Pid, Signal, kill_process};

use super::fixture::{BOX, House};

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

#[test]
fn what_is_settled_there_while_no_desk_runs_here_is_withdrawn() {
    let house = house();
    let mut ada = house.person("Ada");
    let (over, answered, stays) =
        (house.ask("make one"), house.ask("make two"), house.ask("make three"));
    for command in ["make one", "make two", "make three"] {
        ada.question(&house, command);
    }
    let row = ada.question(&house, "make two");
    house.cut();
    assert!(ada.allow(&row).0);
    house.kill_desk();
    over.kill();
    answered.kill();
    house.until("both are over there", || {
        ["make one", "make two"].iter().all(|command| {
            let story = House::story(&house.box_entries(), command);
            story.iter().any(|it| it.starts_with("closed"))
        })
    });
    house.up();
    house.mend();
    house.wait_until_connected();
    ada.return_to(&house);
    house.until("they are withdrawn", || ada.inbox().len() == 1);
    let row = ada.question(&house, "make three");
    assert!(ada.allow(&row).0);
    assert_eq!(stays.decision()["behavior"], "allow");
    for command in ["make one", "make two"] {
        let story = House::story(&house.laptop_entries(), command);
        assert!(!story.contains(&"delivered".to_owned()), "{story:?}");
        assert!(story.iter().any(|it| it.starts_with("closed")), "{story:?}");
    }
    house.assert_copied();
}

#[test]
fn the_questions_of_a_machine_that_is_removed_while_no_desk_runs_are_over() {
    let house = house();
    let mut ada = house.person("Ada");
    let hook = house.ask("make");
    ada.question(&house, "make");
    house.kill_desk();
    house.laptop.write("down", "");
    drop(house.run_on_laptop(&["remote", "remove", "--force", BOX]).success());
    house.up();
    ada.return_to(&house);
    house.until("it is over here", || ada.inbox().is_empty());
    let story = House::story(&house.laptop_entries(), "make");
    assert_eq!(story, ["asked", "closed: The agent went away"]);
    drop(hook);
}

#[test]
fn a_shared_connection_that_stands_still_holds_up_no_new_line() {
    let house = house();
    let mut ada = house.person("Ada");
    let hook = house.ask("make");
    let row = ada.question(&house, "make");
    // As ssh does that others share: it has the pipes of a session until its server confirms the
    // end, which a dead network does not.
    let held = format!(
        "exec 2>/proc/{}/fd/2 && echo held && exec sleep 1000",
        house.ssh_pid().as_raw_nonzero()
    );
    let mut holder = Command::new("sh");
    holder.args(["-c", &held]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut holder = Group::spawn(holder);
    let mut said = [0; 5];
    holder.take_stdout().read_exact(&mut said).unwrap();
    assert_eq!(&said, b"held\n");
    house.kill_ssh();
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
}

#[test]
fn what_was_copied_before_a_ledger_was_replaced_is_shown_and_verified() {
    let house = House::over_pipe();
    house.up();
    house.wait_until_connected();
    let mut ada = house.person("Ada");
    let hook = house.ask("make first");
    let row = ada.question(&house, "make first");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    house.assert_copied();
    let before = house.copied_entries();
    let log = |name: &str, words: &[&str]| {
        let words = [&["log", "--machine", name][..], words].concat();
        run(house.on_laptop(&words), DEADLINE)
    };
    let whole = log(BOX, &["--verify"]).success().stdout;
    assert!(whole.starts_with(&format!("{BOX}: the copy is whole from entry 1 on;")), "{whole}");
    assert!(!log(BOX, &[]).stderr.contains("replaced"), "there is one copy");

    house.cut();
    drop(run(house.on_box(&["relay", "--stop"]), DEADLINE).success());
    for end in ["", "-wal", "-shm"] {
        let file = house.machine.path(&format!(".local/share/callgate/callgate.db{end}"));
        fs::remove_file(file).ok();
    }
    house.mend();
    house.wait_until_connected();
    house.assert_copied();
    let shown = log(BOX, &["--json"]);
    assert!(!shown.stdout.contains("make first"), "{}", shown.stdout);
    let note = format!("what was copied before is shown by --machine {BOX}#1\n");
    assert!(shown.stderr.ends_with(&note), "{}", shown.stderr);
    let first = format!("{BOX}#1");
    let older = log(&first, &["--json"]).success().stdout;
    assert_eq!(older.lines().count(), before.len());
    assert!(older.contains("make first"), "{older}");
    let nothing = log(&first, &["--grep", "no such text"]);
    assert!(nothing.stderr.contains("nothing in the ledger matches"), "{}", nothing.stderr);
    let whole = log(BOX, &["--verify"]).success().stdout;
    let lines: Vec<&str> = whole.lines().collect();
    assert!(lines[0].starts_with(&first) && lines[1].starts_with(&format!("{BOX}#2")), "{whole}");
    assert!(lines[2].contains("1 time") && lines.len() == 3, "{whole}");
    let verified = log(&first, &["--verify", "--json"]).success().stdout;
    assert!(verified.contains("\"whole\":true"), "{verified}");
    let unknown = log("nowhere", &["--verify"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(unknown.stderr.contains("no copy of the ledger"), "{}", unknown.stderr);
    // Whoever changes a copy here is noticed, too.
    let database = house.laptop.path(".local/share/callgate/callgate.db");
    let database = rusqlite::Connection::open(database).unwrap();
    let change = "UPDATE copied_entries SET at_ms = at_ms + 1 WHERE series = 1 AND seq = 2";
    database.execute(change, []).unwrap();
    let broken = log(BOX, &["--verify"]);
    assert_eq!(broken.status.code(), Some(1));
    let expected = format!("{first}: the copy is broken at entry 2:");
    assert!(broken.stdout.starts_with(&expected), "{}", broken.stdout);
}
