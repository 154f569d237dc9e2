//! Runs the tests of a file of rules.

use crate::disk::NoLinks;
use crate::file::RuleTest;
use crate::judge::judge_act;
use crate::moment::Moment;
use crate::policy::{Policy, Verdict};

#[derive(Debug, Clone)]
pub struct RuleTestResult<'a> {
    pub test: &'a RuleTest,
    pub verdict: Verdict,
}

impl RuleTestResult<'_> {
    /// Returns true if the expected decision was made, with the expected demands.
    pub fn is_passed(&self) -> bool {
        let Verdict { decision, demands, .. } = &self.verdict;
        *decision == self.test.expect && demands.covers(self.test.demands)
    }
}

/// Runs tests for a user with this home who works in this project at this time. A test may name
/// another project or time.
pub fn run_tests<'a>(
    policy: &Policy,
    tests: &'a [RuleTest],
    home: &str,
    project: &str,
    moment: &Moment,
) -> Vec<RuleTestResult<'a>> {
    let run = |test: &'a RuleTest| {
        let moment = test.at.unwrap_or(*moment);
        // On a disk without links, so that a test has the same result on every machine.
        let verdict = judge_act(policy, &test.act(home, project), &NoLinks, &moment);
        RuleTestResult { test, verdict }
    };
    tests.iter().map(run).collect()
}
