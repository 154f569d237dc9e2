//! Everything in a command line that could run, for rules that forbid.
//!
//! A deny has to find its command behind wrappers, in the arguments of shells and interpreters, in
//! here-documents and in lines that were not understood. Finding too much does no harm here.

mod doubts;
mod starts;
mod texts;

use std::collections::HashSet;

use super::values::ShellValues;
use super::{DEEPEST, GAP, ShellCommand, ShellScript, ShellWord, code, feeds};
use crate::glob::PatternToken;
use crate::place::BaseFolders;
use crate::steps;
use doubts::{InputReader, line_reader, may_search_folders, reads_unknown, runs_anything};
use starts::possible_starts;
use texts::{is_special, runnable_texts};

/// All commands that could run, and where in their words they could begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct PossibleRuns {
    /// The commands of the line and those found in its words.
    pub(crate) commands: Vec<ShellCommand>,
    /// For each possible beginning: the command's index, and the word's index in it.
    pub(crate) starts: Vec<(usize, usize)>,
    /// Why it could run any command at all, in words that follow "it has".
    pub(crate) anything: Option<&'static str>,
    /// Which of the commands are in a line that runs, rather than in a text that may be one.
    runs: Vec<bool>,
    /// The texts that were read already.
    read: HashSet<ReadText>,
}

/// A text, as what it was read, and in which folder. It is kept whole, because a text that has the
/// same hash as another must not be left out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ReadText {
    text: String,
    kind: TextKind,
    folder: String,
    runs_code: bool,
}

/// How a text is read in which commands may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum TextKind {
    /// A shell runs it as a line.
    Line,
    /// It may be a line, or data.
    Possible,
    /// It is a program in another language.
    Code,
    /// It is a program in a language in which backticks start programs.
    Script,
}

#[derive(Clone, Copy)]
struct TextPlace<'a> {
    base: BaseFolders<'a>,
    depth: usize,
    /// The values of the line that contains it, and the command there.
    outer: Option<(&'a ShellValues<'a>, usize)>,
    /// Whether a program in another language certainly runs.
    runs_code: bool,
}

#[derive(Debug, Clone, Copy)]
struct ReadLine {
    kind: TextKind,
    /// How the texts are read that a command of the line may run.
    body_kind: TextKind,
    /// Whether any word may be run.
    is_open: bool,
}

impl PossibleRuns {
    /// Finds everything that could run in a script.
    pub(crate) fn from_script(script: &ShellScript, home: &str) -> Self {
        let mut runs = Self::default();
        runs.extend_with_script(script, home, false);
        runs
    }

    /// Adds everything that could run in another script. Code of another language may contain a
    /// command anywhere.
    pub(crate) fn extend_with_script(&mut self, script: &ShellScript, home: &str, is_code: bool) {
        let base = BaseFolders { cwd: "/", home };
        let place = TextPlace { base, depth: 0, outer: None, runs_code: is_code };
        self.add_script(script, place, if is_code { TextKind::Possible } else { TextKind::Line });
        self.read.clear();
    }

    /// Returns the words of every command that could run, the program first.
    pub(crate) fn all_runs(&self) -> impl Iterator<Item = (&ShellCommand, &[ShellWord])> {
        // Callers examine all of them, which takes long for a long line.
        self.run_beginnings().take_while(|(_, words)| steps::spend_budget(words.len()))
    }

    /// Returns the same at a lower cost, for callers that examine the first words of most of them.
    pub(crate) fn run_beginnings(&self) -> impl Iterator<Item = (&ShellCommand, &[ShellWord])> {
        let counted = self.starts.iter().take_while(|_| steps::spend_budget(1));
        counted.map(|(command, word)| {
            let command = &self.commands[*command];
            (command, &command.words[*word..])
        })
    }

    /// Returns the commands that are in a line that runs, rather than in a text that may be one.
    pub(crate) fn running_commands(&self) -> impl Iterator<Item = &ShellCommand> + Clone {
        let running = self.commands.iter().zip(&self.runs).filter(|(_, runs)| **runs);
        running.map(|(command, _)| command)
    }

    /// Returns true if a word in it is not known at all.
    pub(crate) fn has_unknown(&self) -> bool {
        self.running_commands().any(|command| {
            !command.other_folders.is_empty() || all_words(command).any(ShellWord::has_unknown)
        })
    }

    /// Returns the runs with everything that is unknown counted as anything.
    pub(crate) fn with_unknown_opened(&self) -> Self {
        let mut opened = self.clone();
        let running = opened.commands.iter_mut().zip(&self.runs).filter(|(_, runs)| **runs);
        for (command, _) in running {
            command.words.iter_mut().for_each(ShellWord::open_unknown);
            command
                .redirects
                .iter_mut()
                .chain(&mut command.written)
                .for_each(ShellWord::open_unknown);
            // An assignment on its own touches nothing. Its value counts where it is used.
            if !command.words.is_empty() {
                command.assigns.iter_mut().for_each(ShellWord::open_unknown);
            }
            for tok in
                command.other_folders.iter_mut().flatten().filter(|t| **t == PatternToken::Is(GAP))
            {
                *tok = PatternToken::Cross;
            }
        }
        opened
    }

    /// Adds a command that is another form of this one.
    pub(crate) fn push_twin(&mut self, index: usize, command: ShellCommand) {
        let new = self.commands.len();
        let same: Vec<(usize, usize)> =
            self.starts.iter().filter(|(command, _)| *command == index).copied().collect();
        self.starts.extend(same.into_iter().map(|(_, word)| (new, word)));
        self.commands.push(command);
        self.runs.push(self.runs.get(index).copied().unwrap_or_default());
    }

    pub(crate) fn note_anything(&mut self, reason: &'static str) {
        self.anything.get_or_insert(reason);
    }

    fn add_script(&mut self, script: &ShellScript, place: TextPlace<'_>, kind: TextKind) {
        let values = ShellValues::from_script(script, place.outer);
        if kind == TextKind::Line {
            self.note_doubts(script, &values);
        }
        let reader = line_reader(script);
        let is_open = kind == TextKind::Possible || script.is_broken || reader.is_some();
        let body_kind = match reader {
            Some(InputReader::Shell) if kind == TextKind::Line => TextKind::Line,
            _ => TextKind::Possible,
        };
        let kind = ReadLine { kind, body_kind, is_open };
        for at in 0..script.commands.len() {
            let Some(forms) = values.expand(at) else {
                self.note_anything("more expansions than are followed");
                // Unexpanded, the command may still match a rule that denies.
                self.add_form(&script.commands[at], at, &values, place, kind);
                continue;
            };
            for form in forms {
                for form in feeds::fed_forms(form, &values) {
                    self.add_form(&form, at, &values, place, kind);
                }
            }
        }
        if is_open {
            let cwd = script.commands.first().and_then(|command| command.folders.first());
            let base = BaseFolders { cwd: cwd.map_or("/", String::as_str), ..place.base };
            let runs_code = kind.kind == TextKind::Line;
            let place = TextPlace { base, outer: None, runs_code, ..place };
            for body in &script.bodies {
                self.parse_text(body, place, body_kind, None);
                self.parse_text(body, place, TextKind::Code, None);
            }
        }
    }

    /// Notes why a line that runs could run anything.
    fn note_doubts(&mut self, script: &ShellScript, values: &ShellValues<'_>) {
        if script.is_broken {
            self.note_anything("a form that is not understood");
        }
        if script.has_gaps {
            self.note_anything("a command line that is not known");
        }
        if values.evaluates_unknown() {
            self.note_anything("arithmetic with an unknown value");
        }
        if values.changed.searches_folders && script.commands.iter().any(may_search_folders) {
            self.note_anything("a change to an unknown folder");
        }
        if values.moves_home {
            self.note_anything("another home");
        }
    }

    fn add_form(
        &mut self,
        command: &ShellCommand,
        at: usize,
        values: &ShellValues<'_>,
        place: TextPlace<'_>,
        line: ReadLine,
    ) {
        // The commands of the line itself count, whatever the budget.
        if !steps::spend_budget(command.words.len()) && place.depth > 0 {
            return;
        }
        let is_line = line.kind == TextKind::Line;
        if is_line
            && let Some(reason) = runs_anything(command).or_else(|| reads_unknown(command, values))
        {
            self.note_anything(reason);
        }
        let index = self.commands.len();
        let starts = possible_starts(command, line.is_open || !is_line);
        self.starts.extend(starts.into_iter().map(|word| (index, word)));
        self.commands.push(command.clone());
        self.runs.push(is_line);
        let own: String = command.render_line();
        for (text, kind) in runnable_texts(command, line) {
            // Each folder is one more reading of the text and of all texts in it.
            for cwd in command.folders.iter().take(if place.depth > 2 { 1 } else { 16 }) {
                let base = BaseFolders { cwd, ..place.base };
                let outer = Some((values, at));
                let place = TextPlace { base, outer, depth: place.depth, runs_code: is_line };
                self.parse_text(&text, place, kind, Some(&own));
            }
        }
    }

    /// Parses a text as a command line, or finds the words of a program in another language.
    fn parse_text(
        &mut self,
        text: &str,
        place: TextPlace<'_>,
        kind: TextKind,
        within: Option<&str>,
    ) {
        // A word that is a line of one word would contain itself again and again.
        if text.trim().is_empty() || steps::is_spent() || within == Some(text) {
            return;
        }
        let (text_read, folder) = (text.to_owned(), place.base.cwd.to_owned());
        let read = ReadText { text: text_read, kind, folder, runs_code: place.runs_code };
        if !self.read.insert(read) {
            return;
        }
        if place.depth >= DEEPEST {
            return steps::note_omission();
        }
        let inner = TextPlace { depth: place.depth + 1, ..place };
        if matches!(kind, TextKind::Code | TextKind::Script) {
            return self.add_code(text, inner, kind == TextKind::Script);
        }
        let mut script = ShellScript::from_nested_line(text, place.base, place.depth + 1);
        if let Some(around) = place.outer.and_then(|(values, at)| values.command(at)) {
            for command in &mut script.commands {
                command.other_folders.extend_from_slice(&around.other_folders);
            }
        }
        self.add_script(&script, inner, kind);
    }

    /// Adds the words of a program in another language as one command, and its quoted texts as
    /// command lines.
    fn add_code(&mut self, text: &str, place: TextPlace<'_>, runs_backticks: bool) {
        let found = code::words_of(text);
        let is_run = place.runs_code && code::starts_programs(text, runs_backticks);
        let kind = if is_run { TextKind::Line } else { TextKind::Possible };
        let cwd = place.base.cwd.to_owned();
        let words: Vec<ShellWord> = found.words.iter().map(|word| ShellWord::known(word)).collect();
        if words.is_empty() || !steps::spend_budget(words.len()) {
            return;
        }
        let index = self.commands.len();
        self.starts.extend((0..words.len()).map(|word| (index, word)));
        let folders = vec![cwd];
        self.commands.push(ShellCommand { words, folders, ..ShellCommand::default() });
        // Rules look for these words, and no shell runs them as a line.
        self.runs.push(false);
        for quoted in found.quoted.iter().filter(|quoted| quoted.contains(is_special)) {
            self.parse_text(quoted, place, kind, None);
        }
    }
}

fn all_words(command: &ShellCommand) -> impl Iterator<Item = &ShellWord> {
    command.words.iter().chain(&command.assigns).chain(&command.redirects)
}
