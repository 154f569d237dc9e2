//! What a line assigns to its variables.

use callgate_mask::programs::{INTERPRETERS, SHELLS, WRAPPERS, is_one_of};
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use super::{AssignedValue, Assignment, ShellValues, ShellWord, WordExpansion, WordPiece};
use crate::shell::ShellCommand;
use crate::shell::names::{DECLARERS, SHELL_PREFIXES};

/// Commands that read into the variables among their words.
const READERS: &WordList = words!(
    "read readarray mapfile getopts vared zparseopts printf print let wait unset \
    select strftime sysread zstat zcurses coproc"
);
/// Commands after which any variable may have any value.
const CHANGERS: &WordList = words!("eval source . emulate enable zmodload");
/// Letters of the options of [`DECLARERS`] with which a variable gets another value than the one
/// that is written: that of another variable, a number, or a part of it.
const CHANGING_LETTERS: [char; 6] = ['n', 'i', 'L', 'R', 'Z', 'T'];
/// What makes wildcards match hidden names, in the options of shells.
const HIDDEN_OPTIONS: [&str; 4] = ["dotglob", "globdots", "glob_dots", "globignore"];

impl<'a> ShellValues<'a> {
    pub(super) fn note_command(&mut self, at: usize, command: &'a ShellCommand) {
        let is_lasting = command.words.is_empty();
        let sets_home = |word: &ShellWord| word.first_text().starts_with("HOME=");
        let starts_another = command.words.first().is_some_and(|program| {
            [SHELLS, WRAPPERS, INTERPRETERS].iter().any(|list| program.could_name(list))
        });
        // Before an ordinary program `HOME=` does not count: the shell expands a `~` in its words
        // first.
        let is_moved = command.assigns.iter().any(sets_home) && (is_lasting || starts_another);
        self.moves_home |= is_moved || command.words.iter().skip(1).any(sets_home);
        for assign in &command.assigns {
            self.note_assignment(at, assign, is_lasting, !is_lasting);
        }
        // Wrappers such as `command` and `builtin` do not hide these.
        let mut words = command.words.iter().skip_while(|word| {
            word.text().is_some_and(|text| SHELL_PREFIXES.contains(text) || text.starts_with('-'))
        });
        let Some(program) = words.next() else { return };
        let rest: Vec<&'a ShellWord> = words.collect();
        let Some(name) = program.text() else { return };
        match name {
            // In quotes it is no keyword.
            "for" | "select" | "foreach" if !program.is_quoted => self.note_loop(at, &rest),
            _ if is_one_of(name, DECLARERS) => self.note_declared(at, &rest, name == "export"),
            _ if is_one_of(name, READERS) => self.note_read(at, &rest, name, command.fed_by),
            _ if is_one_of(name, CHANGERS) => self.is_lost = true,
            "shopt" | "setopt" | "set" | "options" => self.note_options(&rest),
            _ => {}
        }
    }

    /// Notes if a program whose name is not written out could be one that assigns.
    pub(super) fn note_unknown_programs(&mut self) {
        let commands = self.script.commands.iter().enumerate();
        let is_open = |(_, command): &(usize, &ShellCommand)| {
            command.words.first().is_some_and(|program| !program.is_known())
        };
        let is_lost = commands.filter(is_open).any(|(at, command)| {
            let mut program = self.joined_word(&command.words[0], at);
            program.open_unknown();
            [DECLARERS, READERS, CHANGERS].iter().any(|list| program.could_name(list))
        });
        self.is_lost |= is_lost;
    }

    pub(super) fn assign(
        &mut self,
        name: &'a str,
        at: usize,
        value: AssignedValue,
        is_lasting: bool,
    ) {
        if name == "IFS" {
            self.splits_oddly = true;
        }
        if name == "GLOBIGNORE" {
            self.finds_hidden = true;
        }
        let assignment = Assignment { at, value, is_lasting, is_exported: false };
        self.assigned.entry(name).or_default().push(assignment);
    }

    fn note_assignment(
        &mut self,
        at: usize,
        word: &'a ShellWord,
        is_lasting: bool,
        is_exported: bool,
    ) {
        let Some((name, value)) = split_assignment(word) else {
            self.is_lost = true;
            return;
        };
        // An `IFS` before `read` holds for that command only.
        let is_own = name == "IFS" && !is_lasting;
        let base = name.strip_suffix('+').unwrap_or(name);
        let is_whole = base == name;
        let value = if is_whole { value } else { AssignedValue::Unknown };
        if !is_own {
            self.assign(base, at, value, is_lasting && is_whole);
            if let Some(last) = self.assigned.get_mut(base).and_then(|all| all.last_mut()) {
                last.is_exported = is_exported;
            }
        }
    }

    fn note_loop(&mut self, at: usize, rest: &[&'a ShellWord]) {
        let is_in = |word: &&ShellWord| word.text() == Some("in");
        // Without a list, it goes through the arguments.
        let list = rest.iter().skip(1).position(is_in).map(|at| at + 1);
        // One shell takes several names.
        for word in &rest[..list.unwrap_or(rest.len())] {
            let Some(name) = word.text() else {
                self.is_lost = true;
                continue;
            };
            let value = match list {
                Some(1) => {
                    AssignedValue::OneOf(rest.iter().skip(2).map(|word| (*word).clone()).collect())
                }
                _ => AssignedValue::Unknown,
            };
            self.assign(name, at, value, true);
        }
        self.is_lost |= rest.is_empty();
    }

    fn note_declared(&mut self, at: usize, rest: &[&'a ShellWord], is_export: bool) {
        for word in rest {
            let text = word.first_text();
            if text.starts_with('-') || text.starts_with('+') {
                self.is_lost |= !word.is_known() || text.contains(CHANGING_LETTERS);
            } else if word.value_at.is_some() {
                self.note_assignment(at, word, true, is_export);
            } else if text.contains('=') {
                self.note_quoted_assignment(at, word, is_export);
            } else if !word.is_known() {
                self.is_lost = true;
            } else if let Some(values) = word.text().and_then(|name| self.assigned.get_mut(name)) {
                for value in values {
                    value.is_exported |= is_export;
                }
            }
        }
    }

    /// Notes an assignment among the words of a command, whose name is quoted.
    fn note_quoted_assignment(&mut self, at: usize, word: &'a ShellWord, is_export: bool) {
        let named = match word.pieces() {
            [WordPiece::Text(text), rest @ ..] => text.split_once('=').map(|split| (split, rest)),
            _ => None,
        };
        let Some(((name, value), rest)) = named else {
            self.is_lost = true;
            return;
        };
        let base = name.split(['[', '+']).next().unwrap_or(name);
        let is_whole = base == name;
        let mut pieces = vec![WordPiece::Text(value.to_owned())];
        pieces.extend_from_slice(rest);
        let value = ShellWord::of_pieces(pieces);
        let value = if is_whole { AssignedValue::Word(value) } else { AssignedValue::Unknown };
        self.assign(base, at, value, is_whole);
        if let Some(last) = self.assigned.get_mut(base).and_then(|all| all.last_mut()) {
            last.is_exported = is_export;
        }
    }

    fn note_read(&mut self, at: usize, rest: &[&'a ShellWord], name: &str, fed_by: Option<usize>) {
        let is_plain_read = name == "read";
        for word in rest {
            let Some(text) = word.text() else {
                self.is_lost |= is_plain_read || word.could_begin_with("-v");
                continue;
            };
            // `printf -vNAME`.
            let text = text.strip_prefix("-v").unwrap_or(text);
            // An element such as `a[1]` counts as both names, of which one too many does no harm.
            let names = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            for name in names.filter(|name| !name.is_empty()) {
                let value = match fed_by.filter(|_| is_plain_read) {
                    Some(feeder) => AssignedValue::Line(feeder),
                    None => AssignedValue::Unknown,
                };
                // Which of their words the others set is not known, so earlier values remain
                // possible.
                self.assign(name, at, value, is_plain_read);
            }
        }
        if is_plain_read {
            // Without a name, `read` sets this variable.
            self.assign("REPLY", at, AssignedValue::Unknown, true);
        }
    }

    fn note_options(&mut self, rest: &[&'a ShellWord]) {
        let finds = |word: &&ShellWord| match word.text() {
            Some(text) => HIDDEN_OPTIONS.iter().any(|option| {
                // One shell ignores case and underscores in the names of its options.
                text.to_ascii_lowercase().replace('_', "").contains(&option.replace('_', ""))
            }),
            None => true,
        };
        self.finds_hidden |= rest.iter().any(finds);
    }
}

/// Splits `NAME=value` into the name and the value.
fn split_assignment(word: &ShellWord) -> Option<(&str, AssignedValue)> {
    let value_at = word.value_at?;
    let (first, rest) = word.pieces().split_first()?;
    let WordPiece::Text(text) = first else { return None };
    if rest.first() == Some(&WordPiece::Glob('[')) && text.len() < value_at {
        // Which element it is, and so what the variable is then, is not known.
        return Some((text, AssignedValue::Unknown));
    }
    let name = text.get(..value_at - 1)?;
    let mut pieces = vec![WordPiece::Text(text.get(value_at..)?.to_owned())];
    pieces.extend_from_slice(rest);
    let elements = rest.iter().find_map(|piece| match piece {
        WordPiece::Expansion(expansion) => match &**expansion {
            WordExpansion::Array(elements) => Some(elements.clone()),
            _ => None,
        },
        _ => None,
    });
    let value = match elements {
        Some(elements) => AssignedValue::Array(elements),
        None => AssignedValue::Word(ShellWord::of_pieces(pieces)),
    };
    Some((name, value))
}
