//! Sets of characters.

use regex_syntax::hir::{Class, HirKind};

/// The last code point.
const LAST: u32 = 0x0010_FFFF;

/// A set of characters, as ranges of code points. These need not be characters: `\uD83D` is half of
/// one.
#[derive(Debug, Clone, Default)]
pub(super) struct CharacterSet {
    pub(super) ranges: Vec<(u32, u32)>,
    is_negated: bool,
    /// Whether upper and lower case are the same.
    folds: bool,
}

impl CharacterSet {
    pub(super) fn from_ranges(ranges: impl IntoIterator<Item = (char, char)>) -> Self {
        let ranges = ranges.into_iter().map(|(first, last)| (first.into(), last.into()));
        Self { ranges: ranges.collect(), ..Self::default() }
    }

    pub(super) fn from_code_point(point: u32) -> Self {
        Self { ranges: vec![(point, point)], ..Self::default() }
    }

    pub(super) fn add(&mut self, other: &Self) {
        if other.is_negated {
            self.ranges.extend(complement_ranges(other.ranges.clone()));
        } else {
            self.ranges.extend(&other.ranges);
        }
    }

    pub(super) fn negated(self) -> Self {
        Self { is_negated: !self.is_negated, ..self }
    }

    pub(super) fn with_folding(self, folds: bool) -> Self {
        Self { folds, ..self }
    }

    pub(super) fn holds(&self, c: char) -> bool {
        let is_in = |c: char| {
            let point = u32::from(c);
            self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&point))
        };
        let is_folded_in =
            || is_in(fold_case(c.to_lowercase(), c)) || is_in(fold_case(c.to_uppercase(), c));
        (is_in(c) || (self.folds && is_folded_in())) != self.is_negated
    }

    pub(super) fn any_but_line_ends() -> Self {
        Self::from_ranges([('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]).negated()
    }

    /// The set of an escape like `\d`.
    pub(super) fn from_escape(letter: char) -> Option<Self> {
        let set = match letter.to_ascii_lowercase() {
            'd' => Self::from_ranges([('0', '9')]),
            'w' => Self::from_ranges([('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
            's' => Self::from_ranges([
                ('\t', '\r'),
                (' ', ' '),
                ('\u{a0}', '\u{a0}'),
                ('\u{1680}', '\u{1680}'),
                ('\u{2000}', '\u{200a}'),
                ('\u{2028}', '\u{2029}'),
                ('\u{202f}', '\u{202f}'),
                ('\u{205f}', '\u{205f}'),
                ('\u{3000}', '\u{3000}'),
                ('\u{feff}', '\u{feff}'),
            ]),
            _ => return None,
        };
        Some(if letter.is_ascii_uppercase() { set.negated() } else { set })
    }

    /// The characters with a Unicode property like `L` or `Script=Greek`.
    pub(super) fn from_property(name: &str) -> Option<Self> {
        // Nothing else may get into the expression that the library reads below.
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '=';
        if !name.chars().all(is_good) {
            return None;
        }
        match regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?.into_kind() {
            HirKind::Class(Class::Unicode(class)) => {
                Some(Self::from_ranges(class.iter().map(|range| (range.start(), range.end()))))
            }
            _ => None,
        }
    }
}

/// Returns a character in another case, unless that is more than one character: ECMAScript compares
/// characters one by one.
fn fold_case(mut case: impl Iterator<Item = char>, c: char) -> char {
    match (case.next(), case.next()) {
        (Some(other), None) => other,
        _ => c,
    }
}

/// Returns true if two characters differ at most in case.
pub(super) fn is_same(one: char, other: char, folds: bool) -> bool {
    one == other
        || (folds && fold_case(one.to_lowercase(), one) == fold_case(other.to_lowercase(), other))
}

fn complement_ranges(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut next = 0;
    let mut gaps = Vec::new();
    for (first, last) in ranges {
        if first > next {
            gaps.push((next, first - 1));
        }
        next = next.max(last + 1);
    }
    if next <= LAST {
        gaps.push((next, LAST));
    }
    gaps
}
