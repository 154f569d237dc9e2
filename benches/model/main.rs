//! Measures a whole request with one tool call against the Python package `claude-agent-sdk`, with
//! the same CLI and the same fake service, in one run and in turns. With `--check` it fails if a
//! limit is missed.
//!
//! `benches/README.md` says what is measured and how to read it. The same program is also the
//! worker that uses the model, and replaces the CLI.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark is a program for people: it prints, and what goes wrong ends it"
)]

mod bare;
#[path = "../common/mod.rs"]
mod common;
mod contenders;
mod conversation;
mod lines;
mod measure;
mod recorder;
mod replay;
mod report;
mod worker;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_testkit::tools;

use crate::common::watchdog::Watchdog;
use crate::contenders::Workshop;
use crate::measure::Plan;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let own = Path::new(&arguments[0]);
    let folder = own.parent().unwrap_or(Path::new(""));
    match own.file_name().and_then(|name| name.to_str()) {
        Some(recorder::NAME) => recorder::run(folder),
        Some(replay::NAME) => replay::run(folder),
        _ if arguments.get(1).is_some_and(|first| first == worker::NAME) => worker::run(),
        _ => benchmark(&arguments),
    }
}

fn benchmark(arguments: &[String]) -> ExitCode {
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    // Cargo passes `--bench` only for measuring; `cargo test` may run this too.
    if !has("--bench") {
        println!("nothing measured: run `cargo bench --bench model`");
        return ExitCode::SUCCESS;
    }
    let Some((cli, python)) = tools::claude().zip(agent_sdk()) else {
        println!("the benchmark needs the CLI and the Python SDK: run scripts/test for them");
        return ExitCode::FAILURE;
    };
    let plan = if has("--quick") { Plan::quick() } else { Plan::full() };
    let watchdog = Watchdog::start(plan.limit);
    let workshop = Workshop::new(cli, python);
    let rows = measure::run(&plan, &workshop, &watchdog);
    let missed = report::print(&rows);
    if has("--check") && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the Python that has the SDK, beside the one that has `mcp`.
fn agent_sdk() -> Option<PathBuf> {
    let folder = tools::python(1)?.ancestors().nth(3)?.to_owned();
    Some(folder.join("agent-sdk/bin/python")).filter(|python| python.is_file())
}
