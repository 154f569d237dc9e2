//! What two open pages add to the daemon's memory.

use std::thread;

use crate::desk::{PageHome, SETTLED, browser};
use crate::limits::LimitedFigure;

/// How many megabytes two pages may take.
const MOST_MORE: f64 = 4.0;
/// The bound of a daemon at rest, to which the pages are added.
const AT_REST: f64 = 12.0;

pub(crate) fn measure() -> Vec<LimitedFigure> {
    let home = PageHome::new();
    thread::sleep(SETTLED);
    let without = home.memory();
    let (one, two) = (browser(), browser());
    home.pair(&one);
    home.pair_another(&one, &two);
    thread::sleep(SETTLED);
    let with = home.memory();
    println!("the daemon holds {without:.1} MB, and {with:.1} MB with two pages");
    vec![
        LimitedFigure::at_most("daemon with two pages", with, "MB", AT_REST + MOST_MORE),
        LimitedFigure::at_most("two pages add", with - without, "MB", MOST_MORE),
    ]
}
