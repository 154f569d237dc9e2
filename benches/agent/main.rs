//! Measures the agent runtime against one on Node with the official SDK, and against Claude Code's
//! stream of JSON, with the same service, in one run and in turns. With `--check` it fails if a
//! limit is missed.
//!
//! `benches/README.md` says what is measured and how to read it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark is a program for people: it prints, and what goes wrong ends it"
)]

mod answers;
#[path = "../common/mod.rs"]
mod common;
mod contenders;
mod measure;
#[path = "../common/processor.rs"]
mod processor;
mod report;
mod runtime;
mod service;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use callgate_testkit::tools;

use crate::common::watchdog::Watchdog;
use crate::contenders::Workshop;
use crate::measure::Plan;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    // Cargo passes `--bench` only for measuring; `cargo test` may run this too.
    if !has("--bench") {
        println!("nothing measured: run `cargo bench --bench agent`");
        return ExitCode::SUCCESS;
    }
    let found = tools::node22().zip(node_sdk());
    let (Some((node, sdk)), Some(_)) = (found, tools::claude()) else {
        println!("the benchmark needs Node, its SDK and the CLI: run scripts/test --full for them");
        return ExitCode::FAILURE;
    };
    let plan = if has("--quick") { Plan::quick() } else { Plan::full() };
    let watchdog = Watchdog::start(plan.limit);
    let workshop = Workshop::new(node, &sdk);
    let rows = measure::run(&plan, &workshop, &watchdog);
    let missed = report::print(&rows);
    if has("--check") && missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Returns the folder of modules that contains the SDK and Claude Code.
fn node_sdk() -> Option<PathBuf> {
    let node = tools::node22()?;
    let modules = node.ancestors().nth(5)?.join("node-sdk/node_modules");
    Some(modules).filter(|modules| modules.join("@anthropic-ai/sdk").is_dir())
}
