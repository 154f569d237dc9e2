//! How often an ordinary command is asked about because it was not understood.
//!
//! `data/ordinary-commands.txt` has 1,000 lines that programmers and agents run, written before the
//! reader was measured with them.

use callgate_rules::{
    Act, Guarded, Moment, NoLinks, Policy, RuleFile, Trust, UnclearCommands, Verdict, judge,
};
use serde_json::json;

const LINES: &str = include_str!("data/ordinary-commands.txt");
const STARTER: &str = include_str!("../../../src/rules/starter.toml");
const GATE_PAGE: &str = include_str!("../../../docs/measurements/gate.md");
/// The most lines of a thousand that may be asked about as not understood.
const MOST_UNCLEAR: usize = 20;

fn policy(rules: &str) -> Policy {
    let file = RuleFile::read("rules.toml", rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    Policy::new(Guarded::new("/home/ada")).with(&file, None).with_unclear(UnclearCommands::Ask)
}

fn verdict(policy: &Policy, line: &str) -> Verdict {
    let input = json!({ "command": line }).to_string();
    let act = Act::of("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
    judge(policy, &act, &NoLinks, &Moment::at(0, 0))
}

#[test]
fn few_ordinary_commands_are_not_understood() {
    let lines: Vec<&str> = LINES.lines().collect();
    assert_eq!(lines.len(), 1_000);
    let (starter, none) = (policy(STARTER), policy(""));
    let count = |policy: &Policy| {
        let unclear = lines.iter().filter(|line| {
            let verdict = verdict(policy, line);
            let is_unclear = verdict.is_unclear || verdict.because.contains("too long to judge");
            if is_unclear {
                println!("{line}\n    {}", verdict.because);
            }
            is_unclear
        });
        unclear.count()
    };
    let (with_rules, without) = (count(&starter), count(&none));
    println!("{with_rules} with the starter rules, {without} without rules");
    assert!(with_rules <= MOST_UNCLEAR && without <= MOST_UNCLEAR);
    let stated =
        format!("{with_rules} of 1,000 with the starter rules and {without} without rules");
    assert!(GATE_PAGE.contains(&stated), "docs/measurements/gate.md should say: {stated}");
}
