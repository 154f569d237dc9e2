//! Measures in rounds in which every contender has its turn.

use std::time::{Duration, Instant};

use crate::answers::TOKENS;
use crate::common::kernel::{CpuClock, memory};
use crate::common::part::Part;
use crate::common::series::median;
use crate::common::watchdog::Watchdog;
use crate::contenders::{CALLGATE, CLAUDE, NODE, Workshop};
use crate::processor::on_one_processor;
use crate::report::{Pair, Row};
use crate::runtime::{Reply, Runtime};

/// How much is measured.
pub(crate) struct Plan {
    /// Starts of processes.
    starts: Part,
    /// New processes that give a short answer, then a long one.
    fresh: Part,
    /// How many of these rounds Claude Code takes part in.
    with_claude: usize,
    /// Small requests to warm processes.
    small: Part,
    /// Long answers of warm processes.
    long: Part,
    /// After this time something must be wrong.
    pub(crate) limit: Duration,
}

impl Plan {
    pub(crate) fn full() -> Self {
        Self {
            starts: Part::new(20, 1, 15),
            fresh: Part::new(12, 1, 70),
            with_claude: 4,
            small: Part::new(40, 5, 20),
            long: Part::new(12, 1, 15),
            limit: Duration::from_secs(170),
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            starts: Part::new(5, 1, 4),
            fresh: Part::new(4, 1, 20),
            with_claude: 1,
            small: Part::new(10, 5, 5),
            long: Part::new(4, 1, 5),
            limit: Duration::from_secs(90),
        }
    }
}

/// How many times as much the Node runtime has to take.
const START: f64 = 25.0;
const FIRST_TOKEN: f64 = 8.0;
const RATE: f64 = 4.0;
const CPU: f64 = 8.0;
const MEMORY: f64 = 8.0;
const TOOL_ROUND: f64 = 10.0;
/// The most milliseconds to the first token of a warm process, regardless of the conversation's
/// length, and the most times as long in a long conversation as in a short one.
const FIRST_TOKEN_LATER: f64 = 0.5;
const GROWTH: f64 = 2.5;
/// What a process may hold that nobody has asked for anything, in megabytes.
const MEMORY_AT_REST: f64 = 6.0;
/// How many times as much Claude Code has to take.
const RATE_OF_CLAUDE: f64 = 10.0;
const MEMORY_OF_CLAUDE: f64 = 15.0;

/// Small requests before those that count: Node's compiler needs them.
const WARM_UP: usize = 150;
/// The number of messages of a long conversation.
const LONG_CONVERSATION: usize = 1_000;

/// How long a started process is left alone.
const SETTLED: Duration = Duration::from_millis(200);

/// The state that every measurement needs.
struct Bench<'a> {
    workshop: &'a Workshop,
    watchdog: &'a Watchdog,
    clock: CpuClock,
}

/// The first seconds of a process.
#[derive(Default)]
struct Fresh {
    first_token: Pair,
    tool_round: Pair,
    rate: Pair,
    cpu: Pair,
    memory: Pair,
}

pub(crate) fn run(plan: &Plan, workshop: &Workshop, watchdog: &Watchdog) -> Vec<Row> {
    let clock = CpuClock::start(&workshop.cpu_clock);
    let mut bench = Bench { workshop, watchdog, clock };
    let (starts, at_rest) = bench.starts(plan.starts);
    let (fresh, claude) = bench.fresh(plan.fresh, plan.with_claude);
    let on_one = on_one_processor(|| bench.fresh_tool_rounds(plan.fresh));
    let mut warm = [CALLGATE, NODE].map(|which| bench.warm_up(which));
    let (first_token, tool_round) = bench.small(plan.small, &mut warm);
    let (rate, cpu) = bench.long(plan.long, &mut warm);
    let [in_short, in_long] = bench.lengths(plan.small, &mut warm[CALLGATE]);
    let peaks = warm.each_ref().map(|runtime| memory(runtime.pid(), "VmHWM:"));
    vec![
        Row::new("start to ready", "ms", &starts).node(START),
        Row::new("first token, at first", "ms", &fresh.first_token)
            .node(FIRST_TOKEN)
            .claude_has(&claude.first_token),
        Row::new("first token, later", "ms", &first_token),
        Row::alone("first token, in a short conversation", "ms", in_short)
            .at_most(FIRST_TOKEN_LATER),
        Row::alone("first token, after 1,000 messages", "ms", in_long).at_most(FIRST_TOKEN_LATER),
        Row::alone("1,000 messages ÷ a short conversation", "×", in_long / in_short)
            .at_most(GROWTH),
        Row::new("tool round, at first", "ms", &fresh.tool_round),
        Row::new("tool round, at first, on one processor", "ms", &on_one).node(TOOL_ROUND),
        Row::new("tool round, later", "ms", &tool_round),
        Row::rate("20,000 tokens, at first", "tokens/s", &fresh.rate)
            .node(RATE)
            .claude_has(&claude.rate)
            .claude(RATE_OF_CLAUDE),
        Row::rate("20,000 tokens, later", "tokens/s", &rate),
        Row::new("CPU per 10,000 tokens, at first", "ms", &fresh.cpu)
            .node(CPU)
            .claude_has(&claude.cpu),
        Row::new("CPU per 10,000 tokens, later", "ms", &cpu),
        Row::new("memory at rest", "MB", &at_rest).at_most(MEMORY_AT_REST),
        Row::new("memory, peak, at first", "MB", &fresh.memory)
            .node(MEMORY)
            .claude_has(&claude.memory)
            .claude(MEMORY_OF_CLAUDE),
        Row::new("memory, peak, later", "MB", &Pair::of(peaks)),
    ]
}

impl Bench<'_> {
    /// Measures how long starting takes, and the memory of a process a moment later.
    fn starts(&self, part: Part) -> (Pair, Pair) {
        let once = |which| {
            let begin = Instant::now();
            let mut runtime = self.workshop.start(which, self.watchdog);
            runtime.wait_until_ready();
            let took = milliseconds(begin.elapsed());
            // The preparation after the greeting belongs to it.
            std::thread::sleep(SETTLED);
            (took, memory(runtime.pid(), "VmRSS:"))
        };
        let begin = Instant::now();
        let (mut starts, mut at_rest) = (Pair::default(), Pair::default());
        in_turns(0, once); // Brings the files into memory.
        while part.goes_on(starts.len(), begin) {
            let round = in_turns(starts.len(), once);
            starts.push(round.map(|(took, _)| took));
            at_rest.push(round.map(|(_, held)| held));
        }
        (starts, at_rest)
    }

    /// Measures new processes: against Node, and in some rounds against Claude Code.
    fn fresh(&mut self, part: Part, with_claude: usize) -> (Fresh, Fresh) {
        let (mut beside_node, mut beside_claude) = (Fresh::default(), Fresh::default());
        let begin = Instant::now();
        let mut done = 0;
        while part.goes_on(done, begin) {
            let [ours, node] = in_turns(done, |which| self.live(which));
            beside_node.push(ours, node);
            if done < with_claude {
                beside_claude.push(ours, self.live(CLAUDE));
            }
            done += 1;
        }
        (beside_node, beside_claude)
    }

    /// Measures the first tool round of new processes.
    fn fresh_tool_rounds(&self, part: Part) -> Pair {
        let once = |which| {
            let mut runtime = self.workshop.start(which, self.watchdog);
            runtime.wait_until_ready();
            self.first_token(which, &mut runtime);
            self.tool_round(which, &mut runtime)
        };
        let (mut rounds, begin) = (Pair::default(), Instant::now());
        while part.goes_on(rounds.len(), begin) {
            rounds.push(in_turns(rounds.len(), once));
        }
        rounds
    }

    /// Measures one process: a short answer, one with a tool, then a long one.
    fn live(&mut self, which: usize) -> [f64; 5] {
        let mut runtime = self.workshop.start(which, self.watchdog);
        if which != CLAUDE {
            runtime.wait_until_ready();
        }
        let first_token = self.first_token(which, &mut runtime);
        // Claude Code has other tools.
        let tool_round =
            if which == CLAUDE { f64::NAN } else { self.tool_round(which, &mut runtime) };
        let (rate, cpu) = self.stream(which, &mut runtime);
        [first_token, tool_round, rate, cpu, memory(runtime.pid(), "VmHWM:")]
    }

    /// Returns the time to the first token, without the time of the service.
    fn first_token(&self, which: usize, runtime: &mut Runtime) -> f64 {
        let Reply { written, first, .. } =
            self.workshop.ask(which, runtime, &[&self.workshop.slow]);
        let served = self.workshop.service.served()[0];
        let whole = first.expect("the answer has tokens") - written;
        milliseconds(whole.saturating_sub(served.begun - served.asked))
    }

    /// Returns the time from the model's tool call to the end of the turn, without the time that
    /// the service took for the last answer.
    fn tool_round(&self, which: usize, runtime: &mut Runtime) -> f64 {
        let Workshop { tool, short, .. } = self.workshop;
        let ended = self.workshop.ask(which, runtime, &[tool, short]).ended;
        let served = self.workshop.service.served();
        milliseconds((ended - served[0].begun).saturating_sub(served[1].begun - served[1].asked))
    }

    /// Returns the tokens per second of a long answer, and the processor milliseconds for 10,000.
    fn stream(&mut self, which: usize, runtime: &mut Runtime) -> (f64, f64) {
        let before = self.clock.used(runtime.pid());
        let reply = self.workshop.ask(which, runtime, &[&self.workshop.long]);
        let used = (self.clock.used(runtime.pid()) - before) / 1e3;
        assert_eq!(reply.tokens, TOKENS, "contender {which} lost tokens");
        let tokens = f64::from(u32::try_from(TOKENS).expect("tokens are few"));
        (tokens / (reply.ended - reply.written).as_secs_f64(), used * 10_000.0 / tokens)
    }

    fn warm_up(&mut self, which: usize) -> Runtime {
        let mut runtime = self.workshop.start(which, self.watchdog);
        runtime.wait_until_ready();
        for _ in 0..WARM_UP {
            Workshop::clear(&mut runtime);
            self.tool_round(which, &mut runtime);
        }
        for _ in 0..3 {
            Workshop::clear(&mut runtime);
            self.stream(which, &mut runtime);
        }
        runtime
    }

    /// Measures first tokens and tool rounds of warm processes.
    fn small(&mut self, part: Part, warm: &mut [Runtime; 2]) -> (Pair, Pair) {
        let (mut first_tokens, mut tool_rounds) = (Pair::default(), Pair::default());
        let begin = Instant::now();
        while part.goes_on(first_tokens.len(), begin) {
            let round = in_turns(first_tokens.len(), |which| {
                let runtime = &mut warm[which];
                Workshop::clear(runtime);
                let first = (0..part.each).map(|_| self.first_token(which, runtime)).collect();
                let tool = (0..part.each).map(|_| self.tool_round(which, runtime)).collect();
                (median(first), median(tool))
            });
            first_tokens.push(round.map(|(first, _)| first));
            tool_rounds.push(round.map(|(_, tool)| tool));
        }
        (first_tokens, tool_rounds)
    }

    /// Measures callgate's first tokens in a short and in a long conversation, both as medians.
    fn lengths(&self, part: Part, runtime: &mut Runtime) -> [f64; 2] {
        [0, LONG_CONVERSATION].map(|messages| {
            Workshop::clear(runtime);
            for _ in 0..messages / 2 {
                self.workshop.ask(CALLGATE, runtime, &[&self.workshop.short]);
            }
            let count = (0..part.rounds()).map(|_| self.first_token(CALLGATE, runtime));
            median(count.collect())
        })
    }

    /// Measures long answers of warm processes.
    fn long(&mut self, part: Part, warm: &mut [Runtime; 2]) -> (Pair, Pair) {
        let (mut rates, mut cpus) = (Pair::default(), Pair::default());
        let begin = Instant::now();
        while part.goes_on(rates.len(), begin) {
            let round = in_turns(rates.len(), |which| {
                Workshop::clear(&mut warm[which]);
                self.stream(which, &mut warm[which])
            });
            rates.push(round.map(|(rate, _)| rate));
            cpus.push(round.map(|(_, cpu)| cpu));
        }
        (rates, cpus)
    }
}

impl Fresh {
    fn push(&mut self, ours: [f64; 5], theirs: [f64; 5]) {
        let Self { first_token, tool_round, rate, cpu, memory } = self;
        let all = [first_token, tool_round, rate, cpu, memory];
        for (at, series) in all.into_iter().enumerate() {
            series.push([ours[at], theirs[at]]);
        }
    }
}

/// Gives both runtimes a turn, with the other one first in every second round.
fn in_turns<T>(round: usize, mut turn: impl FnMut(usize) -> T) -> [T; 2] {
    if round.is_multiple_of(2) {
        return [CALLGATE, NODE].map(turn);
    }
    let node = turn(NODE);
    [turn(CALLGATE), node]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
