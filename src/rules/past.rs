//! The questions of the ledger with what was decided on them, and what rules would have decided.
//!
//! One thread reads the ledger, the others judge. Only questions whose decision has not been read
//! yet stay in memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use callgate_link::sync::lock;
use callgate_rules::{Act, Backtest, NoLinks, Policy, RuleDecision, Verdict, judge};
use callgate_store::{EntryFilter, LedgerEntry, Store, StoreError};
use callgate_wire::approval::Decision;
use callgate_wire::ledger::{LedgerEvent, LedgerKind, RecordedRequest};
use callgate_wire::raw::Json;

use crate::policy::{LocalClock, home};

/// How many entries are read from the ledger at once.
const PAGE: usize = 1_000;
/// How many questions a thread judges at a time; fewer than are listed.
const BATCH: usize = 256;
/// How many batches may wait for a thread.
const WAITING: usize = 8;
/// How many verdicts a thread remembers.
const MOST_KNOWN: usize = 16_384;

/// Called with the progress so far and its total. Returns false to stop.
pub(super) type GoOn<'a> = &'a (dyn Fn(u64, u64) -> bool + Sync);

/// A question of the ledger, and what was decided on it.
pub(super) struct PastQuestion {
    pub(super) seq: u64,
    at_ms: i64,
    pub(super) body: String,
    pub(super) decided: RuleDecision,
}

/// A call of the past, as far as its entry could be read.
#[derive(Default)]
pub(super) struct PastRequest<'a> {
    pub(super) summary: Cow<'a, str>,
    /// Whether a person was asked, since no rule decided.
    pub(super) was_asked: bool,
    request: RecordedRequest<'a>,
}

impl<'a> PastRequest<'a> {
    /// Reads the body of a question's entry, which may have been damaged.
    pub(super) fn read(body: &'a str) -> Self {
        match LedgerEvent::read(LedgerKind::Asked.name(), body) {
            LedgerEvent::QuestionAsked(asked) => Self {
                request: asked.recorded_request(),
                was_asked: asked.ruling.is_for_people(),
                summary: asked.summary,
            },
            _ => Self { was_asked: true, ..Self::default() },
        }
    }

    /// Returns the tool, the folder, the agent and the input.
    pub(super) fn parts(&self) -> [&str; 4] {
        let RecordedRequest { tool_name, cwd, agent, tool_input, .. } = &self.request;
        [tool_name, cwd, agent, tool_input.map_or("null", Json::get)]
    }
}

/// Applies a policy to the ledger. Returns `None` if it was stopped early.
pub(super) fn play(
    policy: &Policy,
    store: &Store,
    go_on: GoOn<'_>,
) -> Result<Option<Backtest>, StoreError> {
    let (home, clock) = (home(), LocalClock::of_machine());
    let (batches, waiting) = sync_channel::<Vec<PastQuestion>>(WAITING);
    let waiting = Mutex::new(waiting);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let work = || {
            let mut judge = BacktestJudge::new(policy, &home, &clock);
            let mut sum = Backtest::default();
            while let Some(batch) = next(&waiting) {
                let mut part = Backtest::default();
                for question in &batch {
                    // The labels are in the order of the ledger.
                    let label = format!("{:020}", question.seq);
                    let asked = PastRequest::read(&question.body);
                    let verdict = judge.verdict(question.at_ms, &asked);
                    part.note(label, question.decided, asked.was_asked, verdict);
                }
                sum.add(part);
            }
            sum
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut batch = Vec::with_capacity(BATCH);
        let read = read_questions(store, go_on, &mut |question| {
            batch.push(question);
            if batch.len() == BATCH {
                // This fails only if a thread has panicked, which is reported when it is joined.
                batches.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))).ok();
            }
        });
        batches.send(batch).ok();
        // From here on the threads end when there is nothing left.
        drop(batches);
        let mut sum = Backtest::default();
        for worker in workers {
            match worker.join() {
                Ok(part) => sum.add(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        read.map(|is_whole| is_whole.then_some(sum))
    })
}

fn next(waiting: &Mutex<Receiver<Vec<PastQuestion>>>) -> Option<Vec<PastQuestion>> {
    lock(waiting).recv().ok()
}

/// Reads all questions in the order in which they were decided; undecided ones come last. Returns
/// false if it was stopped early.
pub(super) fn read_questions(
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
        let entries = store.entries(&filter, after, PAGE)?;
        let Some(end) = entries.last() else { break };
        after = end.seq;
        if !go_on(after, last) {
            return Ok(false);
        }
        for entry in entries {
            let decided = decided(&entry);
            let LedgerEntry { seq, at_ms, question, body, .. } = entry;
            let id = question.unwrap_or_default();
            if let Some(decided) = decided {
                let asked = open.remove(&id);
                asked
                    .map(|asked| PastQuestion { decided, ..asked })
                    .into_iter()
                    .for_each(&mut *put);
            } else {
                let asked = PastQuestion { seq, at_ms, body, decided: RuleDecision::Ask };
                // A question that is asked again replaces the earlier one.
                open.insert(id, asked).into_iter().for_each(&mut *put);
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

    fn verdict(&mut self, at_ms: i64, request: &PastRequest<'_>) -> &Verdict {
        let [tool, cwd, agent, input] = request.parts();
        let time = if self.is_timed { at_ms } else { 0 };
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let Self { policy, home, clock, known, .. } = self;
        let key = format!("{time}\0{tool}\0{cwd}\0{agent}\0{input}");
        known.entry(key).or_insert_with(|| {
            let act = Act::of(tool, input, cwd, agent, home);
            judge(policy, &act, &NoLinks, &clock.moment(at_ms))
        })
    }
}

/// Returns what an entry says was decided; `None` for the entry of a question.
fn decided(entry: &LedgerEntry) -> Option<RuleDecision> {
    if entry.is(LedgerKind::Asked) {
        return None;
    }
    Some(match entry.event() {
        LedgerEvent::QuestionDecided(decided) => match decided.decision {
            Some(Decision::Allow) => RuleDecision::Allow,
            Some(Decision::Deny) => RuleDecision::Deny,
            _ => RuleDecision::Ask,
        },
        _ => RuleDecision::Ask,
    })
}
