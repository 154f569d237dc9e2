//! What is unusual about a call, for the person who is asked.
//!
//! Rules that forbid ask what a call could do, and err towards yes. A person reads a risk as a
//! fact, so here only what is [certain](crate::certain) counts; what the rules could not exclude is
//! a risk of its own, [`RiskKind::Unclear`].

mod network;

use std::sync::LazyLock;

use callgate_wire::desk::{RiskKind, RiskNote};

use crate::act::{Act, ActClass};
use crate::certain::CertainReading;
use crate::guard::GuardedSet;
use crate::place::is_in;
use crate::rule::command::CommandPattern;
use crate::steps;

const DELETING: &str = "rm; rmdir; shred; unlink; truncate; find * -delete; git clean; \
    git reset --hard; git branch -D; dropdb; kubectl delete; docker rm; docker rmi; \
    docker volume rm; docker system prune; terraform destroy";
static DELETES: LazyLock<Vec<CommandPattern>> = LazyLock::new(|| parse_pattern_list(DELETING));

/// Folders in which everybody works, besides the project.
const SCRATCH: [&str; 4] = ["/tmp", "/var/tmp", "/private/tmp", "/dev/shm"];
/// Devices that only pass something on.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd",
];

/// Returns the patterns of a list, in which a semicolon follows each.
fn parse_pattern_list(list: &str) -> Vec<CommandPattern> {
    // A test checks that each of them is a pattern.
    list.split("; ").filter_map(|text| CommandPattern::from_text(text).ok()).collect()
}

/// Returns what is unusual about a call: that it leaves its project, uses the network, deletes
/// something, touches what is guarded, or was not understood. Each kind occurs at most once.
pub fn find_risks(act: &Act, guarded: &GuardedSet) -> Vec<RiskNote> {
    let find = || {
        let reading = CertainReading::from_act(act);
        let could_touch = guarded.touches(act);
        let gate =
            could_touch.as_deref().and_then(|why| guarded.surely_touched(act, why, &reading));
        let unclear = || find_unclear_part(act, guarded, could_touch.is_some());
        // Otherwise the same reason would be shown twice, once as a fact and once as a doubt.
        let unclear = if gate.is_none() { unclear() } else { None };
        let found = [
            (
                RiskKind::Outside,
                "It reaches outside of the project",
                find_outside_path(act, &reading),
            ),
            (RiskKind::Network, "It uses the network", network::find_network_use(act, &reading)),
            (RiskKind::Deletes, "It deletes something", find_deletion(act, &reading)),
            (RiskKind::Gate, "It touches what is guarded", gate),
            (RiskKind::Unclear, "It is not fully understood", unclear),
        ];
        let notes = found.into_iter().filter_map(|(kind, text, what)| {
            let what = what?;
            Some(RiskNote { kind, text: format!("{text}: {what}") })
        });
        notes.collect()
    };
    // What is not found within the budget is left out: a risk informs, and decides nothing.
    steps::run_with_budget(steps::JUDGING, find).0
}

fn find_outside_path(act: &Act, reading: &CertainReading<'_>) -> Option<String> {
    let is_usual =
        |path: &str| act.projects().chain(SCRATCH).chain(DEVICES).any(|folder| is_in(path, folder));
    reading.paths().find(|path| !is_usual(path)).map(str::to_owned)
}

fn find_deletion(act: &Act, reading: &CertainReading<'_>) -> Option<String> {
    reading.runs().find_map(|run| {
        let is_trial = run.texts().any(|word| word == "--dry-run")
            // `git clean -n` only lists, also where the letter is one of several.
            || run.is_named("git") && run.texts().any(|word| is_cluster_with(word, 'n'));
        let is_it = |pattern: &CommandPattern| pattern.surely_begins(run.words, &act.home);
        (!is_trial && DELETES.iter().any(is_it)).then(|| run.render_line())
    })
}

/// Returns true if a word is one or more one-letter options, of which one is this.
fn is_cluster_with(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        letters.chars().all(|c| c.is_ascii_alphabetic()) && letters.contains(letter)
    })
}

/// Returns what cannot be excluded: that a call runs anything, or touches what is guarded.
fn find_unclear_part(act: &Act, guarded: &GuardedSet, could_touch: bool) -> Option<String> {
    if let Some(form) = act.runs.anything.filter(|_| act.class == ActClass::Run) {
        return Some(format!("it has {form}, and could run anything"));
    }
    let could_touch = could_touch
        || act.with_unknown_opened().is_some_and(|opened| guarded.touches(&opened).is_some());
    could_touch.then(|| "not everything in it is known, and it could touch what is guarded".into())
}

#[cfg(test)]
mod tests;
