//! The hook with and without an open page, in turns.

use std::thread;
use std::time::Duration;

use crate::desk::{PageHome, SETTLED, browser};
use crate::home::{INPUT, run};
use crate::limits::LimitedFigure;
use crate::series::Series;

/// How many times as long a hook may take with a page: as good as no longer.
const MOST: f64 = 1.1;
/// The time in which the page shows what a hook has left in the ledger. Without it the browser
/// would slow down the next hook, which may be the one without a page.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) fn measure(rounds: usize) -> LimitedFigure {
    let homes = [PageHome::new(), PageHome::new()];
    let browser = browser();
    homes[0].pair(&browser);
    thread::sleep(SETTLED);
    let mut series = Series::<2>::default();
    for round in 0..=rounds {
        let mut figures = [0.0; 2];
        for turn in 0..2 {
            let which = (turn + round) % 2;
            let mut hook = homes[which].home.hook();
            figures[which] = run(&mut hook, INPUT, r#""behavior":"allow""#);
            thread::sleep(PAUSE);
        }
        // The first round warms up.
        if round > 0 {
            series.push(figures);
        }
    }
    let [with, without] = series.medians();
    println!("the hook takes {without:.0} µs, and {with:.0} µs with a page open");
    LimitedFigure::at_most("hook with a page ÷ without", series.ratio(0, 1), "×", MOST)
}
