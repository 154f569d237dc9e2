//! What the runtime's searches leave out: what rules deny reading, or ask about.
//!
//! Nobody is asked about each file of a search, so it must not show a file about which somebody
//! would have been asked. What the search as a whole was asked about is shown: somebody has allowed
//! that.

use std::path::{Path, PathBuf};

use callgate_agent::tool::files::HiddenTest;
use callgate_policy::RealDisk;
use callgate_rules::{Act, Moment, NoLinks, Policy, RuleDecision, Verdict, disk, judge_act};
use serde_json::json;

use super::{AGENT, READ};

/// How strict a verdict is.
const ASKED: u8 = 1;
const GUARDED: u8 = 2;
const CONFIRMED: u8 = 3;
const DENIED: u8 = 4;

/// The rules at one moment.
pub(in crate::agent::gate) struct SearchJudge {
    pub(in crate::agent::gate) policy: Policy,
    pub(in crate::agent::gate) folder: String,
    pub(in crate::agent::gate) home: String,
    pub(in crate::agent::gate) now: Moment,
}

struct JudgedSearch {
    judge: SearchJudge,
    tool: String,
    /// Where it begins, by its name and by its real path.
    starts: Vec<PathBuf>,
    /// How strictly reading and searching the start itself is judged.
    bases: [u8; 2],
}

impl SearchJudge {
    /// Returns the test for what a search by this tool from `start` leaves out; `None` if nothing.
    pub(in crate::agent::gate) fn hidden_test(
        self,
        tool: &str,
        start: &Path,
    ) -> Option<HiddenTest> {
        // Both paths of the folder are judged, because rules may name either.
        let mut starts = vec![start.to_owned()];
        let place = start.to_str().and_then(|start| disk::real_path(start, &RealDisk));
        starts.extend(place.map(PathBuf::from));
        starts.dedup();
        let mut search = JudgedSearch { judge: self, tool: tool.to_owned(), starts, bases: [0; 2] };
        search.bases = search.ranks_below_start(Path::new(""));
        // Without such a rule there is no test, so that searches of most users judge no file.
        let may_hide =
            search.judge.policy.rules().iter().any(|r| r.decision != RuleDecision::Allow)
                || search.bases.contains(&GUARDED);
        let begin = start.to_owned();
        may_hide.then(|| -> HiddenTest {
            Box::new(move |path| {
                // What is not below the start is hidden, since nobody was asked about it.
                path.strip_prefix(&begin).map_or(true, |rest| search.is_hidden(rest))
            })
        })
    }

    fn rank_path(&self, tool: &str, path: &Path) -> u8 {
        let input = json!({ "path": path.to_string_lossy() }).to_string();
        let act = Act::from_call(tool, &input, &self.folder, AGENT, &self.home);
        // A search follows no links; those on the way to its start were resolved before.
        rank_of_verdict(&judge_act(&self.policy, &act, &NoLinks, &self.now))
    }
}

impl JudgedSearch {
    fn is_hidden(&self, rest: &Path) -> bool {
        let ranks = self.ranks_below_start(rest);
        ranks.iter().zip(self.bases).any(|(rank, base)| *rank == DENIED || *rank > base)
    }

    /// Returns how strictly reading and searching this path below the start is judged. A search
    /// follows no links, so the start determines where everything below it is.
    fn ranks_below_start(&self, rest: &Path) -> [u8; 2] {
        let place = |start: &PathBuf| {
            if rest.as_os_str().is_empty() { start.clone() } else { start.join(rest) }
        };
        [READ, &self.tool].map(|tool| {
            let ranks = self.starts.iter().map(|start| self.judge.rank_path(tool, &place(start)));
            ranks.max().unwrap_or(DENIED)
        })
    }
}

fn rank_of_verdict(verdict: &Verdict) -> u8 {
    match verdict.decision {
        RuleDecision::Allow => 0,
        RuleDecision::Ask if verdict.is_guarded => GUARDED,
        RuleDecision::Ask => ASKED,
        RuleDecision::Confirm => CONFIRMED,
        RuleDecision::Deny => DENIED,
    }
}
