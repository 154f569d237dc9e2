//! Figures with limits, and the table that says which hold.

use crate::table;

/// A figure, its limit, and its description.
pub(crate) struct LimitedFigure {
    what: String,
    figure: String,
    limit: String,
    holds: bool,
}

impl LimitedFigure {
    pub(crate) fn at_most(what: &str, figure: f64, unit: &str, limit: f64) -> Self {
        Self {
            what: what.to_owned(),
            figure: format!("{} {unit}", table::short(figure)),
            limit: format!("≤ {} {unit}", table::short(limit)),
            holds: figure <= limit,
        }
    }
}

/// Prints the table. Returns true if every limit holds.
pub(crate) fn print(lines: &[LimitedFigure]) -> bool {
    let mut shown = vec![["measure", "figure", "limit", ""].map(str::to_owned)];
    shown.extend(lines.iter().map(|line| {
        let verdict = if line.holds { "holds" } else { "MISSED" };
        [line.what.clone(), line.figure.clone(), line.limit.clone(), verdict.to_owned()]
    }));
    table::print(&shown);
    lines.iter().all(|line| line.holds)
}
