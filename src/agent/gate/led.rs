//! Where the words of a command really lead: through links, and up from where these lead.

use std::path::Path;

use callgate_rules::{Act, Decision, Moment, Policy, Verdict};
use serde_json::json;

use super::rules::{rank, real};

/// How many paths of one command are looked at; one with more is asked about.
const MOST_PATHS: usize = 1_000;

/// The verdict on a command, by the words in it and by where they lead: whichever is stricter. What
/// the command does there nobody knows, so that it counts as reading, as writing and as naming it.
pub(super) fn strictest(policy: &Policy, act: &Act, now: &Moment, mut verdict: Verdict) -> Verdict {
    let Some(paths) = act.spelled(MOST_PATHS) else {
        if verdict.decision == Decision::Allow {
            verdict.decision = Decision::Ask;
            verdict.rule = None;
            verdict.because =
                format!("it names more than {MOST_PATHS} paths, which may lead anywhere");
            verdict.is_guarded = true;
        }
        return verdict;
    };
    let judge = |tool: &str, input: &serde_json::Value| {
        let act = Act::of(tool, &input.to_string(), &act.project, &act.agent, &act.home);
        policy.decide(&act, now)
    };
    let program = act.commands().and_then(|commands| commands.first()?.program());
    for path in paths {
        let place = real(Path::new(&path));
        if place == Path::new(&path) {
            continue;
        }
        let place = place.to_string_lossy();
        let probes = |path: &str| {
            let file = json!({ "path": path });
            let run = json!({ "command": program.unwrap_or("true"), "args": [path] });
            [("read_file", file.clone()), ("write_file", file), ("run_shell_command", run)]
        };
        for ((tool, there), (_, here)) in probes(&place).into_iter().zip(probes(&path)) {
            let other = judge(tool, &there);
            let is_ruled = other.rule.is_some() || other.is_guarded;
            if is_ruled && rank(&other) > rank(&verdict) && rank(&other) > rank(&judge(tool, &here))
            {
                verdict = other;
            }
        }
    }
    verdict
}
