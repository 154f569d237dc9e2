//! Measures in rounds in which every contender has its turn.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::bare::Bare;
use crate::common::kernel::{CpuClock, memory};
use crate::common::part::Part;
use crate::common::series::median;
use crate::common::watchdog::Watchdog;
use crate::contenders::{ALL, AUTO, Manner, PYTHON, STDIO, Series, Trio, Worker, Workshop, manner};
use crate::report::Row;

/// How much is measured.
pub(crate) struct Plan {
    /// With the real CLI.
    real: Part,
    /// With the one that takes no time.
    replayed: Part,
    /// Whole processes.
    starts: Part,
    /// After this time something must be wrong.
    pub(crate) limit: Duration,
}

impl Plan {
    pub(crate) fn full() -> Self {
        Self {
            real: Part::new(20, 1, 70),
            replayed: Part::new(30, 8, 25),
            starts: Part::new(5, 1, 15),
            limit: Duration::from_mins(6),
        }
    }

    pub(crate) fn quick() -> Self {
        Self {
            real: Part::new(4, 1, 14),
            replayed: Part::new(12, 8, 8),
            starts: Part::new(3, 1, 1),
            limit: Duration::from_mins(3),
        }
    }
}

/// Our overhead has to be at most a fifth of theirs, and our memory a tenth.
const OVERHEAD: Option<f64> = Some(5.0);
const MEMORY: Option<f64> = Some(10.0);

/// How often the bridge is measured.
const LOOKS: usize = 5;

/// Running contenders, and everything that is needed to call them.
struct Bench<'a> {
    workshop: &'a Workshop,
    watchdog: &'a Watchdog,
    workers: [Worker; 3],
    /// The CLI alone, started in our way and in theirs.
    bare: [Bare; 2],
    clock: CpuClock,
}

/// The CLI that answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cli {
    Real,
    Replayed,
}

/// The results of one kind of rounds, in milliseconds.
#[derive(Default)]
struct Found {
    whole: Series,
    alone: Series,
    overhead: Series,
    cpu: Series,
}

/// What the bridge of a request uses.
struct Bridge {
    /// Milliseconds.
    cpu: f64,
    /// Megabytes.
    memory: f64,
}

pub(crate) fn run(plan: &Plan, workshop: &Workshop, watchdog: &Watchdog) -> Vec<Row> {
    let bare = [Manner::Ours, Manner::Theirs].map(|manner| workshop.record(manner, watchdog));
    let workers = ALL.map(|which| workshop.start(which, watchdog));
    let clock = CpuClock::start(&workshop.cpu_clock);
    let mut bench = Bench { workshop, watchdog, workers, bare, clock };
    let bridge = bench.bridge();
    let replayed = bench.rounds(plan.replayed, Cli::Replayed, &bridge);
    let real = bench.rounds(plan.real, Cli::Real, &bridge);
    let memory = bench.memory(&bridge);
    let starts = bench.starts(plan.starts);
    workshop.check();
    vec![
        Row::new("whole request", "ms", &real.whole),
        Row::new("the CLI alone", "ms", &real.alone).without_ratios(),
        Row::new("overhead", "ms", &real.overhead).by_medians(),
        Row::new("whole request, instant CLI", "ms", &replayed.whole),
        Row::new("the instant CLI alone", "ms", &replayed.alone).without_ratios(),
        Row::new("overhead, instant CLI", "ms", &replayed.overhead).by_medians().limit(OVERHEAD),
        Row::new("CPU per request", "ms", &real.cpu),
        Row::new("memory, peak", "MB", &memory).limit(MEMORY),
        Row::new("whole program", "ms", &starts),
    ]
}

impl Bench<'_> {
    /// Returns the path of a CLI that is about to be used once.
    fn cli(&self, cli: Cli, manner: Manner) -> PathBuf {
        if cli == Cli::Replayed {
            return self.workshop.replay(manner);
        }
        self.workshop.expect_conversation();
        self.workshop.cli.clone()
    }

    fn rounds(&mut self, part: Part, cli: Cli, bridge: &Bridge) -> Found {
        let mut found = Found::default();
        let begin = Instant::now();
        self.round(0, part.each, cli); // Warms up.
        while part.goes_on(found.whole.len(), begin) {
            let (whole, alone, mut cpu) = self.round(found.whole.len(), part.each, cli);
            cpu[STDIO] += bridge.cpu;
            found.whole.push(whole);
            found.alone.push(alone);
            found.overhead.push(ALL.map(|which| whole[which] - alone[which]));
            found.cpu.push(cpu);
        }
        found
    }

    /// Gives every contender a turn: returns the times of the contenders, those of the CLI alone,
    /// and the contenders' processor time.
    fn round(&mut self, number: usize, each: usize, cli: Cli) -> (Trio, Trio, Trio) {
        let (mut whole, mut cpu, mut alone) = (Trio::default(), Trio::default(), [0.0; 2]);
        for which in order(number) {
            match which.checked_sub(ALL.len()) {
                None => (whole[which], cpu[which]) = self.turn(which, each, cli),
                Some(manner) => alone[manner] = self.alone(manner, each, cli),
            }
        }
        (whole, ALL.map(|which| alone[usize::from(manner(which) == Manner::Theirs)]), cpu)
    }

    /// Measures one contender's requests in one round: the least time and the mean processor time.
    fn turn(&mut self, which: usize, each: usize, cli: Cli) -> (f64, f64) {
        let pid = self.workers[which].pid();
        let before = self.clock.used(pid);
        let times = (0..each).map(|_| {
            let cli = self.cli(cli, manner(which));
            self.workers[which].time(&cli)
        });
        let time = least(times);
        let used = (self.clock.used(pid) - before) / 1e3;
        (time, used / f64::from(u32::try_from(each).expect("requests are few")))
    }

    fn alone(&self, which: usize, each: usize, cli: Cli) -> f64 {
        let manner = if which == 0 { Manner::Ours } else { Manner::Theirs };
        let once = |_| self.bare[which].run(&self.cli(cli, manner), self.watchdog).0;
        least((0..each).map(once))
    }

    fn bridge(&mut self) -> Bridge {
        let replay = self.workshop.replay(Manner::Ours);
        let (cpu, memory) = (0..LOOKS).map(|_| self.workers[STDIO].look(&replay)).unzip();
        Bridge { cpu: median(cpu), memory: median(memory) }
    }

    /// Measures the peak memory of the contenders' processes, and of the bridge if there is one.
    fn memory(&self, bridge: &Bridge) -> Series {
        let mut peaks = ALL.map(|which| memory(self.workers[which].pid(), "VmHWM:"));
        peaks[STDIO] += bridge.memory;
        let mut series = Series::default();
        series.push(peaks);
        series
    }

    /// Measures from the start of a program to its first answer.
    fn starts(&self, part: Part) -> Series {
        let once = |which: usize| {
            let cli = self.cli(Cli::Real, manner(which));
            let begin = Instant::now();
            self.workshop.start(which, self.watchdog).time(&cli);
            begin.elapsed().as_secs_f64() * 1e3
        };
        let (mut series, begin) = (Series::default(), Instant::now());
        while part.goes_on(series.len(), begin) {
            series.push(ALL.map(once));
        }
        series
    }
}

/// Returns the least of some times, because a busy machine only adds to them.
fn least(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(f64::INFINITY, f64::min)
}

/// Returns the order of a round: the contenders, and after them the CLI alone in both ways. Each
/// comes first in turn, and every second round is reversed.
fn order(round: usize) -> [usize; 5] {
    let mut order = [AUTO, STDIO, 3, PYTHON, 4];
    order.rotate_left(round % 5);
    if round % 2 == 1 {
        order.reverse();
    }
    order
}
