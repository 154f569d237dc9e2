//! Decimal numbers, compared without rounding.

use std::cmp::Ordering;

/// A number: the digits after `0.`, and the power of ten that they are multiplied by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Reads a number as JSON writes it, `-12.5e3`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (is_negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = all.iter().take_while(|digit| **digit == b'0').count();
        let end = all.iter().rposition(|digit| *digit != b'0').map_or(zeros, |last| last + 1);
        let digits = all[zeros..end].to_vec();
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits, exponent: 0 });
        }
        let point = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        Some(Self { is_negative, digits, exponent: point.checked_add(power)? })
    }

    /// Reads a number as people and lenient programs write it: `$1,000`, `+5`, ` 7 `.
    pub(super) fn read_loosely(text: &str) -> Option<Self> {
        let is_digit = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let kept: String =
            text.chars().filter(|c| !(c.is_whitespace() || "_,'$€£¥".contains(*c))).collect();
        let kept = kept.strip_prefix('+').unwrap_or(&kept);
        if !kept.chars().all(is_digit) {
            return None;
        }
        Self::read(kept)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.is_zero(), number.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = || (self.exponent, &self.digits).cmp(&(other.exponent, &other.digits));
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => size(),
            _ => size().reverse(),
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_exactly() {
        let read = |text: &str| Decimal::read(text).unwrap_or_else(|| panic!("{text}"));
        let ascending = [
            "-1e30",
            "-100.5",
            "-100",
            "-0.001",
            "0",
            "1e-9",
            "0.5",
            "1",
            "9.99",
            "10",
            "99",
            "100",
            "100.00000000000000000001",
            "9007199254740992",
            "9007199254740993",
            "1e400",
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (other_at, other) in ascending.iter().enumerate() {
                assert_eq!(read(one).cmp(&read(other)), at.cmp(&other_at), "{one} and {other}");
            }
        }
        for (one, other) in [("1.50", "1.5"), ("1e2", "100"), ("0.0", "-0"), ("1000e-1", "100.0")] {
            assert_eq!(read(one), read(other));
        }
        for text in
            ["", "-", "1.", ".5", "0x10", "1e", "NaN", "1 0", "--1", "1e99999999999999999999"]
        {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
        assert_eq!(Decimal::read_loosely(" $1,000.00 "), Decimal::read("1000"));
        assert_eq!(Decimal::read_loosely("ten"), None);
    }
}
