//! Figures of the three contenders, taken in turns, and what to say about them.

/// The contenders' places in all that holds one thing for each.
pub(crate) const CALLGATE: usize = 0;
pub(crate) const PYTHON: usize = 1;
pub(crate) const FLOOR: usize = 2;
pub(crate) const ALL: [usize; 3] = [CALLGATE, PYTHON, FLOOR];

/// One figure for each contender.
pub(crate) type Trio = [f64; 3];

/// A trio for each round.
#[derive(Default)]
pub(crate) struct Series(Vec<Trio>);

impl Series {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push(&mut self, round: Trio) {
        self.0.push(round);
    }

    pub(crate) fn medians(&self) -> Trio {
        ALL.map(|contender| median(self.0.iter().map(|round| round[contender]).collect()))
    }

    /// The median of the rounds' ratios: what slows down a whole round touches no ratio.
    pub(crate) fn ratio(&self, over: usize, under: usize) -> f64 {
        median(self.0.iter().map(|round| round[over] / round[under]).collect())
    }
}

/// The middle figure, or the upper one of the two in the middle.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
