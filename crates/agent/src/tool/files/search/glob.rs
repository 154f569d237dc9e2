//! Path patterns: `*`, `?`, `[a-z]`, `**` for any folders, `{a,b}` for alternatives.
//!
//! The time of a match is at most proportional to the product of the lengths of pattern and path,
//! so no pattern is slow.

/// How many patterns the braces of one pattern may expand to.
pub(in crate::tool::files) const MOST_ALTERNATIVES: usize = 256;
/// The longest pattern, in bytes.
pub(in crate::tool::files) const LONGEST: usize = 4096;

/// One element of a name pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobToken {
    Is(char),
    One,
    Many,
    Set { is_negated: bool, ranges: Vec<(char, char)> },
}

/// One name of a path pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobSegment {
    /// Any number of folders.
    Deep,
    Name(Vec<GlobToken>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tool::files) struct GlobDialect {
    /// Whether a backslash escapes the next character.
    pub(in crate::tool::files) escapes: bool,
    pub(in crate::tool::files) folds: bool,
}

#[derive(Debug, Clone)]
pub(in crate::tool::files) struct GlobPattern {
    segments: Vec<GlobSegment>,
    folds: bool,
}

impl GlobPattern {
    pub(in crate::tool::files) fn from_text(text: &str, dialect: GlobDialect) -> Self {
        let mut segments = Vec::new();
        for name in text.split('/').filter(|name| !name.is_empty() && *name != ".") {
            match name {
                "**" => {
                    if segments.last() != Some(&GlobSegment::Deep) {
                        segments.push(GlobSegment::Deep);
                    }
                }
                name => segments.push(GlobSegment::Name(parse_tokens(name, dialect))),
            }
        }
        // What is in a folder is not the folder itself.
        if segments.last() == Some(&GlobSegment::Deep) {
            segments.push(GlobSegment::Name(vec![GlobToken::Many]));
        }
        Self { segments, folds: dialect.folds }
    }

    /// Returns the same pattern for any depth.
    pub(in crate::tool::files) fn at_any_depth(mut self) -> Self {
        if self.segments.first() != Some(&GlobSegment::Deep) {
            self.segments.insert(0, GlobSegment::Deep);
        }
        self
    }

    /// Returns true if the path, given as its names, matches.
    pub(in crate::tool::files) fn fits(&self, path: &[&str]) -> bool {
        let (mut at, mut name) = (0, 0);
        let mut deep = None;
        loop {
            match self.segments.get(at) {
                Some(GlobSegment::Deep) => {
                    deep = Some((at + 1, name));
                    at += 1;
                    continue;
                }
                Some(GlobSegment::Name(toks))
                    if path.get(name).is_some_and(|name| name_fits(toks, name, self.folds)) =>
                {
                    (at, name) = (at + 1, name + 1);
                    continue;
                }
                None if name == path.len() => return true,
                _ => {}
            }
            // The last `**` takes one folder more. The earlier ones need not: it can take whatever
            // they could.
            match deep {
                Some((after, taken)) if taken < path.len() => {
                    deep = Some((after, taken + 1));
                    (at, name) = (after, taken + 1);
                }
                _ => return false,
            }
        }
    }

    /// Returns the maximum number of names in a matching path, if there is one.
    pub(in crate::tool::files) fn deepest(&self) -> Option<usize> {
        (!self.segments.contains(&GlobSegment::Deep)).then_some(self.segments.len())
    }
}

fn parse_tokens(name: &str, dialect: GlobDialect) -> Vec<GlobToken> {
    let mut toks = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = after;
        match c {
            '*' => {
                if toks.last() != Some(&GlobToken::Many) {
                    toks.push(GlobToken::Many);
                }
            }
            '?' => toks.push(GlobToken::One),
            '[' => match parse_set(after, dialect) {
                Some((tok, left)) => {
                    toks.push(tok);
                    rest = left;
                }
                None => toks.push(GlobToken::Is('[')),
            },
            '\\' if dialect.escapes => {
                let c = after.chars().next().unwrap_or('\\');
                toks.push(GlobToken::Is(c));
                rest = after.get(c.len_utf8()..).unwrap_or_default();
            }
            c => toks.push(GlobToken::Is(c)),
        }
    }
    toks
}

/// Parses a set after its `[`, and returns it with the rest; `None` if it has no end.
fn parse_set(text: &str, dialect: GlobDialect) -> Option<(GlobToken, &str)> {
    let is_negated = text.starts_with(['!', '^']);
    let mut chars = text[usize::from(is_negated)..].char_indices().peekable();
    let body = &text[usize::from(is_negated)..];
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut is_first = true;
    while let Some((at, c)) = chars.next() {
        let c = match c {
            // As in shells, a `]` at the beginning is one of the characters.
            ']' if !is_first => {
                return Some((GlobToken::Set { is_negated, ranges }, &body[at + 1..]));
            }
            '[' if body[at..].starts_with("[:") => {
                let end = body[at..].find(":]")?;
                ranges.extend(class_ranges(&body[at + 2..at + end])?);
                while chars.peek().is_some_and(|(next, _)| *next < at + end + 2) {
                    chars.next();
                }
                is_first = false;
                continue;
            }
            '\\' if dialect.escapes => chars.next()?.1,
            c => c,
        };
        is_first = false;
        let mut ahead = chars.clone();
        if let (Some((_, '-')), Some((_, mut end))) = (ahead.next(), ahead.next())
            && end != ']'
        {
            chars = ahead;
            if end == '\\' && dialect.escapes {
                end = chars.next()?.1;
            }
            ranges.push((c, end));
        } else {
            ranges.push((c, c));
        }
    }
    None
}

/// Returns the characters of a class such as `[:digit:]`.
fn class_ranges(name: &str) -> Option<Vec<(char, char)>> {
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "digit" => &[('0', '9')],
        "lower" => &[('a', 'z')],
        "upper" => &[('A', 'Z')],
        "space" => &[(' ', ' '), ('\t', '\r')],
        "blank" => &[(' ', ' '), ('\t', '\t')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(ranges.to_vec())
}

impl GlobToken {
    fn takes(&self, c: char, folds: bool) -> bool {
        match self {
            Self::Is(own) => *own == c || (folds && fold_case(*own) == fold_case(c)),
            Self::One => true,
            Self::Many => false,
            Self::Set { is_negated, ranges } => {
                let has = |c: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
                let found = has(c)
                    || (folds && (has(fold_case(c)) || c.to_uppercase().next().is_some_and(has)));
                found != *is_negated
            }
        }
    }
}

/// Returns the lower-case form of a letter, if that is one character.
pub(in crate::tool::files) fn fold_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(c)
}

fn name_fits(toks: &[GlobToken], name: &str, folds: bool) -> bool {
    let (mut at, mut rest) = (0, name);
    let mut many: Option<(usize, &str)> = None;
    loop {
        match (toks.get(at), rest.chars().next()) {
            (Some(GlobToken::Many), _) => {
                many = Some((at + 1, rest));
                at += 1;
                continue;
            }
            (Some(tok), Some(c)) if tok.takes(c, folds) => {
                at += 1;
                rest = &rest[c.len_utf8()..];
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        // The last `*` takes one character more.
        let Some((after, taken)) = many else { return false };
        let Some(c) = taken.chars().next() else { return false };
        rest = &taken[c.len_utf8()..];
        many = Some((after, rest));
        at = after;
    }
}

/// Returns the patterns that a pattern with braces expands to.
pub(in crate::tool::files) fn expand_braces(text: &str) -> Result<Vec<String>, String> {
    if text.len() > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes: use a shorter one"));
    }
    let (mut done, mut open) = (Vec::new(), vec![text.to_owned()]);
    while let Some(text) = open.pop() {
        match split_braces(&text)? {
            None => done.push(text),
            Some((before, choices, after)) => {
                // Backwards, since the last one is taken first.
                open.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
        }
        // Within the loop, because a short text can expand to more than memory holds.
        if open.len() + done.len() > MOST_ALTERNATIVES {
            return Err(format!("its braces expand to more than {MOST_ALTERNATIVES} patterns"));
        }
    }
    Ok(done)
}

type BraceChoices<'a> = (&'a str, Vec<&'a str>, &'a str);

/// Splits a pattern at its first braces into what is before them, the alternatives, and what is
/// after.
fn split_braces(text: &str) -> Result<Option<BraceChoices<'_>>, String> {
    let Some(open) = text.find('{') else { return Ok(None) };
    let (mut depth, mut choices, mut from) = (0, Vec::new(), open + 1);
    for (at, c) in text[open..].char_indices().map(|(at, c)| (open + at, c)) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                choices.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        if depth == 0 {
            choices.push(&text[from..at]);
            return Ok(Some((&text[..open], choices, &text[at + 1..])));
        }
    }
    Err("a `{` in it has no `}`: close it".to_owned())
}
