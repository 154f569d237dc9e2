//! Asks the rules about each question before it goes to the desk.
//!
//! The rules read the disk, and a disk may not respond: a network file system without its network,
//! or one that another program serves. So neither the thread of the sockets nor that of the desk
//! waits for them. One thread asks the rules, one question after the other, and forwards the
//! questions to the desk in the order in which they came. If it gets stuck, another thread
//! continues with the other questions. A question about which the rules do not decide in time is
//! refused; one that is still queued waits as long as others are being decided.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use callgate_link::sync::lock;
use callgate_wire::approval::ApprovalRequest;
use tokio::sync::Notify;

use super::Warn;
use super::askers::Askers;
use crate::desk::{AskerId, DeskInput, MOST_BYTES, MOST_OPEN, Ruling, question_patience};

/// How long the rules may take for one question.
const RULED_WITHIN: Duration = Duration::from_secs(10);
/// After this time with one question a thread counts as stuck, and another one continues.
const STUCK_AFTER: Duration = Duration::from_millis(50);
/// How many threads may be stuck at once; beyond that, questions wait and are refused in time.
const MOST_STUCK: usize = 64;
const FULL: &str = "too many calls wait for the rules: try again later";
const FAILED: &str = "the rules failed because of a bug in callgate: please report it";

/// Asks the rules about a question. It may wait for the disk, and several threads may call it at
/// once.
pub type RuleJudge = Arc<dyn Fn(&ApprovalRequest) -> Ruling + Send + Sync>;

/// A question that is refused because it waited too long, and who forwards that to the desk.
type LateQuestion = (AskerId, ApprovalRequest, Arc<Askers>);

pub(super) struct RulingQueue {
    ruler: RuleJudge,
    limits: RulingLimits,
    warn: Warn,
    state: Mutex<QueueState>,
    /// Wakes the thread that asks the rules.
    has_work: Condvar,
    /// Wakes the watch before its timer is due.
    look_sooner: Notify,
}

pub(super) struct RulingLimits {
    /// How long a question may wait for its answer.
    timeout: Duration,
    /// How long it may wait for the rules.
    ruled_within: Duration,
    /// How long one question may keep a thread before it counts as stuck.
    stuck_after: Duration,
    most_waiting: usize,
}

impl RulingLimits {
    pub(super) fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            ruled_within: RULED_WITHIN,
            stuck_after: STUCK_AFTER,
            most_waiting: MOST_OPEN,
        }
    }
}

struct QueueState {
    /// Who forwards questions to the desk; `None` once the daemon has ended.
    askers: Option<Arc<Askers>>,
    /// The questions about which the rules have not been asked yet, in order.
    queue: VecDeque<AskerId>,
    /// The questions that are queued or being decided.
    waiting: HashMap<AskerId, QueuedQuestion>,
    deadlines: BTreeSet<(Instant, AskerId)>,
    bytes: usize,
    /// The number of the thread that serves the queue.
    worker: u64,
    /// When that thread began with its current question.
    busy_since: Option<Instant>,
    /// When the rules decided last.
    decided_at: Instant,
    /// How many replaced threads are still stuck.
    stuck: usize,
    /// When the watch is due next.
    look_at: Option<Instant>,
}

struct QueuedQuestion {
    request: Arc<ApprovalRequest>,
    since: Instant,
    /// When it is refused, unless it is given more time.
    until: Instant,
    /// When the question itself times out.
    ends: Instant,
    is_queued: bool,
}

impl RulingQueue {
    /// Starts the first thread.
    pub(super) fn start(
        ruler: RuleJudge,
        limits: RulingLimits,
        askers: Arc<Askers>,
        warn: Warn,
    ) -> io::Result<Arc<Self>> {
        let state = QueueState {
            askers: Some(askers),
            queue: VecDeque::new(),
            waiting: HashMap::new(),
            deadlines: BTreeSet::new(),
            bytes: 0,
            worker: 0,
            busy_since: None,
            decided_at: Instant::now(),
            stuck: 0,
            look_at: None,
        };
        let queue = Arc::new(Self {
            ruler,
            limits,
            warn,
            state: Mutex::new(state),
            has_work: Condvar::new(),
            look_sooner: Notify::new(),
        });
        queue.begin_worker(0)?;
        Ok(queue)
    }

    /// Queues a question, which goes to the desk with its ruling, or is refused. Does not wait for
    /// the rules.
    pub(super) async fn queue_question(&self, asker: AskerId, request: ApprovalRequest) {
        let Some((request, askers)) = self.try_queue(asker, request) else { return };
        if let Some(askers) = askers {
            let why = FULL.to_owned();
            askers.forward_question(asker, DeskInput::Unruled { asker, request, why }).await;
        }
    }

    /// Queues a question, or returns it if that is not possible.
    fn try_queue(
        &self,
        asker: AskerId,
        request: ApprovalRequest,
    ) -> Option<(ApprovalRequest, Option<Arc<Askers>>)> {
        let mut state = lock(&self.state);
        let size = request.tool_input.get().len();
        let is_full =
            state.waiting.len() >= self.limits.most_waiting || state.bytes + size > MOST_BYTES;
        if is_full || state.askers.is_none() {
            return Some((request, state.askers.clone()));
        }
        let since = Instant::now();
        let RulingLimits { timeout, ruled_within, .. } = self.limits;
        let ends = since + question_patience(timeout, &request);
        let until = ends.min(since + ruled_within);
        state.bytes += size;
        state.deadlines.insert((until, asker));
        let request = Arc::new(request);
        let waiting = QueuedQuestion { request, since, until, ends, is_queued: true };
        state.waiting.insert(asker, waiting);
        state.queue.push_back(asker);
        // A question that is taken up at once needs no look before its own time is over.
        let is_behind = state.busy_since.is_some() || state.queue.len() > 1;
        let look_at =
            if is_behind { state.next_look(since, self.limits.stuck_after) } else { Some(until) };
        if look_at < state.look_at || state.look_at.is_none() {
            state.look_at = look_at;
            self.look_sooner.notify_one();
        }
        // First, or the thread that wakes up would wait for the lock.
        drop(state);
        self.has_work.notify_one();
        None
    }

    /// Refuses questions that have waited too long, and replaces a stuck thread. This is a task
    /// beside the sockets, because all threads of the rules may be stuck.
    pub(super) async fn watch_deadlines(self: Arc<Self>) {
        loop {
            let (late, next) = self.collect_overdue();
            for (asker, request, askers) in late {
                let why = "the rules did not decide in time: a disk may not respond".to_owned();
                (self.warn)(&format!("{why} ({} in {})", request.tool_name, request.cwd));
                askers.forward_question(asker, DeskInput::Unruled { asker, request, why }).await;
            }
            match next {
                Some(at) => tokio::select! {
                    () = tokio::time::sleep_until(at.into()) => {}
                    () = self.look_sooner.notified() => {}
                },
                None => self.look_sooner.notified().await,
            }
        }
    }

    /// Returns the questions that are overdue, and when to look again.
    fn collect_overdue(self: &Arc<Self>) -> (Vec<LateQuestion>, Option<Instant>) {
        let now = Instant::now();
        let mut state = lock(&self.state);
        let Some(askers) = state.askers.clone() else { return (Vec::new(), None) };
        let mut late = Vec::new();
        while let Some((until, asker)) =
            state.deadlines.first().copied().filter(|(at, _)| *at <= now)
        {
            state.deadlines.remove(&(until, asker));
            if state.gives_more_time(asker, now, self.limits.ruled_within) {
                continue;
            }
            late.extend(
                state.remove(asker).map(|waiting| (asker, waiting.request, Arc::clone(&askers))),
            );
        }
        let stuck_after = self.limits.stuck_after;
        if state.is_held_up(now, stuck_after) {
            if self.begin_worker(state.worker + 1).is_ok() {
                state.worker += 1;
                state.busy_since = None;
                state.stuck += 1;
            } else {
                // Perhaps a thread can be started the next time.
                state.busy_since = Some(now);
            }
        }
        state.look_at = state.next_look(now, stuck_after);
        let next = state.look_at;
        drop(state);
        // A request that a thread still uses is copied, which may take a moment.
        let whole = |(asker, request, askers)| (asker, Arc::unwrap_or_clone(request), askers);
        (late.into_iter().map(whole).collect(), next)
    }

    fn begin_worker(self: &Arc<Self>, number: u64) -> io::Result<()> {
        let queue = Arc::clone(self);
        let work = move || queue.judge_questions(number);
        thread::Builder::new().name("rules".to_owned()).spawn(work).map(drop)
    }

    /// Asks the rules about one question after the other, until another thread takes over.
    fn judge_questions(&self, number: u64) {
        while let Some((asker, request)) = self.wait_for_question(number) {
            // A bug that one question finds must not end the thread on which all others wait.
            let ruling = catch_unwind(AssertUnwindSafe(|| (self.ruler)(&request))).ok();
            self.forward_ruled(number, asker, request, ruling);
        }
    }

    fn wait_for_question(&self, number: u64) -> Option<(AskerId, Arc<ApprovalRequest>)> {
        let mut state = lock(&self.state);
        while state.worker == number && state.askers.is_some() {
            let Some(asker) = state.queue.pop_front() else {
                state = self.has_work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            // A question that is gone was refused.
            let now = Instant::now();
            if let Some(request) = state.begin_question(asker, now + self.limits.ruled_within) {
                state.busy_since = Some(now);
                return Some((asker, request));
            }
        }
        None
    }

    /// Forwards a question to the desk, unless it was refused meanwhile.
    fn forward_ruled(
        &self,
        number: u64,
        asker: AskerId,
        request: Arc<ApprovalRequest>,
        ruling: Option<Ruling>,
    ) {
        let mut state = lock(&self.state);
        state.decided_at = Instant::now();
        if state.worker == number {
            state.busy_since = None;
        } else {
            // A replaced thread ends with the question at which it was stuck.
            state.stuck = state.stuck.saturating_sub(1);
            // One more thread may get stuck again.
            self.look_sooner.notify_one();
        }
        let waiting = state.remove(asker);
        let is_only_one = state.queue.is_empty();
        let (Some(waiting), Some(askers)) = (waiting, state.askers.clone()) else { return };
        // The desk may work on this thread from here on, and others queue meanwhile.
        drop(state);
        let waited = waiting.since.elapsed();
        // So that the request is moved and not copied.
        drop(waiting);
        let mut request = Arc::unwrap_or_clone(request);
        self.shorten_patience(&mut request, waited);
        let input = match ruling {
            // Whether the id was used before is looked up later, by the clerk.
            Some(ruling) => DeskInput::Asked { asker, request, ruling, is_replay: false },
            None => DeskInput::Unruled { asker, request, why: FAILED.to_owned() },
        };
        askers.blocking_forward(asker, input, is_only_one);
    }

    /// Subtracts the time that the rules took from the time that people have: the asker's clock has
    /// been running.
    fn shorten_patience(&self, request: &mut ApprovalRequest, waited: Duration) {
        // At least a second: a question without time would be over before anybody could see it.
        let left =
            question_patience(self.limits.timeout, request).saturating_sub(waited).as_secs().max(1);
        if let Some(context) = request.context.as_mut().filter(|_| waited.as_secs() > 0) {
            context.timeout_seconds = Some(left);
        }
    }

    /// Ends the threads; a stuck one ends when the disk responds.
    pub(super) fn stop(&self) {
        lock(&self.state).askers = None;
        self.has_work.notify_all();
    }
}

impl fmt::Debug for RulingQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RulingQueue").finish_non_exhaustive()
    }
}

impl QueueState {
    fn set_until(&mut self, asker: AskerId, until: Instant) {
        let Some(waiting) = self.waiting.get_mut(&asker) else { return };
        self.deadlines.remove(&(waiting.until, asker));
        waiting.until = until.min(waiting.ends);
        self.deadlines.insert((waiting.until, asker));
    }

    /// Begins with a question, whose time for the rules starts now.
    fn begin_question(&mut self, asker: AskerId, until: Instant) -> Option<Arc<ApprovalRequest>> {
        let waiting = self.waiting.get_mut(&asker)?;
        waiting.is_queued = false;
        let request = Arc::clone(&waiting.request);
        self.set_until(asker, until);
        Some(request)
    }

    /// Gives a question more time if it is still queued and the rules are deciding about others.
    /// That thousands of questions came at once does not mean that a disk does not respond.
    fn gives_more_time(&mut self, asker: AskerId, now: Instant, ruled_within: Duration) -> bool {
        let until = self.decided_at + ruled_within;
        let is_early = |waiting: &QueuedQuestion| waiting.is_queued && now < waiting.ends;
        let has_more = now < until && self.waiting.get(&asker).is_some_and(is_early);
        if has_more {
            self.set_until(asker, until);
        }
        has_more
    }

    fn remove(&mut self, asker: AskerId) -> Option<QueuedQuestion> {
        let waiting = self.waiting.remove(&asker)?;
        self.deadlines.remove(&(waiting.until, asker));
        self.bytes -= waiting.request.tool_input.get().len();
        Some(waiting)
    }

    /// Returns true if questions wait behind a stuck thread, and another thread may be started.
    fn is_held_up(&self, now: Instant, stuck_after: Duration) -> bool {
        let is_stuck = self.busy_since.is_some_and(|since| now >= since + stuck_after);
        is_stuck && !self.queue.is_empty() && self.stuck < MOST_STUCK
    }

    /// Returns when the watch is due next.
    fn next_look(&self, now: Instant, stuck_after: Duration) -> Option<Instant> {
        let deadline = self.deadlines.first().map(|(at, _)| *at);
        let may_replace = !self.queue.is_empty() && self.stuck < MOST_STUCK;
        let stuck = may_replace.then(|| self.busy_since.unwrap_or(now) + stuck_after);
        deadline.into_iter().chain(stuck).min()
    }
}

#[cfg(test)]
mod tests;
