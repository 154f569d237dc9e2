//! How fast the hook is compared with `/bin/cat`, and the cost of the daemon: `cargo bench --bench
//! approval [-- --check] [-- --quick]`.

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
#[path = "../common/series.rs"]
mod series;
#[path = "../common/table.rs"]
mod table;

mod daemon;
mod hooks;
mod member;

use std::process::ExitCode;

/// How often each contender runs, as the limits require.
const ROUNDS: usize = 500;
const QUICK_ROUNDS: usize = 50;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if open_questions::has_asked(&arguments) {
        return ExitCode::SUCCESS;
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let rounds = if has("--quick") { QUICK_ROUNDS } else { ROUNDS };
    let mut lines = hooks::measure(rounds);
    lines.extend(member::measure(rounds));
    lines.extend(daemon::measure());
    let hold = limits::print(&lines);
    if has("--check") && !hold { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
