//! Patterns of commands, word by word.
//!
//! For allowing, a pattern is exact: as many words, each matching its pattern, and more only if
//! the pattern ends in a `*` of its own. For denying and asking it is the beginning of a command.

use std::borrow::Cow;

use super::NamePattern;
use crate::act::Act;
use crate::glob::{ComparisonBias, PatternToken, literal_toks};
use crate::place::last_name;
use crate::shell::{GAP, ShellCommand, ShellWord};
use crate::shown::short_command;

const MOST_WORDS: usize = 64;
const BLANKS: [char; 2] = [' ', '\t'];
/// The characters that mean something in a pattern, each with the one that stands for it where it
/// is quoted. No text contains the latter.
const QUOTED: [(char, char); 5] = [
    ('*', '\u{fdd0}'),
    ('?', '\u{fdd1}'),
    (' ', '\u{fdd2}'),
    ('\t', '\u{fdd3}'),
    ('=', '\u{fdd4}'),
];
/// Stands for the home, written `~`, at the start of a word.
const HOME: char = '\u{fdd5}';
/// Stands for a word without any character.
const EMPTY: char = '\u{fdd6}';

/// A pattern of commands. It is kept as a text and split when it is compared: the rules are read at
/// every call without a desk, memory takes longer than anything else then, and few patterns are
/// ever compared beyond their first word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    pub(crate) text: Box<str>,
    /// The text with [`QUOTED`], [`HOME`] and [`EMPTY`] in place of quotes, unless it has none.
    form: Option<Box<str>>,
    assign_count: usize,
    word_count: usize,
    /// Whether any more words may follow.
    pub(crate) is_open: bool,
}

#[derive(Clone, Copy)]
struct PatternWord<'a>(&'a str);

impl<'a> PatternWord<'a> {
    /// Returns the pattern, its home written out, after `start`.
    fn pattern(self, start: &[PatternToken], home: &str) -> Vec<PatternToken> {
        let (home, text) = match self.0.strip_prefix(HOME) {
            Some(text) => (home, text),
            None => ("", self.0),
        };
        let toks = text.chars().filter(|c| *c != EMPTY).map(|c| match c {
            '*' => PatternToken::Cross,
            '?' => PatternToken::One,
            c => PatternToken::Is(unquoted_character(c)),
        });
        start.iter().copied().chain(literal_toks(home)).chain(toks).collect()
    }

    /// Returns true if a known text certainly differs from the word. That is nearly always enough,
    /// and no pattern has to be built for it.
    fn differs(self, text: &str) -> bool {
        let firsts = (self.0.as_bytes().first(), text.as_bytes().first());
        if let (Some(one), Some(other)) = firsts
            && one.is_ascii_alphanumeric()
            && other.is_ascii()
            && !one.eq_ignore_ascii_case(other)
        {
            return true;
        }
        let is_same = text.eq_ignore_ascii_case(self.0);
        !is_same && !self.is_wild() && self.0.is_ascii() && text.is_ascii()
    }

    fn could_fit(self, word: &ShellWord, home: &str) -> bool {
        !word.text().is_some_and(|text| self.differs(text))
            && word.could_be(&self.pattern(&[], home))
    }

    /// Returns true if a word could be a path whose last name matches.
    fn could_end(self, word: &ShellWord) -> bool {
        word.could_contain("/")
            && word.could_be(&self.pattern(&[PatternToken::Cross, PatternToken::Is('/')], ""))
    }

    /// Returns true if a word is known and matches.
    fn surely_fits(self, word: &ShellWord, home: &str) -> bool {
        word.text().is_some_and(|text| !self.differs(text))
            && word.surely_is(&self.pattern(&[], home))
    }

    fn is_wild(self) -> bool {
        self.0.contains(['*', '?'])
    }

    /// Returns true if the word has the form `NAME=value`.
    fn is_assign(self) -> bool {
        self.0.split_once('=').is_some_and(|(name, _)| is_name(name))
    }

    /// Returns the text after the home, when it has no wildcards.
    fn known_text(self) -> Option<Cow<'a, str>> {
        let text = self.0.strip_prefix(HOME).unwrap_or(self.0);
        if self.is_wild() {
            None
        } else if text.is_ascii() {
            Some(text.into())
        } else {
            Some(text.chars().filter(|c| *c != EMPTY).map(unquoted_character).collect())
        }
    }
}

impl CommandPattern {
    /// Parses a pattern: words, quotes as in a shell, `*` and `?`.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let form = parse_form(text)?;
        let parts: Vec<PatternWord<'_>> = form_words(form.as_deref().unwrap_or(text)).collect();
        let assign_count = parts.iter().take_while(|part| part.is_assign()).count();
        let words = &parts[assign_count..];
        let is_open = words.last().is_some_and(|part| part.0 == "*");
        let word_count = words.len() - usize::from(is_open);
        if words.len() > MOST_WORDS {
            return Err(format!("the pattern has more than {MOST_WORDS} words"));
        }
        if word_count == 0 && !(is_open && assign_count == 0) {
            return Err("the pattern names no program".into());
        }
        let form = form.map(Into::into);
        Ok(Self { text: text.into(), form, assign_count, word_count, is_open })
    }

    fn form(&self) -> &str {
        self.form.as_ref().unwrap_or(&self.text)
    }

    fn assigns(&self) -> impl Iterator<Item = PatternWord<'_>> {
        form_words(self.form()).take(self.assign_count)
    }

    fn words(&self) -> impl Iterator<Item = PatternWord<'_>> {
        form_words(self.form()).skip(self.assign_count).take(self.word_count)
    }

    /// Returns the program, if the pattern contains it literally, and the literal words after it.
    pub(crate) fn fixed_words(&self) -> Vec<Cow<'_, str>> {
        self.words().map_while(PatternWord::known_text).collect()
    }

    /// Returns true if a word has both a wildcard and a slash, so that it looks like a pattern of
    /// paths.
    pub(crate) fn has_wild_path(&self) -> bool {
        self.words().any(|part| part.is_wild() && part.0.contains('/'))
    }

    /// Returns the words of a matching command that follow where the pattern ends in a `*`.
    pub(crate) fn tail<'a>(&self, command: &'a ShellCommand) -> &'a [ShellWord] {
        if self.is_open { command.words.get(self.word_count..).unwrap_or_default() } else { &[] }
    }

    /// Returns true if exactly this command matches.
    pub(crate) fn is_match(&self, command: &ShellCommand, home: &str) -> bool {
        // This is the pattern `*`, which covers every command that is understood, also with
        // assignments.
        if self.word_count == 0 {
            return true;
        }
        let is_length = if self.is_open {
            command.words.len() >= self.word_count
        } else {
            command.words.len() == self.word_count
        };
        let fits = |(part, word): (PatternWord<'_>, &ShellWord)| part.surely_fits(word, home);
        is_length
            // A variable can change what a program does, so a command with one that the pattern
            // does not name is not allowed by it.
            && command.assigns.len() == self.assign_count
            && self.words().zip(&command.words).all(fits)
            && self.assigns().zip(&command.assigns).all(fits)
    }

    /// Returns true if the pattern is about another program than this text, or its last name.
    fn is_about_other(&self, text: &str, name: &str) -> bool {
        self.words().next().is_some_and(|program| program.differs(text) && program.differs(name))
    }

    /// Returns true if these words could begin a matching command.
    pub(super) fn could_be(&self, words: &[ShellWord], command: &ShellCommand, home: &str) -> bool {
        let Some(first) = words.first() else { return false };
        let could = |part: PatternWord<'_>, word: &ShellWord| part.could_fit(word, home);
        let mut parts = self.words();
        let Some(program) = parts.next() else { return true };
        (could(program, first) || program.could_end(first))
            && self.assigns().all(|part| command.assigns.iter().any(|word| could(part, word)))
            // An unknown value without quotes may become the whole command.
            && (first.may_split && first.counts_as_anything()
                || has_parts_in_order(&parts.collect::<Vec<_>>(), &words[1..], &could))
    }
}

impl CommandPattern {
    /// Returns true if these words certainly begin a matching command, with known options between
    /// them.
    pub(crate) fn surely_begins(&self, words: &[ShellWord], home: &str) -> bool {
        let Some((first, rest)) = words.split_first() else { return false };
        let Some(name) = first.text().map(last_name) else { return false };
        let mut parts = self.words();
        let fits = |part: PatternWord<'_>, word: &ShellWord| part.surely_fits(word, home);
        parts.next().is_some_and(|program| program.surely_fits(&ShellWord::known(name), home))
            && has_parts_in_order(&parts.collect::<Vec<_>>(), rest, &fits)
    }
}

/// Returns the parts of a form: assignments, words, and a `*` at the end.
fn form_words(form: &str) -> impl Iterator<Item = PatternWord<'_>> {
    form.split(BLANKS).filter(|part| !part.is_empty()).map(PatternWord)
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
            option.fits(name, ComparisonBias::Strict) || option.fits(&text, ComparisonBias::Strict)
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
fn has_parts_in_order(
    parts: &[PatternWord<'_>],
    words: &[ShellWord],
    could: &dyn Fn(PatternWord<'_>, &ShellWord) -> bool,
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
                open[at + 1] |= open[at] && could(parts[at], word);
            }
        }
        // Backwards, so that one word is not taken for two parts.
        for at in (0..parts.len()).rev() {
            open[at + 1] |= open[at] && could(parts[at], word);
        }
        // The word after an option may be its value.
        if !is_option && !after_option && !word.may_split {
            // A word that is not an option and matches nothing ends every attempt that did not take
            // it.
            let kept: Vec<bool> = (0..=parts.len())
                .map(|at| at == parts.len() || (at > 0 && could(parts[at - 1], word)))
                .collect();
            open.iter_mut().zip(kept).for_each(|(open, kept)| *open &= kept);
        }
        // With a `=` the option has its value already.
        after_option = is_option && !word.first_text().contains('=');
    }
    open[parts.len()]
}

/// Returns which command that could run matches one of the patterns, or why none does.
pub(crate) fn find_command(patterns: &[CommandPattern], act: &Act) -> Result<String, String> {
    if act.runs.commands.is_empty() {
        return Err("no command is run".into());
    }
    for (command, words) in act.runs.run_beginnings() {
        let program = words.first().and_then(ShellWord::text);
        let program = program.map(|text| (text, text.rsplit('/').next().unwrap_or(text)));
        let could_be = |pattern: &CommandPattern| {
            !program.is_some_and(|(text, name)| pattern.is_about_other(text, name))
                && pattern.could_be(words, command, &act.home)
        };
        if patterns.iter().any(could_be) {
            let words: Vec<String> = words.iter().map(ShellWord::render_text).collect();
            return Ok(format!("it could run `{}`", short_command(&words.join(" "))));
        }
    }
    Err("it runs other commands".into())
}

/// Returns the form of a pattern that has quotes or begins a word with `~`.
fn parse_form(text: &str) -> Result<Option<String>, String> {
    let is_plain = |c: u8| c.is_ascii_graphic() && !b"'\"\\~;&|<>()$`".contains(&c) || c == b' ';
    if text.bytes().all(is_plain) {
        return Ok(None);
    }
    let stand_ins = QUOTED.map(|(_, stand_in)| stand_in);
    if text.contains(stand_ins) || text.contains([HOME, EMPTY]) {
        return Err("the pattern has a character that stands for none".into());
    }
    let mut form = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => push_quoted(c, &mut chars, &mut form)?,
            '\\' => match chars.next() {
                Some(c) => form.push(stand_in(c)),
                None => return Err("the pattern ends in a backslash".into()),
            },
            '~' if form.is_empty() || form.ends_with(BLANKS) => {
                let is_home = chars.peek().is_none_or(|c| " \t/".contains(*c));
                form.push(if is_home { HOME } else { c });
            }
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '$' | '`' | '\n' => {
                return Err(format!(
                    "a pattern is one command without `{}`; give each command of a list its own pattern, \
                     or quote the character",
                    if c == '\n' { "\\n".into() } else { c.to_string() }
                ));
            }
            c => form.push(c),
        }
    }
    Ok(Some(form))
}

/// Adds the quoted text, and [`EMPTY`] for nothing.
fn push_quoted(
    quote: char,
    chars: &mut impl Iterator<Item = char>,
    form: &mut String,
) -> Result<(), String> {
    // Without this a word of two quotes would not be there at all.
    form.push(EMPTY);
    while let Some(c) = chars.next() {
        match c {
            c if c == quote => return Ok(()),
            '\\' if quote == '"' => form.extend(chars.next().map(stand_in)),
            c => form.push(stand_in(c)),
        }
    }
    Err(format!("the pattern has an unfinished {quote}"))
}

/// Returns what represents a quoted character in a form.
fn stand_in(c: char) -> char {
    QUOTED.iter().find(|(meant, _)| *meant == c).map_or(c, |(_, stand_in)| *stand_in)
}

/// Returns the character that a character of a form stands for.
fn unquoted_character(c: char) -> char {
    QUOTED.iter().find(|(_, stand_in)| *stand_in == c).map_or(c, |(meant, _)| *meant)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
