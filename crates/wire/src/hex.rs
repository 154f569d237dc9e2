//! Bytes as hexadecimal digits.

/// Returns the digits of bytes, in lower case.
pub fn hex_digits(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// Parses exactly `N` bytes, in digits of either case.
pub fn parse_hex_digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let value =
        |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_bytes_and_nothing_else_is() {
        assert_eq!(hex_digits(&[0, 0x1f, 0xa0]), "001fa0");
        assert_eq!(parse_hex_digits("001fA0"), Some([0, 0x1f, 0xa0]));
        for bad in ["", "001fa", "001fa0a0", "001f+a", "001fag", "001f\u{e9}"] {
            assert_eq!(parse_hex_digits::<3>(bad), None, "{bad}");
        }
    }
}
