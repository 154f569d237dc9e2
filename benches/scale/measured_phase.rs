//! One phase of the measurement: what was done in it, how long that took, and what it cost.

use std::time::Instant;

use crate::figures::{FigureBook, PhaseTimes, Times};
use crate::resource_gauge::{PARTIES, ProcessorUse};
use crate::site::TeamSite;
use crate::table;

/// What the kernel and the server said when a phase began.
pub(crate) struct PhaseStart {
    at: Instant,
    used: ProcessorUse,
    accepted: u64,
    stored: [f64; 3],
}

/// A phase that is over.
pub(crate) struct MeasuredPhase {
    seconds: f64,
    /// The share of one processor that each party used, in per cent.
    used: [f64; 6],
    /// The memory of the desks and of the server, in megabytes.
    pub(crate) memory: [f64; 3],
    pub(crate) times: PhaseTimes,
    /// The entries for which there were receipts.
    accepted: f64,
    /// The audit entries, their bytes, and those of the write-ahead log that were added.
    stored: [f64; 3],
}

impl PhaseStart {
    pub(crate) fn now(site: &TeamSite, book: &FigureBook) -> Self {
        let stored = site.stored();
        book.end_phase();
        Self {
            at: Instant::now(),
            used: ProcessorUse::read(&site.processes()),
            accepted: book.entries().0,
            stored,
        }
    }

    pub(crate) fn end(self, site: &TeamSite, book: &FigureBook) -> MeasuredPhase {
        let seconds = self.at.elapsed().as_secs_f64();
        let used = ProcessorUse::read(&site.processes()).since(&self.used);
        let (times, (accepted, _)) = (book.end_phase(), book.entries());
        let stored = site.stored();
        #[allow(clippy::cast_precision_loss, reason = "there are a few hundred thousand")]
        let accepted = (accepted - self.accepted) as f64;
        let stored = std::array::from_fn(|of| stored[of] - self.stored[of]);
        MeasuredPhase { seconds, used, memory: site.memory(), times, accepted, stored }
    }
}

impl MeasuredPhase {
    /// Returns the share of one processor that the busier desk used, in per cent.
    pub(crate) fn busier_desk(&self) -> f64 {
        self.used[0].max(self.used[1])
    }

    /// Returns the share of one processor that the server used, in per cent.
    pub(crate) fn server(&self) -> f64 {
        self.used[2]
    }
}

/// Finds some times of a phase.
type TimesOf = fn(&mut MeasuredPhase) -> &mut Times;

/// Prints all phases side by side.
pub(crate) fn print_phases(phases: &mut [(&str, MeasuredPhase)]) {
    let mut lines = vec![vec!["measure".to_owned()]];
    lines[0].extend(phases.iter().map(|(name, _)| (*name).to_owned()));
    let mut row = |what: &str, figure: &mut dyn FnMut(&mut MeasuredPhase) -> String| {
        let figures = phases.iter_mut().map(|(_, phase)| figure(phase));
        lines.push(std::iter::once(what.to_owned()).chain(figures).collect());
    };
    row("seconds", &mut |phase| table::short(phase.seconds));
    row("entries accepted a second", &mut |phase| table::short(phase.accepted / phase.seconds));
    row("entries accepted", &mut |phase| format!("{}", phase.accepted));
    row("rows added to the audit log", &mut |phase| format!("{}", phase.stored[0]));
    row("bytes of a row with its indexes", &mut |phase| match phase.stored {
        [rows, bytes, _] if rows > 0.0 => table::short(bytes / rows),
        _ => String::new(),
    });
    row("write-ahead log, kB/s", &mut |phase| table::short(phase.stored[2] / phase.seconds / 1e3));
    row("questions answered", &mut |phase| phase.times.answered.count().to_string());
    let times: [(&str, TimesOf); 4] = [
        ("asked to seen at the other desk", |phase| &mut phase.times.seen),
        ("pressed there to answered at the machine", |phase| &mut phase.times.answered),
        ("entry due to receipt", |phase| &mut phase.times.accepted),
        ("the generator was late", |phase| &mut phase.times.late),
    ];
    for (what, of) in times {
        row(&format!("{what}, p50 / p99 / most, ms"), &mut |phase| {
            let quantiles = [50, 99, 100].map(|share| table::short(of(phase).quantile(share)));
            if of(phase).count() == 0 { String::new() } else { quantiles.join(" / ") }
        });
    }
    for (party, name) in PARTIES.iter().enumerate() {
        row(&format!("{name}, % of one processor"), &mut |phase| table::short(phase.used[party]));
    }
    for (party, name) in PARTIES.iter().enumerate().take(3) {
        row(&format!("{name}, MB"), &mut |phase| table::short(phase.memory[party]));
    }
    let lines: Vec<[String; 4]> =
        lines.into_iter().map(|line| line.try_into().expect("there are three phases")).collect();
    table::print(&lines);
}
