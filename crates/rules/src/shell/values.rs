//! The values that the words of a line could get: variables, substitutions, braces.
//!
//! For rules that deny or ask, and for the guard. A variable could have every value that is
//! assigned to it anywhere in the line and, unless an assignment comes before that cannot be
//! skipped, also any other.

mod assigned;
mod changed_shell;
mod cut;
mod fields;
mod resolve;

use std::collections::HashMap;
use std::ops::Range;

use super::lists::DefaultValue;
use super::word::{ShellWord, ValueChange, WordExpansion, WordPiece};
use super::{ShellCommand, ShellScript};
use crate::steps;
use changed_shell::ChangedShell;
pub(super) use changed_shell::runs_in_same_shell;
pub(super) use fields::{WordChoices, split_value};

/// The most things that one word could be before it counts as unknown.
/// It is small, because the choices of the parts of a word multiply.
const MOST_CHOICES: usize = 24;
/// The most words that one word may become.
const MOST_FIELDS: usize = 128;
/// How often values may refer to other values.
/// Without a limit, two variables with each other as values would never end.
const DEEPEST_VALUE: usize = 8;
/// The most forms of one command that are examined.
/// It is small, because the choices of the words of a command multiply.
const MOST_FORMS: usize = 24;

#[derive(Debug, Clone)]
struct Assignment {
    /// The command that makes it.
    at: usize,
    value: AssignedValue,
    /// Whether it holds for the commands after it.
    is_lasting: bool,
    is_exported: bool,
}

#[derive(Debug, Clone)]
enum AssignedValue {
    /// One of these words, as a `for` gives them.
    OneOf(Vec<ShellWord>),
    Array(Vec<ShellWord>),
    /// A word as in `x=word`.
    Word(ShellWord),
    /// A line that a command reads from another.
    Line(usize),
    Digits,
    Unknown,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct ShellValues<'a> {
    pub(super) script: &'a ShellScript,
    /// The line in which this one is a word, and the command there.
    outer: Option<(&'a ShellValues<'a>, usize)>,
    assigned: HashMap<&'a str, Vec<Assignment>>,
    /// Whether any variable could have any value.
    is_lost: bool,
    /// Whether unquoted values may be split anywhere.
    splits_oddly: bool,
    /// Whether wildcards match hidden names, too.
    finds_hidden: bool,
    /// Whether `~` may be another folder.
    pub(super) moves_home: bool,
    pub(super) changed: ChangedShell,
}

impl<'a> ShellValues<'a> {
    /// Finds the values of the variables of a line.
    pub(crate) fn from_script(
        script: &'a ShellScript,
        outer: Option<(&'a ShellValues<'a>, usize)>,
    ) -> Self {
        let mut values = Self {
            script,
            outer,
            assigned: HashMap::new(),
            is_lost: outer.is_some_and(|(outer, _)| outer.is_lost),
            splits_oddly: outer.is_some_and(|(outer, _)| outer.splits_oddly),
            finds_hidden: outer.is_some_and(|(outer, _)| outer.finds_hidden),
            moves_home: false,
            changed: ChangedShell::from_script(script, outer.map(|(outer, _)| &outer.changed)),
        };
        for (at, command) in script.commands.iter().enumerate() {
            values.note_command(at, command);
        }
        for DefaultValue { name, value } in &script.defaults {
            // Not lasting, because `${x:=word}` assigns only to a variable without a value.
            values.assign(name, 0, AssignedValue::Word(value.clone()), false);
        }
        for name in &script.numbers {
            // Arithmetic may assign to any variable that it uses.
            values.assign(name, 0, AssignedValue::Digits, false);
        }
        // Last, because it looks up the values that the names of programs may have.
        values.note_unknown_programs();
        values
    }

    /// Returns the forms that a command could have with the values in place. `None` if there are
    /// too many.
    pub(crate) fn expand(&self, at: usize) -> Option<Vec<ShellCommand>> {
        let command = &self.script.commands[at];
        // Where wildcards also match hidden names, even words without expansions change.
        if !has_expansions(command) && !self.finds_hidden {
            return Some(vec![command.clone()]);
        }
        let one = |word: &ShellWord| self.joined_word(word, at);
        let base = ShellCommand {
            words: Vec::new(),
            assigns: command.assigns.iter().map(one).collect(),
            redirects: command.redirects.iter().flat_map(|word| self.targets(word, at)).collect(),
            written: command.written.iter().flat_map(|word| self.targets(word, at)).collect(),
            ..command.clone()
        };
        let mut forms = vec![base];
        for word in &command.words {
            let choices = self.resolve(word, at);
            let several = choices.forms(word);
            if forms.len() * several.len() > MOST_FORMS || !steps::spend_budget(several.len()) {
                return None;
            }
            forms = several
                .iter()
                .flat_map(|words| {
                    forms.iter().map(|form| {
                        let mut form = form.clone();
                        form.words.extend_from_slice(words);
                        form
                    })
                })
                .collect();
        }
        Some(forms)
    }

    pub(super) fn command(&self, at: usize) -> Option<&ShellCommand> {
        self.script.commands.get(at)
    }

    pub(super) fn resolve(&self, word: &ShellWord, at: usize) -> WordChoices {
        self.resolve_at(word, at, 0)
    }

    /// Returns a word with its values where a shell makes no several words of it.
    pub(super) fn joined_word(&self, word: &ShellWord, at: usize) -> ShellWord {
        let choices = self.resolve(word, at).into_single_words();
        one_word(word, choices)
    }

    /// Returns the files of a redirect; braces name several.
    fn targets(&self, word: &ShellWord, at: usize) -> Vec<ShellWord> {
        let choices = self.resolve(word, at);
        let fields: Vec<Vec<WordPiece>> =
            choices.0.into_iter().flat_map(|fields| fields.0).collect();
        if fields.is_empty() {
            return vec![word.clone()];
        }
        vec![one_word(word, fields)]
    }

    /// Returns true if a number that arithmetic evaluates could be code: a shell evaluates the
    /// subscripts in it.
    pub(crate) fn evaluates_unknown(&self) -> bool {
        let is_open = |assignment: &Assignment| match &assignment.value {
            AssignedValue::Digits => false,
            AssignedValue::Unknown | AssignedValue::Line(_) => true,
            AssignedValue::OneOf(words) | AssignedValue::Array(words) => {
                words.iter().any(|word| self.may_be_code(word, assignment.at))
            }
            AssignedValue::Word(word) => self.may_be_code(word, assignment.at),
        };
        let prints_unknown = |commands: &Range<usize>| {
            self.printed_by_all(commands, 1)
                .iter()
                .flatten()
                .any(|piece| *piece == WordPiece::Unknown)
        };
        self.script.numbers.iter().any(|name| {
            self.assigned.get(name.as_str()).is_some_and(|values| values.iter().any(is_open))
        }) || self.script.number_outputs.iter().any(prints_unknown)
    }

    fn may_be_code(&self, word: &ShellWord, at: usize) -> bool {
        let choices = self.resolve(word, at).into_single_words();
        choices.iter().flatten().any(|piece| match piece {
            WordPiece::Unknown => true,
            WordPiece::Text(text) => text.contains("$(") || text.contains('`'),
            _ => false,
        })
    }
}

/// Returns a word that could be any of these.
fn one_word(like: &ShellWord, choices: Vec<Vec<WordPiece>>) -> ShellWord {
    let mut choices = choices.into_iter();
    let mut word = ShellWord::of_pieces(choices.next().unwrap_or_default());
    choices.for_each(|pieces| word.add_choice(pieces));
    word.value_at = like.value_at;
    word.has_equals = like.has_equals;
    word.is_quoted = like.is_quoted;
    word
}

fn has_expansions(command: &ShellCommand) -> bool {
    let words = command.words.iter().chain(&command.assigns).chain(&command.redirects);
    words.flat_map(ShellWord::pieces).any(|piece| matches!(piece, WordPiece::Expansion(_)))
}
