//! Cuts that split neither a character nor what a reader sees as one.

use std::borrow::Cow;

use unicode_segmentation::GraphemeCursor;

/// A grapheme (a letter and its marks, a flag, an emoji of several) is kept whole up to this many
/// bytes. No ordinary text has longer ones, and a pile of ten thousand marks must not make a cut
/// impossible.
const LONGEST_GRAPHEME: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Bytes of UTF-8.
    Bytes,
    /// Unicode characters.
    Chars,
    /// Units of UTF-16, as Telegram counts.
    Utf16,
}

impl Measure {
    pub fn measure_char(self, c: char) -> usize {
        match self {
            Self::Bytes => c.len_utf8(),
            Self::Chars => 1,
            Self::Utf16 => c.len_utf16(),
        }
    }
}

pub fn measured_length(text: &str, by: Measure) -> usize {
    match by {
        Measure::Bytes => text.len(),
        _ => text.chars().map(|c| by.measure_char(c)).sum(),
    }
}

/// Returns how many columns of a terminal a text takes. Characters of wide scripts count as two.
pub(super) fn count_columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(c: char) -> usize {
    // Too many for some characters, such as `…`, which only cuts a line a little earlier.
    if c < '\u{1100}' { 1 } else { 2 }
}

/// Cuts a line to this many columns of a terminal. Characters of wide scripts count as two.
pub fn fit_columns(line: &str, width: usize) -> Cow<'_, str> {
    if count_columns(line) <= width {
        return line.into();
    }
    // One column is for the `…`.
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let fits = columns_of(*c) <= left;
        left = left.saturating_sub(columns_of(*c));
        fits
    };
    let count = line.chars().take_while(fits).count();
    format!("{}…", cut_to_length(line, count, Measure::Chars)).into()
}

/// Returns the longest beginning of `text` that is at most `most` long and ends between two
/// characters as a reader sees them.
pub fn cut_to_length(text: &str, most: usize, by: Measure) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += by.measure_char(*c);
        used > most
    });
    end.map_or(text, |(end, _)| &text[..boundary_before(text, end)])
}

/// Returns the first `most` characters of `text`, followed by `…` if that is not all of it.
pub fn shortened_text(text: &str, most: usize) -> String {
    let cut = cut_to_length(text, most, Measure::Chars);
    if cut.len() < text.len() { format!("{cut}…") } else { text.to_owned() }
}

/// Returns the last position at or before `end`, a character boundary, that splits nothing a reader
/// sees as one character. Returns `end` itself inside a grapheme longer than any real one.
pub fn boundary_before(text: &str, end: usize) -> usize {
    let is_plain =
        |at: usize| text.as_bytes().get(at).is_none_or(|byte| (b' '..0x7f).contains(byte));
    // Between two printable ASCII characters every cut is right.
    if end == 0 || (is_plain(end) && is_plain(end - 1)) {
        return end;
    }
    let mut cursor = GraphemeCursor::new(end, text.len(), true);
    if cursor.is_boundary(text, 0) == Ok(true) {
        return end;
    }
    match cursor.prev_boundary(text, 0) {
        Ok(Some(start)) if end - start <= LONGEST_GRAPHEME => start,
        _ => end,
    }
}

/// Splits `text` into messages of at most `most` UTF-16 units each, at the end of a line or
/// between words where there is one in the second half. The pages together are `text`. A `most`
/// below two, in which not every character fits, counts as two.
pub fn split_pages(text: &str, most: usize) -> Vec<&str> {
    let mut pages = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (page, after) = rest.split_at(page_end(rest, most.max(2)));
        pages.push(page);
        rest = after;
    }
    pages
}

fn page_end(rest: &str, most: usize) -> usize {
    let page = cut_to_length(rest, most, Measure::Utf16);
    if page.len() == rest.len() {
        return page.len();
    }
    if page.is_empty() {
        return first_that_fits(rest, most);
    }
    // A break in the first half would leave pages that are nearly empty.
    let second_half = page.floor_char_boundary(page.len() / 2);
    let after = |separator: char| {
        page[second_half..].rfind(separator).map(|at| second_half + at + separator.len_utf8())
    };
    after('\n').or_else(|| after(' ')).unwrap_or(page.len())
}

/// Returns where a first grapheme that is longer than a page has to be split after all.
fn first_that_fits(rest: &str, most: usize) -> usize {
    let mut used = 0;
    let fits = rest.chars().take_while(|c| {
        used += c.len_utf16();
        used <= most
    });
    fits.map(char::len_utf8).sum()
}
