//! The history: a walk back along the ledger, which puts together what belongs to one call.
//!
//! Walking back, the decision about a question comes before the question. So each page needs one
//! pass, and only questions that lie across its beginning are looked up by themselves.

use std::collections::HashMap;

use callgate_mask::text::shortened_text;
use callgate_store::{EntryFilter, LedgerEntry, Store, StoreError};
use callgate_wire::approval::Decision;
use callgate_wire::desk::{
    AnswerChannel, DeskHistory, HistoryDecider, HistoryDecision, HistoryFilter, HistoryRow,
    MOST_HISTORY_ROWS,
};
use callgate_wire::ledger::LedgerKind::{
    self, Asked, Checked, Closed, Decided, Pressed, Ran, Said, Saved,
};
use callgate_wire::ledger::{LedgerEvent, PressOutcome, QuestionDecided};

use crate::card::{Card, agent_name};
use crate::rule_desk::WorkMonitor;

const BATCH: usize = 512;
/// How many rows a page has unless the viewer says otherwise.
const USUAL_ROWS: u64 = 50;
/// How much of a summary is shown, in characters.
pub(super) const LONGEST_SUMMARY: usize = 400;
/// How much of a person's words is shown, in characters.
const LONGEST_WORDS: usize = 2_000;
const KINDS: [LedgerKind; 8] = [Asked, Said, Pressed, Decided, Closed, Checked, Ran, Saved];

#[derive(Debug)]
pub(super) struct PastCall {
    pub(super) row: HistoryRow,
    pub(super) decider: Option<HistoryDecider>,
    pub(super) last_words: Option<String>,
    /// The agent's own name for itself.
    agent: String,
    /// The whole summary and the input, for the search.
    searched: String,
}

/// What became of a question, as far as it was met on the way back.
#[derive(Debug, Default)]
struct QuestionOutcome {
    /// The decision and its time.
    decided: Option<(QuestionDecided, i64)>,
    channel: Option<AnswerChannel>,
    is_closed: bool,
    has_run: bool,
    ok: Option<bool>,
    /// The agent's last words, if they came after the question.
    last_words: Option<String>,
}

impl QuestionOutcome {
    /// Notes an entry of the question. The latest entry comes first, and counts.
    fn note_entry(&mut self, entry: &LedgerEntry) {
        match entry.event() {
            LedgerEvent::Decided(decided) => {
                self.decided.get_or_insert((decided, entry.at_ms));
            }
            LedgerEvent::Pressed(press) if press.outcome == Some(PressOutcome::Decided) => {
                self.channel = self.channel.or(press.channel);
            }
            LedgerEvent::Closed(_) => self.is_closed = true,
            LedgerEvent::Said(said) => drop(self.last_words.get_or_insert(said.last_words)),
            LedgerEvent::Ran(run) => (self.has_run, self.ok) = (true, self.ok.or(run.ok)),
            _ => {}
        }
    }

    fn is_allowed(&self) -> bool {
        let decided = self.decided.as_ref();
        decided.is_some_and(|(decided, _)| decided.decision == Some(Decision::Allow))
    }

    fn decision(&self) -> HistoryDecision {
        match self.decided.as_ref().map(|(decided, _)| decided.decision) {
            Some(Some(Decision::Allow)) => HistoryDecision::Allow,
            Some(Some(Decision::Deny)) => HistoryDecision::Deny,
            Some(_) => HistoryDecision::Timeout,
            None if !self.is_closed => HistoryDecision::Open,
            // It was answered at the agent itself.
            None if self.has_run => HistoryDecision::Ran,
            None => HistoryDecision::Withdrawn,
        }
    }
}

pub(super) struct HistoryWalk<'a> {
    store: &'a Store,
    filter: EntryFilter,
    before: u64,
    /// Entries that have been read, the oldest first.
    batch: Vec<LedgerEntry>,
    is_over: bool,
    /// Whether it began at the end of the ledger, and so has met everything about each question.
    is_from_end: bool,
    outcomes: HashMap<String, QuestionOutcome>,
}

impl<'a> HistoryWalk<'a> {
    /// Begins before the entry `before`. Calls that began before `since_ms` are left out.
    pub(super) fn new(store: &'a Store, before: u64, since_ms: Option<i64>) -> Self {
        let filter = EntryFilter { kinds: KINDS.to_vec(), since_ms, ..EntryFilter::default() };
        let (batch, outcomes) = (Vec::new(), HashMap::new());
        let is_from_end = before == u64::MAX;
        Self { store, filter, before, batch, is_over: false, is_from_end, outcomes }
    }

    /// Returns the call before, or `None` at the beginning of the ledger.
    pub(super) fn next(&mut self) -> Result<Option<PastCall>, StoreError> {
        loop {
            while let Some(entry) = self.batch.pop() {
                if let Some(call) = self.find_call(&entry)? {
                    return Ok(Some(call));
                }
            }
            if self.is_over {
                return Ok(None);
            }
            self.batch = self.store.entries_before(&self.filter, self.before, BATCH)?;
            self.is_over = self.batch.len() < BATCH;
            self.before = self.batch.first().map_or(0, |first| first.seq);
        }
    }

    /// Returns the call that begins with this entry, if one does.
    fn find_call(&mut self, entry: &LedgerEntry) -> Result<Option<PastCall>, StoreError> {
        let is_question = entry.is_of_kind(Asked);
        let outcome = match &entry.question {
            Some(id) if !is_question => {
                self.outcomes.entry(id.clone()).or_default().note_entry(entry);
                return Ok(None);
            }
            Some(id) => self.outcome_of_question(id)?,
            None if [Checked, Ran, Saved].iter().any(|kind| entry.is_of_kind(*kind)) => {
                QuestionOutcome::default()
            }
            None => return Ok(None),
        };
        Ok(Some(PastCall::new(entry, outcome)))
    }

    /// Returns what became of a question. One whose end was not met ended after the entry at which
    /// this walk began, or is open.
    fn outcome_of_question(&mut self, id: &str) -> Result<QuestionOutcome, StoreError> {
        let met = self.outcomes.remove(id).unwrap_or_default();
        // The report of its run comes after its end, where this walk may not have been.
        if met.is_closed && (self.is_from_end || met.has_run || !met.is_allowed()) {
            return Ok(met);
        }
        let question = Some(id.to_owned());
        let filter = EntryFilter { question, ..EntryFilter::default() };
        let mut outcome = QuestionOutcome::default();
        // The store returns the oldest first, and the latest entry has to be noted first.
        for entry in self.store.entries_before(&filter, u64::MAX, BATCH)?.iter().rev() {
            outcome.note_entry(entry);
        }
        Ok(outcome)
    }
}

impl PastCall {
    fn new(entry: &LedgerEntry, outcome: QuestionOutcome) -> Self {
        let event = entry.event();
        let decision = match &event {
            _ if entry.is_of_kind(Asked) => outcome.decision(),
            _ if entry.is_of_kind(Ran) => HistoryDecision::Ran,
            _ if entry.is_of_kind(Saved) => HistoryDecision::Saved,
            LedgerEvent::Checked(call) if call.decision == Some(Decision::Allow) => {
                HistoryDecision::Allow
            }
            _ => HistoryDecision::Deny,
        };
        let is_decided = matches!(decision, HistoryDecision::Allow | HistoryDecision::Deny);
        let decider = match &event {
            _ if !is_decided => None,
            LedgerEvent::Asked(asked)
                if outcome.channel.is_some() || asked.ruling.is_for_people() =>
            {
                Some(HistoryDecider::Person)
            }
            _ => Some(HistoryDecider::Rule),
        };
        let channel = match &event {
            _ if decider == Some(HistoryDecider::Rule) => Some(AnswerChannel::Rule),
            LedgerEvent::Saved(saved) => saved.channel,
            _ => outcome.channel,
        };
        let words_then = match &event {
            LedgerEvent::Asked(asked) => asked.recorded_request().last_words(),
            _ => None,
        };
        let machine = match &event {
            LedgerEvent::Asked(asked) => asked.machine.clone(),
            _ => None,
        };
        let is_of_runtime = matches!(event, LedgerEvent::RuntimeRan(_));
        let call = event.into_call().unwrap_or_default();
        let took = outcome.decided.as_ref().filter(|_| decider != Some(HistoryDecider::Rule));
        // A clock that was set back between the two yields no duration.
        let took_ms = took.and_then(|(_, at_ms)| u64::try_from(at_ms - entry.at_ms).ok());
        let (answer, _) = outcome.decided.unwrap_or_default();
        let words = answer.words.or(answer.chosen).or(answer.message);
        let words = words.filter(|_| decider == Some(HistoryDecider::Person));
        let agent = call.agent.unwrap_or_default();
        let input = call.input.as_ref().map_or("", |input| input.get());
        // The runtime records the arguments of its tools.
        let arguments = serde_json::from_str(&call.summary).ok().filter(|_| is_of_runtime);
        let summary = arguments.map(|fields| Card::summary_of_call(&agent, &call.tool, &fields));
        let summary = summary.as_deref().unwrap_or(&call.summary);
        let row = HistoryRow {
            seq: entry.seq,
            at_ms: entry.at_ms,
            question: entry.question.clone(),
            summary: shortened_text(summary, LONGEST_SUMMARY),
            tool: call.tool,
            project: call.cwd,
            session: call.session,
            agent: (!agent.is_empty()).then(|| agent_name(&agent).to_owned()),
            machine,
            mode: call.mode,
            decision,
            by: call.by.or(Some(answer.by).filter(|by| !by.is_empty())),
            channel,
            took_ms,
            ok: outcome.ok.or(call.ok),
            words: words.map(|words| shortened_text(&words, LONGEST_WORDS)),
            edited: answer.edited.is_some(),
        };
        let last_words = outcome.last_words.or(words_then);
        Self { row, decider, last_words, agent, searched: format!("{}\n{input}", call.summary) }
    }

    /// Returns true if the filter selects this call. `words` are those of its text, in lower case.
    fn matches(&self, filter: &HistoryFilter, words: &[String]) -> bool {
        let row = &self.row;
        let is = |wanted: &Option<String>, name: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(name))
        };
        is(&filter.tool, &row.tool)
            && (is(&filter.agent, &self.agent)
                || is(&filter.agent, row.agent.as_deref().unwrap_or_default()))
            && is(&filter.machine, row.machine.as_deref().unwrap_or_default())
            && filter.project.as_ref().is_none_or(|wanted| is_project(wanted, &row.project))
            && filter.session.as_ref().is_none_or(|wanted| row.session.starts_with(&**wanted))
            && filter.decision.is_none_or(|wanted| wanted == row.decision)
            && filter.by.is_none_or(|wanted| Some(wanted) == self.decider)
            && filter.since_ms.is_none_or(|since| row.at_ms >= since)
            && filter.until_ms.is_none_or(|until| row.at_ms < until)
            && self.has_words(words)
    }

    fn has_words(&self, words: &[String]) -> bool {
        if words.is_empty() {
            return true;
        }
        let row = &self.row;
        let names = [&row.by, &row.words, &row.agent].map(|name| name.as_deref().unwrap_or(""));
        let all = [&self.searched, &row.tool, &row.project, &row.session, &self.agent];
        let all: Vec<&str> = all.into_iter().map(String::as_str).chain(names).collect();
        let text = all.join("\n").to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

/// Returns true if a folder is the wanted one, given by its whole path or by the end of it.
fn is_project(wanted: &str, project: &str) -> bool {
    let (wanted, project) = (wanted.trim_end_matches('/'), project.trim_end_matches('/'));
    project.strip_suffix(wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Calls `take` with each selected call, the newest first, until it returns false or nobody wants
/// the result any more.
pub(super) fn each_past_call(
    store: &Store,
    filter: &HistoryFilter,
    before: Option<u64>,
    monitor: &WorkMonitor<'_>,
    mut take: impl FnMut(PastCall) -> bool,
) -> Result<(), String> {
    let text = filter.text.as_deref().unwrap_or_default().to_lowercase();
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let mut walk = HistoryWalk::new(store, before.unwrap_or(u64::MAX), filter.since_ms);
    while let Some(call) = walk.next().map_err(|error| error.to_string())? {
        if monitor.is_cancelled() || call.matches(filter, &words) && !take(call) {
            break;
        }
    }
    Ok(())
}

pub(super) fn history_page(
    store: &Store,
    filter: &HistoryFilter,
    before: Option<u64>,
    limit: Option<u64>,
    monitor: &WorkMonitor<'_>,
) -> Result<DeskHistory, String> {
    let limit = limit.unwrap_or(USUAL_ROWS).min(MOST_HISTORY_ROWS);
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut rows, mut next) = (Vec::new(), None);
    each_past_call(store, filter, before, monitor, |call| {
        if rows.len() == most {
            // There is one more, so another page.
            next = rows.last().map(|row: &HistoryRow| row.seq);
            return false;
        }
        rows.push(call.row);
        true
    })?;
    Ok(DeskHistory { rows, next })
}
