//! The commands of the second step of docs/guide/team.md lead to a box, and back.

use std::fs;
use std::path::Path;

use callgate_testkit::process::{DEADLINE, run};

use super::fixture::{House, installed_hook};

#[test]
fn the_guide_leads_to_a_box_that_asks_and_is_given_back() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide/team.md");
    let guide = fs::read_to_string(path).unwrap();
    let (_, rest) = guide.split_once("## 2. A laptop and boxes\n").unwrap();
    let (section, _) = rest.split_once("### Containers").unwrap();
    let house = House::bare();
    house.write_pipe_ssh();
    let command_of = |line: &str| {
        assert!(section.contains(&format!("callgate {line}")), "{line} is not in the guide");
        house.on_laptop(&line.split(' ').collect::<Vec<_>>())
    };
    let done = |line: &str| run(command_of(line), 4 * DEADLINE).success().stdout;
    house.machine.write(".claude/settings.json", "{}");
    house.up();
    let said = done("remote add build-7");
    let shown = section.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    for line in shown.lines().skip(1).filter(|line| *line != "…") {
        // The guide has a home and a time of its own.
        let words = line.split(['/', '0']).next().unwrap();
        assert!(said.lines().any(|said| said.starts_with(words)), "{line}: {said}");
    }
    let mut ada = house.person("Ada");
    let hook = house.as_box_user(installed_hook(&house.machine));
    let hook = House::start_hook(hook, "make", house.machine.folder());
    let row = ada.question(&house, "make");
    assert_eq!(row.machine.as_deref(), Some("build-7"));
    assert!(ada.allow(&row).0);
    assert_eq!(hook.decision()["behavior"], "allow");
    assert!(done("remote list").starts_with("build-7: connected for "));
    assert!(done("status").contains("build-7: connected for "));
    let doctor = run(house.on_box(&["doctor"]), DEADLINE).stdout;
    assert!(doctor.contains("its desk has been connected for"), "{doctor}");
    house.until("its ledger is copied", || {
        let log = run(command_of("log --machine build-7"), DEADLINE).stdout;
        log.contains("make").then_some(())
    });
    done("remote remove build-7");
    assert_eq!(house.machine.text(".claude/settings.json"), "{}");
}
