//! What a team's desk with 1,000 connected machines costs, and how fast a question of one of them
//! is on its page: `cargo bench --bench team [-- --check] [-- --quick]`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../common/home.rs"]
#[allow(dead_code, reason = "other benchmarks need more of a home")]
mod home;
#[path = "../common/kernel.rs"]
#[allow(dead_code, reason = "other benchmarks measure processor time, too")]
mod kernel;
#[path = "../common/limits.rs"]
mod limits;
#[path = "../common/series.rs"]
#[allow(dead_code, reason = "other benchmarks compare contenders")]
mod series;
#[path = "../common/table.rs"]
mod table;

mod machines;
mod team_page;

use std::net::TcpListener;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use callgate_client::viewer::{PATIENCE, Viewer};
use callgate_wire::desk::{DeskAnswer, DeskCommand, RemoteState};
use home::Home;
use limits::LimitedFigure;
use machines::{ConnectedMachine, TeamOfMachines};
use team_page::TeamPage;

/// How many machines are connected.
const MACHINES: usize = 1_000;
/// How many questions are timed.
const ROUNDS: usize = 100;
const QUICK_ROUNDS: usize = 10;
/// How long all machines may take to be connected.
const CONNECTED_WITHIN: Duration = Duration::from_mins(2);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let rounds = if has("--quick") { QUICK_ROUNDS } else { ROUNDS };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lines = runtime.block_on(measure(rounds));
    let hold = limits::print(&lines);
    if has("--check") && !hold { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

async fn measure(rounds: usize) -> Vec<LimitedFigure> {
    machines::raise_descriptor_limit();
    let home = Home::new();
    // It may be taken between here and the desk's start, which then says so.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let team = TeamOfMachines::record_in(&home, MACHINES);
    TeamPage::record_in(&home, free);
    let desk = home.daemon_with(&[("CALLGATE_TEAM_LISTEN", &free.to_string())]);
    let memory = |field: &str| kernel::memory(desk.pid(), field);
    wait_until(&home, |viewer| viewer.status().unwrap().listening.is_some()).await;
    let at_rest = memory("VmRSS:");
    let service = TeamOfMachines::service_at(&home, free);
    let begun = Instant::now();
    let mut connected = Vec::new();
    for number in 0..MACHINES {
        connected.push(ConnectedMachine::connect(&service, &team, number).await);
    }
    wait_until(&home, |viewer| connected_count(viewer) == MACHINES).await;
    println!(
        "{MACHINES} machines were connected within {:.1} s; the desk without them held {at_rest:.1} MB",
        begun.elapsed().as_secs_f64()
    );
    // Each has sent a beat by then.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let held = memory("VmRSS:");
    let mut page = TeamPage::open(&home, free).await;
    let mut times = time_questions(&mut page, &connected, rounds).await;
    times.sort_by(f64::total_cmp);
    let slow = times[times.len() * 99 / 100];
    println!("half of the questions took at most {:.1} ms", series::median(times));
    wait_until(&home, |viewer| connected_count(viewer) == MACHINES).await;
    vec![
        LimitedFigure::at_most("team's desk with 1,000 machines", held, "MB", 60.0),
        LimitedFigure::at_most("question on its page, 99 of 100", slow, "ms", 100.0),
    ]
}

fn connected_count(viewer: &mut Viewer) -> usize {
    match viewer.ask(DeskCommand::Remotes, PATIENCE).unwrap() {
        DeskAnswer::Remotes { remotes } => {
            remotes.iter().filter(|view| view.state == RemoteState::Connected).count()
        }
        other => panic!("{other:?}"),
    }
}

/// Waits until something is so. The machines go on meanwhile.
async fn wait_until(home: &Home, mut is_so: impl FnMut(&mut Viewer) -> bool) {
    let end = Instant::now() + CONNECTED_WITHIN;
    let mut viewer = home.viewer();
    while !is_so(&mut viewer) {
        assert!(Instant::now() < end, "it takes too long");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Times questions of machines, from before they are sent until the page of a person has them.
async fn time_questions(
    page: &mut TeamPage,
    machines: &[ConnectedMachine],
    rounds: usize,
) -> Vec<f64> {
    let mut times = Vec::new();
    for round in 0..rounds {
        let id = format!("6f9619ff-8b86-4d01-b42d-{round:012}");
        let begun = Instant::now();
        machines[round * 7 % machines.len()].ask(&id).await;
        page.wait_for_question(&id).await;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times
}
