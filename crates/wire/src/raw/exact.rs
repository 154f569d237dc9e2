//! Finds JSON that two readers may understand differently.
//!
//! Whoever decides about a call has to see what its tool will see. JSON leaves some texts to the
//! reader: half of a surrogate pair, a key that occurs twice, a number with more digits than a
//! double holds, and any depth. A gate must not guess what another program makes of them.

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr, memmem};

use super::Json;

/// The most levels of objects and arrays in a message that decides about a call. The input in it
/// has one level less, and `serde_json` reads no more than that.
pub const MOST_LEVELS: usize = 128;
/// Decimals of this many digits are always kept exactly by a double.
const EXACT_DIGITS: usize = 15;
/// Objects with at most this many keys are compared without sorting them.
const FEW_KEYS: usize = 8;

/// Why JSON text is ambiguous. Its text quotes no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InexactJson {
    /// A string has half of a surrogate pair.
    LoneSurrogate,
    /// An object has a key twice.
    RepeatedKey,
    /// A number changes when it is read and written.
    InexactNumber,
    /// There are more levels than this.
    TooDeep(usize),
}

impl fmt::Display for InexactJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoneSurrogate => f.write_str(
                "a text in it has half of a surrogate pair (such as \\ud800), which is no \
                 character: leave that out",
            ),
            Self::RepeatedKey => {
                f.write_str("an object in it has the same key twice: use each key once")
            }
            Self::InexactNumber => f.write_str(
                "a number in it is too large or too precise to be kept exactly: use fewer digits, \
                 or a text",
            ),
            Self::TooDeep(levels) => {
                write!(f, "it has more than {levels} levels of objects and arrays: use fewer")
            }
        }
    }
}

impl std::error::Error for InexactJson {}

/// Checks that everybody who reads this JSON reads the same: that it has no half of a surrogate
/// pair, no key twice in one object, no number that a reader has to round, and at most `levels`
/// levels.
///
/// The text has to be well formed; about any other text the result says nothing.
pub fn check_exact(text: &str, levels: usize) -> Result<(), InexactJson> {
    let mut check = ExactCheck { text, levels, open: Vec::new(), keys: Vec::new() };
    check.check_all()
}

struct ExactCheck<'a> {
    text: &'a str,
    levels: usize,
    /// For each open object, where its keys begin; `None` for an array.
    open: Vec<Option<usize>>,
    /// The keys of all open objects.
    keys: Vec<Cow<'a, str>>,
}

impl ExactCheck<'_> {
    fn check_all(&mut self) -> Result<(), InexactJson> {
        let bytes = self.text.as_bytes();
        let (mut at, mut is_key) = (0, false);
        while let Some(byte) = bytes.get(at) {
            let end = match byte {
                b'"' => {
                    let length = end_of_string(&bytes[at + 1..]).map_or(bytes.len(), |end| end + 2);
                    self.check_string(at, (at + length).min(bytes.len()), is_key)?
                }
                b'-' | b'0'..=b'9' => self.check_number(at)?,
                b'{' | b'[' => {
                    self.begin_container(*byte == b'{')?;
                    at + 1
                }
                b'}' | b']' => {
                    self.end_container()?;
                    at + 1
                }
                _ => at + 1,
            };
            is_key = match byte {
                b'{' => true,
                b',' => matches!(self.open.last(), Some(Some(_))),
                b' ' | b'\t' | b'\n' | b'\r' => is_key,
                _ => false,
            };
            at = end;
        }
        Ok(())
    }

    fn begin_container(&mut self, is_object: bool) -> Result<(), InexactJson> {
        if self.open.len() >= self.levels {
            return Err(InexactJson::TooDeep(self.levels));
        }
        self.open.push(is_object.then_some(self.keys.len()));
        Ok(())
    }

    /// Ends an object or array, and compares the keys of an object.
    fn end_container(&mut self) -> Result<(), InexactJson> {
        let Some(Some(from)) = self.open.pop() else { return Ok(()) };
        let keys = &mut self.keys[from..];
        let has_twins = if keys.len() <= FEW_KEYS {
            keys.iter().enumerate().any(|(at, key)| keys[..at].contains(key))
        } else {
            // Otherwise an object with a million keys would take hours.
            keys.sort_unstable();
            keys.windows(2).any(|pair| pair[0] == pair[1])
        };
        self.keys.truncate(from);
        if has_twins { Err(InexactJson::RepeatedKey) } else { Ok(()) }
    }

    /// Checks the string from `start` to `end`, quotes included, and returns its end.
    fn check_string(
        &mut self,
        start: usize,
        end: usize,
        is_key: bool,
    ) -> Result<usize, InexactJson> {
        let quoted = &self.text[start..end];
        let inside = quoted[1..].strip_suffix('"').unwrap_or_default();
        if has_lone_surrogate(inside.as_bytes()) {
            return Err(InexactJson::LoneSurrogate);
        }
        if is_key {
            let is_plain = !inside.contains('\\');
            let plain = Cow::Borrowed(inside);
            self.keys.push(if is_plain { plain } else { Json(quoted).string().unwrap_or(plain) });
        }
        Ok(end)
    }

    fn check_number(&self, start: usize) -> Result<usize, InexactJson> {
        let is_part = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        let end = start + self.text.as_bytes()[start..].iter().take_while(is_part).count();
        if is_exact(&self.text[start..end]) { Ok(end) } else { Err(InexactJson::InexactNumber) }
    }
}

/// Returns the index of the quote that ends a string: the first with an even number of backslashes
/// before it.
fn end_of_string(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + memchr(b'"', &text[from..])?;
        let backslashes = text[from..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// Returns true if the inside of a string has an escaped surrogate without its other half.
fn has_lone_surrogate(text: &[u8]) -> bool {
    let mut checked = 0;
    for at in memmem::find_iter(text, b"\\u") {
        if at < checked {
            // It is the second half of a pair.
            continue;
        }
        let backslashes = text[checked..=at].iter().rev().take_while(|b| **b == b'\\').count();
        if backslashes % 2 == 0 {
            // It is a backslash, and a `u` after it.
            continue;
        }
        checked = match code_unit(text, at) {
            Some(0xd800..=0xdbff) => match code_unit(text, at + 6) {
                Some(0xdc00..=0xdfff) => at + 12,
                _ => return true,
            },
            Some(0xdc00..=0xdfff) => return true,
            _ => at + 2,
        };
    }
    false
}

/// Returns the code unit of the escape `\uXXXX` that begins at `at`, if there is one.
fn code_unit(text: &[u8], at: usize) -> Option<u16> {
    let escape = text.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Returns true if a number keeps its value when it is read as an integer of 64 bits or a double,
/// and written again with as many digits as are needed to read the same.
fn is_exact(number: &str) -> bool {
    let has_exponent = number.contains(['e', 'E']);
    if number.len() <= EXACT_DIGITS && !has_exponent {
        return true;
    }
    let is_integer = !has_exponent && !number.contains('.');
    if is_integer && (number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()) {
        return true;
    }
    let Ok(read) = number.parse::<f64>() else { return false };
    read.is_finite() && decimal_digits(number) == decimal_digits(&format!("{read:e}"))
}

/// Returns the digits of a decimal number without zeros at either end, and the power of ten that
/// they are multiplied with if a point is put before them. `None` if the exponent is out of range.
fn decimal_digits(number: &str) -> Option<(String, i64)> {
    let number = number.trim_start_matches('-');
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some((String::new(), 0));
    }
    let point = i64::try_from(whole.len()).ok()? - i64::try_from(all.len() - digits.len()).ok()?;
    Some((significant.to_owned(), exponent.parse::<i64>().ok()?.checked_add(point)?))
}

#[cfg(test)]
mod tests;
