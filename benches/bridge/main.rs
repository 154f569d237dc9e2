//! Measures the bridge against a Python bridge and against a C program that only moves the bytes,
//! in one run and in turns. With `--check` it fails if a limit is missed.
//!
//! `benches/README.md` says what is measured and how to read it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark is a program for people: it prints, and what goes wrong ends it"
)]

mod calls;
mod client;
#[path = "../common/mod.rs"]
mod common;
mod contenders;
mod host;
mod measure;
#[path = "../common/processor.rs"]
mod processor;
mod report;

use std::env;
use std::process::ExitCode;

use callgate_testkit::tools;

use crate::common::watchdog::Watchdog;
use crate::contenders::Workshop;
use crate::host::Host;
use crate::measure::Plan;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    // Cargo passes `--bench` only for measuring; `cargo test` may run this too.
    if !has("--bench") {
        println!("nothing measured: run `cargo bench --bench bridge`");
        return ExitCode::SUCCESS;
    }
    let Some(python) = tools::python(1) else {
        println!("the benchmark needs its Python peer: run scripts/test, which installs it");
        return ExitCode::FAILURE;
    };
    let plan = if has("--quick") { Plan::quick() } else { Plan::full() };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let watchdog = Watchdog::start(plan.limit);
    let workshop = Workshop::new(folder.path(), python);
    let host = Host::start(&workshop.socket);
    let rows = measure::run(&plan, &workshop, &host, &watchdog);
    let missed = report::print(&rows);
    if has("--check") && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
