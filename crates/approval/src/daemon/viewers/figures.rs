//! Counts and times over the history.

use std::collections::{BTreeMap, HashMap};

use callgate_store::Store;
use callgate_wire::desk::{
    AnswerTimeBucket, AnswerTimes, DecisionShares, HistoryDecider, HistoryDecision, HistoryFilter,
    HourFigures, LedgerFigures, NamedFigures,
};

use super::past_calls::{PastCall, each_past_call};
use crate::rule_desk::WorkMonitor;

const HOUR_MS: i64 = 3_600_000;
/// The most hours, the latest ones: a year.
const MOST_HOURS: usize = 366 * 24;
/// The most projects, agents and tools.
const MOST_NAMES: usize = 20;
/// The most machines: people choose one of them.
const MOST_MACHINES: usize = 1_000;
/// The ends of the buckets of answer times, in milliseconds.
const BUCKETS: [u64; 9] =
    [2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 900_000, 3_600_000];

#[derive(Default)]
struct FigureCounts {
    hours: BTreeMap<i64, HourFigures>,
    times: Vec<u64>,
    shares: DecisionShares,
    by_project: HashMap<String, NamedFigures>,
    by_agent: HashMap<String, NamedFigures>,
    by_tool: HashMap<String, NamedFigures>,
    by_machine: HashMap<String, NamedFigures>,
}

pub(super) fn ledger_figures(
    store: &Store,
    filter: &HistoryFilter,
    monitor: &WorkMonitor<'_>,
) -> Result<LedgerFigures, String> {
    let mut counts = FigureCounts::default();
    each_past_call(store, filter, None, monitor, |call| {
        counts.add(&call);
        true
    })?;
    Ok(counts.into_figures())
}

impl FigureCounts {
    fn add(&mut self, call: &PastCall) {
        let row = &call.row;
        // A change of the rules is no call.
        if row.decision == HistoryDecision::Saved {
            return;
        }
        let at_ms = row.at_ms.div_euclid(HOUR_MS) * HOUR_MS;
        let hour = self.hours.entry(at_ms).or_default();
        hour.at_ms = at_ms;
        match (row.decision, call.decider) {
            (_, Some(HistoryDecider::Rule)) => {
                hour.by_rule += 1;
                self.shares.by_rule += 1;
            }
            (HistoryDecision::Ran, _) => {}
            (decision, _) => {
                hour.asked += 1;
                match decision {
                    HistoryDecision::Allow => {
                        hour.allowed += 1;
                        self.shares.allowed += 1;
                    }
                    HistoryDecision::Deny => {
                        hour.denied += 1;
                        self.shares.denied += 1;
                    }
                    HistoryDecision::Timeout => self.shares.timeout += 1,
                    _ => {}
                }
                if matches!(decision, HistoryDecision::Allow | HistoryDecision::Deny) {
                    self.times.extend(row.took_ms);
                }
            }
        }
        let agent = row.agent.as_deref().unwrap_or_default();
        for (names, name) in [
            (&mut self.by_project, row.project.as_str()),
            (&mut self.by_agent, agent),
            (&mut self.by_tool, row.tool.as_str()),
            (&mut self.by_machine, row.machine.as_deref().unwrap_or_default()),
        ] {
            count_name(names, name, row.decision);
        }
    }

    fn into_figures(mut self) -> LedgerFigures {
        self.times.sort_unstable();
        let too_many = self.hours.len().saturating_sub(MOST_HOURS);
        LedgerFigures {
            hours: self.hours.into_values().skip(too_many).collect(),
            answer_ms: answer_times(&self.times),
            shares: self.shares,
            by_project: largest_names(self.by_project, MOST_NAMES),
            by_agent: largest_names(self.by_agent, MOST_NAMES),
            by_tool: largest_names(self.by_tool, MOST_NAMES),
            by_machine: largest_names(self.by_machine, MOST_MACHINES),
        }
    }
}

fn count_name(names: &mut HashMap<String, NamedFigures>, name: &str, decision: HistoryDecision) {
    // Not by `entry`, which would take a copy of the name for every call.
    if !names.contains_key(name) {
        let figures = NamedFigures { name: name.to_owned(), ..NamedFigures::default() };
        names.insert(name.to_owned(), figures);
    }
    let Some(figures) = names.get_mut(name) else { return };
    figures.count += 1;
    match decision {
        HistoryDecision::Allow => figures.allowed += 1,
        HistoryDecision::Deny => figures.denied += 1,
        _ => {}
    }
}

fn largest_names(names: HashMap<String, NamedFigures>, most: usize) -> Vec<NamedFigures> {
    let mut all: Vec<NamedFigures> =
        names.into_values().filter(|figures| !figures.name.is_empty()).collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    all.truncate(most);
    all
}

/// Returns the figures of these times, which are sorted.
fn answer_times(times: &[u64]) -> AnswerTimes {
    let part = |tenths: usize| times.get((times.len() * tenths).div_ceil(10).saturating_sub(1));
    let mut from = 0;
    let mut buckets = Vec::new();
    for end in BUCKETS.into_iter().map(Some).chain([None]) {
        let to = end.map_or(times.len(), |end| times.partition_point(|time| *time <= end));
        buckets.push(AnswerTimeBucket { up_to_ms: end, count: (to - from) as u64 });
        from = to;
    }
    AnswerTimes { p50: part(5).copied(), p90: part(9).copied(), buckets }
}
