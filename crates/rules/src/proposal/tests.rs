//! A rule that was proposed for a call decides on exactly that call.

use serde_json::json;

use super::*;

const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/engine";

fn act(tool: &str, input: &Value) -> Act {
    Act::from_call(tool, &input.to_string(), PROJECT, "claude-code", HOME)
}

fn decide(toml: &str, act: &Act) -> RuleDecision {
    let file = RuleFile::from_toml("rules.toml", toml, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
    judge_act(&policy, act, &NoLinks, &Moment::from_unix_ms(0, 0)).decision
}

#[test]
fn a_rule_is_for_this_call_and_no_other() {
    for (tool, input, other) in [
        ("Bash", json!({ "command": "cargo test -p core" }), json!({ "command": "cargo test" })),
        ("Bash", json!({ "command": "grep 'a *' x" }), json!({ "command": "grep 'a b' x" })),
        ("Bash", json!({ "command": "cd src && make" }), json!({ "command": "make all" })),
        ("Write", json!({ "file_path": "src/a" }), json!({ "file_path": "src/b" })),
        ("Read", json!({ "file_path": "/etc/hosts" }), json!({ "file_path": "/etc/passwd" })),
        ("WebFetch", json!({ "url": "https://docs.rs/x" }), json!({ "url": "https://a.example" })),
        ("mcp__db__query", json!({ "sql": "select 1" }), json!({ "sql": "drop table a" })),
    ] {
        let call = act(tool, &input);
        let proposed = propose_rule(&call, RuleDecision::Allow, None, &[]).unwrap();
        assert_eq!(decide(&proposed.toml, &call), RuleDecision::Allow, "{}", proposed.toml);
        assert_eq!(
            decide(&proposed.toml, &act(tool, &other)),
            RuleDecision::Ask,
            "{}",
            proposed.toml
        );
        let elsewhere = Act::from_call(tool, &input.to_string(), "/srv", "claude-code", HOME);
        assert_eq!(decide(&proposed.toml, &elsewhere), RuleDecision::Ask, "{}", proposed.toml);
        for decision in [RuleDecision::Deny, RuleDecision::Ask, RuleDecision::Confirm] {
            let proposed = propose_rule(&call, decision, None, &[]).unwrap();
            assert_eq!(decide(&proposed.toml, &call), decision, "{}", proposed.toml);
        }
    }
}

#[test]
fn a_rule_may_end() {
    let call = act("Bash", &json!({ "command": "git push" }));
    let end = "2030-01-01T12:00:00Z";
    let proposed = propose_rule(&call, RuleDecision::Allow, Some(end), &["git-push"]).unwrap();
    assert_eq!(
        proposed.toml,
        "[[rule]]\nname = \"git-push-2\"\ndecide = \"allow\"\ncommand = \"git push\"\n\
         project = \"/home/ada/engine\"\nuntil = \"2030-01-01T12:00:00Z\"\n"
    );
    assert_eq!(proposed.name, "git-push-2");
}

#[test]
fn no_rule_allows_what_is_not_understood_or_hidden() {
    let why = |command: &str, decision| {
        propose_rule(&act("Bash", &json!({ "command": command })), decision, None, &[]).unwrap_err()
    };
    assert!(why("echo $(date)", RuleDecision::Allow).contains("not fully understood"));
    assert!(why("callgate up", RuleDecision::Allow).contains("no rule can be written"));
    assert!(why("login '[hidden 1: token]'", RuleDecision::Deny).contains("is hidden"));
    // What was found of it can be denied all the same.
    let denied = propose_rule(
        &act("Bash", &json!({ "command": "curl $URL | sh" })),
        RuleDecision::Deny,
        None,
        &[],
    );
    assert!(denied.unwrap().toml.contains("command = \"sh\""));
}

/// A path in a rule is a pattern, and there is no way to quote it.
#[test]
fn no_rule_is_made_of_a_name_that_would_be_a_pattern() {
    for (tool, input) in [
        ("Write", json!({ "file_path": "src/*" })),
        ("Read", json!({ "file_path": "/etc/host?" })),
        ("Edit", json!({ "file_path": "**/a" })),
        ("mcp__db__*", json!({ "sql": "select 1" })),
    ] {
        let call = act(tool, &input);
        for decision in [RuleDecision::Allow, RuleDecision::Deny] {
            let proposed = propose_rule(&call, decision, None, &[]);
            assert!(proposed.is_err(), "{tool} {input}: {proposed:?}");
        }
    }
    let call = act("Write", &json!({ "file_path": "s*/a" }));
    let wider = similar_conditions(&call);
    let wider: Vec<String> =
        wider.iter().map(|rule| rule.rule(RuleDecision::Allow, None, &[]).toml).collect();
    assert!(!wider.iter().any(|toml| toml.contains("s*")), "{wider:?}");
    let input = json!({ "command": "make" }).to_string();
    let call = Act::from_call("Bash", &input, "/home/ada/*", "claude-code", HOME);
    assert!(propose_rule(&call, RuleDecision::Allow, None, &[]).is_err());
}

#[test]
fn markup_and_quotes_stay_text() {
    let call = act("Bash", &json!({ "command": "echo '\"]\n[[rule]]\nname = \"x\"'" }));
    let proposed = propose_rule(&call, RuleDecision::Deny, None, &[]).unwrap();
    let file = RuleFile::from_toml("rules.toml", &proposed.toml, Trust::User);
    assert_eq!(file.rules.len(), 1, "{}", proposed.toml);
}
