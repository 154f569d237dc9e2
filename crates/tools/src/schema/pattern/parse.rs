//! Parses a pattern.
//!
//! Beside the syntax of ECMAScript it knows what schemas that were generated from Python and Rust
//! have in common: `\A`, `\z`, `\Z`, `(?P<name>…)` and flags like `(?i)`.

mod escape;

use std::iter::Peekable;
use std::str::Chars;

use super::class::CharacterSet;

/// How deeply groups may be nested. The parser, the translation and the drop of the tree recurse.
const DEEPEST: usize = 100;
/// The most repetitions that can be asked for.
const MOST_REPETITIONS: u32 = 1_000_000;

/// How each lookaround begins, whether it looks ahead, and whether it is negative. They are looked
/// for before named groups, which begin with `?<` as well.
const LOOKAROUNDS: [(&str, bool, bool); 4] =
    [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)];

#[derive(Debug)]
pub(super) enum PatternTree {
    Character(CharacterSet),
    Assertion(PatternAssertion),
    Sequence(Vec<PatternTree>),
    Choice(Vec<PatternTree>),
    Repeat {
        inner: Box<PatternTree>,
        least: u32,
        most: Option<u32>,
        is_lazy: bool,
    },
    /// A group whose text can be referred to by number.
    Group(usize, Box<PatternTree>),
    /// The text of a group once more.
    Reference {
        group: usize,
        folds: bool,
    },
    Look {
        inner: Box<PatternTree>,
        is_ahead: bool,
        is_negative: bool,
    },
}

/// Something about a place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternAssertion {
    TextStart,
    TextEnd,
    LineStart,
    LineEnd,
    WordBoundary,
    NoWordBoundary,
}

pub(super) fn parse_pattern(source: &str) -> Result<PatternTree, String> {
    let mut parser = PatternParser {
        rest: source.chars().peekable(),
        flags: PatternFlags::default(),
        // A reference may come before its group, so the names are collected first.
        group_names: group_names(source),
        groups: 0,
        depth: 0,
    };
    let tree = parser.parse_choice()?;
    match parser.rest.next() {
        None => Ok(tree),
        Some(_) => Err("a `)` closes no group".to_owned()),
    }
}

/// Returns the names of all groups that can be referred to, in their order.
fn group_names(source: &str) -> Vec<Option<String>> {
    let mut names = Vec::new();
    let mut is_in_class = false;
    let mut rest = source.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '(' if !is_in_class => {
                let after = rest.as_str();
                let name = after.strip_prefix("?<").or_else(|| after.strip_prefix("?P<"));
                if let Some(name) = name.filter(|name| !name.starts_with(['=', '!'])) {
                    names.push(name.split('>').next().map(str::to_owned));
                } else if !after.starts_with('?') {
                    names.push(None);
                }
            }
            _ => {}
        }
    }
    names
}

#[derive(Debug, Clone, Copy, Default)]
struct PatternFlags {
    ignores_case: bool,
    is_multiline: bool,
    dot_is_all: bool,
}

struct PatternParser<'p> {
    rest: Peekable<Chars<'p>>,
    flags: PatternFlags,
    group_names: Vec<Option<String>>,
    /// How many groups have begun.
    groups: usize,
    depth: usize,
}

impl PatternParser<'_> {
    fn take_if_next(&mut self, text: &str) -> bool {
        let mut ahead = self.rest.clone();
        let is_next = text.chars().all(|c| ahead.next() == Some(c));
        if is_next {
            self.rest = ahead;
        }
        is_next
    }

    /// Takes what comes before `end`, and `end`.
    fn take_until(&mut self, end: char) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(c) if c == end => return Ok(text),
                Some(c) => text.push(c),
                None => return Err(format!("a `{end}` is missing")),
            }
        }
    }

    fn parse_choice(&mut self) -> Result<PatternTree, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("groups are nested deeper than {DEEPEST} levels"));
        }
        let mut branches = vec![self.parse_sequence()?];
        while self.take_if_next("|") {
            branches.push(self.parse_sequence()?);
        }
        self.depth -= 1;
        Ok(match branches.len() {
            1 => branches.remove(0),
            _ => PatternTree::Choice(branches),
        })
    }

    fn parse_sequence(&mut self) -> Result<PatternTree, String> {
        let mut parts = Vec::new();
        while let Some(c) = self.rest.next_if(|c| !"|)".contains(*c)) {
            if let Some(part) = self.parse_part(c)? {
                let part = self.parse_repetition(part)?;
                parts.push(part);
            }
        }
        Ok(PatternTree::Sequence(parts))
    }

    /// Parses one part; `None` if there is nothing to match, as for flags.
    fn parse_part(&mut self, first: char) -> Result<Option<PatternTree>, String> {
        let assertion = |assertion| Ok(Some(PatternTree::Assertion(assertion)));
        match first {
            '^' if self.flags.is_multiline => assertion(PatternAssertion::LineStart),
            '^' => assertion(PatternAssertion::TextStart),
            '$' if self.flags.is_multiline => assertion(PatternAssertion::LineEnd),
            '$' => assertion(PatternAssertion::TextEnd),
            '(' => self.parse_group(),
            '[' => self.parse_class().map(|set| Some(self.character_tree(set))),
            '\\' => self.parse_escape().map(Some),
            '*' | '+' | '?' => Err(format!("there is nothing that `{first}` could repeat")),
            '.' if self.flags.dot_is_all => {
                Ok(Some(self.character_tree(CharacterSet::default().negated())))
            }
            '.' => Ok(Some(self.character_tree(CharacterSet::any_but_line_ends()))),
            c => Ok(Some(self.character_tree(CharacterSet::from_code_point(c.into())))),
        }
    }

    fn character_tree(&self, set: CharacterSet) -> PatternTree {
        PatternTree::Character(set.with_folding(self.flags.ignores_case))
    }

    fn parse_repetition(&mut self, part: PatternTree) -> Result<PatternTree, String> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.parse_counts()? {
                Some(counts) => counts,
                None => return Ok(part),
            },
            _ => return Ok(part),
        };
        self.rest.next();
        let is_lazy = self.take_if_next("?");
        if matches!(part, PatternTree::Assertion(_)) {
            return Err("a place cannot be repeated".to_owned());
        }
        if self.rest.peek().is_some_and(|c| "*+?".contains(*c)) {
            return Err("a repetition cannot be repeated".to_owned());
        }
        Ok(PatternTree::Repeat { inner: Box::new(part), least, most, is_lazy })
    }

    /// Takes `{1,2}` up to its closing brace; anything else with a brace stands for itself.
    fn parse_counts(&mut self) -> Result<Option<(u32, Option<u32>)>, String> {
        let mut ahead = self.rest.clone();
        ahead.next();
        let inner: String = ahead.by_ref().take_while(|c| *c != '}').collect();
        let (least, most) = inner.split_once(',').unwrap_or((&inner, &inner));
        let is_number = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if least.is_empty() || !is_number(least) || !is_number(most) {
            return Ok(None);
        }
        let count = |text: &str| {
            let count = text.parse().ok().filter(|count| *count <= MOST_REPETITIONS);
            count.ok_or_else(|| format!("more than {MOST_REPETITIONS} repetitions"))
        };
        let least = count(least)?;
        let most = if most.is_empty() { None } else { Some(count(most)?) };
        if most.is_some_and(|most| most < least) {
            return Err(format!("`{{{inner}}}` ends before it begins"));
        }
        // The closing brace is taken by the caller.
        for _ in 0..=inner.chars().count() {
            self.rest.next();
        }
        Ok(Some((least, most)))
    }

    fn parse_group(&mut self) -> Result<Option<PatternTree>, String> {
        let flags = self.flags;
        let tree = if self.take_if_next("?:") {
            self.parse_choice()?
        } else if let Some((_, is_ahead, is_negative)) =
            LOOKAROUNDS.into_iter().find(|(start, ..)| self.take_if_next(start))
        {
            let inner = Box::new(self.parse_choice()?);
            PatternTree::Look { inner, is_ahead, is_negative }
        } else if self.take_if_next("?<") || self.take_if_next("?P<") {
            self.take_until('>')?;
            self.parse_numbered_group()?
        } else if self.take_if_next("?") {
            // Flags without a colon hold until the enclosing group ends, which restores its own.
            if self.flags_until_end()? {
                return Ok(None);
            }
            self.parse_choice()?
        } else {
            self.parse_numbered_group()?
        };
        self.flags = flags;
        if self.take_if_next(")") { Ok(Some(tree)) } else { Err("a `)` is missing".to_owned()) }
    }

    fn parse_numbered_group(&mut self) -> Result<PatternTree, String> {
        self.groups += 1;
        Ok(PatternTree::Group(self.groups - 1, Box::new(self.parse_choice()?)))
    }

    /// Takes flags. Returns true if they are a group of their own, and hold for what follows.
    fn flags_until_end(&mut self) -> Result<bool, String> {
        let mut is_on = true;
        loop {
            match self.rest.next() {
                Some('i') => self.flags.ignores_case = is_on,
                Some('m') => self.flags.is_multiline = is_on,
                Some('s') => self.flags.dot_is_all = is_on,
                // Texts are Unicode anyway.
                Some('u') if is_on => {}
                Some('-') if is_on => is_on = false,
                Some(':') => return Ok(false),
                Some(')') => return Ok(true),
                _ => return Err("a group begins with `(?` and something unknown".to_owned()),
            }
        }
    }

    /// Parses what follows a backslash outside of a class.
    fn parse_escape(&mut self) -> Result<PatternTree, String> {
        let assertion = match self.rest.peek() {
            Some('b') => PatternAssertion::WordBoundary,
            Some('B') => PatternAssertion::NoWordBoundary,
            Some('A') => PatternAssertion::TextStart,
            Some('z' | 'Z') => PatternAssertion::TextEnd,
            Some('1'..='9') => return self.numbered_reference(),
            Some('k') => return self.named_reference(),
            _ => {
                let set = self.escaped_set()?;
                return Ok(self.character_tree(set));
            }
        };
        self.rest.next();
        Ok(PatternTree::Assertion(assertion))
    }

    fn numbered_reference(&mut self) -> Result<PatternTree, String> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        let number = digits.parse().ok().filter(|number| *number <= self.group_names.len());
        let number: usize = number.ok_or_else(|| format!("there is no group {digits}"))?;
        Ok(PatternTree::Reference { group: number - 1, folds: self.flags.ignores_case })
    }

    fn named_reference(&mut self) -> Result<PatternTree, String> {
        if !self.take_if_next("k<") {
            return Err("`\\k` names no group".to_owned());
        }
        let name = self.take_until('>')?;
        let group = self.group_names.iter().position(|it| it.as_deref() == Some(&name));
        let group = group.ok_or_else(|| format!("there is no group {name:?}"))?;
        Ok(PatternTree::Reference { group, folds: self.flags.ignores_case })
    }
}
