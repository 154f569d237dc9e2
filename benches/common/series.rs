//! The figures of contenders that take turns, and their statistics.

/// One figure for each contender, for each round.
pub(crate) struct Series<const N: usize>(Vec<[f64; N]>);

impl<const N: usize> Default for Series<N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<const N: usize> Series<N> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push(&mut self, round: [f64; N]) {
        self.0.push(round);
    }

    pub(crate) fn medians(&self) -> [f64; N] {
        std::array::from_fn(|contender| {
            median(self.0.iter().map(|round| round[contender]).collect())
        })
    }

    /// Returns the median of the rounds' ratios: a slow round changes no ratio.
    pub(crate) fn ratio(&self, over: usize, under: usize) -> f64 {
        median(self.0.iter().map(|round| round[over] / round[under]).collect())
    }
}

impl<const N: usize> Series<N> {
    /// Returns the median of the rounds' differences.
    #[allow(dead_code, reason = "not every benchmark compares so")]
    pub(crate) fn difference(&self, more: usize, less: usize) -> f64 {
        median(self.0.iter().map(|round| round[more] - round[less]).collect())
    }
}

/// Returns the middle figure, or the upper one of the two in the middle.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
