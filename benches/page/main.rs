//! What the page costs a browser, the daemon and the hooks: `cargo bench --bench page [-- --check]
//! [-- --quick] [-- --chat]`.
//!
//! `benches/README.md` says what is measured and how to read it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../common/home.rs"]
#[allow(dead_code, reason = "other benchmarks need more of a home")]
mod home;
#[path = "../common/kernel.rs"]
#[allow(dead_code, reason = "other benchmarks measure processor time, too")]
mod kernel;
#[path = "../common/limits.rs"]
mod limits;
#[path = "../common/open_questions.rs"]
mod open_questions;
#[path = "../common/past_questions.rs"]
mod past_questions;
#[path = "../common/series.rs"]
#[allow(dead_code, reason = "other benchmarks ask for more statistics")]
mod series;
#[path = "../common/table.rs"]
mod table;

mod arrivals;
mod chat_stream;
mod composer_key;
mod desk;
mod hooks;
mod memory;
mod views;

use std::process::ExitCode;

use desk::PageHome;

/// How many entries the ledger has.
const ENTRIES: u64 = 100_000;

/// How often each thing is measured.
pub(crate) struct Plan {
    /// New questions that have to be seen.
    arrivals: usize,
    /// Walks through all views.
    walks: usize,
    /// Hooks with and without a page.
    hooks: usize,
    /// Long answers in the chat.
    answers: usize,
}

const FULL: Plan = Plan { arrivals: 25, walks: 5, hooks: 150, answers: 5 };
const QUICK: Plan = Plan { arrivals: 9, walks: 3, hooks: 40, answers: 3 };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if open_questions::has_asked(&arguments) {
        return ExitCode::SUCCESS;
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // Cargo passes `--bench` only for measuring; `cargo test` may run this too.
    if !has("--bench") {
        println!("nothing measured: run `cargo bench --bench page`");
        return ExitCode::SUCCESS;
    }
    if !desk::has_browser() {
        println!("the benchmark needs Chromium and chromedriver: install them");
        return ExitCode::FAILURE;
    }
    let plan = if has("--quick") { QUICK } else { FULL };
    let mut lines = if has("--chat") { Vec::new() } else { measure_desk(&plan) };
    lines.extend(chat_stream::measure(plan.answers));
    let hold = limits::print(&lines);
    if has("--check") && !hold { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Measures everything but the chat.
fn measure_desk(plan: &Plan) -> Vec<limits::LimitedFigure> {
    let mut lines = memory::measure();
    lines.push(hooks::measure(plan.hooks));
    let (home, browser) = (PageHome::with_ledger(ENTRIES), desk::browser());
    home.pair(&browser);
    lines.push(arrivals::measure(&home, &browser, plan.arrivals));
    lines.extend(views::measure(&home, &browser, plan.walks));
    lines
}
