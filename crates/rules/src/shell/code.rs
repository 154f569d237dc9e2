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
    pub(crate) quoted: Vec<String>,
}

/// A text between quotes. Languages differ in whether the backslash of an escape that they do not
/// know belongs to it.
#[derive(Debug, Default)]
struct QuotedText {
    /// Without such backslashes.
    resolved: String,
    kept: String,
}

/// Texts between quotes with nothing but blanks between them.
#[derive(Debug, Default)]
struct QuotedRow {
    joined: QuotedText,
    count: usize,
}

impl QuotedRow {
    fn push(&mut self, text: &QuotedText) {
        self.joined.resolved += &text.resolved;
        self.joined.kept += &text.kept;
        self.count += 1;
    }

    /// Ends the row. Several texts are also one.
    fn end(&mut self, found: &mut CodeWords) {
        if self.count > 1 {
            found.add_quoted(&self.joined);
        }
        if self.count > 0 {
            *self = Self::default();
        }
    }
}

impl CodeWords {
    fn add_quoted(&mut self, QuotedText { resolved, kept }: &QuotedText) {
        for word in resolved.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
            if steps::spend_budget(steps::WORD) {
                self.words.push(word.to_owned());
            }
        }
        if !resolved.trim().is_empty() {
            self.quoted.push(resolved.clone());
        }
        if kept != resolved {
            self.quoted.push(kept.clone());
        }
    }
}

/// Returns the words and the quoted texts of a program.
pub(crate) fn words_of(text: &str) -> CodeWords {
    let mut found = CodeWords::default();
    let mut chars = text.chars().peekable();
    let mut word = String::new();
    // Texts that follow each other at once, which some languages join.
    let mut row = QuotedRow::default();
    let end = |word: &mut String, found: &mut CodeWords| {
        if !word.is_empty() && steps::spend_budget(steps::WORD) {
            found.words.push(std::mem::take(word));
        }
        word.clear();
    };
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' | '`' => {
                end(&mut word, &mut found);
                let inside = parse_quoted(c, &mut chars);
                found.add_quoted(&inside);
                row.push(&inside);
            }
            c if c.is_whitespace() && word.is_empty() => {}
            c if is_word(c) && word.len() < LONGEST_WORD => {
                row.end(&mut found);
                word.push(c);
            }
            c => {
                row.end(&mut found);
                // The quotes of Perl and Ruby: `q{…}`, `%x(…)`.
                let is_quote = word.ends_with(['q', 'x', 'w', 'Q']) && word.len() <= 3;
                end(&mut word, &mut found);
                let inside = is_quote.then(|| bracketed_text(c, chars.clone())).flatten();
                found.quoted.extend(inside);
            }
        }
    }
    end(&mut word, &mut found);
    row.end(&mut found);
    found
}

/// Names by which programs start others. The last two are how `awk` pipes into a command.
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

pub(crate) fn starts_programs(text: &str, runs_backticks: bool) -> bool {
    let lower = text.to_ascii_lowercase();
    (runs_backticks && lower.contains('`')) || STARTERS.iter().any(|name| lower.contains(name))
}

/// Returns the text up to the bracket that closes this one.
fn bracketed_text(open: char, chars: impl Iterator<Item = char>) -> Option<String> {
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
    // A NUL is a gap: the word around it is not known, and must not become two known ones.
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~' | '+' | '@' | '%' | '\0')
}

/// Returns the text up to the quote that ends it, its escapes resolved.
fn parse_quoted(quote: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> QuotedText {
    let mut inside = QuotedText::default();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next() {
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                Some('r') => Some(' '),
                // The line goes on.
                Some('\n') => None,
                Some('x') => by_number(chars, 2),
                Some('u') => by_number(chars, 4),
                Some(c) => {
                    if !matches!(c, '\\' | '\'' | '"') {
                        inside.kept.push('\\');
                    }
                    Some(c)
                }
                None => break,
            },
            c if c == quote => break,
            c => Some(c),
        };
        inside.resolved.extend(c);
        inside.kept.extend(c);
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
