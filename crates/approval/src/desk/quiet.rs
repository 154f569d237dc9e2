//! One line in the desk's terminal for each tool that ran without a question, so that people see
//! that the gate works even when it asks nothing.

use std::time::Duration;

use super::{Desk, DeskOutput, DeskStep};
use crate::channel::ChannelOrder;

/// How many lines are shown within [`SPAN`]; further runs are counted.
pub(super) const MOST_LINES: u32 = 10;
/// The time span of the limit.
pub(super) const SPAN: Duration = Duration::from_secs(1);

/// Counts the lines shown lately, and the runs that were not shown.
#[derive(Debug, Default)]
pub(super) struct QuietLines {
    since: Duration,
    shown: u32,
    unshown: u64,
}

impl QuietLines {
    /// Returns true if one more line may be shown now; otherwise it is counted.
    fn try_take_line(&mut self, now: Duration) -> bool {
        if now >= self.since + SPAN {
            (self.since, self.shown) = (now, 0);
        }
        let may_show = self.shown < MOST_LINES;
        if may_show {
            self.shown += 1;
        } else {
            self.unshown += 1;
        }
        may_show
    }

    /// Returns when the number of runs that were not shown is due.
    pub(super) fn due(&self) -> Option<Duration> {
        (self.unshown > 0).then(|| self.since + SPAN)
    }
}

impl Desk {
    /// Shows one line at the terminal about a call that ran without a question.
    pub(super) fn tell_quietly(&mut self, step: &mut DeskStep, line: String) {
        // First: what ran before this must not be counted behind its line.
        self.tell_of_more_runs(step);
        if self.settings.terminal && self.quiet.try_take_line(step.now.mono) {
            step.outputs.push(DeskOutput::Terminal(ChannelOrder::Note { line }));
        }
    }

    /// Shows how many calls ran without a line of their own, if that is due.
    pub(super) fn tell_of_more_runs(&mut self, step: &mut DeskStep) {
        if self.quiet.due().is_some_and(|at| at <= step.now.mono) {
            let count = std::mem::take(&mut self.quiet.unshown);
            let line = format!("{count} more ran (callgate log shows them)");
            step.outputs.push(DeskOutput::Terminal(ChannelOrder::Note { line }));
        }
    }
}
