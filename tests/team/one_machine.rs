//! A user of one machine meets nothing of a team.

use std::fs;

use super::team_house::DeskMachine;

/// The names of the desk's threads, sorted.
fn threads_of(desk: &DeskMachine) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", desk.desk_pid())).unwrap();
    // One that has ended meanwhile has no name.
    let names = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
    let mut names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn one_machine_has_no_thread_port_or_word_of_a_team() {
    let desk = DeskMachine::new();
    desk.up();
    let expected = ["callgate", "callgate", "desk", "hangups", "rules"];
    desk.until("its threads", || threads_of(&desk) == expected);
    let mut ada = desk.person("Ada");
    let hook = desk.ask("make one");
    let row = ada.question(&desk, "make one");
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    desk.until("its threads afterwards", || threads_of(&desk) == expected);
    assert_eq!(desk.count_listening(), 1, "its page");
    let doctor = desk.command(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    let log = desk.machine.home.text("up.log");
    for said in [desk.done(&["status"]), doctor, log] {
        let said = said.to_lowercase();
        for word in ["team", "member", "remote"] {
            assert!(!said.contains(word), "{word}: {said}");
        }
    }
    for file in ["team-line", "team-authority.key", "team-authority.der"] {
        assert!(!desk.machine.data(file).exists(), "{file}");
    }
}
