//! What the window costs: its size, its start, its memory beside Chromium with the same page, and
//! its rest: `cargo bench --manifest-path shell/Cargo.toml [-- --check] [-- --quick]`.
//!
//! `benches/README.md` says what is measured and how to read it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../../benches/common/limits.rs"]
mod limits;
#[path = "../../benches/common/series.rs"]
#[allow(dead_code, reason = "other benchmarks ask for more statistics")]
mod series;
#[path = "../tests/window/stage.rs"]
#[allow(dead_code, reason = "the tests need more of a stage")]
mod stage;
#[path = "../../benches/common/table.rs"]
mod table;
#[path = "../tests/window/test_desktop.rs"]
#[allow(dead_code, reason = "the tests need more of a desktop")]
mod test_desktop;

use std::collections::BTreeSet;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use callgate_testkit::browser::Browser;
use callgate_testkit::proc;
use callgate_testkit::process::Group;
use serde_json::json;

use limits::LimitedFigure;
use series::Series;
use stage::{Stage, StageOptions};

/// The most megabytes of the program.
const LARGEST: f64 = 10.0;
/// How long the hidden window is watched, and how often. Of these the median counts: about every
/// 30 s `WebKit` runs for 12 ms in the page's process, also for a page that does nothing.
const WATCHED: Duration = Duration::from_secs(10);
const WATCHES: usize = 7;
/// The most milliseconds of processor time in that time. What is left is a thread of `WebKit` in
/// the shell's process, which looks every 5 s at how much memory the machine has: 0.3 ms each time.
const MOST_BUSY: f64 = 2.0;
/// How long a page may take to come to rest.
const SETTLED: Duration = Duration::from_secs(4);
/// How long a hidden one may take: `WebKit` tidies up its memory a while after the last script.
const HIDDEN_SETTLED: Duration = Duration::from_secs(40);

/// What is in the page once it can be used.
const USABLE: &str = "return !!document.querySelector('#app nav a, #app main, #app button')";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // Cargo passes `--bench` only for measuring; `cargo test` may run this too.
    if !has("--bench") {
        println!("nothing measured: run `cargo bench --bench window`");
        return ExitCode::SUCCESS;
    }
    let rounds = if has("--quick") { 3 } else { 7 };
    let program = env!("CARGO_BIN_EXE_callgate-shell");
    #[allow(clippy::cast_precision_loss, reason = "no program has so many bytes")]
    let size = fs::metadata(program).unwrap().len() as f64 / 1e6;
    let mut lines = vec![LimitedFigure::at_most("the program", size, "MB", LARGEST)];
    lines.extend(beside_chromium(rounds));
    lines.push(measure_hidden(false));
    lines.push(measure_hidden(true));
    let hold = limits::print(&lines);
    if has("--check") && !hold { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Starts both in turns, and measures the time until the page can be used and the memory then.
fn beside_chromium(rounds: usize) -> Vec<LimitedFigure> {
    let (mut start, mut memory) = (Series::<2>::default(), Series::<2>::default());
    for _ in 0..rounds {
        let (our_start, our_memory) = in_the_window();
        let (start_there, memory_there) = in_chromium();
        start.push([our_start, start_there]);
        memory.push([our_memory, memory_there]);
    }
    let ([ours, theirs], [ours_mb, theirs_mb]) = (start.medians(), memory.medians());
    println!("start to usable page: {ours:.0} ms, in Chromium {theirs:.0} ms");
    println!("memory of all processes: {ours_mb:.0} MB, in Chromium {theirs_mb:.0} MB");
    vec![
        LimitedFigure::at_most("start ÷ Chromium's", start.ratio(0, 1), "×", 1.0),
        LimitedFigure::at_most("memory ÷ Chromium's", memory.ratio(0, 1), "×", 1.0),
    ]
}

fn in_the_window() -> (f64, f64) {
    let desktop = test_desktop::TestDesktop::start().expect("Xvfb, openbox and a bus");
    let others = running_pids();
    let begin = Instant::now();
    let stage = Stage::start_on(desktop, &StageOptions::default()).expect("WebKitWebDriver");
    stage.page.wait_for("a page that can be used", USABLE);
    let took = begin.elapsed();
    thread::sleep(SETTLED);
    (
        in_milliseconds(took),
        measure_memory(&others, &["callgate-shell", "/WebKitWebProcess", "/WebKitNetwork"]),
    )
}

fn in_chromium() -> (f64, f64) {
    let home = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(stage::callgate());
    command.args(["up", "--no-terminal"]).env_clear().env("HOME", home.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _desk = Group::spawn(command);
    let address = home.path().join(".local/share/callgate/desk.sock.page");
    let address = loop {
        match fs::read_to_string(&address) {
            Ok(address) if !address.is_empty() => break address,
            _ => thread::sleep(Duration::from_millis(10)),
        }
    };
    let others = running_pids();
    let begin = Instant::now();
    let browser = Browser::start(1200, 800).expect("Chromium and chromedriver");
    browser.open(address.trim());
    browser.wait_for("a page that can be used", USABLE);
    let took = begin.elapsed();
    thread::sleep(SETTLED);
    (in_milliseconds(took), measure_memory(&others, &["/chromium"]))
}

/// Measures what the hidden window does, and its runtime if that counts: next to nothing.
fn measure_hidden(has_runtime: bool) -> LimitedFigure {
    let desktop = test_desktop::TestDesktop::start().expect("Xvfb, openbox and a bus");
    let others = running_pids();
    let settings = "[agent]\nengine = \"offline\"\n";
    let options = StageOptions { settings, ..StageOptions::default() };
    let stage = Stage::start_on(desktop, &options).expect("WebKitWebDriver");
    let mut names = vec!["callgate-shell", "/WebKitWebProcess", "/WebKitNetwork"];
    if has_runtime {
        stage.begin_chat();
        stage.say("list files");
        stage.wait_for_answer("files");
        names.push("callgate agent");
    }
    stage.invoke("window_hide", &json!({})).unwrap();
    stage.desktop.wait_for_no_window();
    thread::sleep(HIDDEN_SETTLED);
    let mut used = Series::<1>::default();
    let begin = measure_busy_time(&others, &names);
    let mut before = begin;
    for _ in 0..WATCHES {
        thread::sleep(WATCHED);
        let now = measure_busy_time(&others, &names);
        used.push([now - before]);
        before = now;
    }
    let name = if has_runtime { "10 s hidden, with a runtime" } else { "10 s hidden" };
    let seconds = WATCHED * u32::try_from(WATCHES).unwrap();
    println!("{name}: {:.1} ms in {} s", before - begin, seconds.as_secs());
    LimitedFigure::at_most(name, used.medians()[0], "ms", MOST_BUSY)
}

fn in_milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn running_pids() -> BTreeSet<u32> {
    proc::all().iter().map(|process| process.pid).collect()
}

/// Returns the processes that were started since, and whose programs have one of these names.
fn started_pids(others: &BTreeSet<u32>, names: &[&str]) -> Vec<u32> {
    let is_new = |pid: &u32| !others.contains(pid);
    let is_named = |pid: &u32| {
        let command = proc::command_line(*pid);
        let program = command.split(" --").next().unwrap_or_default();
        !program.contains("driver") && names.iter().any(|name| program.contains(name))
    };
    running_pids().into_iter().filter(is_new).filter(is_named).collect()
}

/// Returns the memory of all these processes in megabytes; what they share counts once.
fn measure_memory(others: &BTreeSet<u32>, names: &[&str]) -> f64 {
    let of = |pid: u32| {
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.trim().trim_end_matches(" kB").parse::<f64>().ok()
    };
    let kib: f64 = started_pids(others, names).into_iter().filter_map(of).sum();
    assert!(kib > 0.0, "no process of {names:?}");
    kib * 1024.0 / 1e6
}

/// Returns the processor time of all threads of these processes in milliseconds, as the scheduler
/// counts it: to the nanosecond. Threads that have ended are not among them.
fn measure_busy_time(others: &BTreeSet<u32>, names: &[&str]) -> f64 {
    let pids = started_pids(others, names);
    assert!(pids.len() >= names.len(), "{} processes of {names:?}", pids.len());
    let threads = pids.into_iter().flat_map(|pid| fs::read_dir(format!("/proc/{pid}/task")));
    let of = |thread: fs::DirEntry| {
        let counted = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        counted.split_ascii_whitespace().next()?.parse::<f64>().ok()
    };
    threads.flatten().flatten().filter_map(of).sum::<f64>() / 1e6
}
