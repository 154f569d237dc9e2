//! How often an ordinary command is asked about because it was not understood.
//!
//! `data/ordinary-commands.txt` has 1,000 lines that programmers and agents run, written before the
//! reader was measured with them.

use callgate_rules::{
    Act, GuardedSet, Moment, NoLinks, Policy, RuleFile, Trust, UnclearCommands, Verdict,
    find_risks, judge_act,
};
use callgate_wire::desk::RiskKind;
use serde_json::json;

const LINES: &str = include_str!("data/ordinary-commands.txt");
const STARTER: &str = include_str!("../src/starter.toml");
const GATE_PAGE: &str = include_str!("../../../docs/measurements/gate.md");
/// The risks of these lines, each with its line, as a person found them.
const RISKS: &str = include_str!("data/ordinary-risks.txt");
/// The most lines of a thousand that may be asked about as not understood.
const MOST_UNCLEAR: usize = 20;

fn policy(rules: &str) -> Policy {
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    Policy::new(GuardedSet::new("/home/ada"))
        .with_file(&file, None)
        .with_unclear(UnclearCommands::Ask)
}

fn verdict(policy: &Policy, line: &str) -> Verdict {
    let input = json!({ "command": line }).to_string();
    let act = Act::from_call("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
    judge_act(policy, &act, &NoLinks, &Moment::from_unix_ms(0, 0))
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

/// What a person reads about an ordinary line is true, and nothing of what is true is missing.
#[test]
fn the_risks_of_ordinary_commands_are_true() {
    let guarded = GuardedSet::new("/home/ada");
    let (mut found, mut unclear) = (Vec::new(), 0);
    for line in LINES.lines() {
        let input = json!({ "command": line }).to_string();
        let act = Act::from_call("Bash", &input, "/home/ada/engine", "claude", "/home/ada");
        for note in find_risks(&act, &guarded) {
            let kind = match note.kind {
                RiskKind::Unclear => {
                    unclear += 1;
                    continue;
                }
                kind => format!("{kind:?}").to_lowercase(),
            };
            found.push(format!("{kind}\t{line}"));
        }
    }
    assert_eq!(found, RISKS.lines().collect::<Vec<&str>>());
    assert!(unclear < 80, "{unclear} lines are said to be not fully understood");
}
