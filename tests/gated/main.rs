//! Real agents, each with the hooks that `callgate install` adds to its settings, offline and
//! against a fake of its model: what a person decides is what happens, and what happens when the
//! hook fails is what the agent's profile says.
//!
//! An agent that is not installed is skipped with a printed reason; with `CALLGATE_FULL=true` that
//! fails.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed step is a failed test")]

mod amp;
mod gated_agent;
mod gated_run;
mod person;

use callgate_wire::hook::agents::{CallFate, EditAbility, LimitUnit};

use gated_agent::GatedAgent;
use gated_run::{BrokenHook, Desk, GatedOutcome, GatedRun};

/// The commands that the model wants, one turn after the other, with those of one turn at once. A
/// deny is last because some agents end there.
const DECIDED: [&[&str]; 3] = [&["touch allowed"], &["touch one", "touch two"], &["touch denied"]];
/// The command that the person changes, for agents that accept a changed input.
const EDITED: &str = "touch edited";

macro_rules! gated {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            check(&gated_agent::$name());
        })*
    };
}

gated!(cline, copilot, droid, gemini, goose, grok, kilo, kimi, opencode, openhands, pi, qwen);

/// Runs an agent once for each thing that can happen to its calls.
fn check(agent: &GatedAgent) {
    if (agent.program)().is_none() {
        return;
    }
    a_person_decides(agent);
    let alone = |desk, settings: &str| {
        let outcome = GatedRun::new(agent, &[&["touch ignored"]], desk, settings).play();
        assert!(!outcome.made("ignored"), "{outcome:#?}");
        outcome
    };
    tells_why(agent, &alone(Desk::Nobody, ""), "A person has to allow this");
    let when_absent = format!("[gate.agents.{}]\nwhen_absent = \"deny\"", agent.word);
    tells_why(agent, &alone(Desk::Absent, &when_absent), "callgate is not running");
    fails_as_its_profile_says(agent);
}

/// Without a terminal, these two offer their model tools for commands only in a mode that asks
/// nobody. In their default mode, what they read is decided in the same way.
#[test]
fn searches_in_the_default_mode_are_decided() {
    for agent in [gated_agent::gemini(), gated_agent::qwen()].map(GatedAgent::searching) {
        if (agent.program)().is_none() {
            continue;
        }
        let turns: [&[&str]; 2] = [&["touch allowed"], &["touch denied"]];
        let outcome = GatedRun::new(&agent, &turns, Desk::Answers, "").play();
        assert_eq!(outcome.asked, ["touch allowed", "touch denied"], "{outcome:#?}");
        let [allowed, denied] = &outcome.results[..] else { panic!("{outcome:#?}") };
        assert!(!allowed.contains("not on my watch"), "{outcome:#?}");
        assert!(denied.contains("not on my watch"), "{outcome:#?}");
    }
}

/// A call whose hook fails runs or not, as the agent's profile says.
fn fails_as_its_profile_says(agent: &GatedAgent) {
    let profile = agent.profile();
    let failures = profile.failures;
    let mut wrong = Vec::new();
    for (hook, fate) in [
        (BrokenHook::Killed, failures.exit),
        (BrokenHook::Garbled, failures.garbage),
        (BrokenHook::Missing, failures.missing),
        (BrokenHook::Late, failures.timeout),
    ] {
        // A plugin of ours waits for its hook as long as that runs.
        if hook == BrokenHook::Late && profile.settings.unit == LimitUnit::None {
            continue;
        }
        let run = GatedRun::new(agent, &[&["touch unguarded"]], Desk::Absent, "");
        let outcome = run.with_broken_hook(hook).play();
        if outcome.made("unguarded") != (fate == CallFate::GoesOn) {
            wrong.push((hook, fate, outcome));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is allowed runs, also two calls at once, and a changed call as it was changed; what is
/// denied does not, and the model reads why.
fn a_person_decides(agent: &GatedAgent) {
    let takes_edits = agent.profile().before_tool_event().takes.edit != EditAbility::None;
    let mut turns = DECIDED.to_vec();
    if takes_edits {
        turns.insert(0, &[EDITED]);
    }
    let outcome = GatedRun::new(agent, &turns, Desk::Answers, "").play();
    for file in ["allowed", "one", "two"] {
        assert!(outcome.made(file), "{file}: {outcome:#?}");
    }
    assert_eq!(outcome.made("rewritten"), takes_edits, "{outcome:#?}");
    assert!(!outcome.made("edited") && !outcome.made("denied"), "{outcome:#?}");
    tells_why(agent, &outcome, "not on my watch");
    // Nobody is asked twice about a call. Calls at once are asked about in any order.
    let (mut asked, mut commands) = (outcome.asked.clone(), turns.concat());
    asked.sort();
    commands.sort_unstable();
    assert_eq!(asked, commands, "{outcome:#?}");
}

/// The model reads the reason, unless a deny ends the agent's task.
fn tells_why(agent: &GatedAgent, outcome: &GatedOutcome, reason: &str) {
    let is_told = outcome.results.last().is_some_and(|result| result.contains(reason));
    assert!(is_told || agent.ends_with_a_deny, "{reason}: {outcome:#?}");
}
