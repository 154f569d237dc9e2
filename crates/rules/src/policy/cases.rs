//! Runs the tests of a file of rules.

use super::{Policy, Verdict};
use crate::disk::NoLinks;
use crate::file::Case;
use crate::judge::judge;
use crate::moment::Moment;

/// How a test went.
#[derive(Debug, Clone)]
pub struct CaseResult<'a> {
    /// The test.
    pub case: &'a Case,
    /// What was decided.
    pub verdict: Verdict,
}

impl CaseResult<'_> {
    /// Whether what was expected was decided.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        self.verdict.decision == self.case.expect
    }
}

/// Runs tests, for a user with this home who works in this project unless a test says otherwise,
/// at this moment unless a test says otherwise.
#[must_use]
pub fn run_cases<'a>(
    policy: &Policy,
    cases: &'a [Case],
    home: &str,
    project: &str,
    moment: &Moment,
) -> Vec<CaseResult<'a>> {
    let run = |case: &'a Case| {
        let moment = case.moment().unwrap_or(*moment);
        CaseResult { case, verdict: judge(policy, &case.act(home, project), &NoLinks, &moment) }
    };
    cases.iter().map(run).collect()
}
