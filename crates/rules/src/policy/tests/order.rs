//! The order of rules does not matter, and one rule more never weakens another.

use super::*;

/// Rules and acts that have to do with each other.
pub(super) const LINES: [&str; 18] = [
    "allow; command = \"make *\"",
    "allow; command = [\"ls *\", \"cat *\"]",
    "allow; command = \"*\"",
    "allow; command = \"rm *\"; path = \"**\"",
    "allow; class = [\"read\", \"write\"]; path = \"src/**\"",
    "allow; tool = \"mcp__*\"",
    "allow; host = \"docs.rs\"",
    "ask; command = \"make deploy\"",
    "ask; class = \"write\"",
    "ask; path = \"src/x\"",
    "ask; tool = \"Bash\"; days = \"mon\"",
    "confirm; command = \"make\"",
    "confirm; path = \"src/**\"",
    "deny; command = \"rm\"",
    "deny; path = \"~/.ssh\"",
    "deny; host = \"*\"",
    "deny; agent = \"claude\"; between = \"00:00-01:00\"",
    "deny; project = \"/tmp\"",
];

pub(super) fn acts() -> Vec<Act> {
    let commands = [
        "make build",
        "make deploy",
        "ls; rm x",
        "cat ~/.ssh/id",
        "cat $(x)",
        "rm src/a",
        "rm /etc/x",
        "timeout 5 make",
        "callgate up",
        "cd src && ls",
        "curl https://docs.rs",
        "echo",
        "bash -c 'ls && make'",
        "grep -r x ~",
    ];
    let mut acts: Vec<Act> = commands.into_iter().map(bash).collect();
    for (tool, input) in [
        ("Read", json!({"file_path": "src/x/y"})),
        ("Write", json!({"file_path": "src/a"})),
        ("Grep", json!({"pattern": "x", "path": "src"})),
        ("WebFetch", json!({"url": "https://docs.rs"})),
        ("mcp__a__b", json!({"x": "y"})),
        ("Write", json!({"file_path": ".claude/settings.json"})),
    ] {
        acts.push(act(tool, &input));
    }
    acts
}

#[test]
fn confirm_is_stricter_than_ask_and_weaker_than_deny() {
    let (allow, ask) = ("allow; command = \"git push *\"", "ask; command = \"git push\"");
    let (confirm, deny) = ("confirm; command = \"git push\"", "deny; command = \"git push\"");
    let push = bash("git push origin main");
    for (rules, expected) in [
        (&[allow][..], RuleDecision::Allow),
        (&[ask, allow], RuleDecision::Ask),
        (&[allow, ask, confirm], RuleDecision::Confirm),
        (&[confirm], RuleDecision::Confirm),
        (&[confirm, allow, deny, ask], RuleDecision::Deny),
    ] {
        assert_eq!(decide(rules, &push), expected, "{rules:?}");
    }
    let verdict = policy(&rules(&[confirm])).decide_by_names(&push, &now());
    assert!(verdict.wants_person && !verdict.is_guarded);
    assert!(verdict.because.starts_with("to be confirmed by rule `"), "{}", verdict.because);
    // It is found wherever it could run, as a deny is.
    assert_eq!(decide(&[confirm, allow], &bash("cd x && git -C y push")), RuleDecision::Confirm);
}

#[test]
fn what_touches_the_gate_may_have_to_be_confirmed() {
    let settings = act("Write", &json!({"file_path": ".claude/settings.json"}));
    let verdict =
        policy(&rules(&["confirm; class = \"write\""])).decide_by_names(&settings, &now());
    assert_eq!(verdict.decision, RuleDecision::Confirm);
    assert!(verdict.is_guarded, "nothing is allowed from now on");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_rules_does_not_matter(
        chosen in prop::sample::subsequence(LINES.to_vec(), 0..=LINES.len()).prop_shuffle(),
    ) {
        let mut sorted = chosen.clone();
        sorted.sort_unstable();
        let (one, other) = (policy(&rules(&chosen)), policy(&rules(&sorted)));
        for act in acts() {
            prop_assert_eq!(one.decide_by_names(&act, &now()).decision, other.decide_by_names(&act, &now()).decision);
        }
    }

    #[test]
    fn a_rule_more_that_denies_or_asks_never_allows_more(
        chosen in prop::sample::subsequence(LINES.to_vec(), 0..=LINES.len()), more in 7..LINES.len(),
    ) {
        let with = [chosen.as_slice(), &[LINES[more]]].concat();
        let (fewer, more) = (policy(&rules(&chosen)), policy(&rules(&with)));
        for act in acts() {
            let (fewer, more) = (fewer.decide_by_names(&act, &now()), more.decide_by_names(&act, &now()));
            prop_assert!(more.decision >= fewer.decision, "{:?}: {:?} then {:?}", act.tool, fewer, more);
        }
    }

    #[test]
    fn a_rule_more_that_allows_never_overrules_one_that_does_not(
        chosen in prop::sample::subsequence(LINES.to_vec(), 0..=LINES.len()), more in 0..7_usize,
    ) {
        let with = [chosen.as_slice(), &[LINES[more]]].concat();
        let (fewer, more) = (policy(&rules(&chosen)), policy(&rules(&with)));
        for act in acts() {
            let (fewer, more) = (fewer.decide_by_names(&act, &now()), more.decide_by_names(&act, &now()));
            if fewer.decision == RuleDecision::Deny || fewer.rule.is_some() || fewer.is_guarded {
                prop_assert_eq!(more.decision, fewer.decision);
            }
        }
    }
}
