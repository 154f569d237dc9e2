//! Patterns of commands, word by word.
//!
//! For allowing, a pattern is exact: as many words, each matching its pattern, and more only if
//! the pattern ends in a `*` of its own. For denying and asking it is the beginning of a command.

use super::NamePattern;
use crate::act::Act;
use crate::glob::{Lean, Tok, literal};
use crate::shell::{GAP, ShellCommand, ShellWord};
use crate::shown::short_command;

/// The most words of a pattern.
const MOST_WORDS: usize = 64;
/// The length of most words of a pattern: rules are read at every call without a desk, and a list
/// that grows by its characters is slow.
const USUAL_WORD: usize = 16;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PatternWord {
    /// Whether it begins with the home, written `~`.
    is_home: bool,
    toks: Vec<Tok>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    pub(crate) text: String,
    assigns: Vec<PatternWord>,
    words: Vec<PatternWord>,
    /// Whether any more words may follow.
    is_open: bool,
}

impl PatternWord {
    /// Returns the pattern, its home written out.
    fn pattern(&self, home: &str) -> Vec<Tok> {
        let home = if self.is_home { home } else { "" };
        [literal(home).as_slice(), &self.toks].concat()
    }

    /// Returns true if a word could match.
    fn could_fit(&self, word: &ShellWord, home: &str) -> bool {
        if self.is_home { word.could_be(&self.pattern(home)) } else { word.could_be(&self.toks) }
    }

    /// Returns true if a word could be a path whose last name matches.
    fn could_end(&self, word: &ShellWord) -> bool {
        let toks = [&[Tok::Cross, Tok::Is('/')], self.toks.as_slice()].concat();
        word.could_contain("/") && word.could_be(&toks)
    }

    fn is_star(&self) -> bool {
        !self.is_home && self.toks == [Tok::Cross]
    }

    /// Returns the text, when it has no wildcards.
    fn text(&self) -> Option<String> {
        let chars = self.toks.iter().map(|tok| match tok {
            Tok::Is(c) => Some(*c),
            _ => None,
        });
        chars.collect()
    }
}

impl CommandPattern {
    /// Parses a pattern: words, quotes as in a shell, `*` and `?`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let (mut words, mut assigns) = (Vec::new(), Vec::new());
        for (part, is_assign) in split(text)? {
            if is_assign && words.is_empty() {
                assigns.push(part);
            } else {
                words.push(part);
            }
        }
        if words.len() > MOST_WORDS {
            return Err(format!("the pattern has more than {MOST_WORDS} words"));
        }
        let is_open = words.last().is_some_and(PatternWord::is_star);
        if is_open {
            words.pop();
        }
        if words.is_empty() && !(is_open && assigns.is_empty()) {
            return Err("the pattern names no program".into());
        }
        Ok(Self { text: text.to_owned(), assigns, words, is_open })
    }

    /// Returns the program, if the pattern contains it literally, and the literal words after it.
    pub(crate) fn fixed(&self) -> Vec<String> {
        self.words.iter().map_while(PatternWord::text).collect()
    }

    /// Returns true if more words may follow.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns true if a word has both a wildcard and a slash, so that it looks like a pattern of
    /// paths.
    pub(crate) fn has_wild_path(&self) -> bool {
        let is_wild = |part: &PatternWord| part.text().is_none();
        self.words.iter().any(|part| is_wild(part) && part.toks.contains(&Tok::Is('/')))
    }

    /// Returns the words of a matching command that follow where the pattern ends in a `*`.
    pub(crate) fn tail<'a>(&self, command: &'a ShellCommand) -> &'a [ShellWord] {
        if self.is_open { command.words.get(self.words.len()..).unwrap_or_default() } else { &[] }
    }

    /// Returns true if exactly this command matches.
    pub(crate) fn is(&self, command: &ShellCommand, home: &str) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let all = |parts: &[PatternWord], words: &[ShellWord]| {
            parts.iter().zip(words).all(|(part, word)| word.surely_is(&part.pattern(home)))
        };
        let is_length = if self.is_open {
            command.words.len() >= self.words.len()
        } else {
            command.words.len() == self.words.len()
        };
        is_length
            && command.assigns.len() == self.assigns.len()
            && all(&self.assigns, &command.assigns)
            && all(&self.words, &command.words)
    }

    /// Returns true if these words could begin a matching command.
    pub(super) fn could_be(&self, words: &[ShellWord], command: &ShellCommand, home: &str) -> bool {
        let Some(first) = words.first() else { return false };
        let could = |part: &PatternWord, word: &ShellWord| part.could_fit(word, home);
        let assigned = |part: &PatternWord| command.assigns.iter().any(|word| could(part, word));
        let Some((program, rest)) = self.words.split_first() else { return true };
        (could(program, first) || program.could_end(first))
            && self.assigns.iter().all(assigned)
            && (first.may_split && first.counts_as_anything() || follows(rest, &words[1..], &could))
    }
}

/// Returns true if all options among some words are listed. A word that begins with `+` or `@`, has
/// the form `NAME=value`, or has an unknown beginning counts as an option; after a listed `--`
/// none does.
pub(crate) fn only_options(listed: &[NamePattern], words: &[ShellWord]) -> bool {
    for word in words {
        let text = word.gapped_text();
        let name = text.split('=').next().unwrap_or_default();
        let is_option = text.len() > 1 && text.starts_with(['-', '+', '@'])
            || text.starts_with(GAP)
            || name.len() < text.len();
        if !is_option {
            continue;
        }
        let is_listed = |option: &NamePattern| {
            option.fits(name, Lean::Strict) || option.fits(&text, Lean::Strict)
        };
        if text.contains(GAP) || !listed.iter().any(is_listed) {
            return false;
        }
        if text == "--" {
            return true;
        }
    }
    true
}

/// Returns true if the parts occur in order, with nothing but options between them.
fn follows(
    parts: &[PatternWord],
    words: &[ShellWord],
    could: &dyn Fn(&PatternWord, &ShellWord) -> bool,
) -> bool {
    // `open[i]` says whether the first `i` parts have been found so far.
    let mut open = vec![false; parts.len() + 1];
    open[0] = true;
    let mut after_option = false;
    for word in words {
        if open[parts.len()] || !open.contains(&true) {
            break;
        }
        let is_option = word.could_begin_with("-") || word.first_text().starts_with(GAP);
        if word.may_split {
            // It may be several words, of which each matches another part.
            for at in 0..parts.len() {
                open[at + 1] |= open[at] && could(&parts[at], word);
            }
        }
        for at in (0..parts.len()).rev() {
            open[at + 1] |= open[at] && could(&parts[at], word);
        }
        if !is_option && !after_option && !word.may_split {
            // A word that is not an option and matches nothing ends every attempt that did not take
            // it.
            let kept: Vec<bool> = (0..=parts.len())
                .map(|at| at == parts.len() || (at > 0 && could(&parts[at - 1], word)))
                .collect();
            open.iter_mut().zip(kept).for_each(|(open, kept)| *open &= kept);
        }
        after_option = is_option && !word.first_text().contains('=');
    }
    open[parts.len()]
}

/// Returns which command that could run matches one of the patterns, or why none does.
pub(crate) fn found(patterns: &[CommandPattern], act: &Act) -> Result<String, String> {
    if act.runs.commands.is_empty() {
        return Err("no command is run".into());
    }
    for (command, words) in act.runs.beginnings() {
        if patterns.iter().any(|pattern| pattern.could_be(words, command, &act.home)) {
            let words: Vec<String> = words.iter().map(ShellWord::shown).collect();
            return Ok(format!("it could run `{}`", short_command(&words.join(" "))));
        }
    }
    Err("it runs other commands".into())
}

/// Cuts a pattern into words, each with whether it is an assignment.
fn split(text: &str) -> Result<Vec<(PatternWord, bool)>, String> {
    let mut words = Vec::new();
    let mut word: Option<(PatternWord, bool)> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ' ' || c == '\t' {
            words.extend(word.take());
            continue;
        }
        let is_first = word.is_none();
        let (part, is_assign) = word.get_or_insert_with(|| {
            (PatternWord { is_home: false, toks: Vec::with_capacity(USUAL_WORD) }, false)
        });
        match c {
            '*' => part.toks.push(Tok::Cross),
            '?' => part.toks.extend([Tok::One]),
            '\'' | '"' => quoted(c, &mut chars, part)?,
            '\\' => match chars.next() {
                Some(c) => part.toks.push(Tok::Is(c)),
                None => return Err("the pattern ends in a backslash".into()),
            },
            '~' if is_first && chars.peek().is_none_or(|c| " \t/".contains(*c)) => {
                part.is_home = true;
            }
            '=' => {
                *is_assign |= part.text().is_some_and(|name| is_name(&name));
                part.toks.push(Tok::Is('='));
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '\n' => {
                return Err(format!(
                    "a pattern is one command without `{}`; give each command of a list its own pattern, \
                     or quote the character",
                    if c == '\n' { "\\n".into() } else { c.to_string() }
                ));
            }
            c => part.toks.push(Tok::Is(c)),
        }
    }
    words.extend(word);
    Ok(words)
}

fn quoted(
    quote: char,
    chars: &mut impl Iterator<Item = char>,
    part: &mut PatternWord,
) -> Result<(), String> {
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => part.toks.extend(chars.next().map(Tok::Is)),
            c => part.toks.push(Tok::Is(c)),
        }
    }
    Err(format!("the pattern has an unfinished {quote}"))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
