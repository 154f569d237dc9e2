//! The cost of a long ledger: `cargo bench --bench ledger [-- --check] [-- --quick]`.
//!
//! `benches/README.md` says what is measured and how to read it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../common/past_questions.rs"]
mod past_questions;
#[path = "../common/series.rs"]
mod series;
#[path = "../common/table.rs"]
mod table;

mod house;

use std::process::ExitCode;
use std::time::Instant;

use house::House;
use series::Series;

/// The numbers of entries of the short and the long ledger.
const SHORT: u64 = 1_000;
const LONG: u64 = 1_000_000;
const QUICK_LONG: u64 = 100_000;

const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 3;

/// An operation on a ledger.
type Deed = fn(&House);

/// A measure, and the most seconds that the long ledger may take.
struct Measure {
    what: &'static str,
    deed: Deed,
    most: f64,
}

const MEASURES: [Measure; 4] = [
    Measure { what: "start of `up`", deed: House::up, most: 0.2 },
    Measure { what: "`log --verify`", deed: House::verify, most: 4.0 },
    Measure { what: "`doctor`", deed: House::doctor, most: 1.0 },
    Measure { what: "`rules backtest`", deed: House::backtest, most: 8.0 },
];

/// The most times as long as the database's own check of the same file that `log --verify` may
/// take.
const MOST_OF_SQLITE: f64 = 1.5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    // Cargo passes `--bench` only for measuring; `cargo test` may run this too.
    if !has("--bench") {
        println!("nothing measured: run `cargo bench --bench ledger`");
        return ExitCode::SUCCESS;
    }
    let (rounds, long) = if has("--quick") { (QUICK_ROUNDS, QUICK_LONG) } else { (ROUNDS, LONG) };
    let began = Instant::now();
    let houses = [House::with(SHORT), House::with(long)];
    println!("ledgers of {SHORT} and {long} entries, made in {:.0} s", seconds(began));
    let mut lines =
        vec![["measure", "short, s", "long, s", "growth", "limit", ""].map(str::to_owned)];
    let mut is_missed = false;
    for Measure { what, deed, most } in MEASURES {
        let series = measure(rounds, &houses, deed);
        let [short, figure] = series.medians();
        is_missed |= figure > most;
        lines.push([
            what.to_owned(),
            format!("{short:.3}"),
            format!("{figure:.3}"),
            format!("{}×", table::short(series.ratio(1, 0))),
            format!("≤ {} s", table::short(most)),
            verdict(figure <= most),
        ]);
    }
    let beside = beside_sqlite(rounds, &houses[1]);
    let ([ours, sqlite], ratio) = (beside.medians(), beside.ratio(0, 1));
    is_missed |= ratio > MOST_OF_SQLITE;
    lines.push([
        "`log --verify` ÷ SQLite's integrity_check".to_owned(),
        String::new(),
        format!("{ours:.3} ÷ {sqlite:.3}"),
        format!("{}×", table::short(ratio)),
        format!("≤ {}×", table::short(MOST_OF_SQLITE)),
        verdict(ratio <= MOST_OF_SQLITE),
    ]);
    table::print(&lines);
    if has("--check") && is_missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Measures the seconds of the short and the long ledger, in turns.
fn measure(rounds: usize, houses: &[House; 2], deed: Deed) -> Series<2> {
    let once = |house: &House| {
        let begin = Instant::now();
        deed(house);
        seconds(begin)
    };
    houses.iter().for_each(deed); // Brings the files into memory.
    let mut series = Series::default();
    while series.len() < rounds {
        series.push([once(&houses[0]), once(&houses[1])]);
    }
    series
}

/// Measures the seconds of our check and of the database's own of the same file, in turns.
fn beside_sqlite(rounds: usize, house: &House) -> Series<2> {
    let mut series = Series::default();
    while series.len() < rounds {
        let begin = Instant::now();
        house.verify();
        let ours = seconds(begin);
        let begin = Instant::now();
        house.check_by_sqlite();
        series.push([ours, seconds(begin)]);
    }
    series
}

fn verdict(holds: bool) -> String {
    if holds { "holds" } else { "MISSED" }.to_owned()
}

fn seconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64()
}
