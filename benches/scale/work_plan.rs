//! When calls and questions are due: at random times with a given mean, which do not depend on how
//! fast the desks are.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_wire::approval::RequestId;

use crate::agent_work::{AgentCallText, QuestionText};
use crate::figures::FigureBook;
use crate::played_machine::PlayedMachine;

/// How long a call runs.
const CALL: Duration = Duration::from_millis(300);

/// What 1,000 machines do in a second.
const CALLS: f64 = 333.0;
const QUESTIONS: f64 = 3.5;
const MACHINES: f64 = 1000.0;

/// The machines, and which desk each is at.
pub(crate) struct PlayedTeam {
    pub(crate) machines: Vec<(Arc<PlayedMachine>, usize)>,
    pub(crate) book: Arc<FigureBook>,
}

/// The next times of something that happens at random.
struct RandomTimes {
    next: Instant,
    /// The mean time between two, in seconds.
    mean: f64,
    state: u64,
}

impl RandomTimes {
    fn new(seed: u64, per_second: f64) -> Self {
        let mut times = Self { next: Instant::now(), mean: 1.0 / per_second, state: seed };
        times.advance();
        times
    }

    /// Returns a number from 0 to below 2^32 (xorshift).
    fn random(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        u32::try_from(self.state >> 32).unwrap()
    }

    fn advance(&mut self) {
        let even = (f64::from(self.random()) + 1.0) / 4_294_967_297.0;
        self.next += Duration::from_secs_f64(-even.ln() * self.mean);
    }

    /// Waits for the next time, which may be over, and returns it.
    async fn wait(&mut self) -> Instant {
        let due = self.next;
        tokio::time::sleep_until(due.into()).await;
        self.advance();
        due
    }
}

impl PlayedTeam {
    /// Has the machines work as `times` as much as usual until `end`. `first` is the number of the
    /// first call and question.
    pub(crate) async fn work(&self, times: f64, end: Instant, first: u64) {
        #[allow(clippy::cast_precision_loss, reason = "there are a few thousand")]
        let share = self.machines.len() as f64 / MACHINES * times;
        tokio::join!(
            self.make_calls(RandomTimes::new(first ^ 0x2545_f491, CALLS * share), end, first),
            self.ask_questions(
                RandomTimes::new(first ^ 0x9e37_79b9, QUESTIONS * share),
                end,
                first
            ),
        );
    }

    async fn make_calls(&self, mut times: RandomTimes, end: Instant, first: u64) {
        for number in first.. {
            let due = times.wait().await;
            if due >= end {
                return;
            }
            self.book.note_late(due);
            let (machine, _) = self.pick(times.random());
            let (machine, call) = (Arc::clone(machine), AgentCallText::new(number));
            machine.check_call(&call, due);
            tokio::spawn(async move {
                tokio::time::sleep_until((due + CALL).into()).await;
                machine.report_ran(&call, due + CALL);
            });
        }
    }

    async fn ask_questions(&self, mut times: RandomTimes, end: Instant, first: u64) {
        for number in first.. {
            let due = times.wait().await;
            if due >= end {
                return;
            }
            let (machine, desk) = self.pick(times.random());
            let id = RequestId::from_random(u128::from(number).to_be_bytes());
            self.book.note_asked(id.clone(), *desk, due);
            machine.ask(&id, &QuestionText::new(number), due);
        }
    }

    fn pick(&self, random: u32) -> &(Arc<PlayedMachine>, usize) {
        &self.machines[random as usize % self.machines.len()]
    }
}
