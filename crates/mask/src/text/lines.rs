//! The lines of a text file, and the byte order mark before it.

/// The mark that some editors put before UTF-8 text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the text of a file without a byte order mark.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns the line and the column of the byte `at`, both from 1.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_characters_count_from_one() {
        let check = |text: &str, at: usize, expected: (usize, usize)| {
            assert_eq!(line_and_column(text, at), expected, "{at}");
        };
        check("", 0, (1, 1));
        check("ab", 1, (1, 2));
        check("a\nüb\n", 2, (2, 1));
        check("a\nüb\n", 4, (2, 2));
        check("a\r\nb", 3, (2, 1));
        check("a\n", 99, (2, 1));
    }
}
