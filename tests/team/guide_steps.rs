//! The commands of the third step of docs/guide/team.md lead to a team.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use callgate_testkit::process::{DEADLINE, run};
use callgate_wire::desk::RemoteState;
use serde_json::Value;

use super::team_house::{Asker, DeskMachine, TeamHouse};

/// Returns the commands in the guide's section with this heading, line by line.
fn guide_commands(heading: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/team.md");
    let guide = fs::read_to_string(path).unwrap();
    let (_, rest) = guide.split_once(&format!("### {heading}\n")).unwrap();
    let section = rest.split("\n##").next().unwrap();
    let lines = section.lines().filter_map(|line| line.strip_prefix("    callgate "));
    lines.map(str::to_owned).collect()
}

/// Runs a command of the guide as its reader does, who has callgate on the `PATH`.
fn run_command(machine: &DeskMachine, words: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_callgate"));
    let mut shell = machine.machine.command("/bin/sh", &["-c", &format!("callgate {words}")]);
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    shell.env("USER", "bo").env("PATH", path).stdin(Stdio::null());
    run(shell, DEADLINE).success().stdout
}

#[test]
fn the_guide_leads_to_a_machine_that_asks_the_team() {
    let commands = guide_commands("One desk for many machines");
    let [up, invite, join] = &commands[..] else { panic!("{commands:?}") };
    let words: Vec<&str> = up.split(' ').collect();
    let ["up", "--listen", listen, "--address", address] = words[..] else { panic!("{up}") };
    assert!(listen.starts_with("0.0.0.0:") && address.ends_with(&listen[8..]), "{up}");
    let house = TeamHouse::new(None);
    let printed = run_command(&house.desk, invite);
    let invitation =
        printed.split_whitespace().find(|it| it.starts_with("callgate-invitation-")).unwrap();
    let member = DeskMachine::new();
    member.machine.home.write(".claude/settings.json", "{}");
    let told = run_command(&member, &join.replace("callgate-invitation-…", invitation));
    assert!(told.contains("PermissionRequest") && told.contains("up`, which answers"), "{told}");
    member.up();
    member.wait_for_line(RemoteState::Connected);
    // The agent there starts what its settings say.
    let settings: Value =
        serde_json::from_str(&member.machine.home.text(".claude/settings.json")).unwrap();
    let hook = &settings["hooks"]["PermissionRequest"][0]["hooks"][0];
    let line = hook["command"].as_str().unwrap();
    let words: Vec<&str> =
        hook["args"].as_array().into_iter().flatten().map(|word| word.as_str().unwrap()).collect();
    let command = if words.is_empty() {
        member.machine.command("/bin/sh", &["-c", line])
    } else {
        member.machine.command(line, &words)
    };
    let mut ada = house.desk.person("Ada");
    let hook = Asker::start(command, member.machine.home.folder(), "make one", "For the test");
    let row = ada.question(&house.desk, "make one");
    assert_eq!(row.machine.as_deref(), Some("build-7"));
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    assert!(run_command(&house.desk, "team list").starts_with("build-7: machine, connected"));
    run_command(&house.desk, "team revoke build-7");
    run_command(&member, "team leave");
}

#[test]
fn the_guide_leads_to_people_and_to_a_job_that_asks() {
    let house = TeamHouse::new(None);
    let [person] = &guide_commands("People")[..] else { panic!("other steps") };
    let printed = run_command(&house.desk, person);
    assert!(printed.contains("#join="), "{printed}");
    let commands = guide_commands("CI jobs");
    let [invite, join, ask] = &commands[..] else { panic!("{commands:?}") };
    let printed = run_command(&house.desk, invite);
    let token =
        printed.split_whitespace().find(|it| it.starts_with("callgate-invitation-")).unwrap();
    let job = DeskMachine::new().with_variable("CALLGATE_INVITATION", token);
    job.machine.home.write(".claude/settings.json", "{}");
    let joined = job.done(&join.split(' ').collect::<Vec<_>>());
    assert!(joined.starts_with("Connected to "), "{joined}");
    assert_eq!(
        job.machine.home.text(".claude/settings.json"),
        "{}",
        "a job has no settings of ours"
    );
    let mut ada = house.desk.person("Ada");
    let question = ask.strip_prefix("ask \"").and_then(|it| it.strip_suffix('"')).unwrap();
    let mut asker = super::jobs::ask(&job, question);
    let row = house.desk.until("the question", || {
        ada.inbox().into_iter().find(|row| row.summary.contains(question))
    });
    assert!(ada.allow(&row).0);
    assert!(asker.wait(DEADLINE).unwrap().success());
}

#[test]
fn a_machine_joins_without_hooks_if_its_user_wants_none() {
    let house = TeamHouse::new(None);
    let invitation = house.invite(&["build-7"]);
    let member = DeskMachine::new();
    member.machine.home.write(".claude/settings.json", "{}");
    let told = member.done(&["team", "join", "--no-install", &invitation]);
    assert!(told.starts_with("This machine has joined."), "{told}");
    assert_eq!(member.machine.home.text(".claude/settings.json"), "{}");
}
