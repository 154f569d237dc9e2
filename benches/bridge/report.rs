//! The table, and which limits were missed.

use crate::common::table::{self, short};
use crate::contenders::{CALLGATE, FLOOR, PYTHON, Series, Trio};

/// The limits for callgate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// The Python peer takes at least this many times as much.
    QuickerThanPython(f64),
    /// It takes at most this many times as much as the floor.
    TimesFloor(f64),
    /// It takes at most this much, in the row's unit.
    AtMost(f64),
}

/// One measure.
pub(crate) struct Row {
    name: String,
    unit: &'static str,
    figures: Trio,
    python_by_callgate: f64,
    callgate_by_floor: f64,
    limits: &'static [Limit],
}

impl Row {
    pub(crate) fn new(
        name: String,
        unit: &'static str,
        series: &Series,
        limits: &'static [Limit],
    ) -> Self {
        let (python_by_callgate, callgate_by_floor) =
            (series.ratio(PYTHON, CALLGATE), series.ratio(CALLGATE, FLOOR));
        let figures = series.medians();
        Self { name, unit, figures, python_by_callgate, callgate_by_floor, limits }
    }

    fn is_missed(&self, limit: Limit) -> bool {
        match limit {
            Limit::QuickerThanPython(least) => self.python_by_callgate < least,
            Limit::TimesFloor(most) => self.callgate_by_floor > most,
            Limit::AtMost(most) => self.figures[CALLGATE] > most,
        }
    }

    fn words(&self, limit: Limit) -> String {
        match limit {
            Limit::QuickerThanPython(least) => format!("Python ≥ {least}×"),
            Limit::TimesFloor(most) => format!("≤ {most}× floor"),
            Limit::AtMost(most) => format!("≤ {most} {}", self.unit),
        }
    }

    fn missed(&self) -> impl Iterator<Item = Limit> {
        self.limits.iter().copied().filter(|limit| self.is_missed(*limit))
    }

    fn cells(&self) -> [String; 8] {
        let [callgate, python, floor] = self.figures.map(short);
        let limits: Vec<String> = self.limits.iter().map(|limit| self.words(*limit)).collect();
        let ok = match (self.limits.is_empty(), self.missed().next()) {
            (true, _) => "",
            (false, None) => "yes",
            (false, Some(_)) => "NO",
        };
        [
            format!("{}, {}", self.name, self.unit),
            callgate,
            python,
            floor,
            format!("{}×", short(self.python_by_callgate)),
            format!("{}×", short(self.callgate_by_floor)),
            limits.join(", "),
            ok.to_owned(),
        ]
    }
}

/// Prints the table and the missed limits; returns how many were missed.
pub(crate) fn print(rows: &[Row]) -> usize {
    let titles = [
        "measure",
        "callgate",
        "Python peer",
        "floor",
        "Python ÷ callgate",
        "callgate ÷ floor",
        "limit",
        "ok",
    ];
    let mut lines = vec![titles.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    table::print(&lines);
    let missed: Vec<String> = rows
        .iter()
        .flat_map(|row| row.missed().map(|limit| format!("{}: {}", row.name, row.words(limit))))
        .collect();
    for limit in &missed {
        println!("missed: {limit}");
    }
    missed.len()
}
