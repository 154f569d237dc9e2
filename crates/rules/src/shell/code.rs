//! Programs in other languages: the words in them, and the texts that they may pass to a shell.
//!
//! Nothing of such a program is understood. A rule that denies looks for its words anywhere in it.

use crate::steps;

/// The most characters of one word of a program.
const LONGEST_WORD: usize = 4_096;

/// What could be commands in a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeWords {
    /// All words in their order, without punctuation.
    pub(crate) words: Vec<String>,
    /// The contents of its quotes.
    pub(crate) quoted: Vec<String>,
}

/// Returns the words and the quoted texts of a program.
pub(crate) fn words_of(text: &str) -> CodeWords {
    let mut found = CodeWords::default();
    let mut chars = text.chars().peekable();
    let mut word = String::new();
    let end = |word: &mut String, found: &mut CodeWords| {
        if !word.is_empty() && steps::spend(steps::WORD) {
            found.words.push(std::mem::take(word));
        }
        word.clear();
    };
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                end(&mut word, &mut found);
                let inside = quoted(c, &mut chars);
                for part in inside.split(|c: char| !is_word(c)).filter(|part| !part.is_empty()) {
                    let mut part = part.to_owned();
                    end(&mut part, &mut found);
                }
                if !inside.trim().is_empty() {
                    found.quoted.push(inside);
                }
            }
            c if is_word(c) && word.len() < LONGEST_WORD => word.push(c),
            c => {
                // The quotes of Perl and Ruby: `q{…}`, `%x(…)`.
                let is_quote = word.ends_with(['q', 'x', 'w', 'Q']) && word.len() <= 3;
                end(&mut word, &mut found);
                let inside = is_quote.then(|| bracketed(c, chars.clone())).flatten();
                found.quoted.extend(inside);
            }
        }
    }
    end(&mut word, &mut found);
    found
}

/// Names by which programs start others.
const STARTERS: [&str; 16] = [
    "system",
    "exec",
    "popen",
    "spawn",
    "subprocess",
    "getline",
    "qx",
    "child_process",
    "passthru",
    "proc_open",
    "getstatusoutput",
    "open3",
    "%x",
    "os.spawn",
    "| \"",
    "|\"",
];

/// Returns true if a program could start another one.
pub(crate) fn starts_programs(text: &str, runs_backticks: bool) -> bool {
    let lower = text.to_ascii_lowercase();
    (runs_backticks && lower.contains('`')) || STARTERS.iter().any(|name| lower.contains(name))
}

/// Returns the text up to the bracket that closes this one.
fn bracketed(open: char, chars: impl Iterator<Item = char>) -> Option<String> {
    let close = match open {
        '{' => '}',
        '(' => ')',
        '[' => ']',
        '<' => '>',
        '|' | '!' | '/' | '#' => open,
        _ => return None,
    };
    let mut inside = String::new();
    let mut depth = 0_usize;
    for c in chars {
        if c == close && depth == 0 {
            return Some(inside);
        }
        depth += usize::from(c == open);
        depth -= usize::from(c == close);
        inside.push(c);
    }
    None
}

/// Returns true if a character belongs to a name, a number, a path or an option.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~' | '+' | '@' | '%' | '\0')
}

/// Returns the text up to the quote that ends it, its escapes resolved.
fn quoted(quote: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut inside = String::new();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => inside.push('\n'),
                Some('t') => inside.push('\t'),
                Some('r') => inside.push(' '),
                // The line goes on.
                Some('\n') => {}
                Some('x') => inside.extend(by_number(chars, 2)),
                Some('u') => inside.extend(by_number(chars, 4)),
                Some(c) => inside.push(c),
                None => break,
            },
            c if c == quote => break,
            c => inside.push(c),
        }
    }
    inside
}

/// Returns a character by its number in at most this many digits.
fn by_number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, most: usize) -> Option<char> {
    let mut digits = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_hexdigit() && digits.len() < most) {
        digits.push(c);
    }
    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
}
