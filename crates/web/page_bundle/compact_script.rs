//! Leaves out of a module what only its readers need: comments, indentation, and blanks that
//! separate no tokens. Line ends stay, because a statement may end at one.

/// Words after which an expression begins, so that a slash there begins a regular expression.
const BEFORE_EXPRESSIONS: [&str; 14] = [
    "await",
    "case",
    "delete",
    "do",
    "else",
    "in",
    "instanceof",
    "new",
    "of",
    "return",
    "throw",
    "typeof",
    "void",
    "yield",
];
/// Words whose condition is followed by a statement, and not by an operator.
const BEFORE_CONDITIONS: [&str; 4] = ["for", "if", "while", "with"];

/// Returns a module without what only its readers need, or an error that names the line of what
/// cannot be read.
pub(crate) fn compact_script(source: &str) -> Result<String, String> {
    let mut text = String::new();
    let mut last: Option<ScriptToken> = None;
    for token in script_tokens(source)? {
        match token.gap {
            _ if last.is_none() => {}
            Gap::LineEnd => text.push('\n'),
            Gap::Blank if last.is_some_and(|last| needs_blank(last, token)) => text.push(' '),
            Gap::Blank | Gap::Nothing => {}
        }
        match token.kind {
            TokenKind::Markup => push_without_indentation(&mut text, token.text),
            _ => text += token.text,
        }
        last = Some(token);
    }
    text.push('\n');
    Ok(text)
}

/// What is between a token and the one before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gap {
    Nothing,
    Blank,
    LineEnd,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name, a keyword, or digits.
    Word,
    /// One character of an operator or a bracket.
    Mark,
    String,
    Regex,
    /// A part of a template, with the marks at its ends.
    Template,
    /// A part of a template of HTML, in which white space at the beginning of a line means nothing.
    Markup,
    /// A comment with a licence.
    Licence,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ScriptToken<'a> {
    pub(super) gap: Gap,
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
}

/// A bracket that is open at a place of a module.
struct OpenBracket {
    at: usize,
    close: char,
    /// True for the parentheses of `if` and its like, which a statement follows and no operator.
    is_condition: bool,
    /// For an expression in a template: the template that goes on after it.
    template: Option<TemplateForm>,
}

#[derive(Clone, Copy)]
struct TemplateForm {
    is_markup: bool,
    /// Whether it has begun an element in which white space counts.
    keeps_blanks: bool,
}

pub(super) fn script_tokens(source: &str) -> Result<Vec<ScriptToken<'_>>, String> {
    let mut scanner = ScriptScanner {
        source,
        at: 0,
        tokens: Vec::new(),
        open: Vec::new(),
        has_closed_condition: false,
    };
    while let Some(gap) = scanner.skip_gap()? {
        scanner.read_token(gap)?;
    }
    match scanner.open.last() {
        None => Ok(scanner.tokens),
        Some(bracket) => Err(scanner.refusal(bracket.at, "a bracket is not closed")),
    }
}

struct ScriptScanner<'a> {
    source: &'a str,
    at: usize,
    tokens: Vec<ScriptToken<'a>>,
    open: Vec<OpenBracket>,
    /// `is_condition` of the bracket that was closed last.
    has_closed_condition: bool,
}

impl<'a> ScriptScanner<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn refusal(&self, at: usize, what: &str) -> String {
        format!("line {}: {what}", self.source[..at].matches('\n').count() + 1)
    }

    /// Skips blanks and comments. Returns `None` at the end.
    fn skip_gap(&mut self) -> Result<Option<Gap>, String> {
        let begin = self.at;
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
            if rest.starts_with("//") {
                self.at += rest.find(is_line_end).unwrap_or(rest.len());
            } else if rest.starts_with("/*") && !is_licence(rest) {
                self.at += comment_length(rest).ok_or_else(|| self.unfinished("a comment"))?;
            } else if blanks > 0 {
                self.at += blanks;
            } else {
                break;
            }
        }
        let skipped = &self.source[begin..self.at];
        Ok((self.at < self.source.len()).then_some(match skipped {
            "" => Gap::Nothing,
            _ if skipped.contains(is_line_end) => Gap::LineEnd,
            _ => Gap::Blank,
        }))
    }

    fn unfinished(&self, what: &str) -> String {
        self.refusal(self.at, &format!("{what} does not end"))
    }

    fn read_token(&mut self, gap: Gap) -> Result<(), String> {
        let rest = self.rest();
        let words = rest.len() - rest.trim_start_matches(is_word).len();
        let (kind, length) = match rest.chars().next() {
            _ if words > 0 => (TokenKind::Word, words),
            Some(quote @ ('"' | '\'')) => {
                let length = quoted_length(rest, quote);
                (TokenKind::String, length.ok_or_else(|| self.unfinished("a string"))?)
            }
            Some('`') => return self.read_template(gap, self.template_form()),
            Some('}') if self.open.last().is_some_and(|bracket| bracket.template.is_some()) => {
                let template = self.open.pop().and_then(|bracket| bracket.template);
                return template.map_or(Ok(()), |form| self.read_template(gap, form));
            }
            Some('/') if rest.starts_with("/*") => {
                let length = comment_length(rest);
                (TokenKind::Licence, length.ok_or_else(|| self.unfinished("a comment"))?)
            }
            Some('/') if self.is_at_expression()? => {
                let length = regex_length(rest);
                (TokenKind::Regex, length.ok_or_else(|| self.unfinished("a regular expression"))?)
            }
            Some(mark) => {
                self.note_bracket(mark)?;
                (TokenKind::Mark, mark.len_utf8())
            }
            None => return Ok(()),
        };
        self.push(gap, kind, length);
        Ok(())
    }

    fn push(&mut self, gap: Gap, kind: TokenKind, length: usize) {
        self.tokens.push(ScriptToken { gap, kind, text: &self.rest()[..length] });
        self.at += length;
    }

    /// Returns the last tokens of the program, the very last one first.
    fn last_tokens(&self) -> impl Iterator<Item = ScriptToken<'a>> {
        let tokens = self.tokens.iter().rev().copied();
        tokens.filter(|token| token.kind != TokenKind::Licence)
    }

    /// Returns true if the last token is one of these words, and no name of a member.
    fn is_after_keyword(&self, keywords: &[&str]) -> bool {
        let mut last = self.last_tokens();
        let is_keyword = last.next().is_some_and(|token| keywords.contains(&token.text));
        // Three points in a row are no access to a member.
        let points = last.take_while(|token| token.text == ".").count();
        is_keyword && points != 1
    }

    /// Returns true where an expression may begin, which a slash there divides nothing.
    fn is_at_expression(&self) -> Result<bool, String> {
        let mut last = self.last_tokens();
        let Some(token) = last.next() else { return Ok(true) };
        Ok(match token.kind {
            TokenKind::Word => self.is_after_keyword(&BEFORE_EXPRESSIONS),
            TokenKind::String | TokenKind::Regex | TokenKind::Licence => false,
            TokenKind::Template | TokenKind::Markup => token.text.ends_with("${"),
            TokenKind::Mark => match token.text {
                "]" => false,
                ")" => self.has_closed_condition,
                "}" => {
                    let what = "a slash after a brace may begin a regular expression or divide";
                    return Err(self.refusal(self.at, what));
                }
                "+" | "-" => {
                    token.gap != Gap::Nothing || last.next().is_none_or(|it| it.text != token.text)
                }
                _ => true,
            },
        })
    }
    /// Notes a bracket that opens or closes.
    fn note_bracket(&mut self, mark: char) -> Result<(), String> {
        let close = match mark {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            ')' | ']' | '}' => {
                let open = self.open.pop().filter(|bracket| bracket.close == mark);
                let what = "a bracket closes what is not open";
                let bracket = open.ok_or_else(|| self.refusal(self.at, what))?;
                self.has_closed_condition = bracket.is_condition;
                return Ok(());
            }
            _ => return Ok(()),
        };
        let is_condition = mark == '(' && self.is_after_keyword(&BEFORE_CONDITIONS);
        self.open.push(OpenBracket { at: self.at, close, is_condition, template: None });
        Ok(())
    }

    /// Returns what the template that begins here is.
    fn template_form(&self) -> TemplateForm {
        let around = self.open.iter().rev().find_map(|bracket| bracket.template);
        let tag = self.last_tokens().next().map_or("", |token| token.text);
        TemplateForm {
            is_markup: matches!(tag, "html" | "svg"),
            keeps_blanks: around.is_some_and(|form| form.keeps_blanks),
        }
    }

    /// Reads a template, or what follows an expression in it, up to the next expression or its end.
    fn read_template(&mut self, gap: Gap, mut form: TemplateForm) -> Result<(), String> {
        let (at, rest) = (self.at, self.rest());
        let mut places = rest.char_indices().skip(1);
        let (end, is_over) = loop {
            match places.next().ok_or_else(|| self.unfinished("a template"))? {
                (_, '\\') => drop(places.next()),
                (place, '`') => break (place + 1, true),
                (place, '$') if rest[place..].starts_with("${") => break (place + 2, false),
                _ => {}
            }
        };
        let text = &rest[..end];
        form.keeps_blanks |= ["<pre", "<textarea"].iter().any(|element| text.contains(element));
        let is_markup = form.is_markup && !form.keeps_blanks;
        self.push(gap, if is_markup { TokenKind::Markup } else { TokenKind::Template }, end);
        if !is_over {
            let template = Some(form);
            self.open.push(OpenBracket { at, close: '}', is_condition: false, template });
        }
        Ok(())
    }
}

/// Returns true if two tokens would be read as something else without a blank between them.
fn needs_blank(left: ScriptToken<'_>, right: ScriptToken<'_>) -> bool {
    let begins_word = right.text.starts_with(is_word);
    match left.kind {
        TokenKind::Word if left.text.starts_with(|c: char| c.is_ascii_digit()) => {
            begins_word || right.text == "."
        }
        // What follows a regular expression would be its flags.
        TokenKind::Word | TokenKind::Regex => begins_word,
        TokenKind::Mark if matches!(left.text, "+" | "-") => left.text == right.text,
        TokenKind::Mark => left.text == "/" && right.text.starts_with('/'),
        TokenKind::String | TokenKind::Template | TokenKind::Markup | TokenKind::Licence => false,
    }
}

/// Appends a part of a template without the blanks at the beginnings of its lines.
fn push_without_indentation(text: &mut String, part: &str) {
    for (number, line) in part.split('\n').enumerate() {
        // A line that is continued is no line of the template.
        let is_continued = text.ends_with('\\');
        if number > 0 {
            text.push('\n');
        }
        *text +=
            if number > 0 && !is_continued { line.trim_start_matches([' ', '\t']) } else { line };
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '$' | '#' | '\\')
        || (!c.is_ascii() && !is_blank(c))
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Returns true for a comment with a licence, by the marks that such comments have everywhere.
fn is_licence(text: &str) -> bool {
    let comment = &text[..comment_length(text).unwrap_or(0)];
    comment.starts_with("/*!") || comment.contains("@license") || comment.contains("@preserve")
}

fn comment_length(text: &str) -> Option<usize> {
    text.get(2..)?.find("*/").map(|end| 2 + end + 2)
}

/// Returns the length of a string with its quotes. One that does not end in its line has none.
pub(super) fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut places = text.char_indices().skip(1);
    loop {
        match places.next()? {
            (_, '\\') => drop(places.next()),
            (place, c) if c == quote => return Some(place + 1),
            (_, '\n' | '\r') => return None,
            _ => {}
        }
    }
}

/// Returns the length of a regular expression without its flags.
fn regex_length(text: &str) -> Option<usize> {
    let (mut places, mut is_in_class) = (text.char_indices().skip(1), false);
    loop {
        match places.next()? {
            (_, '\\') => drop(places.next()),
            (_, '[') => is_in_class = true,
            (_, ']') => is_in_class = false,
            (place, '/') if !is_in_class => return Some(place + 1),
            (_, c) if is_line_end(c) => return None,
            _ => {}
        }
    }
}
