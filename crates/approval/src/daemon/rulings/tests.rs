//! Rules that take long, fail, or never decide.

use std::sync::mpsc::{Receiver, Sender, channel};

use callgate_wire::approval::RequestId;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::asker::fresh_id;
use crate::daemon::letter::{Letter, LetterBox, LetterQueue};

/// Long enough for any machine.
const DEADLINE: Duration = Duration::from_mins(1);
/// The time of a question that is to be refused.
const SHORT: Duration = Duration::from_millis(300);

/// A queue before a desk that the test reads.
struct Bench {
    runtime: Runtime,
    queue: Arc<RulingQueue>,
    letters: LetterQueue,
    /// Says that the rules are stuck with one more question.
    stuck: Receiver<()>,
    /// Dropped, it lets go all with which they are stuck.
    hold: Option<Sender<()>>,
    warnings: Arc<Mutex<Vec<String>>>,
    next: u64,
}

impl Bench {
    /// The rules are stuck with `stuck`, fail at `fail`, and allow everything else.
    fn new(ruled_within: Duration, most_waiting: usize) -> Self {
        let limits = RulingLimits::new(DEADLINE);
        Self::with(RulingLimits { ruled_within, most_waiting, ..limits })
    }

    fn with(limits: RulingLimits) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (to_desk, letters) = LetterBox::new(4_096);
        let (is_stuck, stuck) = channel();
        let (hold, end) = channel::<()>();
        let end = Mutex::new(end);
        let ruler: RuleJudge = Arc::new(move |request| {
            let input = request.tool_input.get();
            assert!(!input.contains("fail"), "as it was told to");
            if input.contains("stuck") {
                is_stuck.send(()).ok();
                // Ends when the other end is dropped.
                end.lock().unwrap_or_else(PoisonError::into_inner).recv().ok();
            }
            Ruling::Allow { because: "a rule".to_owned() }
        });
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&warnings);
        let warn = Arc::new(move |what: &str| told.lock().unwrap().push(what.to_owned()));
        let askers = Askers::new(to_desk).unwrap();
        let queue = RulingQueue::start(ruler, limits, askers, warn).unwrap();
        runtime.spawn(Arc::clone(&queue).watch_deadlines());
        Self { runtime, queue, letters, stuck, hold: Some(hold), warnings, next: 1 }
    }

    fn ask(&mut self, command: &str) -> RequestId {
        let id = fresh_id();
        let line = json!({
            "request_id": id.as_str(),
            "tool_name": "Bash",
            "tool_input": { "command": command },
            "cwd": "/home/ada/engine",
            "session_id": "s1",
            "context": { "timeout_seconds": 30 },
        });
        let request = ApprovalRequest::decode(line.to_string().as_bytes()).unwrap();
        self.runtime.block_on(self.queue.queue_question(AskerId(self.next), request));
        self.next += 1;
        id
    }

    /// Waits until the rules are stuck with one more question.
    fn wait_until_stuck(&self) {
        self.stuck.recv_timeout(DEADLINE).unwrap();
    }

    fn let_go(&mut self) {
        drop(self.hold.take());
    }

    /// What reaches the desk next; nothing once nobody can send to it any more.
    fn letter(&mut self) -> Option<Letter> {
        let Self { runtime, letters, .. } = self;
        runtime.block_on(async {
            tokio::time::timeout(DEADLINE, letters.take_letter()).await.unwrap()
        })
    }

    /// The next question that reaches the desk: its id, and why the rules have not decided.
    fn next(&mut self) -> (RequestId, Option<String>) {
        match self.letter().unwrap().input {
            DeskInput::Asked { request, ruling: Ruling::Allow { .. }, .. } => {
                (request.request_id, None)
            }
            DeskInput::Unruled { request, why, .. } => (request.request_id, Some(why)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn questions_reach_the_desk_in_the_order_in_which_they_came() {
    // No thread counts as stuck because the machine is busy.
    let limits = RulingLimits { stuck_after: DEADLINE, ..RulingLimits::new(DEADLINE) };
    let mut bench = Bench::with(RulingLimits { ruled_within: DEADLINE, ..limits });
    let asked: Vec<_> = (0..1_000).map(|_| bench.ask("make")).collect();
    for id in asked {
        assert_eq!(bench.next(), (id, None));
    }
}

#[test]
fn rules_that_are_stuck_with_one_question_decide_about_the_others() {
    let mut bench = Bench::new(DEADLINE, MOST_OPEN);
    let mut stuck = Vec::new();
    for _ in 0..3 {
        stuck.push(bench.ask("stuck"));
        bench.wait_until_stuck();
        for _ in 0..10 {
            let other = bench.ask("make");
            assert_eq!(bench.next(), (other, None));
        }
    }
    bench.let_go();
    // Each of them has a thread of its own.
    let mut late: Vec<_> = stuck.iter().map(|_| bench.next()).collect();
    late.sort_by_key(|(id, _)| stuck.iter().position(|other| other == id));
    assert_eq!(late, stuck.into_iter().map(|id| (id, None)).collect::<Vec<_>>());
    let after = bench.ask("make");
    assert_eq!(bench.next(), (after, None));
}

#[test]
fn a_question_is_refused_when_its_time_is_over_and_not_asked_after_that() {
    let mut bench = Bench::new(SHORT, MOST_OPEN);
    let stuck = bench.ask("stuck");
    let (refused, why) = bench.next();
    assert_eq!(refused, stuck);
    assert!(why.unwrap().contains("did not decide in time"));
    assert!(bench.warnings.lock().unwrap()[0].contains("Bash in /home/ada/engine"));
    bench.let_go();
    // What the rules say now comes too late, and the others are not touched by it.
    let start = Instant::now();
    while lock(&bench.queue.state).busy_since.is_some() {
        assert!(start.elapsed() < DEADLINE);
        thread::yield_now();
    }
    let state = lock(&bench.queue.state);
    assert_eq!((state.waiting.len(), state.bytes, state.deadlines.len()), (0, 0, 0));
    drop(state);
    assert!(bench.letters.try_take().is_none());
}

#[test]
fn as_many_may_be_stuck_as_there_may_be_threads_and_the_rest_is_refused() {
    let mut bench = Bench::new(SHORT, MOST_OPEN);
    let asked: Vec<_> = (0..MOST_STUCK + 20).map(|_| bench.ask("stuck")).collect();
    for _ in &asked {
        assert!(bench.next().1.is_some());
    }
    assert!(lock(&bench.queue.state).stuck <= MOST_STUCK);
    bench.let_go();
    // Those of the threads that are not needed any more have ended.
    let start = Instant::now();
    while lock(&bench.queue.state).stuck > 0 {
        assert!(start.elapsed() < DEADLINE);
        thread::yield_now();
    }
}

#[test]
fn a_question_whose_turn_has_not_come_waits_while_others_are_decided() {
    let limits = RulingLimits { stuck_after: DEADLINE, ..RulingLimits::new(DEADLINE) };
    let mut bench = Bench::with(RulingLimits { ruled_within: DEADLINE, ..limits });
    let stuck = bench.ask("stuck");
    bench.wait_until_stuck();
    let queued = bench.ask("make");
    let (first, second) = (AskerId(1), AskerId(2));
    let is_refused_when_late = |asker: AskerId| {
        let now = Instant::now();
        lock(&bench.queue.state).set_until(asker, now);
        // The watch may have looked already.
        bench.queue.collect_overdue();
        !lock(&bench.queue.state).waiting.contains_key(&asker)
    };
    assert!(!is_refused_when_late(second), "only its turn has not come");
    assert!(lock(&bench.queue.state).waiting[&second].until > Instant::now());
    assert!(is_refused_when_late(first), "the rules were asked and do not decide");
    bench.let_go();
    let mut next = bench.next();
    if next.0 == stuck {
        next = bench.next();
    }
    assert_eq!(next, (queued, None));
}

#[test]
fn a_question_that_is_one_too_many_is_refused_at_once() {
    let mut bench = Bench::new(DEADLINE, 2);
    let (one, two) = (bench.ask("stuck one"), bench.ask("stuck two"));
    let three = bench.ask("make");
    let (refused, why) = bench.next();
    assert_eq!(refused, three);
    assert_eq!(why.as_deref(), Some(FULL));
    bench.let_go();
    let mut late = [bench.next().0, bench.next().0];
    late.sort_by_key(|id| *id != one);
    assert_eq!(late, [one, two]);
    let four = bench.ask("make");
    assert_eq!(bench.next(), (four, None));
}

#[test]
fn a_question_at_which_the_rules_fail_is_refused_and_the_next_is_not() {
    let mut bench = Bench::new(DEADLINE, MOST_OPEN);
    let failing = bench.ask("fail");
    assert_eq!(bench.next(), (failing, Some(FAILED.to_owned())));
    let next = bench.ask("make");
    assert_eq!(bench.next(), (next, None));
}

#[test]
fn the_time_that_the_rules_took_is_taken_from_the_time_of_people() {
    let bench = Bench::new(DEADLINE, MOST_OPEN);
    let line = json!({
        "request_id": fresh_id().as_str(),
        "tool_name": "Bash",
        "tool_input": {},
        "cwd": "/",
        "session_id": "s1",
        "context": { "timeout_seconds": 30 },
    });
    for (waited, left) in [(0, 30), (900, 30), (4_500, 25), (29_500, 1), (90_000, 1)] {
        let mut request = ApprovalRequest::decode(line.to_string().as_bytes()).unwrap();
        bench.queue.shorten_patience(&mut request, Duration::from_millis(waited));
        assert_eq!(request.context.unwrap().timeout_seconds, Some(left), "{waited}");
    }
}

#[test]
fn a_stuck_thread_does_not_keep_the_desk_from_its_end() {
    let mut bench = Bench::new(DEADLINE, MOST_OPEN);
    bench.ask("stuck");
    bench.wait_until_stuck();
    bench.queue.stop();
    assert!(bench.letter().is_none());
}
