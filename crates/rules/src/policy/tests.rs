//! Tests of decisions.

mod demands;
mod levels;
mod matching;
mod order;
mod unknown_tools;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use callgate_wire::tool_act::{OWN_AGENT, ToolKind};

use super::*;
use crate::act::ActClass;
use crate::file::RuleProblemLevel;

const HOME: &str = "/home/ada";
const PROJECT: &str = "/home/ada/engine";
/// The 16th of November 2026, a Monday, at ten.
const NOW: i64 = 1_794_823_200_000;

fn file(text: &str) -> RuleFile {
    let file = RuleFile::from_toml("rules.toml", text, Trust::User);
    assert!(!file.has_errors(), "{:?}", file.problems);
    file
}

fn policy(text: &str) -> Policy {
    Policy::new(GuardedSet::new(HOME)).with_file(&file(text), None)
}

/// A rule of one line: `decide; key = value; key = value`.
fn rules(lines: &[&str]) -> String {
    let rule = |(number, line): (usize, &&str)| {
        let (decide, rest) = line.split_once("; ").unwrap();
        format!(
            "[[rule]]\nname = \"r{number}\"\ndecide = \"{decide}\"\n{}\n",
            rest.replace("; ", "\n")
        )
    };
    lines.iter().enumerate().map(rule).collect()
}

fn act(tool: &str, input: &serde_json::Value) -> Act {
    let agent = if ToolKind::is_tool_of(OWN_AGENT, tool) { OWN_AGENT } else { "claude" };
    Act::from_call(tool, &input.to_string(), PROJECT, agent, HOME)
}

fn bash(command: &str) -> Act {
    act("Bash", &json!({ "command": command }))
}

fn now() -> Moment {
    Moment::from_unix_ms(NOW, 0)
}

fn decide(lines: &[&str], act: &Act) -> RuleDecision {
    policy(&rules(lines)).decide_by_names(act, &now()).decision
}

fn check(lines: &[&str], act: &Act, expected: &Expect) {
    let verdict = policy(&rules(lines)).decide_by_names(act, &now());
    expected.assert_eq(&format!("{}: {}", verdict.decision, verdict.because));
}

#[test]
fn every_decision_is_explained() {
    let make = "allow; command = \"make build\"";
    check(
        &[make],
        &bash("make build"),
        &expect!["allow: allowed by rule `r0` (rules.toml:1): the command is `make build`"],
    );
    check(&[make], &bash("make x"), &expect!["ask: no rule decides `make x`"]);
    check(&[], &act("WebSearch", &json!({})), &expect!["ask: no rule decides this"]);
    check(
        &[make, "allow; command = \"ls *\""],
        &bash("make build && ls -l"),
        &expect![
            "allow: allowed by rule `r0` (rules.toml:1): the command is `make build`; allowed by rule `r1` (rules.toml:5): the command is `ls -l`"
        ],
    );
    check(
        &[make],
        &bash("make build > x; echo $y"),
        &expect![
            "ask: no rule allows this, because the command is not fully understood: it has a redirect to or from a file, a variable"
        ],
    );
    check(
        &["deny; command = \"rm\"; reason = \"use trash\""],
        &bash("ls; sudo rm x"),
        &expect!["deny: denied by rule `r0` (rules.toml:1): it could run `rm x` (use trash)"],
    );
    check(
        &["ask; path = \"~/.ssh\""],
        &act("Read", &json!({"file_path": "/home/ada/.ssh/id"})),
        &expect!["ask: asked by rule `r0` (rules.toml:1): it could touch ~/.ssh"],
    );
    check(
        &["allow; command = \"*\""],
        &bash("callgate uninstall"),
        &expect!["ask: no rule can allow this, because it runs callgate itself"],
    );
    check(
        &["allow; class = \"read\"; path = \"**\"", "deny; path = \"secrets/**\""],
        &act("Grep", &json!({"pattern": "x"})),
        &expect!["ask: it reaches secrets/**, which rule `r1` (rules.toml:6) denies"],
    );
    let verdict = policy(&rules(&[make])).decide_by_names(&bash("make build"), &now());
    assert_eq!(verdict.rule.unwrap().name, "r0");
}

fn written(explanation: &Explanation) -> String {
    let Explanation { verdict, commands, considered, .. } = explanation;
    let first = format!("{}: {}\n", verdict.decision, verdict.because);
    let commands = commands.iter().map(|command| format!("  command: {command}\n"));
    let rules = considered.iter().map(|ConsideredRule { rule, decision, holds, because }| {
        let holds = if *holds { "holds" } else { "does not hold" };
        format!("  {decision} {rule} {holds}: {because}\n")
    });
    std::iter::once(first).chain(commands).chain(rules).collect()
}

#[test]
fn an_explanation_holds_no_secret_and_is_short() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let long = "x".repeat(5_000);
    for command in [
        format!("curl -H 'Authorization: token {token}' {long}"),
        format!("TOKEN={token} deploy {long}"),
    ] {
        for lines in [
            &["allow; command = \"*\""][..],
            &["deny; command = [\"curl\", \"deploy\"]"],
            &["ask; tool = \"x\""],
        ] {
            let explanation =
                written(&policy(&rules(lines)).explain_by_names(&bash(&command), &now()));
            assert!(!explanation.contains(&token[..20]), "{explanation}");
            assert!(explanation.len() < 1_500, "{explanation}");
        }
    }
}

#[test]
fn deny_beats_ask_beats_allow() {
    let (allow, ask, deny) =
        ("allow; command = \"make *\"", "ask; command = \"make\"", "deny; command = \"make\"");
    for (lines, expected) in [
        (vec![allow], RuleDecision::Allow),
        (vec![allow, ask], RuleDecision::Ask),
        (vec![ask, allow], RuleDecision::Ask),
        (vec![allow, ask, deny], RuleDecision::Deny),
        (vec![deny, ask, allow], RuleDecision::Deny),
        (vec![allow, deny], RuleDecision::Deny),
    ] {
        assert_eq!(decide(&lines, &bash("make build")), expected, "{lines:?}");
    }
}

#[test]
fn all_conditions_of_a_rule_have_to_hold() {
    let act = bash("make build");
    for (line, holds) in [
        ("tool = \"Bash\"", true),
        ("tool = \"B*\"", true),
        ("tool = [\"Read\", \"Bash\"]", true),
        ("tool = \"bash\"", false),
        ("tool = \"Read\"", false),
        ("class = \"run\"", true),
        ("agent = \"claude\"", true),
        ("agent = \"codex\"", false),
        ("project = \"~/engine\"", true),
        ("project = \"/home\"", true),
        ("project = \"/home/ada/engine/src\"", false),
        ("project = \"~/other\"", false),
        ("project = \"~/*\"", true),
        ("between = \"09:00-18:00\"", true),
        ("between = \"18:00-09:00\"", false),
        ("days = \"mon\"", true),
        ("days = [\"sat\", \"sun\"]", false),
        ("until = 2026-11-16", true),
        ("until = 2026-11-15", false),
        ("until = \"2026-11-16T10:00:01Z\"", false),
        ("until = \"2026-11-16T10:01:00Z\"", true),
        ("until = 2026-11-16T10:00:00Z", false),
        ("path = \"**\"", true),
        ("path = \"src/**\"", false),
    ] {
        let allow = format!("allow; command = \"make build\"; {line}");
        let expected = if holds { RuleDecision::Allow } else { RuleDecision::Ask };
        assert_eq!(decide(&[&allow], &act), expected, "{allow}");
    }
    // A deny looks at names in any case.
    assert_eq!(decide(&["deny; tool = \"bash\""], &act), RuleDecision::Deny);
    assert_eq!(decide(&["deny; command = \"make\"; agent = \"codex\""], &act), RuleDecision::Ask);
    assert_eq!(decide(&["deny; command = \"make\"; path = \"~/.ssh\""], &act), RuleDecision::Ask);
}

#[test]
fn nothing_is_allowed_where_a_file_has_errors() {
    let good = file(&rules(&["allow; command = \"make build\""]));
    let bad = RuleFile::from_toml(
        "bad.toml",
        "[[rule]]\nname = \"x\"\ndecide = \"denny\"\ncommand = \"rm\"",
        Trust::User,
    );
    let sealed = Policy::new(GuardedSet::new(HOME)).with_file(&good, None).with_file(&bad, None);
    let verdict = sealed.decide_by_names(&bash("make build"), &now());
    expect!["bad.toml has errors, and until they are corrected no rule allows anything"]
        .assert_eq(&verdict.because);
    let gone = RuleFile::unreadable("x.toml", "permission denied", Trust::Project);
    let policy = |folder: &str| {
        Policy::new(GuardedSet::new(HOME)).with_file(&good, None).with_file(&gone, Some(folder))
    };
    assert_eq!(
        policy(PROJECT).decide_by_names(&bash("make build"), &now()).decision,
        RuleDecision::Ask
    );
    assert_eq!(
        policy("/home/ada/other").decide_by_names(&bash("make build"), &now()).decision,
        RuleDecision::Allow
    );
    assert_eq!(gone.problems[0].level, RuleProblemLevel::Error);
}

#[test]
fn rules_of_a_project_hold_there_and_cannot_allow() {
    let text = rules(&["allow; command = \"make *\"", "deny; command = \"make deploy\""]);
    let project = RuleFile::from_toml(".callgate/rules.toml", &text, Trust::Project);
    let user = file(&rules(&["allow; command = \"make *\""]));
    let policy = |user: Option<&RuleFile>, folder: &str| {
        let policy = Policy::new(GuardedSet::new(HOME)).with_file(&project, Some(folder));
        user.map_or(policy.clone(), |user| policy.with_file(user, None))
    };
    let decide =
        |policy: &Policy, command: &str| policy.decide_by_names(&bash(command), &now()).decision;
    assert_eq!(decide(&policy(None, PROJECT), "make build"), RuleDecision::Ask);
    assert_eq!(decide(&policy(Some(&user), PROJECT), "make build"), RuleDecision::Allow);
    assert_eq!(decide(&policy(Some(&user), PROJECT), "make deploy"), RuleDecision::Deny);
    assert_eq!(decide(&policy(Some(&user), "/home/ada"), "make deploy"), RuleDecision::Deny);
    assert_eq!(decide(&policy(Some(&user), "/home/ada/other"), "make deploy"), RuleDecision::Allow);
    // Also when an allow has come into a project's file by another way.
    let mut forged = project.clone();
    forged.rules.extend(user.rules.iter().cloned());
    let forged = Policy::new(GuardedSet::new(HOME)).with_file(&forged, Some(PROJECT));
    assert_eq!(decide(&forged, "make build"), RuleDecision::Ask);
}

#[test]
fn the_gate_asks_whatever_the_rules_allow() {
    let lines = [
        "allow; command = \"*\"",
        "allow; class = [\"read\", \"write\"]; path = \"/**\"",
        "allow; tool = \"mcp__*\"",
    ];
    for act in [
        bash("callgate uninstall"),
        bash("cat ~/.config/callgate/config.toml"),
        bash("cd .claude && cp /tmp/settings.json ."),
        act("Write", &json!({"file_path": ".claude/settings.json"})),
        act("Read", &json!({"file_path": "~/.config/callgate/config.toml"})),
        act("mcp__fs__write", &json!({"path": ".callgate/rules.toml"})),
    ] {
        let verdict = policy(&rules(&lines)).decide_by_names(&act, &now());
        assert_eq!((verdict.decision, verdict.is_guarded), (RuleDecision::Ask, true), "{act:?}");
    }
    let deny = [&lines[..], &["deny; command = \"callgate\""]].concat();
    assert_eq!(decide(&deny, &bash("callgate uninstall")), RuleDecision::Deny);
    assert_eq!(decide(&lines, &bash("rm x")), RuleDecision::Allow);
    assert_eq!(
        decide(&lines, &act("Read", &json!({"file_path": ".claude/settings.json"}))),
        RuleDecision::Allow
    );
    let open =
        Policy::new(GuardedSet::new(HOME)).with_defaults(PolicyDefaults::read_inside([HOME]));
    let read = |path: &str| {
        open.decide_by_names(&act("Read", &json!({ "file_path": path })), &now()).decision
    };
    assert_eq!(read("~/.config/callgate/config.toml"), RuleDecision::Ask);
    assert_eq!(read("~/notes"), RuleDecision::Allow);
}

#[test]
fn defaults_hold_where_no_rule_decides() {
    let policy =
        |defaults: PolicyDefaults, lines: &[&str]| policy(&rules(lines)).with_defaults(defaults);
    let inside = || PolicyDefaults::read_inside([PROJECT]);
    let read = |path: &str| act("Read", &json!({ "file_path": path }));
    let decide = |policy: &Policy, act: &Act| policy.decide_by_names(act, &now()).decision;
    assert_eq!(decide(&policy(inside(), &[]), &read("src/a")), RuleDecision::Allow);
    assert_eq!(decide(&policy(inside(), &[]), &read("../x")), RuleDecision::Ask);
    assert_eq!(decide(&policy(inside(), &[]), &read("../engine2")), RuleDecision::Ask);
    assert_eq!(
        decide(&policy(inside(), &[]), &act("write_file", &json!({"path": "a"}))),
        RuleDecision::Ask
    );
    assert_eq!(
        decide(&policy(inside(), &[]), &act("get_system_info", &json!({}))),
        RuleDecision::Allow
    );
    assert_eq!(
        decide(&policy(inside(), &[]), &act("list_files", &json!({"path": 1}))),
        RuleDecision::Ask
    );
    assert_eq!(
        decide(&policy(inside(), &["deny; path = \"src\""]), &read("src/a")),
        RuleDecision::Deny
    );
    assert_eq!(
        decide(&policy(inside(), &["ask; path = \"src\""]), &read("src/a")),
        RuleDecision::Ask
    );
    assert_eq!(
        decide(
            &policy(inside(), &["deny; path = \"src/x\""]),
            &act("Grep", &json!({"path": "src"}))
        ),
        RuleDecision::Ask
    );
    assert_eq!(decide(&policy(inside(), &[]), &bash("make")), RuleDecision::Ask);
    let verdict = policy(inside(), &[]).decide_by_names(&read("src/a"), &now());
    expect!["allowed by default: the class is read, inside of /home/ada/engine"]
        .assert_eq(&verdict.because);
}

#[test]
fn an_explanation_names_every_rule() {
    let policy = policy(&rules(&[
        "allow; command = \"make *\"",
        "deny; command = \"rm\"",
        "ask; tool = \"Read\"",
        "allow; command = \"ls\"; until = 2020-01-01",
    ]));
    let explain = |command: &str| written(&policy.explain_by_names(&bash(command), &now()));
    expect![[r"
        allow: allowed by rule `r0` (rules.toml:1): the command is `make build`
          command: timeout 5 make build
          allow `r0` (rules.toml:1) holds: it allows `make build`
          deny `r1` (rules.toml:5) does not hold: it runs other commands
          ask `r2` (rules.toml:9) does not hold: the tool is Bash
          allow `r3` (rules.toml:13) does not hold: it has expired
    "]]
    .assert_eq(&explain("timeout 5 make build"));
    expect![[r"
        deny: denied by rule `r1` (rules.toml:5): it could run `rm x`
          command: rm x
          command: make …
          allow `r0` (rules.toml:1) does not hold: the command is not fully understood: it has a substitution
          deny `r1` (rules.toml:5) holds: it could run `rm x`
          ask `r2` (rules.toml:9) does not hold: the tool is Bash
          allow `r3` (rules.toml:13) does not hold: the command is not fully understood: it has a substitution
    "]]
    .assert_eq(&explain("make $(rm x)"));
    // Wrappers are looked into however many commands the line has.
    let line = format!("timeout 5 make build{}", "; ls".repeat(20));
    let explained = policy.explain_by_names(&bash(&line), &now());
    assert_eq!(explained.considered[0].because, "it allows `make build`");
}

#[test]
fn the_tests_of_a_file_are_run() {
    let text = rules(&[
        "allow; command = \"make *\"; between = \"09:00-18:00\"",
        "deny; path = \"~/.ssh\"",
    ]) + "
        [[test]]
        command = \"make build\"
        expect = \"allow\"
        [[test]]
        command = \"make build\"
        at = \"2026-11-16T20:00:00\"
        expect = \"ask\"
        [[test]]
        path = \"~/.ssh/id\"
        expect = \"deny\"
        [[test]]
        name = \"wrong on purpose\"
        tool = \"Write\"
        path = \"a\"
        expect = \"allow\"
        ";
    let file = file(&text);
    let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, None);
    let results = crate::run_tests(&policy, &file.tests, HOME, PROJECT, &now());
    let passed: Vec<bool> = results.iter().map(crate::RuleTestResult::is_passed).collect();
    assert_eq!(passed, [true, true, true, false]);
    assert_eq!((results[3].test.name.as_str(), results[3].test.line), ("wrong on purpose", 21));
    expect!["no rule decides this"].assert_eq(&results[3].verdict.because);
}

#[test]
fn a_backtest_says_what_would_have_been_decided() {
    let policy = policy(&rules(&["allow; command = \"make *\"", "deny; command = \"rm\""]));
    let play = |past: &[(&str, &str, RuleDecision)]| {
        let mut result = Backtest::default();
        for (label, command, decided) in past {
            let verdict = crate::judge_act(&policy, &bash(command), &crate::NoLinks, &now());
            result.add_act((*label).into(), *decided, true, &verdict);
        }
        result
    };
    let result = play(&[
        ("1", "make build", RuleDecision::Allow),
        ("2", "make deploy", RuleDecision::Deny),
        ("3", "rm x", RuleDecision::Allow),
        ("4", "rm y", RuleDecision::Deny),
        ("5", "ls", RuleDecision::Allow),
        ("6", "make x", RuleDecision::Ask),
    ]);
    assert_eq!(result.acts, 6);
    let counts = [RuleDecision::Allow, RuleDecision::Ask, RuleDecision::Deny]
        .map(|decision| result.count(decision));
    assert_eq!(counts, [3, 1, 2]);
    assert_eq!(result.spared, 5);
    let labels = |turned: &[TurnedVerdict]| {
        turned.iter().map(|turned| turned.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!((labels(&result.let_through), result.let_through_count), (vec!["2".into()], 1));
    assert_eq!((labels(&result.newly_denied), result.newly_denied_count), (vec!["3".into()], 1));
    let many = play(&vec![("0", "make x", RuleDecision::Deny); LONGEST_LIST + 1]);
    assert_eq!((many.let_through_count, many.let_through.len()), (LONGEST_LIST + 1, LONGEST_LIST));
}
