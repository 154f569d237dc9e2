//! Breaks lines between words.

use super::cut::count_columns;

/// Breaks the lines of a text between words, so that none has more than `width` columns. What
/// continues a line is indented as far as the line, and by `indent` more. What is longer than the
/// width stays whole: a word, such as a link, and what is between backquotes, such as a command.
pub fn wrap_text(text: &str, width: usize, indent: usize) -> String {
    text.split('\n').map(|line| wrap_line(line, width, indent)).collect::<Vec<String>>().join("\n")
}

fn wrap_line(line: &str, width: usize, indent: usize) -> String {
    let start = line.len() - line.trim_start_matches(' ').len();
    let next = "\n".to_owned() + &" ".repeat(start + indent);
    let mut wrapped = line[..start].to_owned();
    let (mut used, mut is_first) = (start, true);
    for word in split_words(&line[start..]) {
        let length = count_columns(word);
        if !is_first && used + 1 + length > width {
            wrapped.push_str(&next);
            used = start + indent;
        } else if !is_first {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
        is_first = false;
    }
    wrapped
}

/// Splits a line at its blanks, but for those between backquotes.
fn split_words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(end) = rest.find(' ') {
        // An odd number of backquotes before the blank means that one is open there.
        let is_open = rest[..end].matches('`').count() % 2 == 1;
        let close = rest[end..].find('`').filter(|_| is_open).map(|close| end + close);
        let end = match close {
            Some(close) => rest[close..].find(' ').map_or(rest.len(), |blank| close + blank),
            None => end,
        };
        words.push(&rest[..end]);
        let Some(after) = rest.get(end + 1..) else { return words };
        rest = after;
    }
    words.push(rest);
    words
}
