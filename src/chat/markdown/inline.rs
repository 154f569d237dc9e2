//! Emphasis, code and links inside a line of Markdown.

use crate::chat::styled_text::{StyledText, TextStyle};

/// How deep emphasis may be nested. Marks below that are drawn as they are.
const DEEPEST: usize = 6;

/// Returns the text of a line with its styles. Without colours the marks of code stay, since
/// nothing else would show it.
pub(super) fn spans(line: &str, colours: bool) -> StyledText {
    let mut parser = InlineParser { text: StyledText::default(), colours };
    parser.parse(line, TextStyle::PLAIN, 0);
    parser.text
}

struct InlineParser {
    text: StyledText,
    colours: bool,
}

impl InlineParser {
    fn parse(&mut self, line: &str, style: TextStyle, depth: usize) {
        let mut searches = ClosingSearch::default();
        // What is literal is added in one go.
        let (mut literal, mut at) = (0, 0);
        while let Some(c) = line[at..].chars().next() {
            let found = match c {
                '\\' => escaped(&line[at..]).inspect(|_| {
                    self.text.push(&line[literal..at], style);
                    literal = at + 1;
                }),
                '`' | '*' | '_' | '~' | '[' | '!' if depth < DEEPEST => {
                    let before = line[..at].chars().next_back();
                    let mark = searches.find(&line[at..], before);
                    mark.map(|mark| {
                        self.text.push(&line[literal..at], style);
                        self.mark(&mark, style, depth);
                        literal = at + mark.length;
                        mark.length
                    })
                }
                _ => None,
            };
            at += found.unwrap_or(c.len_utf8());
        }
        self.text.push(&line[literal..], style);
    }

    fn mark(&mut self, mark: &InlineMark, style: TextStyle, depth: usize) {
        match mark.kind {
            MarkKind::Code if self.colours => self.text.push(mark.inner, style | TextStyle::CYAN),
            MarkKind::Code => self.text.push(&format!("`{}`", mark.inner), style),
            MarkKind::Emphasis(added) => self.parse(mark.inner, style | added, depth + 1),
            MarkKind::Link(url) => {
                self.parse(mark.inner, style | TextStyle::UNDERLINE, depth + 1);
                if url != mark.inner && !url.is_empty() {
                    self.text.push(&format!(" ({url})"), style | TextStyle::DIM);
                }
            }
        }
    }
}

/// A marked part of a line.
struct InlineMark<'a> {
    kind: MarkKind<'a>,
    /// What is between the marks.
    inner: &'a str,
    /// The bytes of all of it.
    length: usize,
}

enum MarkKind<'a> {
    Code,
    Emphasis(TextStyle),
    Link(&'a str),
}

/// Finds the ends of marks. A mark for which none was found is not searched again in the same
/// line, so that many of them cost no more than one.
#[derive(Default)]
struct ClosingSearch {
    unclosed: Vec<String>,
}

impl ClosingSearch {
    /// Returns the mark at the beginning of `rest`, if it is one that ends.
    fn find<'a>(&mut self, rest: &'a str, before: Option<char>) -> Option<InlineMark<'a>> {
        match rest.as_bytes()[0] {
            b'`' => self.code(rest),
            b'[' => link(rest),
            b'!' => link(rest.strip_prefix('!')?)
                .map(|link| InlineMark { length: link.length + 1, ..link }),
            _ => self.emphasis(rest, before),
        }
    }

    fn code<'a>(&mut self, rest: &'a str) -> Option<InlineMark<'a>> {
        let length = rest.bytes().take_while(|byte| *byte == b'`').count();
        let fence = &rest[..length];
        if self.is_unclosed(fence) {
            return None;
        }
        let mut from = length;
        while let Some(found) = rest[from..].find('`') {
            let start = from + found;
            let run = rest[start..].bytes().take_while(|byte| *byte == b'`').count();
            if run == length {
                let inner = &rest[length..start];
                // One blank on each side separates backticks inside from those around.
                let stripped = inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' '));
                let inner = stripped.filter(|inner| inner.contains('`')).unwrap_or(inner);
                return Some(InlineMark { kind: MarkKind::Code, inner, length: start + run });
            }
            from = start + run;
        }
        self.unclosed.push(fence.to_owned());
        None
    }

    fn emphasis<'a>(&mut self, rest: &'a str, before: Option<char>) -> Option<InlineMark<'a>> {
        let marks = [
            ("***", TextStyle::BOLD | TextStyle::ITALIC),
            ("**", TextStyle::BOLD),
            ("__", TextStyle::BOLD),
            ("~~", TextStyle::STRIKE),
            ("*", TextStyle::ITALIC),
            ("_", TextStyle::ITALIC),
        ];
        let (mark, style) = marks.into_iter().find(|(mark, _)| rest.starts_with(mark))?;
        let is_in_word = mark.starts_with('_') && before.is_some_and(char::is_alphanumeric);
        let inside = &rest[mark.len()..];
        if is_in_word || inside.starts_with(char::is_whitespace) || self.is_unclosed(mark) {
            return None;
        }
        let Some(end) = closing(inside, mark) else {
            self.unclosed.push(mark.to_owned());
            return None;
        };
        let length = end + 2 * mark.len();
        Some(InlineMark { kind: MarkKind::Emphasis(style), inner: &inside[..end], length })
    }

    fn is_unclosed(&self, mark: &str) -> bool {
        self.unclosed.iter().any(|other| other == mark)
    }
}

/// Returns where the closing `mark` begins.
fn closing(inside: &str, mark: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = inside[from..].find(mark) {
        let end = from + found;
        let before = inside[..end].chars().next_back();
        let after = inside[end + mark.len()..].chars().next();
        let ends_word = !mark.starts_with('_') || !after.is_some_and(char::is_alphanumeric);
        // The single mark is not half of a double one.
        let is_double = mark.len() == 1 && after.is_some_and(|c| mark.starts_with(c));
        let is_end = before.is_some_and(|c| !c.is_whitespace() && c != '\\');
        if is_end && ends_word && !is_double {
            return Some(end);
        }
        from = end + if is_double { 2 } else { mark.len() };
    }
    None
}

/// Returns the link at the beginning of `rest`: `[text](url)`.
fn link(rest: &str) -> Option<InlineMark<'_>> {
    let close = rest.find("](")?;
    let inner = rest[..close].strip_prefix('[')?;
    let target = &rest[close + 2..];
    let end = target.find(')')?;
    let is_one = !inner.contains(['[', ']']) && !target[..end].contains(' ');
    let length = close + 2 + end + 1;
    is_one.then_some(InlineMark { kind: MarkKind::Link(&target[..end]), inner, length })
}

/// Returns how long an escaped character is, with its backslash.
fn escaped(rest: &str) -> Option<usize> {
    let next = rest[1..].chars().next()?;
    next.is_ascii_punctuation().then_some(2)
}
