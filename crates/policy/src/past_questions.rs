//! The questions of the ledger with what was decided on them, and what rules would have decided.
//!
//! One thread reads the ledger, the others judge. Only questions whose decision has not been read
//! yet stay in memory.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use callgate_link::sync::lock;
use callgate_rules::{
    Act, Backtest, NoLinks, Policy, RuleDecision, TurnedVerdict, Verdict, judge_act,
};
use callgate_store::{EntryFilter, LedgerEntry, Store, StoreError};
use callgate_wire::approval::Decision;
use callgate_wire::ledger::{LedgerEvent, LedgerKind, QuestionAsked, RecordedRequest};

use crate::local_clock::{LocalClock, RuleSurroundings};

/// How many entries are read from the ledger at once.
const PAGE: usize = 1_000;
/// How many questions a thread judges at a time; fewer than are listed.
const BATCH: usize = 256;
/// How many batches may wait for a thread.
/// Then the reading waits, so that a long ledger does not fill the memory.
const WAITING: usize = 8;
/// How many verdicts a thread remembers.
const MOST_KNOWN: usize = 16_384;

/// Called with the progress so far and its total. Returns false to stop.
pub(crate) type GoOn<'a> = &'a (dyn Fn(u64, u64) -> bool + Sync);

/// A question of the ledger, and what was decided on it.
pub(crate) struct PastQuestion {
    pub(crate) seq: u64,
    at_ms: i64,
    pub(crate) body: String,
    pub(crate) decided: RuleDecision,
}

/// Reads the body of a question's entry. Of a damaged one everything is empty.
pub(crate) fn parse_asked_body(body: &str) -> QuestionAsked {
    match LedgerEvent::decode_body(LedgerKind::Asked.name(), body).0 {
        LedgerEvent::Asked(asked) => asked,
        _ => QuestionAsked::default(),
    }
}

/// Reads the question about which a replay speaks: its number, and its entry with what was asked,
/// unless that was pruned meanwhile.
pub fn read_turned_question(
    store: &Store,
    turned: &TurnedVerdict,
) -> Result<(u64, Option<LedgerEntry>, QuestionAsked), StoreError> {
    let seq = turned.label.parse::<u64>().unwrap_or_default();
    let entry = entry_of_number(store, seq)?;
    let asked = entry.as_ref().map(|entry| parse_asked_body(&entry.body)).unwrap_or_default();
    Ok((seq, entry, asked))
}

fn entry_of_number(store: &Store, seq: u64) -> Result<Option<LedgerEntry>, StoreError> {
    let next = store.entries_after(&EntryFilter::default(), seq.saturating_sub(1), 1)?.pop();
    // If it was pruned, the next one is about something else.
    Ok(next.filter(|entry| entry.seq == seq))
}

/// Returns the tool, the folder, the agent and the input.
pub(crate) fn request_parts(request: &RecordedRequest) -> [&str; 4] {
    let RecordedRequest { tool_name, cwd, agent, tool_input, .. } = request;
    let input = tool_input.as_ref().map_or("null", |input| input.get());
    [tool_name, cwd, agent.as_deref().unwrap_or_default(), input]
}

/// Applies a policy to the ledger. Returns `None` if it was stopped early.
pub fn replay_ledger(
    policy: &Policy,
    around: &RuleSurroundings,
    store: &Store,
    go_on: GoOn<'_>,
) -> Result<Option<Backtest>, StoreError> {
    let clock = around.clock();
    let (batches, waiting) = sync_channel::<Vec<PastQuestion>>(WAITING);
    // The workers alone hold it: once the last of them has panicked, nothing waits for room.
    let waiting = Arc::new(Mutex::new(waiting));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = |waiting: &Mutex<Receiver<Vec<PastQuestion>>>| {
            let mut judge = BacktestJudge::new(policy, &around.home, &clock);
            let mut sum = Backtest::default();
            while let Some(batch) = receive_questions(waiting) {
                let mut part = Backtest::default();
                for question in &batch {
                    // The labels are in the order of the ledger.
                    let label = format!("{:020}", question.seq);
                    let asked = parse_asked_body(&question.body);
                    let verdict = judge.verdict(question.at_ms, &asked.recorded_request());
                    part.add_act(label, question.decided, asked.ruling.is_for_people(), verdict);
                }
                sum.add_result(part);
            }
            sum
        };
        let start_worker = |_| {
            let waiting = Arc::clone(&waiting);
            scope.spawn(move || work(&waiting))
        };
        let workers: Vec<_> = (0..threads).map(start_worker).collect();
        drop(waiting);
        let mut batch = Vec::with_capacity(BATCH);
        let read = read_questions(store, go_on, &mut |question| {
            batch.push(question);
            if batch.len() == BATCH {
                // Without workers there is a panic to pass on, which is found below.
                batches.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))).ok();
            }
        });
        batches.send(batch).ok();
        // From here on the threads end when there is nothing left.
        drop(batches);
        let mut sum = Backtest::default();
        for worker in workers {
            match worker.join() {
                Ok(part) => sum.add_result(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        read.map(|is_whole| is_whole.then_some(sum))
    })
}

fn receive_questions(waiting: &Mutex<Receiver<Vec<PastQuestion>>>) -> Option<Vec<PastQuestion>> {
    lock(waiting).recv().ok()
}

/// Returns true for a question of another machine, to which the rules here do not apply.
pub(crate) fn is_of_other_machine(entry: &LedgerEntry) -> bool {
    // The cheap look comes first, so that few questions have to be parsed.
    entry.is_of_kind(LedgerKind::Asked)
        && entry.body.contains("\"machine\"")
        && parse_asked_body(&entry.body).machine.is_some()
}

/// Reads all questions of this machine in the order in which they were decided; undecided ones come
/// last. Returns false if it was stopped early.
pub(crate) fn read_questions(
    store: &Store,
    go_on: GoOn<'_>,
    put: &mut dyn FnMut(PastQuestion),
) -> Result<bool, StoreError> {
    let kinds = vec![LedgerKind::Asked, LedgerKind::Decided];
    let filter = EntryFilter { kinds, ..EntryFilter::default() };
    let mut open: HashMap<String, PastQuestion> = HashMap::new();
    let last = store.last_seq()?;
    let mut after = 0;
    loop {
        let entries = store.entries_after(&filter, after, PAGE)?;
        let Some(end) = entries.last() else { break };
        after = end.seq;
        if !go_on(after, last) {
            return Ok(false);
        }
        for entry in entries {
            let id = entry.question.clone().unwrap_or_default();
            if is_of_other_machine(&entry) {
                open.remove(&id).into_iter().for_each(&mut *put);
            } else if entry.is_of_kind(LedgerKind::Asked) {
                let LedgerEntry { seq, at_ms, body, .. } = entry;
                let asked = PastQuestion { seq, at_ms, body, decided: RuleDecision::Ask };
                // A question that is asked again replaces the earlier one.
                open.insert(id, asked).into_iter().for_each(&mut *put);
            } else if let Some(asked) = open.remove(&id) {
                put(PastQuestion { decided: recorded_decision(&entry), ..asked });
            }
        }
    }
    let mut rest: Vec<PastQuestion> = open.into_values().collect();
    rest.sort_by_key(|question| question.seq);
    rest.into_iter().for_each(put);
    Ok(true)
}

/// Judges questions. The same call is judged once if no rule depends on the time, because agents
/// repeat themselves.
struct BacktestJudge<'a> {
    policy: &'a Policy,
    home: &'a str,
    clock: &'a LocalClock,
    is_timed: bool,
    /// The key is everything that distinguishes calls.
    known: HashMap<String, Verdict>,
}

impl<'a> BacktestJudge<'a> {
    fn new(policy: &'a Policy, home: &'a str, clock: &'a LocalClock) -> Self {
        let is_timed = policy.depends_on_time();
        Self { policy, home, clock, is_timed, known: HashMap::new() }
    }

    fn verdict(&mut self, at_ms: i64, request: &RecordedRequest) -> &Verdict {
        let [tool, cwd, agent, input] = request_parts(request);
        // The time is a part of the key only where a verdict depends on it.
        let time = if self.is_timed { at_ms } else { 0 };
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let Self { policy, home, clock, known, .. } = self;
        let key = format!("{time}\0{tool}\0{cwd}\0{agent}\0{input}");
        known.entry(key).or_insert_with(|| {
            let act = Act::from_call(tool, input, cwd, agent, home);
            // Without links, because nobody knows where they led at that time.
            judge_act(policy, &act, &NoLinks, &clock.moment(at_ms))
        })
    }
}

fn recorded_decision(entry: &LedgerEntry) -> RuleDecision {
    let LedgerEvent::Decided(decided) = entry.event() else { return RuleDecision::Ask };
    match decided.decision {
        Some(Decision::Allow) => RuleDecision::Allow,
        Some(Decision::Deny) => RuleDecision::Deny,
        _ => RuleDecision::Ask,
    }
}

#[cfg(test)]
mod tests {
    use callgate_store::{EntryDraft, now_ms};

    use super::*;

    #[test]
    fn a_question_that_was_pruned_is_not_taken_for_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("callgate.db")).unwrap();
        let checked = |at_ms| EntryDraft {
            at_ms,
            kind: LedgerKind::Checked.name().to_owned(),
            question: None,
            body: "{}".to_owned(),
        };
        store.append_entries(&[checked(1), checked(now_ms())]).unwrap();
        let found = |store: &Store, seq| entry_of_number(store, seq).unwrap().map(|it| it.seq);
        assert_eq!((found(&store, 1), found(&store, 2)), (Some(1), Some(2)));
        assert_eq!(store.prune(now_ms() - 1_000).unwrap().removed, 1);
        assert_eq!((found(&store, 1), found(&store, 2)), (None, Some(2)));
    }
}
