//! Puts values in place of expansions.

use super::cut::cut_values;
use super::fields::{Fields, WordChoices, join_words, split_value};
use super::{
    AssignedValue, Assignment, DEEPEST_VALUE, MOST_CHOICES, MOST_FIELDS, ShellValues, ShellWord,
    ValueChange, WordExpansion, WordPiece,
};
use crate::glob::{PatternToken, literal_toks};
use crate::place;
use crate::shell::names::SAME_SHELL;
use crate::steps;
use callgate_mask::programs::{SHELLS, is_one_of};
use callgate_mask::word_list::WordList;
use callgate_mask::words;

/// Variables to which shells assign by themselves, so that a value that a line gives them may be
/// gone.
const SET_BY_SHELLS: &WordList = words!(
    "_ REPLY reply MAPFILE OPTARG OPTIND OPTERR PWD OLDPWD BASH_REMATCH COPROC MATCH match MBEGIN \
    MEND RANDOM SECONDS LINENO PIPESTATUS pipestatus FUNCNAME BASH_COMMAND DIRSTACK dirstack \
    LINES COLUMNS status argv ARGC ZSH_EVAL_CONTEXT SHLVL COMP_WORDS COMPREPLY READLINE_LINE"
);

impl ShellValues<'_> {
    /// Returns the words that a word of a command could become, within other values.
    pub(in crate::shell) fn resolve_at(
        &self,
        word: &ShellWord,
        at: usize,
        depth: usize,
    ) -> WordChoices {
        if let Some(choices) = self.brace_words(word, at, depth) {
            return choices;
        }
        let mut choices = WordChoices(vec![Fields::default()]);
        for piece in word.pieces() {
            let next = self.resolve_piece(piece, at, depth);
            let mut joined = WordChoices::default();
            for Fields(before) in &choices.0 {
                for Fields(after) in &next.0 {
                    joined.add_fields(Fields(join_words(before, after)));
                }
            }
            let fields = joined.0.iter().map(|fields| fields.0.len()).max().unwrap_or_default();
            if joined.0.len() > MOST_CHOICES
                || fields > MOST_FIELDS
                || !steps::spend_budget(joined.0.len())
            {
                return WordChoices::unknown();
            }
            choices = joined;
        }
        if word.is_quoted {
            // Quotes keep an empty word.
            for Fields(fields) in &mut choices.0 {
                if fields.is_empty() {
                    fields.push(Vec::new());
                }
            }
        }
        choices
    }

    fn resolve_piece(&self, piece: &WordPiece, at: usize, depth: usize) -> WordChoices {
        let expansion = match piece {
            WordPiece::Expansion(expansion) => expansion,
            WordPiece::Glob('*' | '?') if self.finds_hidden => return WordChoices::unknown(),
            piece => return WordChoices::from_pieces(vec![piece.clone()]),
        };
        if depth >= DEEPEST_VALUE {
            return WordChoices::unknown();
        }
        match &**expansion {
            WordExpansion::Variable { name, is_quoted, change } => {
                let values = self.changed_values(name, change, at, depth);
                self.inserted_words(values, *is_quoted, *change == ValueChange::Elements)
            }
            WordExpansion::Output { commands, is_quoted } => {
                let printed = self.printed_by_all(commands, depth + 1);
                let values = WordChoices(printed.into_iter().map(|p| Fields(vec![p])).collect());
                self.inserted_words(values, *is_quoted, false)
            }
            WordExpansion::Choice(members) => {
                let mut choices = WordChoices::default();
                for member in members {
                    self.resolve_at(member, at, depth + 1)
                        .0
                        .into_iter()
                        .for_each(|f| choices.add_fields(f));
                }
                choices
            }
            WordExpansion::Array(_) | WordExpansion::Braces(_) => WordChoices::unknown(),
        }
    }

    /// Returns the words of one with `{a,b}`: one for each member, those that are not empty, or the
    /// text itself in a shell without braces.
    fn brace_words(&self, word: &ShellWord, at: usize, depth: usize) -> Option<WordChoices> {
        let members = |piece: &WordPiece| match piece {
            WordPiece::Expansion(expansion) => match &**expansion {
                WordExpansion::Braces(members) => Some(members.clone()),
                _ => None,
            },
            _ => None,
        };
        let (index, members) = word
            .pieces()
            .iter()
            .enumerate()
            .find_map(|(index, piece)| Some((index, members(piece)?)))?;
        if depth >= DEEPEST_VALUE || members.len() > MOST_FIELDS {
            return Some(WordChoices::unknown());
        }
        let (before, after) = (&word.pieces()[..index], &word.pieces()[index + 1..]);
        let with = |middle: &[WordPiece]| {
            let mut whole = ShellWord::of_pieces([before, middle, after].concat());
            whole.is_quoted = word.is_quoted;
            self.resolve_at(&whole, at, depth + 1)
        };
        let Some(mut all) = all_lists(members.iter().map(|member| with(member.pieces()))) else {
            return Some(WordChoices::unknown());
        };
        for Fields(words) in all.0.clone() {
            let full = words.into_iter().filter(|word| !word.is_empty()).collect();
            all.add_fields(Fields(full));
        }
        let texts: Vec<String> = members.iter().map(ShellWord::first_text).collect();
        let literal = WordPiece::Text(format!("{{{}}}", texts.join(",")));
        with(&[literal]).0.into_iter().for_each(|fields| all.add_fields(fields));
        Some(all)
    }

    /// Returns the values of a variable after what the expansion does with them.
    fn changed_values(
        &self,
        name: &str,
        change: &ValueChange,
        at: usize,
        depth: usize,
    ) -> WordChoices {
        let values = || self.values(name, at, depth + 1);
        match change {
            ValueChange::Length => WordChoices::from_pieces(vec![WordPiece::Digits]),
            ValueChange::Other => WordChoices::unknown(),
            ValueChange::Keep => values(),
            ValueChange::Elements => match self.elements(name, at, depth) {
                Some(lists) => lists,
                None => values(),
            },
            ValueChange::Default(other) => {
                let mut choices = self.known_values(name, at, depth + 1);
                let other = self.resolve_at(other, at, depth + 1).into_single_words();
                for pieces in other {
                    choices.add_fields(Fields(vec![pieces]));
                }
                choices
            }
            ValueChange::Instead(other) => {
                let other = self.resolve_at(other, at, depth + 1).into_single_words();
                // Nothing is inserted if the variable is not set.
                let mut choices = WordChoices::from_pieces(Vec::new());
                for pieces in other {
                    choices.add_fields(Fields(vec![pieces]));
                }
                choices
            }
            ValueChange::CutPrefix(pattern) => cut_values(values(), pattern, true),
            ValueChange::CutSuffix(pattern) => cut_values(values(), pattern, false),
        }
    }

    /// Returns the elements of an array that is assigned once, as words.
    fn elements(&self, name: &str, at: usize, depth: usize) -> Option<WordChoices> {
        // A further assignment could change some of the elements.
        let [Assignment { value: AssignedValue::Array(words), is_lasting: true, .. }] =
            self.assigned.get(name)?.as_slice()
        else {
            return None;
        };
        let lists = all_lists(words.iter().map(|word| self.resolve_at(word, at, depth + 1)));
        (!self.is_lost).then(|| lists.unwrap_or_else(WordChoices::unknown))
    }

    /// Returns the values that are assigned, or all that it could have if one of them is unknown.
    fn known_values(&self, name: &str, at: usize, depth: usize) -> WordChoices {
        let mut choices = WordChoices::default();
        for assignment in self.assigned.get(name).into_iter().flatten() {
            let values = self.assigned_values(assignment, depth);
            values.0.into_iter().for_each(|fields| choices.add_fields(fields));
        }
        // The values of `$1`, `$@` and the like come from the caller.
        if self.is_lost || name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_') {
            choices.add_fields(Fields(vec![vec![WordPiece::Unknown]]));
        } else if !self.is_certain(name, at) {
            match well_known(name) {
                Some(pieces) => choices.add_fields(Fields(vec![pieces])),
                None => choices.add_fields(Fields(vec![vec![WordPiece::Unknown]])),
            }
        }
        choices
    }

    /// Returns the values that a variable could have when a command uses it.
    fn values(&self, name: &str, at: usize, depth: usize) -> WordChoices {
        if depth >= DEEPEST_VALUE {
            return WordChoices::unknown();
        }
        if name == "PWD" && !self.assigned.contains_key(name) && !self.is_lost {
            return self.folders(at);
        }
        let mut choices = self.known_values(name, at, depth);
        if choices.0.is_empty() || choices.0.len() > MOST_CHOICES {
            return WordChoices::unknown();
        }
        if let Some((outer, command)) = self.outer.filter(|_| !self.is_certain(name, at))
            && let Some(values) = outer.exported_values(name, command, depth)
        {
            // A value from outside is not unknown then: it is what the line around this one
            // exports.
            let unknown = Fields(vec![vec![WordPiece::Unknown]]);
            choices.0.retain(|fields| *fields != unknown);
            values.0.into_iter().for_each(|fields| choices.add_fields(fields));
        }
        choices
    }

    /// Returns the values of a variable for a program that a command starts, if they are known.
    fn exported_values(&self, name: &str, at: usize, depth: usize) -> Option<WordChoices> {
        // Wrappers may take a variable away or set another value, and another machine has its own.
        let program = self.command(at)?.words.first()?.text()?;
        if !is_one_of(program, SHELLS) && !SAME_SHELL.contains(program) {
            return None;
        }
        let mut known = self.assigned.get(name)?.iter();
        let is_passed = |a: &Assignment| a.is_exported && (a.at == at || self.reaches(a, at));
        let has_one = known.any(is_passed) && !self.is_lost;
        has_one.then(|| {
            let mut choices = WordChoices::default();
            for assignment in self.assigned.get(name).into_iter().flatten() {
                let values = self.assigned_values(assignment, depth);
                values.0.into_iter().for_each(|fields| choices.add_fields(fields));
            }
            choices
        })
    }

    /// Returns true if a variable certainly has one of the assigned values when a command uses it.
    fn is_certain(&self, name: &str, at: usize) -> bool {
        let values = self.assigned.get(name);
        let is_before =
            |assignment: &Assignment| assignment.is_lasting && self.reaches(assignment, at);
        !self.is_lost
            && !SET_BY_SHELLS.contains(name)
            && values.is_some_and(|values| values.iter().any(is_before))
    }

    /// Returns true if a command cannot run before, or without, an assignment.
    fn reaches(&self, assignment: &Assignment, at: usize) -> bool {
        let commands = &self.script.commands;
        let (Some(before), Some(command)) = (commands.get(assignment.at), commands.get(at)) else {
            return false;
        };
        assignment.at < at
            && !self.script.has_odd_regions
            && command.regions.starts_with(&before.regions)
    }

    fn assigned_values(&self, assignment: &Assignment, depth: usize) -> WordChoices {
        let at = assignment.at;
        match &assignment.value {
            AssignedValue::Digits => WordChoices::from_pieces(vec![WordPiece::Digits]),
            AssignedValue::Unknown => WordChoices::unknown(),
            AssignedValue::Line(feeder) => {
                let lines = self.printed_by(*feeder, depth + 1);
                WordChoices(lines.into_iter().map(|line| Fields(vec![line])).collect())
            }
            AssignedValue::Word(word) => {
                let values = self.resolve_at(word, at, depth + 1).into_single_words();
                WordChoices(values.into_iter().map(|value| Fields(vec![value])).collect())
            }
            AssignedValue::OneOf(words) | AssignedValue::Array(words) => {
                let each = || words.iter().map(|word| self.resolve_at(word, at, depth + 1));
                let mut choices = WordChoices::default();
                for field in each().flat_map(|values| values.0).flat_map(|fields| fields.0) {
                    choices.add_fields(Fields(vec![field]));
                }
                if matches!(assignment.value, AssignedValue::Array(_)) {
                    // One shell puts all elements there.
                    let lists = all_lists(each()).unwrap_or_else(WordChoices::unknown);
                    lists.0.into_iter().for_each(|fields| choices.add_fields(fields));
                }
                if choices.0.is_empty() { WordChoices::from_pieces(Vec::new()) } else { choices }
            }
        }
    }

    pub(in crate::shell) fn folders(&self, at: usize) -> WordChoices {
        let command = &self.script.commands[at];
        let known = command.folders.iter().map(|folder| vec![WordPiece::Text(folder.clone())]);
        let others = command.other_folders.iter().map(|folder| pieces_of(folder));
        WordChoices(known.chain(others).map(|pieces| Fields(vec![pieces])).collect())
    }

    /// Returns what an expansion inserts. Unquoted, most shells split it at blanks.
    fn inserted_words(&self, values: WordChoices, is_quoted: bool, is_list: bool) -> WordChoices {
        if is_quoted {
            if is_list {
                return values;
            }
            // Within quotes the words of a list become one.
            let joined = values.into_single_words().into_iter();
            return WordChoices(joined.map(|pieces| Fields(vec![pieces])).collect());
        }
        if self.splits_oddly {
            return WordChoices::unknown();
        }
        let mut choices = WordChoices::default();
        for fields in values.0 {
            let split: Vec<Vec<WordPiece>> =
                fields.0.iter().flat_map(|field| split_value(field)).collect();
            choices.add_fields(fields);
            choices.add_fields(Fields(split));
        }
        choices
    }
}

/// Returns the lists of words that words in a row could become, unless there are too many.
fn all_lists(each: impl Iterator<Item = WordChoices>) -> Option<WordChoices> {
    let mut all = WordChoices(vec![Fields::default()]);
    for next in each {
        let mut joined = WordChoices::default();
        for Fields(words) in &all.0 {
            for Fields(more) in &next.0 {
                joined.add_fields(Fields([words.as_slice(), more].concat()));
            }
        }
        let length = joined.0.iter().map(|fields| fields.0.len()).max().unwrap_or_default();
        if joined.0.len() > MOST_CHOICES
            || length > MOST_FIELDS
            || !steps::spend_budget(joined.0.len() * (1 + length))
        {
            return None;
        }
        all = joined;
    }
    Some(all)
}

/// Returns what a variable that every shell sets could be.
fn well_known(name: &str) -> Option<Vec<WordPiece>> {
    match name {
        "UID" | "EUID" | "PPID" | "RANDOM" | "SECONDS" | "LINENO" | "BASHPID" | "COLUMNS"
        | "LINES" | "EPOCHSECONDS" | "SHLVL" | "OPTIND" => Some(vec![WordPiece::Digits]),
        "USER" | "LOGNAME" | "HOSTNAME" => Some(vec![WordPiece::Glob('*')]),
        _ => None,
    }
}

/// Returns the parts of a folder's pattern.
fn pieces_of(folder: &[PatternToken]) -> Vec<WordPiece> {
    if *folder == literal_toks("/") {
        return vec![WordPiece::Text("/".into())];
    }
    let text: String = folder.iter().map_while(|tok| tok.character()).collect();
    if text.chars().count() == folder.len() {
        return vec![WordPiece::Text(place::normal_path(&text))];
    }
    ShellWord::of_toks("", folder).pieces().to_vec()
}
