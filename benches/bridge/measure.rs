//! Measures in rounds in which every contender has its turn.

use std::time::{Duration, Instant};

use crate::calls::{Request, SIZES, Size};
use crate::client::{Client, Space};
use crate::common::kernel::{CpuClock, memory};
use crate::common::part::Part;
use crate::common::series::median;
use crate::common::watchdog::Watchdog;
use crate::contenders::{ALL, CALLGATE, Contender, FLOOR, PYTHON, Series, Trio, Workshop};
use crate::host::Host;
use crate::processor::on_one_processor;
use crate::report::{Limit, Row};

/// How much is measured.
pub(crate) struct Plan {
    /// Python starts so slowly that once in a round has to be enough.
    starts: Part,
    calls: [Part; SIZES.len()],
    /// After this time something must be wrong.
    pub(crate) limit: Duration,
}

impl Plan {
    pub(crate) fn full() -> Self {
        let starts = Part::new(9, 40, 45);
        let calls = [Part::new(90, 150, 40), Part::new(60, 8, 30), Part::new(24, 3, 30)];
        Self { starts, calls, limit: Duration::from_mins(3) }
    }

    pub(crate) fn quick() -> Self {
        let starts = Part::new(3, 30, 10);
        let calls = [Part::new(60, 100, 8), Part::new(18, 5, 6), Part::new(6, 2, 6)];
        Self { starts, calls, limit: Duration::from_secs(40) }
    }
}

const LIMITS: [&[Limit]; SIZES.len()] =
    [&[Limit::AtMost(10_000.0)], &[Limit::TimesFloor(2.0)], &[Limit::TimesFloor(2.0)]];
const CPU_LIMITS: [&[Limit]; SIZES.len()] = [&[], &[Limit::TimesFloor(2.2)], &[]];
/// The limits of small calls, whose time is mostly spent on waking threads, on one processor.
const SMALL: &[Limit] = &[Limit::TimesFloor(1.5)];
const SMALL_CPU: &[Limit] = &[Limit::TimesFloor(2.0)];

/// Running contenders, and everything that is needed to call them.
struct Bench<'a> {
    host: &'a Host,
    space: Space,
    clients: [Client; 3],
    clock: CpuClock,
}

pub(crate) fn run(plan: &Plan, workshop: &Workshop, host: &Host, watchdog: &Watchdog) -> Vec<Row> {
    let mut space = Space::new();
    let (cut, pad) = shape(&workshop.callgate(), host, watchdog, &mut space);
    let contenders = [workshop.callgate(), workshop.python(), workshop.floor(cut, pad)];
    let mut rows = vec![starts(plan.starts, &contenders, watchdog, &mut space)];
    let start = |space: &mut Space| ALL.map(|which| ready(&contenders[which], watchdog, space));
    let clock = CpuClock::start(&workshop.cpu_clock);
    let (mut bench, times, cpu) = on_one_processor(|| {
        let clients = start(&mut space);
        let mut bench = Bench { host, space, clients, clock };
        let (times, cpu) = bench.calls(SIZES[0], plan.calls[0]);
        (bench, times, cpu)
    });
    rows.push(Row::new("round trip, 100 B, on one processor".to_owned(), "µs", &times, SMALL));
    rows.push(Row::new("CPU per call, 100 B, on one processor".to_owned(), "µs", &cpu, SMALL_CPU));
    bench.clients = start(&mut bench.space);
    let rest = bench.memory("VmRSS:");
    for (place, size) in SIZES.into_iter().enumerate() {
        let (times, cpu) = bench.calls(size, plan.calls[place]);
        let name = format!("round trip, {}", size.name);
        rows.push(Row::new(name, "µs", &times, LIMITS[place]));
        let name = format!("CPU per call, {}", size.name);
        rows.push(Row::new(name, "µs", &cpu, CPU_LIMITS[place]));
    }
    let name = "memory at rest".to_owned();
    rows.push(Row::new(name, "MB", &rest, &[Limit::AtMost(4.0)]));
    let name = "memory, peak".to_owned();
    rows.push(Row::new(name, "MB", &bench.memory("VmHWM:"), &[Limit::AtMost(48.0)]));
    rows
}

/// How much shorter the bridge's request frame is than its line, and how much longer its answer
/// line is than its frame: the floor has to move as many bytes.
fn shape(
    callgate: &Contender,
    host: &Host,
    watchdog: &Watchdog,
    space: &mut Space,
) -> (usize, usize) {
    let mut client = ready(callgate, watchdog, space);
    let size = SIZES[0];
    let mut request = Request::new(size);
    let answer = client.exchange(request.next(), space).len() - 1;
    let request = request.next().len() - 1;
    let cut = request.checked_sub(host.last_request()).expect("a frame is shorter than its line");
    let pad = answer.checked_sub(host.answer_length(size)).expect("a line is longer");
    (cut, pad)
}

/// Starts a contender and makes one small call.
fn ready(contender: &Contender, watchdog: &Watchdog, space: &mut Space) -> Client {
    let mut client = Client::start(contender, watchdog);
    client.greet(contender, space);
    client.exchange(Request::new(SIZES[0]).next(), space);
    client
}

/// Measures from the start of the process to the answer to `tools/list`.
fn starts(part: Part, contenders: &[Contender; 3], watchdog: &Watchdog, space: &mut Space) -> Row {
    let mut once = |which: usize| {
        let begin = Instant::now();
        let mut client = Client::start(&contenders[which], watchdog);
        client.greet(&contenders[which], space);
        begin.elapsed().as_secs_f64() * 1e3
    };
    // No contender must find the disk cold.
    let _ = ALL.map(&mut once);
    let (mut series, begin) = (Series::default(), Instant::now());
    while part.goes_on(series.len(), begin) {
        let python = once(PYTHON);
        let (callgate, floor) = (0..part.each).map(|_| (once(CALLGATE), once(FLOOR))).unzip();
        series.push([median(callgate), python, median(floor)]);
    }
    let limits = &[Limit::QuickerThanPython(100.0), Limit::TimesFloor(3.0)];
    Row::new("start to tools/list".to_owned(), "ms", &series, limits)
}

impl Bench<'_> {
    fn memory(&self, field: &str) -> Series {
        let mut series = Series::default();
        series.push(ALL.map(|which| memory(self.clients[which].pid(), field)));
        series
    }

    /// Measures the times and the processor times of calls of one size.
    fn calls(&mut self, size: Size, part: Part) -> (Series, Series) {
        let mut request = Request::new(size);
        let lengths = self.check(size, &mut request);
        let (mut times, mut cpu) = (Series::default(), Series::default());
        let begin = Instant::now();
        self.round(0, &mut request, part.each, lengths); // Warms up.
        while part.goes_on(times.len(), begin) {
            let (time, used) = self.round(times.len(), &mut request, part.each, lengths);
            times.push(time);
            cpu.push(used);
        }
        (times, cpu)
    }

    /// Gives every contender its turn.
    fn round(
        &mut self,
        number: usize,
        request: &mut Request,
        each: usize,
        lengths: [usize; 3],
    ) -> (Trio, Trio) {
        let (mut times, mut cpu) = (Trio::default(), Trio::default());
        for which in order(number) {
            (times[which], cpu[which]) = self.turn(which, request, each, lengths[which]);
        }
        (times, cpu)
    }

    /// Measures one contender's calls in one round: the median time and the mean processor time.
    fn turn(
        &mut self,
        which: usize,
        request: &mut Request,
        each: usize,
        length: usize,
    ) -> (f64, f64) {
        let client = &mut self.clients[which];
        let before = self.clock.used(client.pid());
        let mut times = Vec::with_capacity(each);
        for _ in 0..each {
            let line = request.next();
            let begin = Instant::now();
            let answer = client.exchange(line, &mut self.space).len();
            times.push(begin.elapsed().as_secs_f64() * 1e6);
            assert_eq!(answer, length, "an answer has another length than the first");
        }
        let used = self.clock.used(client.pid()) - before;
        (median(times), used / f64::from(u32::try_from(each).expect("calls are few")))
    }

    /// Makes one call each, and checks that its answer is right and that the floor moves as many
    /// bytes as the bridge; returns the lengths of the answers.
    fn check(&mut self, size: Size, request: &mut Request) -> [usize; 3] {
        let moved = ALL.map(|which| {
            let answer = self.clients[which].exchange(request.next(), &mut self.space);
            assert!(
                which == FLOOR || is_right(answer, size),
                "an answer is wrong at {}",
                size.name
            );
            (answer.len(), self.host.last_request())
        });
        assert_eq!(moved[CALLGATE], moved[FLOOR], "the floor moves other bytes than the bridge");
        moved.map(|(answer, _)| answer)
    }
}

/// Returns the order of a round: all orders in turn, so that no contender always follows the same
/// one and finds the processors as that one has left them.
fn order(round: usize) -> [usize; 3] {
    let mut order = ALL;
    order.rotate_left(round % 3);
    if round / 3 % 2 == 1 {
        order.reverse();
    }
    order
}

/// Returns true if this is the result that the host gave.
fn is_right(answer: &[u8], size: Size) -> bool {
    let message: serde_json::Value = serde_json::from_slice(answer).expect("an answer is JSON");
    let result = &message["result"];
    let text = serde_json::to_string(&result["content"][0]["text"]).expect("text is JSON");
    result["isError"] == false && text.len() == size.bytes + r#""""#.len()
}
