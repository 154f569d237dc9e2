//! What rules demand of an allow, whichever rule decides.

use super::*;
use crate::disk::NoLinks;
use crate::judge::judge_act;

const TWO: &str = "ask; command = \"make deploy\"; two_people = true";
const OTHER: &str = "ask; path = \"src/**\"; not_own = true";

fn verdict(lines: &[&str], act: &Act) -> Verdict {
    judge_act(&policy(&rules(lines)), act, &NoLinks, &now())
}

fn demands(lines: &[&str], act: &Act) -> Vec<&'static str> {
    verdict(lines, act).demands.list().map(callgate_wire::approval::AllowDemand::name).collect()
}

#[test]
fn the_demands_of_all_rules_that_apply_are_joined() {
    let deploy = bash("make deploy");
    assert_eq!(demands(&[TWO], &deploy), ["two_people"]);
    assert_eq!(demands(&[TWO], &bash("make build")), [""; 0]);
    assert_eq!(demands(&[TWO, OTHER], &deploy), ["two_people"]);
    assert_eq!(demands(&[TWO, OTHER], &bash("make deploy; rm src/x")), ["two_people", "not_own"]);
    // A stricter decision of another rule takes nothing away.
    let confirm = "confirm; command = \"make\"";
    let strict = verdict(&[confirm, TWO], &deploy);
    assert_eq!(strict.decision, RuleDecision::Confirm);
    assert!(strict.demands.two_people);
    let denied = verdict(&["deny; command = \"make\"", TWO], &deploy);
    assert_eq!((denied.decision, denied.demands), (RuleDecision::Deny, AllowDemands::default()));
    // Nor does an allow.
    assert_eq!(demands(&["allow; command = \"*\"", TWO], &deploy), ["two_people"]);
}

#[test]
fn what_touches_the_gate_keeps_its_demands() {
    let settings = act("Write", &json!({"file_path": ".claude/settings.json"}));
    let verdict = verdict(&["ask; class = \"write\"; two_people = true"], &settings);
    assert!(verdict.is_guarded && verdict.demands.two_people, "{verdict:?}");
}

#[test]
fn what_could_be_meant_has_the_demands_too() {
    assert_eq!(demands(&[TWO], &bash("make $WHAT")), ["two_people"]);
    assert_eq!(demands(&[TWO], &bash("$PROGRAM deploy")), ["two_people"]);
    assert_eq!(demands(&[OTHER, "allow; command = \"rm *\""], &bash("rm -r src")), ["not_own"]);
    // A command that is not named and is understood has none.
    assert_eq!(demands(&[TWO, OTHER], &bash("ls docs")), [""; 0]);
    // Where such commands are left to the mode, nobody is asked because of the rule.
    let policy = policy(&rules(&[TWO])).with_unclear(UnclearCommands::Mode);
    let judged = judge_act(&policy, &bash("make $WHAT"), &NoLinks, &now());
    assert_eq!(judged.demands, AllowDemands::default());
}

#[test]
fn what_is_too_long_to_judge_has_all_demands() {
    let long = bash(&"make x; ".repeat(60_000));
    assert_eq!(demands(&[TWO, OTHER], &long), ["two_people", "not_own"]);
}

#[test]
fn a_demand_is_explained() {
    let text = |lines: &[&str]| verdict(lines, &bash("make deploy")).demand_text();
    assert_eq!(text(&["ask; command = \"make\""]), None);
    expect!["Two people have to allow this, by rule `r0` (rules.toml:1)"]
        .assert_eq(&text(&[TWO]).unwrap());
    let own = "confirm; command = \"make\"; not_own = true";
    expect!["Two people have to allow this, and nobody may allow what their own machine asks, by rules `r0` (rules.toml:1), `r1` (rules.toml:6)"].assert_eq(&text(&[own, TWO]).unwrap());
}
