//! The table, and which limits were missed.

use crate::common::table::{self, short};
use crate::contenders::{AUTO, PYTHON, STDIO, Series, Trio};

/// One measure.
pub(crate) struct Row {
    name: &'static str,
    unit: &'static str,
    figures: Trio,
    /// How many times as much the Python SDK takes as callgate, with both transports.
    ratios: Option<[f64; 2]>,
    /// How many times as much it has to take as callgate with its default transport.
    least: Option<f64>,
}

impl Row {
    pub(crate) fn new(name: &'static str, unit: &'static str, series: &Series) -> Self {
        let ratios = Some([AUTO, STDIO].map(|ours| series.ratio(PYTHON, ours)));
        Self { name, unit, figures: series.medians(), ratios, least: None }
    }

    /// The ratios mean nothing.
    pub(crate) fn without_ratios(mut self) -> Self {
        self.ratios = None;
        self
    }

    /// The ratios are those of the medians: a figure of one round may be near zero.
    pub(crate) fn by_medians(mut self) -> Self {
        self.ratios = Some([AUTO, STDIO].map(|ours| self.figures[PYTHON] / self.figures[ours]));
        self
    }

    pub(crate) fn limit(mut self, least: Option<f64>) -> Self {
        self.least = least;
        self
    }

    /// A figure that is not above zero is too small to be measured, and meets every limit.
    fn is_missed(&self) -> bool {
        let ratio = self.ratios.map_or(0.0, |ratios| ratios[0]);
        self.least.is_some_and(|least| self.figures[AUTO] > 0.0 && ratio < least)
    }

    fn words(&self) -> String {
        self.least.map(|least| format!("Python ≥ {least}×")).unwrap_or_default()
    }

    fn cells(&self) -> [String; 8] {
        let [auto, stdio, python] = self.figures.map(short);
        let ok = match (self.least, self.is_missed()) {
            (None, _) => "",
            (_, false) => "yes",
            (_, true) => "NO",
        };
        let [by_auto, by_stdio] = match self.ratios {
            Some(ratios) => ratios.map(|ratio| format!("{}×", short(ratio))),
            None => [String::new(), String::new()],
        };
        let name = format!("{}, {}", self.name, self.unit);
        [name, auto, stdio, python, by_auto, by_stdio, self.words(), ok.to_owned()]
    }
}

/// Prints the table and the missed limits; returns how many were missed.
pub(crate) fn print(rows: &[Row]) -> usize {
    let titles = [
        "measure",
        "callgate",
        "callgate, Stdio",
        "Python SDK",
        "Python ÷ callgate",
        "Python ÷ Stdio",
        "limit",
        "ok",
    ];
    let mut lines = vec![titles.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    table::print(&lines);
    let missed: Vec<&Row> = rows.iter().filter(|row| row.is_missed()).collect();
    for row in &missed {
        println!("missed: {}: {}", row.name, row.words());
    }
    missed.len()
}
