//! Gives the desk its inputs, commits the desk's records, and only then carries out the outputs: on
//! the desk's thread, or on the thread that has ruled on a question if nothing else is to be done.
//!
//! Inputs that have arrived meanwhile are handled together and recorded in one transaction, so that
//! a thousand questions at once cost a few commits, not a thousand.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use callgate_store::{EntryDraft, LONGEST_BODY, Store, StoreError, now_ms};
use callgate_wire::approval::{ApprovalResponse, Decision, RequestId, RequestKind};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::Warn;
use super::askers::Askers;
use super::letter::{HandledAtOnce, Letter, LetterQueue};
use super::owed_entries::{OwedEntries, begun_questions};
use super::pulse::DaemonPulse;
use super::viewers::Viewers;
use crate::channel::ChannelOrder;
use crate::desk::{Desk, DeskInput, DeskOutput, DeskStep, DeskTime};

/// The most inputs that are recorded together.
const BATCH: usize = 256;
/// After this many entries the ledger is checkpointed in a quiet moment.
const MOST_UNMOVED: usize = 256;
/// How often the desk is called when nothing else happens, to follow the wall clock.
const LONGEST_SLEEP: Duration = Duration::from_hours(1);
/// How often the ledger is tried when it could not be written.
const LEDGER_RETRY: Duration = Duration::from_secs(10);

pub(super) struct Clerk {
    pub(super) desk: Desk,
    pub(super) store: Store,
    /// Those who wait for answers. They hold a way to the desk, and neither would end if the desk
    /// held them, too.
    pub(super) askers: Weak<Askers>,
    /// Those who watch, for the same reason not held.
    pub(super) viewers: Weak<Viewers>,
    pub(super) phones: Option<mpsc::Sender<ChannelOrder>>,
    pub(super) terminal: Option<mpsc::Sender<ChannelOrder>>,
    pub(super) runtime: Handle,
    /// The number of the last entry in the ledger.
    pub(super) head: watch::Sender<u64>,
    pub(super) pulse: Arc<DaemonPulse>,
    pub(super) warn: Warn,
    pub(super) started: Instant,
    /// How many entries were written since the last checkpoint.
    pub(super) unmoved: usize,
    /// What could not be written yet.
    pub(super) owed: OwedEntries,
    /// Until when the desk's thread sleeps if no letter comes.
    pub(super) sleeps_until: Duration,
}

/// Handles letters until there is no letter box any more, or a letter has made a thread panic: what
/// the desk knows may be wrong then.
pub(super) fn run_desk(clerk: &Mutex<Clerk>, mut queue: LetterQueue) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
        return (lock(clerk).warn)("cannot start the desk's clock");
    };
    // Not by the function that ignores poison: after a panic this thread has to end.
    while let Ok(sleep) = clerk.lock().map(|mut clerk| clerk.plan_sleep()) {
        let mut letters = Vec::new();
        let taken = queue.take_letters(&mut letters, BATCH);
        // Only a timer is due if nothing comes in time.
        if runtime.block_on(async { tokio::time::timeout(sleep, taken).await }) == Ok(0) {
            return;
        }
        let count = letters.len();
        let Ok(mut clerk) = clerk.lock() else { return };
        clerk.handle_letters(letters);
        // Only now, so that no later letter overtakes these on another thread.
        queue.mark_handled(count);
        if clerk.unmoved >= MOST_UNMOVED && queue.is_empty() {
            clerk.checkpoint_ledger();
        }
    }
}

/// Handles a letter on the calling thread, unless another thread is handling letters.
pub(super) fn handle_at_once(clerk: &Weak<Mutex<Clerk>>, letter: Letter) -> HandledAtOnce {
    let Some(clerk) = clerk.upgrade() else { return HandledAtOnce::Busy(Box::new(letter)) };
    let Ok(mut clerk) = clerk.try_lock() else { return HandledAtOnce::Busy(Box::new(letter)) };
    let handled = catch_unwind(AssertUnwindSafe(move || {
        clerk.handle_letters(vec![letter]);
        let is_due_sooner = clerk.desk.next_alarm().is_some_and(|alarm| alarm < clerk.sleeps_until);
        is_due_sooner || clerk.unmoved >= MOST_UNMOVED
    }));
    match handled {
        Ok(false) => HandledAtOnce::Done,
        // After a panic the desk's thread finds the lock poisoned, and ends.
        Ok(true) | Err(_) => HandledAtOnce::WakeDesk,
    }
}

impl Clerk {
    /// Returns how long the desk's thread may sleep, and remembers it.
    fn plan_sleep(&mut self) -> Duration {
        let now = self.started.elapsed();
        let longest = now + if self.owed.is_empty() { LONGEST_SLEEP } else { LEDGER_RETRY };
        self.sleeps_until = self.desk.next_alarm().map_or(longest, |alarm| alarm.min(longest));
        self.sleeps_until.saturating_sub(now)
    }

    /// Checkpoints the ledger while nobody waits, so that no answer has to wait for it.
    fn checkpoint_ledger(&mut self) {
        self.unmoved = 0;
        if let Err(error) = self.store.checkpoint() {
            (self.warn)(&error.to_string());
        }
    }

    fn handle_letters(&mut self, letters: Vec<Letter>) {
        let now = self.now();
        self.write_owed();
        let mut whole = DeskStep::default();
        let mut receipts = Vec::new();
        // Another process may have removed the link of whoever presses.
        if letters.iter().any(|letter| letter.input.depends_on_links()) {
            append_step(&mut whole, self.read_links(now));
        }
        for Letter { input, recorded } in letters {
            let input = self.with_past(input);
            append_step(&mut whole, self.handle_input(now, input));
            receipts.extend(recorded);
        }
        // For a timer that was due without any letter.
        append_step(&mut whole, self.desk.handle(now, DeskInput::Tick));
        // Before the entries are written, so that a viewer that has read of a question finds it in
        // the status.
        self.pulse.set_open_count(self.desk.open_count());
        // The outputs are carried out only after this: nothing takes effect before it is recorded.
        let recorded = self.record_entries(&whole.records, &whole.keeps).unwrap_or_else(|error| {
            (self.warn)(&format!("{error}; open questions fall back to their agents"));
            let lost = std::mem::take(&mut whole);
            let unrecorded = begun_questions(&lost);
            self.owed.add_lost_ends(&lost, &unrecorded);
            whole = self.desk.handle(now, DeskInput::LedgerFailed { unrecorded });
            self.owed.add_dropped(&mut whole);
            answer_the_rest(&mut whole, lost.outputs);
            // Nobody gets a receipt: nothing was recorded.
            receipts.clear();
            self.pulse.set_open_count(self.desk.open_count());
            None
        });
        let (answers, others) = take_answers(whole.outputs);
        for answer in answers {
            self.carry_out(answer);
        }
        // Agents wait for their answers, so viewers take processor time only now.
        if let Some(head) = recorded {
            self.head.send_replace(head);
        }
        for output in others {
            self.carry_out(output);
        }
        for receipt in receipts {
            // After the outputs: whoever waits for a receipt finds its reply already sent. A sender
            // that has gone needs none.
            receipt.send(()).ok();
        }
    }

    /// Passes an input to the desk. If an entry about it is longer than the ledger takes, it alone
    /// is refused: its question is not decided, and all others go on.
    fn handle_input(&mut self, now: DeskTime, input: DeskInput) -> DeskStep {
        let mut step = self.desk.handle(now, input);
        let is_too_long = |draft: &EntryDraft| draft.body.len() > LONGEST_BODY;
        if !step.records.iter().any(is_too_long) {
            return step;
        }
        (self.warn)("an entry was too long for the ledger: what it was about was not decided");
        let (refused, kept) = std::mem::take(&mut step.records).into_iter().partition(is_too_long);
        let refused: Vec<EntryDraft> = refused;
        let questions: BTreeSet<String> =
            refused.into_iter().filter_map(|draft| draft.question).collect();
        let is_of_refused = |draft: &EntryDraft| {
            draft.question.as_ref().is_some_and(|question| questions.contains(question))
        };
        // What else this step records about these questions would say that they are decided.
        step.records = kept;
        step.records.retain(|draft| !is_of_refused(draft));
        let (answers, others) = take_answers(step.outputs);
        step.outputs = others;
        for id in questions.iter().filter_map(|id| RequestId::parse(id)) {
            append_step(&mut step, self.desk.handle(now, DeskInput::Unrecorded(id)));
        }
        answer_the_rest(&mut step, answers);
        step
    }

    /// Takes up the links and the members of the team that other processes have changed. It is done
    /// before the inputs that depend on them, and before anything that is not recorded yet.
    fn read_links(&mut self, now: DeskTime) -> DeskStep {
        match self.store.chained_links() {
            Ok(links) => self.desk.handle(now, DeskInput::LinksRead(links)),
            Err(error) => {
                // Nobody presses on a ledger that cannot be read: recording it fails as well.
                (self.warn)(&error.to_string());
                DeskStep::default()
            }
        }
    }

    /// Carries out what the desk wants, from this thread: an agent waits, and another thread would
    /// have to wake up first. A channel that has ended is ignored: nothing depends on it.
    fn carry_out(&self, output: DeskOutput) {
        // Without askers and viewers the daemon is about to end.
        let (Some(askers), Some(viewers)) = (self.askers.upgrade(), self.viewers.upgrade()) else {
            return;
        };
        match (output, &self.phones, &self.terminal) {
            (DeskOutput::Answer(asker, response), ..) if self.desk.awaits_delivery(asker) => {
                askers.send_answer(&self.runtime, asker, &response);
            }
            (DeskOutput::Answer(asker, response), ..) => {
                askers.answer_and_release(&self.runtime, asker, &response);
            }
            (DeskOutput::FirstAllow { asker, first, replaces }, ..) => {
                askers.tell_first_allow(asker, first, replaces);
            }
            // A lost order would be a question that nobody sees. Waiting for room is safe: channels
            // take orders at all times, so the two cannot lock each other.
            (DeskOutput::Phones(order), Some(phones), _) => drop(phones.blocking_send(order)),
            // A terminal that was stopped reads nothing, and must not hold anybody up.
            (DeskOutput::Terminal(order), _, Some(terminal)) => drop(terminal.try_send(order)),
            (DeskOutput::Phones(_) | DeskOutput::Terminal(_), ..) => {}
            (DeskOutput::Viewer { viewer, id, done, text }, ..) => {
                viewers.send_reply(viewer, &id, done, &text);
            }
            (DeskOutput::Waiting { viewer, id, text, within }, ..) => {
                viewers.send_waiting(viewer, &id, &text, within);
            }
            (DeskOutput::Lock { hash, text }, ..) => viewers.lock_token(&hash, &text),
        }
    }

    /// Asks the ledger whether the id of a question was used before, and whether anybody was ever
    /// linked.
    fn with_past(&self, input: DeskInput) -> DeskInput {
        let (asker, request, ruling) = match input {
            DeskInput::Asked { asker, request, ruling, .. } => (asker, request, ruling),
            DeskInput::NewCode { code, id, who, is_for_page, reply_to, .. } => {
                // A ledger that cannot be read may have had links.
                let is_first = self.store.chained_links().is_ok_and(|links| !links.had_any);
                return DeskInput::NewCode { code, id, who, is_for_page, is_first, reply_to };
            }
            other => return other,
        };
        let id = &request.request_id;
        // A check that is answered at once may be repeated, and its asker waits for every step.
        let is_question = request.kind != RequestKind::Check
            || request.machine.is_some()
            || self.desk.waits_for_person(&request, &ruling);
        // An id that cannot be looked up may have been used.
        let is_replay = is_question
            && !self.desk.knows(id)
            && self.store.has_question(id.as_str()).unwrap_or(true);
        DeskInput::Asked { asker, request, ruling, is_replay }
    }

    /// Writes what the ledger could not take before.
    fn write_owed(&mut self) {
        if !self.owed.is_empty()
            && let Some(head) = self.owed.write(&mut self.store)
        {
            self.head.send_replace(head);
        }
    }

    /// Commits records. Returns the number of the last one.
    fn record_entries(
        &mut self,
        records: &[EntryDraft],
        keeps: &[(String, Option<String>)],
    ) -> Result<Option<u64>, StoreError> {
        if records.is_empty() && keeps.is_empty() {
            return Ok(None);
        }
        let entries = self.store.append_with(records, keeps)?;
        self.unmoved += entries.len();
        Ok(entries.last().map(|last| last.seq))
    }

    fn now(&self) -> DeskTime {
        DeskTime { mono: self.started.elapsed(), wall_ms: now_ms() }
    }
}

/// Separates answers from other outputs.
fn take_answers(outputs: Vec<DeskOutput>) -> (Vec<DeskOutput>, Vec<DeskOutput>) {
    outputs.into_iter().partition(|output| matches!(output, DeskOutput::Answer(..)))
}

/// Answers askers whose answers could not be recorded and whose questions are not open: an allow
/// does not count. An answer that decides nothing needs no record, nor does a deny.
fn answer_the_rest(whole: &mut DeskStep, unrecorded: Vec<DeskOutput>) {
    for output in unrecorded {
        let DeskOutput::Answer(asker, mut response) = output else { continue };
        let is_it =
            |output: &DeskOutput| matches!(output, DeskOutput::Answer(other, _) if *other == asker);
        if whole.outputs.iter().any(is_it) {
            continue;
        }
        if response.decision == Decision::Allow {
            response = ApprovalResponse::new(response.request_id, Decision::Timeout);
        }
        whole.outputs.push(DeskOutput::Answer(asker, response));
    }
}

fn append_step(whole: &mut DeskStep, mut step: DeskStep) {
    whole.records.append(&mut step.records);
    whole.keeps.append(&mut step.keeps);
    whole.outputs.append(&mut step.outputs);
}
