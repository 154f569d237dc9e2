//! What an organisation costs: two desks behind one address and one `PostgreSQL`, with the machines
//! of 1,000 developers and their 10,000 agents:
//! `cargo bench --bench scale [-- --check] [-- --quick] [-- --machines N] [-- --seconds N] [--
//! --peak N]`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../common/home.rs"]
#[allow(dead_code, reason = "other benchmarks need more of a home")]
mod home;
#[path = "../common/kernel.rs"]
#[allow(dead_code, reason = "other benchmarks measure processor time so")]
mod kernel;
#[path = "../common/limits.rs"]
mod limits;
#[path = "../team/machines.rs"]
#[allow(dead_code, reason = "these machines have other lines")]
mod machines;
#[path = "../common/table.rs"]
mod table;

mod address_balancer;
mod agent_work;
mod figures;
mod measured_phase;
mod people;
mod played_machine;
mod resource_gauge;
mod site;
mod work_plan;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_client::viewer::PATIENCE;
use callgate_wire::desk::{DeskAnswer, DeskCommand, RemoteState};
use figures::FigureBook;
use home::Home;
use limits::LimitedFigure;
use measured_phase::{MeasuredPhase, PhaseStart, print_phases};
use people::DeskPerson;
use played_machine::PlayedMachine;
use site::TeamSite;
use work_plan::PlayedTeam;

/// How long the desks have nothing but lines, and how long work warms them up.
const REST: Duration = Duration::from_secs(10);
const WARM: Duration = Duration::from_secs(5);
/// How long all machines may take to be connected, and the desks to work off a peak.
const CONNECTED_WITHIN: Duration = Duration::from_mins(2);
const DRAINED_WITHIN: Duration = Duration::from_mins(1);
/// How long the desks may take until each uses less than this share of a processor, in per cent.
const SETTLED_WITHIN: Duration = Duration::from_mins(3);
const AT_REST: f64 = 10.0;
/// The whole benchmark ends by then, whatever happens.
const LONGEST: Duration = Duration::from_mins(7);
/// The first numbers of the calls and questions of a phase.
const PHASE: u64 = 1_000_000;

/// What is played.
struct ScalePlan {
    machines: usize,
    usual: Duration,
    peak: Duration,
    /// How many times as much as usual there is at the peak.
    peak_times: f64,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let number = |flag: &str, default: u32| {
        let place = arguments.iter().position(|argument| argument == flag);
        place.map_or(default, |place| arguments[place + 1].parse().unwrap())
    };
    let is_quick = has("--quick");
    let seconds = |flag: &str, default| Duration::from_secs(number(flag, default).into());
    let plan = ScalePlan {
        machines: number("--machines", 1000) as usize,
        usual: seconds("--seconds", if is_quick { 15 } else { 60 }),
        peak: Duration::from_secs(if is_quick { 5 } else { 10 }),
        peak_times: number("--peak", 10).into(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let measured = async { tokio::time::timeout(LONGEST, measure(&plan)).await };
    let Ok(lines) = runtime.block_on(measured) else {
        println!("the benchmark was stopped: it took longer than {LONGEST:?}");
        return ExitCode::FAILURE;
    };
    let hold = limits::print(&lines);
    if has("--check") && !hold { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

async fn measure(plan: &ScalePlan) -> Vec<LimitedFigure> {
    machines::raise_descriptor_limit();
    let site = TeamSite::start(plan.machines);
    site.wait_until_ready().await;
    let without = site.memory();
    let begun = Instant::now();
    let book = Arc::new(FigureBook::default());
    let team = connect_all(&site, plan.machines, &book).await;
    let connected = begun.elapsed().as_secs_f64();
    println!("{} machines were connected within {connected:.1} s", plan.machines);
    println!(
        "without them the desks held {:.1} MB and {:.1} MB, the server {:.1} MB",
        without[0], without[1], without[2]
    );
    let mut seats = Vec::new();
    for (desk, home) in site.homes.iter().enumerate() {
        seats.push(DeskPerson::sit_down(home, desk, Arc::clone(&book)).await);
    }
    let settled = settle(&site, &book).await;
    println!("the desks were at rest {settled:.0} s later: each had recorded all members");
    let start = PhaseStart::now(&site, &book);
    tokio::time::sleep(REST).await;
    let rest = start.end(&site, &book);
    team.work(1.0, Instant::now() + WARM, 0).await;
    drain(&book).await;
    let start = PhaseStart::now(&site, &book);
    team.work(1.0, Instant::now() + plan.usual, PHASE).await;
    let usual = start.end(&site, &book);
    drain(&book).await;
    book.end_phase();
    let start = PhaseStart::now(&site, &book);
    team.work(plan.peak_times, Instant::now() + plan.peak, 2 * PHASE).await;
    let ((accepted, backlog), unanswered) = (book.entries(), book.unanswered());
    let mut peak = start.end(&site, &book);
    let drained = drain(&book).await;
    // What was asked at the peak is answered after it.
    peak.times.add(book.end_phase());
    println!(
        "the peak left {backlog} entries without a receipt and {unanswered} questions without an \
         answer, of which a person had seen some less than 3 s before; the entries were stored \
         {drained:.1} s later ({accepted} had been)"
    );
    let stored = site.stored();
    println!("{} connections of desks to the server", site.connections());
    let mut phases = [("at rest", rest), ("usual", usual), ("peak", peak)];
    print_phases(&mut phases);
    check_all_lines(&site, plan.machines);
    book.check_no_fault();
    let [_, (_, usual), (_, peak)] = phases;
    check(usual, peak, drained, stored)
}

/// Waits until both desks use little of a processor. Returns how long that took.
async fn settle(site: &TeamSite, book: &FigureBook) -> f64 {
    let begun = Instant::now();
    loop {
        let start = PhaseStart::now(site, book);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let busy = start.end(site, book).busier_desk();
        if busy < AT_REST {
            return begun.elapsed().as_secs_f64();
        }
        assert!(begun.elapsed() < SETTLED_WITHIN, "a desk still uses {busy} % of a processor");
    }
}

/// Opens the lines of all machines through the one address, and finds out which desk each is at.
async fn connect_all(site: &TeamSite, count: usize, book: &Arc<FigureBook>) -> PlayedTeam {
    let mut machines = Vec::new();
    for number in 0..count {
        let book = Arc::clone(book);
        machines.push(PlayedMachine::connect(&site.service, &site.team, number, book).await);
    }
    let end = Instant::now() + CONNECTED_WITHIN;
    let mut places = vec![None; count];
    while places.contains(&None) {
        assert!(Instant::now() < end, "not all machines are connected");
        tokio::time::sleep(Duration::from_millis(50)).await;
        for (desk, home) in site.homes.iter().enumerate() {
            for number in connected_machines(home) {
                places[number] = Some(desk);
            }
        }
    }
    let places = places.into_iter().flatten();
    PlayedTeam { machines: machines.into_iter().zip(places).collect(), book: Arc::clone(book) }
}

/// Returns the numbers of the machines that are connected to a desk.
fn connected_machines(home: &Home) -> Vec<usize> {
    let DeskAnswer::Remotes { remotes } =
        home.viewer().ask(DeskCommand::Remotes, PATIENCE).unwrap()
    else {
        panic!("the desk does not list its machines");
    };
    let connected = remotes.iter().filter(|view| view.state == RemoteState::Connected);
    connected.map(|view| view.host.strip_prefix("machine-").unwrap().parse().unwrap()).collect()
}

/// Whatever happened, every machine has its line.
fn check_all_lines(site: &TeamSite, count: usize) {
    let connected: usize = site.homes.iter().map(|home| connected_machines(home).len()).sum();
    assert_eq!(connected, count, "some lines have ended");
}

/// Waits until every entry has its receipt and every question its answer. Returns how long the
/// entries took.
async fn drain(book: &FigureBook) -> f64 {
    let (begun, mut stored) = (Instant::now(), None);
    while stored.is_none() || book.unanswered() > 0 {
        if stored.is_none() && book.entries().1 == 0 {
            stored = Some(begun.elapsed().as_secs_f64());
        }
        let (left, open) = (book.entries().1, book.unanswered());
        assert!(begun.elapsed() < DRAINED_WITHIN, "{left} entries and {open} questions are left");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stored.unwrap_or_default()
}

fn check(
    mut usual: MeasuredPhase,
    mut peak: MeasuredPhase,
    drained: f64,
    stored: [f64; 3],
) -> Vec<LimitedFigure> {
    // What docs/measurements/scale.md has, with a margin for other machines of this size.
    let at_most = LimitedFigure::at_most;
    let seen = "asked to seen at the other desk, p99";
    vec![
        at_most(&format!("usual: {seen}"), usual.times.seen.quantile(99), "ms", 200.0),
        at_most("usual: pressed to answered, p99", usual.times.answered.quantile(99), "ms", 200.0),
        at_most("usual: the busier desk", usual.busier_desk(), "% of one processor", 30.0),
        at_most("usual: PostgreSQL", usual.server(), "% of one processor", 100.0),
        at_most(&format!("peak: {seen}"), peak.times.seen.quantile(99), "ms", 8_000.0),
        at_most("peak: pressed to answered, p99", peak.times.answered.quantile(99), "ms", 4_000.0),
        at_most("peak: the busier desk", peak.busier_desk(), "% of one processor", 70.0),
        at_most("after the peak, until all entries are stored", drained, "s", 10.0),
        at_most("memory of a desk", peak.memory[0].max(peak.memory[1]), "MB", 70.0),
        at_most("audit entry with its indexes", stored[1] / stored[0], "bytes", 900.0),
    ]
}
