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
/// The characters that stand for `*` and `?` in the text of a word. No text contains them.
const ANY: char = '\u{fdd0}';
const ONE: char = '\u{fdd1}';

/// A word of a pattern. It is kept as a text, which takes less memory than tokens: the rules are read
/// at every call without a desk, and few of their words are ever compared to the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PatternWord {
    /// Whether it begins with the home, written `~`.
    is_home: bool,
    /// The text, with [`ANY`] and [`ONE`] for wildcards.
    text: String,
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
    /// Returns the pattern, its home written out, after `start`.
    fn pattern(&self, start: &[Tok], home: &str) -> Vec<Tok> {
        let home = if self.is_home { home } else { "" };
        let toks = self.text.chars().map(|c| match c {
            ANY => Tok::Cross,
            ONE => Tok::One,
            c => Tok::Is(c),
        });
        start.iter().copied().chain(literal(home)).chain(toks).collect()
    }

    /// Returns true if a known text certainly differs from the word. That is nearly always enough, and
    /// no pattern has to be built for it.
    fn differs(&self, text: &str) -> bool {
        let is_same = text.eq_ignore_ascii_case(&self.text);
        !is_same && !self.is_home && self.text.is_ascii() && text.is_ascii()
    }

    /// Returns true if a word could match.
    fn could_fit(&self, word: &ShellWord, home: &str) -> bool {
        !word.text().is_some_and(|text| self.differs(text))
            && word.could_be(&self.pattern(&[], home))
    }

    /// Returns true if a word could be a path whose last name matches.
    fn could_end(&self, word: &ShellWord) -> bool {
        word.could_contain("/") && word.could_be(&self.pattern(&[Tok::Cross, Tok::Is('/')], ""))
    }

    /// Returns true if a word is known and matches.
    fn surely_fits(&self, word: &ShellWord, home: &str) -> bool {
        word.text().is_some_and(|text| !self.differs(text))
            && word.surely_is(&self.pattern(&[], home))
    }

    fn is_star(&self) -> bool {
        !self.is_home && self.text.chars().eq([ANY])
    }

    /// Returns the text, when it has no wildcards.
    fn known_text(&self) -> Option<&str> {
        (!self.text.contains([ANY, ONE])).then_some(&self.text)
    }
}

impl CommandPattern {
    /// Parses a pattern: words, quotes as in a shell, `*` and `?`.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let parts = split(text)?;
        let (mut words, mut assigns) = (Vec::with_capacity(parts.len()), Vec::new());
        for (part, is_assign) in parts {
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
    pub(crate) fn fixed(&self) -> Vec<&str> {
        self.words.iter().map_while(PatternWord::known_text).collect()
    }

    /// Returns true if more words may follow.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns true if a word has both a wildcard and a slash, so that it looks like a pattern of
    /// paths.
    pub(crate) fn has_wild_path(&self) -> bool {
        self.words.iter().any(|part| part.known_text().is_none() && part.text.contains('/'))
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
            parts.iter().zip(words).all(|(part, word)| part.surely_fits(word, home))
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

    /// Returns true if the pattern is about another program than this text, or its last name.
    fn is_about_other(&self, text: &str, name: &str) -> bool {
        self.words.first().is_some_and(|program| program.differs(text) && program.differs(name))
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
        let program = words.first().and_then(ShellWord::text);
        let program = program.map(|text| (text, text.rsplit('/').next().unwrap_or(text)));
        let could_be = |pattern: &CommandPattern| {
            !program.is_some_and(|(text, name)| pattern.is_about_other(text, name))
                && pattern.could_be(words, command, &act.home)
        };
        if patterns.iter().any(could_be) {
            let words: Vec<String> = words.iter().map(ShellWord::shown).collect();
            return Ok(format!("it could run `{}`", short_command(&words.join(" "))));
        }
    }
    Err("it runs other commands".into())
}

/// Cuts a pattern into words, each with whether it is an assignment.
fn split(text: &str) -> Result<Vec<(PatternWord, bool)>, String> {
    if text.contains([ANY, ONE]) {
        return Err("the pattern has a character that stands for none".into());
    }
    let mut words = Vec::new();
    let mut word: Option<(PatternWord, bool)> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == ' ' || c == '\t' {
            words.extend(word.take());
            continue;
        }
        let is_first = word.is_none();
        let (part, is_assign) = word.get_or_insert_default();
        match c {
            '*' => part.text.push(ANY),
            '?' => part.text.push(ONE),
            '\'' | '"' => quoted(c, &mut chars, part)?,
            '\\' => match chars.next() {
                Some(c) => part.text.push(c),
                None => return Err("the pattern ends in a backslash".into()),
            },
            '~' if is_first && chars.peek().is_none_or(|c| " \t/".contains(*c)) => {
                part.is_home = true;
            }
            '=' => {
                *is_assign |= part.known_text().is_some_and(is_name);
                part.text.push('=');
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '\n' => {
                return Err(format!(
                    "a pattern is one command without `{}`; give each command of a list its own pattern, \
                     or quote the character",
                    if c == '\n' { "\\n".into() } else { c.to_string() }
                ));
            }
            c => part.text.push(c),
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
            '\\' if quote == '"' => part.text.extend(chars.next()),
            c => part.text.push(c),
        }
    }
    Err(format!("the pattern has an unfinished {quote}"))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
