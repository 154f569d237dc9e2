//! Cells of comma-separated values.

use std::borrow::Cow;

/// Returns a cell, quoted where it has to be. A text that a spreadsheet would take for a formula
/// begins with an apostrophe, because agents choose what is in some of them.
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !is_formula && !text.contains(['"', ',', '\r', '\n']) {
        return Cow::Borrowed(text);
    }
    let mark = if is_formula { "'" } else { "" };
    Cow::Owned(format!("\"{mark}{}\"", text.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_formula_is_no_formula_any_more() {
        for (text, cell) in [
            ("make build", "make build"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("a\nb", "\"a\nb\""),
            ("=1+1", "\"'=1+1\""),
            ("-rf", "\"'-rf\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("", ""),
        ] {
            assert_eq!(csv_cell(text), cell);
        }
    }

    proptest! {
        #[test]
        fn a_cell_reads_back(text in "[a-z\"',\\r\\n=+é]{0,12}") {
            let cell = csv_cell(&text);
            let inner = cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"'));
            let read = inner.map_or(cell.to_string(), |inner| inner.replace("\"\"", "\""));
            let is_marked = text.starts_with(['=', '+', '\r']);
            prop_assert_eq!(read, if is_marked { format!("'{text}") } else { text });
        }
    }
}
