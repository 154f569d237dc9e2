//! `callgate rules backtest`: shows what rules would have decided on everything in the ledger.
//!
//! One thread reads the ledger, the others judge. Only questions whose decision has not been read
//! yet stay in memory.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use callgate_link::sync::lock;
use callgate_mask::{mask_text, text};
use callgate_rules::{Act, Backtest, Decision, NoLinks, Policy, TurnedVerdict, Verdict, judge};
use callgate_store::{EntryFilter, LedgerEntry, Store, StoreError};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::Failure;
use crate::policy::{LocalClock, home};
use crate::progress::ProgressBar;

/// How many entries are read from the ledger at once.
const PAGE: usize = 1_000;
/// How many questions a thread judges at a time; fewer than are listed.
const BATCH: usize = 256;
/// How many batches may wait for a thread.
const WAITING: usize = 8;
/// How many verdicts a thread remembers.
const MOST_KNOWN: usize = 16_384;
/// How many changed decisions are printed.
const MOST_PRINTED: usize = 50;

/// A question of the ledger, and what was decided on it.
struct PastQuestion {
    seq: u64,
    at_ms: i64,
    body: String,
    decided: Decision,
}

/// The call, as a question's entry describes it.
#[derive(Default, Deserialize)]
struct AskedBody<'a> {
    #[serde(borrow, default)]
    request: PastRequest<'a>,
    #[serde(borrow, default)]
    summary: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct PastRequest<'a> {
    #[serde(borrow, default)]
    tool_name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    agent: Option<Cow<'a, str>>,
}

#[derive(Default, Deserialize)]
struct DecidedBody<'a> {
    #[serde(borrow, default)]
    decision: Option<Cow<'a, str>>,
}

/// Applies the rules to the ledger and prints the result.
pub(super) fn run(policy: &Policy, database: &Path) -> Result<ExitCode, Failure> {
    let store = Store::open_read_only(database)?;
    let bar = ProgressBar::new("Judging the ledger");
    let result = play(policy, &store, &bar)?;
    drop(bar);
    report(&result, &store)?;
    Ok(if result.let_through_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn play(policy: &Policy, store: &Store, bar: &ProgressBar) -> Result<Backtest, StoreError> {
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
                    part.note(label, question.decided, judge.verdict(question));
                }
                sum.add(part);
            }
            sum
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let read = read_questions(store, &batches, bar);
        // From here on the threads end when there is nothing left.
        drop(batches);
        let mut sum = Backtest::default();
        for worker in workers {
            match worker.join() {
                Ok(part) => sum.add(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        read.map(|()| sum)
    })
}

fn next(waiting: &Mutex<Receiver<Vec<PastQuestion>>>) -> Option<Vec<PastQuestion>> {
    lock(waiting).recv().ok()
}

/// Reads all questions in the order in which they were decided; undecided ones come last.
fn read_questions(
    store: &Store,
    batches: &SyncSender<Vec<PastQuestion>>,
    bar: &ProgressBar,
) -> Result<(), StoreError> {
    let kinds = vec!["asked".to_owned(), "decided".to_owned()];
    let filter = EntryFilter { kinds, ..EntryFilter::default() };
    let mut open: HashMap<String, PastQuestion> = HashMap::new();
    let mut batch = Vec::with_capacity(BATCH);
    let mut put = |question: PastQuestion| {
        batch.push(question);
        if batch.len() == BATCH {
            // Nobody takes it only if a thread has panicked, which is reported when it is joined.
            batches.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))).ok();
        }
    };
    let last = store.last_seq()?;
    let mut after = 0;
    loop {
        let entries = store.entries(&filter, after, PAGE)?;
        let Some(end) = entries.last() else { break };
        after = end.seq;
        bar.at(after, last);
        for LedgerEntry { seq, at_ms, kind, question, body, .. } in entries {
            let id = question.unwrap_or_default();
            if kind == "asked" {
                let asked = PastQuestion { seq, at_ms, body, decided: Decision::Ask };
                // A question that is asked again replaces the earlier one.
                open.insert(id, asked).into_iter().for_each(&mut put);
            } else if let Some(asked) = open.remove(&id) {
                put(PastQuestion { decided: decided(&body), ..asked });
            }
        }
    }
    let mut rest: Vec<PastQuestion> = open.into_values().collect();
    rest.sort_by_key(|question| question.seq);
    rest.into_iter().for_each(put);
    batches.send(batch).ok();
    Ok(())
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

    fn verdict(&mut self, question: &PastQuestion) -> &Verdict {
        let PastRequest { tool_name, tool_input, cwd, agent } = asked_body(&question.body).request;
        let [tool, cwd, agent] = [tool_name, cwd, agent].map(Option::unwrap_or_default);
        let input = tool_input.map_or("null", RawValue::get);
        let time = if self.is_timed { question.at_ms } else { 0 };
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let Self { policy, home, clock, known, .. } = self;
        let key = format!("{time}\0{tool}\0{cwd}\0{agent}\0{input}");
        known.entry(key).or_insert_with(|| {
            let act = Act::of(&tool, input, &cwd, &agent, home);
            judge(policy, &act, &NoLinks, &clock.moment(question.at_ms))
        })
    }
}

/// Parses the body of an entry, which may have been damaged.
fn asked_body(body: &str) -> AskedBody<'_> {
    serde_json::from_str(body).unwrap_or_default()
}

fn decided(body: &str) -> Decision {
    let body: DecidedBody<'_> = serde_json::from_str(body).unwrap_or_default();
    match body.decision.as_deref() {
        Some("allow") => Decision::Allow,
        Some("deny") => Decision::Deny,
        _ => Decision::Ask,
    }
}

fn report(result: &Backtest, store: &Store) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let count = |decision| result.count(decision);
    writeln!(
        output,
        "{} questions: {} would be allowed, {} denied, {} asked",
        result.acts,
        count(Decision::Allow),
        count(Decision::Deny),
        count(Decision::Ask) + count(Decision::Confirm)
    )?;
    let lists = [
        ("denied then, let through now", result.let_through_count, &result.let_through),
        ("allowed then, denied now", result.newly_denied_count, &result.newly_denied),
    ];
    for (what, count, list) in lists {
        if count > 0 {
            writeln!(output, "{count} {what}:")?;
        }
        for turned in list.iter().take(MOST_PRINTED) {
            writeln!(output, "  {}", line(turned, store)?)?;
        }
        if count > MOST_PRINTED {
            writeln!(output, "  … and {} more", count - MOST_PRINTED)?;
        }
    }
    Ok(())
}

/// Describes a question that the rules decide otherwise, on one line.
fn line(turned: &TurnedVerdict, store: &Store) -> Result<String, StoreError> {
    let before = turned.label.parse::<u64>().unwrap_or_default().saturating_sub(1);
    let entry = store.entries(&EntryFilter::default(), before, 1)?.pop();
    let id = entry.as_ref().and_then(|entry| entry.question.as_deref()).unwrap_or_default();
    let id: String = id.chars().take(8).collect();
    let body = entry.as_ref().map(|entry| asked_body(&entry.body)).unwrap_or_default();
    let summary = mask_text(body.summary.as_deref().unwrap_or_default()).shown().to_owned();
    let because = text::one_line(&turned.verdict.because);
    Ok(format!("{id} {}: {because}", text::one_line(&summary)))
}
