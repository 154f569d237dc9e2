//! Exact arithmetic on the numbers of JSON.

use std::cmp::Ordering;

use serde_json::Number;

pub(super) fn compare_exactly(one: &Number, other: &Number) -> Ordering {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(one), None) => compare_mixed(one, float_value(other)),
        (None, Some(other)) => compare_mixed(other, float_value(one)).reverse(),
        (None, None) => {
            float_value(one).partial_cmp(&float_value(other)).unwrap_or(Ordering::Equal)
        }
    }
}

/// Returns a number as an integer if it is one. Floats beyond the range of the type are cut to it.
pub(super) fn integer_value(number: &Number) -> Option<i128> {
    let as_float =
        || Some(float_value(number)).filter(|float| float.fract() == 0.0).map(truncate_float);
    number.as_i128().or_else(as_float)
}

/// Returns true if a number is a multiple of another, which is greater than zero. A float counts as
/// the decimal that it is written as: 0.3 is a multiple of 0.1.
pub(super) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    // A float beyond the range has been cut to it, and has another remainder.
    let is_exact = |number: &i128| ![i128::MIN, i128::MAX].contains(number);
    let integer = |number| integer_value(number).filter(is_exact);
    if let (Some(number), Some(divisor)) = (integer(number), integer(divisor)) {
        return number % divisor == 0;
    }
    let (Some(number), Some(divisor)) =
        (DecimalNumber::from_number(number), DecimalNumber::from_number(divisor))
    else {
        return false;
    };
    if number.mantissa == 0 {
        return true;
    }
    // The mantissa is not a multiple of ten, so nothing with fewer decimals divides the number.
    let Ok(zeros) = u32::try_from(number.exponent - divisor.exponent) else { return false };
    let rest = number.mantissa % divisor.mantissa;
    (0..zeros).fold(rest, |rest, _| rest * 10 % divisor.mantissa) == 0
}

fn float_value(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

fn compare_mixed(integer: i128, float: f64) -> Ordering {
    let by_fraction = || 0.0_f64.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal);
    integer.cmp(&truncate_float(float)).then_with(by_fraction)
}

#[expect(clippy::cast_possible_truncation, reason = "cutting off is what it is for")]
fn truncate_float(float: f64) -> i128 {
    float as i128
}

/// A number as `mantissa` times ten to the power of `exponent`; the mantissa does not end in a
/// zero, unless it is zero.
struct DecimalNumber {
    mantissa: i128,
    exponent: i32,
}

impl DecimalNumber {
    fn from_number(number: &Number) -> Option<Self> {
        let text = match number.as_i128() {
            Some(integer) => format!("{integer:e}"),
            None => format!("{:e}", float_value(number)),
        };
        let (digits, exponent) = text.split_once('e')?;
        let decimals = digits.split_once('.').map_or("", |(_, decimals)| decimals);
        let exponent = exponent.parse::<i32>().ok()? - i32::try_from(decimals.len()).ok()?;
        Some(Self { mantissa: digits.replace('.', "").parse().ok()?, exponent })
    }
}
