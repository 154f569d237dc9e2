//! Rules of a team, the user and a project: each level has a verdict, and the strictest wins.

use super::order::{LINES, acts};
use super::*;

fn level(trust: Trust, name: &str, lines: &[&str]) -> RuleFile {
    RuleFile::from_toml(name, &rules(lines), trust)
}

/// Returns the policy of three levels.
fn levels(team: &[&str], user: &[&str], project: &[&str]) -> Policy {
    Policy::new(GuardedSet::new(HOME))
        .with_file(&level(Trust::Team, "team acme, rules 7", team), None)
        .with_file(&level(Trust::User, "rules.toml", user), None)
        .with_file(&level(Trust::Project, ".callgate/rules.toml", project), Some(PROJECT))
}

/// Returns how strict a verdict is, with 0 where nothing decides.
fn strictness_of(verdict: &Verdict) -> usize {
    let is_undecided = verdict.decision == RuleDecision::Ask && !verdict.wants_person;
    if is_undecided { 0 } else { verdict.decision as usize + 1 }
}

#[test]
fn the_strictest_level_decides_and_is_named() {
    const ALLOW: &str = "allow; command = \"git push *\"";
    const ASK: &str = "ask; command = \"git push\"";
    const CONFIRM: &str = "confirm; command = \"git push\"";
    const DENY: &str = "deny; command = \"git push\"";
    let check = |team: &[&str], user: &[&str], project: &[&str], expected: &str| {
        let policy = levels(team, user, project);
        let verdict = policy.decide_by_names(&bash("git push origin"), &now());
        let (rule, _) = verdict.because.split_once(": ").unwrap();
        assert_eq!(format!("{}: {rule}", verdict.decision.name()), expected);
    };
    // An allow of the team's counts where the member's own rules say nothing.
    check(&[ALLOW], &[], &[], "allow: allowed by rule `r0` (team acme, rules 7:1)");
    // A local allow counts only where the team's rules neither deny nor ask.
    for (team, word) in [(ASK, "ask: asked"), (DENY, "deny: denied")] {
        let expected = format!("{word} by rule `r0` (team acme, rules 7:1)");
        check(&[team], &[ALLOW], &[], &expected);
    }
    let expected = "confirm: to be confirmed by rule `r0` (team acme, rules 7:1)";
    check(&[CONFIRM], &[ALLOW], &[], expected);
    check(&[], &[ALLOW], &[], "allow: allowed by rule `r0` (rules.toml:1)");
    // The member's own rules, and the project's, may be stricter.
    check(&[ALLOW], &[DENY], &[], "deny: denied by rule `r0` (rules.toml:1)");
    let expected = "ask: asked by rule `r0` (.callgate/rules.toml:1)";
    check(&[ALLOW], &[ALLOW], &[ASK], expected);
}

#[test]
fn a_bundle_that_an_older_program_cannot_read_allows_nothing() {
    let bundle = RuleFile::from_toml(
        "team acme, rules 7",
        "[[rule]]\nname = \"x\"\ndecide = \"deny\"\nnew_condition = 1\n",
        Trust::Team,
    );
    let user = level(Trust::User, "rules.toml", &["allow; command = \"make\""]);
    let policy = Policy::new(GuardedSet::new(HOME)).with_file(&bundle, None).with_file(&user, None);
    let verdict = policy.decide_by_names(&bash("make"), &now());
    assert!(verdict.wants_person, "{verdict:?}");
    assert!(verdict.because.starts_with("team acme, rules 7 has errors"), "{}", verdict.because);
}

#[test]
fn an_explanation_has_the_verdict_of_each_level() {
    let explain = |policy: &Policy, command: &str| {
        let explained = policy.explain_by_names(&bash(command), &now());
        explained.levels.iter().map(|level| (level.trust, level.decision)).collect::<Vec<_>>()
    };
    let policy = levels(&["deny; command = \"rm\""], &["allow; command = \"rm *\""], &[]);
    let expected = [
        (Trust::Team, Some(RuleDecision::Deny)),
        (Trust::User, Some(RuleDecision::Allow)),
        (Trust::Project, None),
    ];
    assert_eq!(explain(&policy, "rm x"), expected);
    // No level decides about the gate, and without a team there is nothing to tell apart.
    assert!(explain(&policy, "callgate up").is_empty());
    assert!(explain(&levels(&[], &["allow; command = \"rm *\""], &[]), "rm x").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn of_random_levels_the_strictest_wins(
        team in prop::sample::subsequence(LINES.to_vec(), 0..=LINES.len()),
        user in prop::sample::subsequence(LINES.to_vec(), 0..=LINES.len()),
        project in prop::sample::subsequence(LINES.to_vec(), 0..=LINES.len()),
    ) {
        let policy = levels(&team, &user, &project);
        for act in acts() {
            let verdict = policy.decide_by_names(&act, &now());
            if verdict.is_guarded {
                continue;
            }
            // The rules of each level as if a user had no others.
            let alone = [(Trust::User, &team), (Trust::User, &user), (Trust::Project, &project)];
            let alone = alone.map(|(trust, lines)| {
                let file = level(trust, "alone.toml", lines);
                let policy = Policy::new(GuardedSet::new(HOME)).with_file(&file, Some(PROJECT));
                strictness_of(&policy.decide_by_names(&act, &now()))
            });
            let strictest = alone.into_iter().max().unwrap_or_default();
            let together = strictness_of(&verdict);
            let [allow, ask] = [RuleDecision::Allow, RuleDecision::Ask].map(|one| one as usize + 1);
            match strictest {
                // Each command of a line may be allowed on another level.
                0 if act.commands().is_some() => prop_assert!(together <= allow || together == ask),
                // What one level allows may reach into what another denies.
                strict if strict == allow => prop_assert!(together == allow || together == ask),
                strict => prop_assert_eq!(together, strict, "{:?} {:?} {:?}", act.tool, alone, verdict),
            }
        }
    }
}
