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
    pub(super) fn from_text(text: &str) -> Option<Self> {
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
            // Zero has one form, so that `-0`, `0.0` and `0e9` are equal.
            return Some(Self { is_negative: false, digits, exponent: 0 });
        }
        let point = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        // A number whose exponent overflows is refused. Clamped, it could pass a limit that it
        // exceeds.
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
        Self::from_text(kept)
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
        // The digits follow the point and begin with no zero, so with equal exponents the order of
        // the bytes is that of the numbers.
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
mod tests;
