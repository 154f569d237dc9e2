//! How fast the hook is compared with `/bin/cat`, and the cost of the daemon: `cargo bench --bench
//! approval [-- --check] [-- --quick]`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../common/series.rs"]
mod series;
#[path = "../common/table.rs"]
mod table;

mod daemon;
mod hooks;

use std::process::ExitCode;

/// How often each contender runs, as the limits require.
const ROUNDS: usize = 500;
const QUICK_ROUNDS: usize = 50;

/// A figure, its limit, and its description.
struct Line {
    what: String,
    figure: String,
    limit: String,
    holds: bool,
}

impl Line {
    fn at_most(what: &str, figure: f64, unit: &str, limit: f64) -> Self {
        Self {
            what: what.to_owned(),
            figure: format!("{} {unit}", table::short(figure)),
            limit: format!("≤ {} {unit}", table::short(limit)),
            holds: figure <= limit,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--clients") {
        daemon::be_clients(&arguments[at + 1], &arguments[at + 2]);
        return ExitCode::SUCCESS;
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let rounds = if has("--quick") { QUICK_ROUNDS } else { ROUNDS };
    let mut lines = hooks::measure(rounds);
    lines.extend(daemon::measure());
    let mut shown = vec![["measure", "figure", "limit", ""].map(str::to_owned)];
    shown.extend(lines.iter().map(|line| {
        let verdict = if line.holds { "holds" } else { "MISSED" };
        [line.what.clone(), line.figure.clone(), line.limit.clone(), verdict.to_owned()]
    }));
    table::print(&shown);
    let is_missed = lines.iter().any(|line| !line.holds);
    if has("--check") && is_missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
