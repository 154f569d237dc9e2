//! Numbers that depend on a seed only.

/// A generator of numbers that look random (`SplitMix64`).
#[derive(Clone)]
pub(crate) struct LineDice(u64);

impl LineDice {
    /// Returns the generator of one purpose within one seed.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut dice = Self(seed ^ purpose.wrapping_mul(0xd134_2543_de82_ef95));
        dice.roll();
        dice
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).expect("a count");
        usize::try_from(self.roll() % end).expect("less than a count")
    }

    /// Returns true once in so many calls.
    pub(crate) fn one_in(&mut self, calls: usize) -> bool {
        self.below(calls) == 0
    }

    /// Returns one of several things.
    pub(crate) fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }
}
