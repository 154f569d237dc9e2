//! Parses command lines of a POSIX shell, bash or zsh, so that they can be trusted in one
//! direction.
//!
//! [`ShellScript::from_line`] finds the simple commands of a line, their words with the quotes
//! resolved, and reports whether it understood *everything*. If [`ShellScript::unclear`] is empty,
//! the shell runs the listed commands with the listed words and nothing else; an allow may rely on
//! that. Otherwise the commands are those that were found nevertheless, which a deny examines.
//!
//! It knows neither the aliases and functions of the user's shell nor the program behind a name.

mod after;
mod arithmetic;
pub(crate) mod code;
mod control;
mod escapes;
mod expansions;
mod feeds;
mod lists;
pub(crate) mod loose;
pub(crate) mod names;
pub(crate) mod operands;
mod outputs;
mod paint;
mod parts;
mod quotes;
mod redirect;
mod regions;
mod segments;
mod through;
mod values;
mod word;

pub use segments::{MOST_SEGMENTS, split_into_segments};
pub(crate) use word::GAP;
pub use word::{ShellWord, ValueChange, WordExpansion, WordPiece};

use std::ops::Range;

use crate::glob::PatternToken;
use crate::place::BaseFolders;
use crate::steps;

/// The longest command line; of a longer one only the beginning is read.
pub const LONGEST_LINE: usize = 256 * 1024;
/// How deep substitutions, subshells and commands in words may be nested.
/// There is a limit, because the parser calls itself for each level and must not exhaust its stack.
pub const DEEPEST: usize = 12;
/// The most simple commands of one line. Every rule is compared with each of them.
pub const MOST_COMMANDS: usize = 1_000;
/// The most words of all commands of one line.
pub const MOST_WORDS: usize = 20_000;

/// The most words with wildcards in a line that counts as understood. Each is compared with every
/// pattern by a search, which costs the product of their lengths.
pub const MOST_WILD_WORDS: usize = 300;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each says on its own what is not known")]
pub struct ShellScript {
    /// The simple commands in the order of the text, including those in substitutions.
    pub commands: Vec<ShellCommand>,
    /// Why the line is not fully understood, in words that follow "it has"; empty if it is.
    pub unclear: Vec<&'static str>,
    /// Texts in it that a shell might run: here-documents.
    pub(crate) bodies: Vec<String>,
    /// Whether even the places where commands begin are unknown.
    pub(crate) is_broken: bool,
    /// Whether part of the text itself is unknown.
    pub(crate) has_gaps: bool,
    /// Whether it is unknown which commands run only under a condition.
    pub(crate) has_odd_regions: bool,
    /// What expansions may assign.
    pub(crate) defaults: Vec<lists::DefaultValue>,
    /// The variables that arithmetic uses.
    pub(crate) numbers: Vec<String>,
    /// The commands of the substitutions in arithmetic.
    pub(crate) number_outputs: Vec<Range<usize>>,
    /// The names of the functions that it defines with `()`.
    pub(crate) functions: Vec<String>,
    /// Whether parts of it may run again: it has a loop.
    pub(crate) has_loops: bool,
}

/// One simple command: what a shell starts with one set of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// The assignments before the program, such as `LANG=C`.
    pub assigns: Vec<ShellWord>,
    pub words: Vec<ShellWord>,
    /// The files to or from which it is redirected.
    pub redirects: Vec<ShellWord>,
    /// Those of them that it is redirected to.
    pub written: Vec<ShellWord>,
    /// The folders in which it may run, more than one after a `cd`; all are absolute.
    pub folders: Vec<String>,
    /// Patterns of other folders in which it may run.
    pub(crate) other_folders: Vec<Vec<PatternToken>>,
    /// The regions of the line in which it is, the outermost first.
    pub(crate) regions: Vec<u32>,
    /// How deep the list is to which it belongs.
    pub(crate) level: usize,
    /// The command whose output it reads, by its index in the script.
    pub(crate) fed_by: Option<usize>,
    /// Whether it reads the output of another command, or a text in the line.
    pub(crate) is_piped: bool,
    pub(crate) has_here_text: bool,
    pub(crate) reads_file: bool,
}

impl ShellScript {
    /// Parses a command line that would run in `cwd`; `home` is what `~` stands for.
    pub fn from_line(text: &str, cwd: &str, home: &str) -> Self {
        Self::from_nested_line(text, BaseFolders { cwd, home }, 0)
    }

    /// Parses a command line within a word of another one, at this depth.
    pub(crate) fn from_nested_line(text: &str, base: BaseFolders<'_>, depth: usize) -> Self {
        let mut script = lists::parse_script(text, base.home, depth);
        // After the whole line, because a variable in a `cd` may be assigned anywhere in it.
        after::find_folders(&mut script, base);
        script
    }

    /// Returns a program with its arguments, started without a shell.
    pub fn of_words<'a>(words: impl IntoIterator<Item = &'a str>, cwd: &str) -> Self {
        let known = |text| {
            steps::spend_budget(steps::WORD + str::len(text)).then(|| ShellWord::known(text))
        };
        let mut words = words.into_iter();
        // `by_ref` leaves what is not taken, so that the next line can tell that there was more.
        let read: Vec<ShellWord> = words.by_ref().take(MOST_WORDS).map_while(known).collect();
        if words.next().is_some() {
            steps::note_omission();
        }
        let (words, mut script) = (read, Self::default());
        if words.first().is_none_or(ShellWord::is_empty) {
            script.note_doubt("no program");
        }
        script.commands.push(ShellCommand {
            words,
            folders: vec![crate::place::normal_path(cwd)],
            ..ShellCommand::default()
        });
        script
    }

    /// Adds another one that may run as well.
    pub(crate) fn add_script(&mut self, other: Self) {
        self.commands.extend(other.commands);
        self.bodies.extend(other.bodies);
        self.is_broken |= other.is_broken;
        self.has_gaps |= other.has_gaps;
        // Its regions and its commands have other numbers.
        self.has_odd_regions = true;
        self.defaults.extend(other.defaults);
        self.numbers.extend(other.numbers);
        self.functions.extend(other.functions);
        self.has_loops |= other.has_loops;
        other.unclear.into_iter().for_each(|reason| self.note_doubt(reason));
    }

    pub fn is_clear(&self) -> bool {
        self.unclear.is_empty()
    }

    fn note_doubt(&mut self, reason: &'static str) {
        if !self.unclear.contains(&reason) {
            self.unclear.push(reason);
        }
    }
}

impl ShellCommand {
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.text()
    }

    pub fn render_line(&self) -> String {
        let words: Vec<String> =
            self.assigns.iter().chain(&self.words).map(ShellWord::render_text).collect();
        words.join(" ")
    }
}

#[cfg(test)]
mod tests;
