//! The rules in the guide are right, and decide what the guide says.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

use callgate_rules::{
    Act, GuardedSet, Moment, NoLinks, Policy, RuleDecision, RuleFile, Trust, judge_act, run_tests,
};
use serde_json::json;

const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/engine";

fn guide() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/rules.md");
    std::fs::read_to_string(path).expect("the guide is there")
}

/// The text of every block of TOML.
fn blocks(guide: &str) -> Vec<&str> {
    guide.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_examples_are_rules_and_their_tests_pass() {
    let guide = guide();
    let blocks = blocks(&guide);
    assert!(!blocks.is_empty());
    for block in blocks {
        let file = RuleFile::from_toml("guide", block, Trust::User);
        assert_eq!(file.problems, []);
        let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
        for result in run_tests(&policy, &file.tests, HOME, PROJECT, &Moment::from_unix_ms(0, 0)) {
            assert!(result.is_passed(), "{}: {}", result.test.name, result.verdict.because);
        }
    }
}

/// The texts in backticks of a cell.
fn spelled(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_table_of_patterns_is_true() {
    let guide = guide();
    let table = guide.split("| pattern in an allow |").nth(1).expect("the table is there");
    let mut rows = 0;
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        let pattern = spelled(cells[1])[0];
        let text = format!("[[rule]]\nname = \"x\"\ndecide = \"allow\"\ncommand = \"{pattern}\"");
        let file = RuleFile::from_toml("guide", &text, Trust::User);
        assert!(!file.has_errors(), "{pattern}");
        let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
        for command in spelled(cells[3]) {
            let input = json!({ "command": command }).to_string();
            let act = Act::from_call("Bash", &input, PROJECT, "claude", HOME);
            let verdict = judge_act(&policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0));
            assert_eq!(verdict.decision, RuleDecision::Ask, "{pattern} allows {command}");
        }
        rows += 1;
    }
    assert!(rows >= 5);
}

#[test]
fn every_key_of_a_rule_is_in_the_guide() {
    let guide = guide();
    // An unknown key is answered with the list of those that are known.
    let file = RuleFile::from_toml("x", "[[rule]]\nzzzzzzzz = 1", Trust::User);
    let known = file.problems.iter().find_map(|p| p.message.split("known are ").nth(1)).unwrap();
    for key in known.split(", ") {
        assert!(guide.contains(&format!("\n| `{key}` | ")), "{key} is not in the table");
    }
}
