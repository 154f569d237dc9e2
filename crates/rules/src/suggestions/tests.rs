//! What is suggested, and above all what is not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/engine";

fn call(command: &str, [allowed, denied, undecided]: [u64; 3]) -> DecidedCall {
    let input = json!({ "command": command }).to_string();
    let act = Act::from_call("Bash", &input, PROJECT, "claude-code", HOME);
    DecidedCall { act, allowed, denied, undecided }
}

fn policy(rules: &str) -> Policy {
    let file = RuleFile::from_toml("rules.toml", rules, Trust::User);
    assert_eq!(file.problems, []);
    Policy::new(GuardedSet::new(HOME)).with_file(&file, None)
}

fn suggested(rules: &str, calls: &[DecidedCall]) -> Vec<RuleSuggestion> {
    let guarded = GuardedSet::new(HOME);
    suggest_rules(&policy(rules), &guarded, calls, &Moment::from_unix_ms(0, 0), &|_, _| true)
        .unwrap()
}

/// The condition of each suggestion, and how many questions it saves.
fn lines(suggestions: &[RuleSuggestion]) -> Vec<(String, u64)> {
    let line = |toml: &str| toml.lines().nth(3).unwrap().to_owned();
    suggestions.iter().map(|one| (line(&one.rule.toml), one.saves)).collect()
}

#[test]
fn what_was_allowed_often_is_suggested_as_narrowly_as_possible() {
    let calls = [
        call("make build", [5, 0, 0]),
        call("jq . a", [1, 0, 0]),
        call("spell check a", [3, 0, 0]),
        call("spell check b", [1, 0, 1]),
        call("spell check c", [0, 0, 2]),
        call("date", [1, 0, 0]),
    ];
    let suggestions = suggested("", &calls);
    assert_eq!(
        lines(&suggestions),
        [("command = \"make build\"".to_owned(), 5), ("command = \"spell check *\"".to_owned(), 4),]
    );
    assert_eq!(suggestions[1].beyond, [4], "nobody allowed that one");
    let toml = &suggestions[0].rule.toml;
    assert_eq!(
        toml,
        "[[rule]]\nname = \"make-build\"\ndecide = \"allow\"\ncommand = \"make build\"\n\
         project = \"/home/ada/engine\"\n"
    );
}

#[test]
fn a_denial_keeps_every_rule_away_that_covers_it() {
    let calls = [
        call("spell check a", [9, 0, 0]),
        call("spell check b", [9, 0, 0]),
        call("spell check c", [0, 1, 0]),
    ];
    let expected = [
        ("command = \"spell check a\"".to_owned(), 9),
        ("command = \"spell check b\"".to_owned(), 9),
    ];
    assert_eq!(lines(&suggested("", &calls)), expected);
    // What was sometimes allowed and once denied is not suggested at all.
    assert_eq!(lines(&suggested("", &[call("make", [99, 1, 0])])), []);
    // Two rules that together would let a denied line through are not both suggested.
    let calls =
        [call("make a", [9, 0, 0]), call("make b", [8, 0, 0]), call("make a && make b", [0, 1, 0])];
    assert_eq!(lines(&suggested("", &calls)), [("command = \"make a\"".to_owned(), 9)]);
    // Nor one that does so with a rule of the user.
    let user = "[[rule]]\nname = \"a\"\ndecide = \"allow\"\ncommand = \"make a\"\n";
    assert_eq!(lines(&suggested(user, &calls)), []);
}

#[test]
fn what_rules_decide_already_is_not_suggested() {
    let rule = |decide: &str| {
        format!("[[rule]]\nname = \"a\"\ndecide = \"{decide}\"\ncommand = \"make build\"\n")
    };
    let calls = [call("make build", [9, 0, 0])];
    for decide in ["allow", "deny", "ask", "confirm"] {
        assert_eq!(lines(&suggested(&rule(decide), &calls)), [], "{decide}");
    }
    // Nor what no rule can allow.
    for command in ["callgate up", "echo $(date)", "cat ~/.claude/settings.json"] {
        assert_eq!(lines(&suggested("", &[call(command, [9, 0, 0])])), [], "{command}");
    }
}

#[test]
fn files_and_tools_are_suggested_too() {
    let act = |tool: &str, input: serde_json::Value| DecidedCall {
        act: Act::from_call(tool, &input.to_string(), PROJECT, "claude-code", HOME),
        allowed: 3,
        denied: 0,
        undecided: 0,
    };
    let calls = [
        act("Edit", json!({ "file_path": "/home/ada/engine/src/a.rs" })),
        act("Edit", json!({ "file_path": "/home/ada/engine/src/b.rs" })),
        act("mcp__db__query", json!({ "sql": "select 1" })),
        act("mcp__db__query", json!({ "sql": "select 2" })),
    ];
    let tomls: Vec<String> = suggested("", &calls).into_iter().map(|one| one.rule.toml).collect();
    assert_eq!(tomls.len(), 2, "{tomls:?}");
    assert!(tomls.iter().any(|toml| toml.contains("tool = \"Edit\"\npath = \"src/**\"")));
    assert!(tomls.iter().any(|toml| toml.contains("tool = \"mcp__db__query\"\nproject")));
}

#[test]
fn the_work_ends_when_nobody_wants_it() {
    let calls = [call("make build", [5, 0, 0])];
    let guarded = GuardedSet::new(HOME);
    let stopped =
        suggest_rules(&policy(""), &guarded, &calls, &Moment::from_unix_ms(0, 0), &|_, _| false);
    assert_eq!(stopped, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_suggestion_covers_a_past_denial(
        decisions in prop::collection::vec(
            ("(make|spell check|jq|cat|rm|git)( (a|b|src/x|-q)){0,2}( && make (a|b))?", 0..6_u64, 0..2_u64),
            0..24,
        ),
        has_rule: bool,
    ) {
        let calls: Vec<DecidedCall> = decisions
            .iter()
            .map(|(command, allowed, denied)| call(command, [*allowed, *denied, 0]))
            .collect();
        let rules = "[[rule]]\nname = \"a\"\ndecide = \"allow\"\ncommand = \"make a\"\n";
        let rules = if has_rule { rules } else { "" };
        let suggestions = suggested(rules, &calls);
        let before = policy(rules);
        let file = |one: &RuleSuggestion| RuleFile::from_toml("one", &one.rule.toml, Trust::User);
        let all = suggestions.iter().fold(before.clone(), |all, one| all.with_file(&file(one), None));
        let allows = |policy: &Policy, call: &DecidedCall| {
            judge_act(policy, &call.act, &NoLinks, &Moment::from_unix_ms(0, 0)).decision == RuleDecision::Allow
        };
        for call in calls.iter().filter(|call| call.denied > 0) {
            prop_assert!(!allows(&all, call) || allows(&before, call), "{:?}", call.act.command);
            for one in &suggestions {
                let alone = Policy::new(GuardedSet::new(HOME)).with_file(&file(one), None);
                prop_assert!(!allows(&alone, call), "{}: {:?}", one.rule.toml, call.act.command);
            }
        }
    }
}
