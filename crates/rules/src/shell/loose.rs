//! Everything in a command line that could run, for rules that forbid.
//!
//! A deny has to find its command behind wrappers, in the arguments of shells and interpreters, in
//! here-documents and in lines that were not understood. Finding too much does no harm here.

use callgate_mask::programs::{INTERPRETERS, SHELLS, WRAPPERS, is_one_of};

use super::names::CAN_RUN;
use super::{DEEPEST, ShellCommand, ShellScript, ShellWord, operands};
use crate::place::BaseFolders;
use crate::steps;

/// All commands that could run, and where in their words they could begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct PossibleRuns {
    /// The commands of the line and those found in its words.
    pub(crate) commands: Vec<ShellCommand>,
    /// For each possible beginning: the command's index, and the word's index in it.
    pub(crate) starts: Vec<(usize, usize)>,
    /// Whether a script in which they were found is not fully understood.
    pub(crate) is_unclear: bool,
}

impl PossibleRuns {
    /// Finds everything that could run in a script.
    pub(crate) fn of(script: &ShellScript, home: &str) -> Self {
        let mut runs = Self::default();
        runs.extend(script, home, false);
        runs
    }

    /// Returns the words of every command that could run, the program first.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&ShellCommand, &[ShellWord])> {
        // Callers examine all of them, which takes long for a long line.
        self.beginnings().take_while(|(_, words)| steps::spend(words.len()))
    }

    /// Returns the same at a lower cost, for callers that examine the first words of most of them.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = (&ShellCommand, &[ShellWord])> {
        let counted = self.starts.iter().take_while(|_| steps::spend(1));
        counted.map(|(command, word)| {
            let command = &self.commands[*command];
            (command, &command.words[*word..])
        })
    }

    /// Adds everything that could run in another script. Code of another language may contain a
    /// command anywhere.
    pub(crate) fn extend(&mut self, script: &ShellScript, home: &str, is_code: bool) {
        self.is_unclear |= !script.is_clear();
        self.add(script, "", home, 0, is_code);
    }

    /// Adds everything that could run in the script that was read from `source`.
    fn add(&mut self, script: &ShellScript, source: &str, home: &str, depth: usize, is_code: bool) {
        let is_open = is_code || script.is_broken || script.commands.iter().any(opens_all);
        for command in &script.commands {
            let index = self.commands.len();
            let starts = starts(command, is_open);
            self.starts.extend(starts.into_iter().map(|word| (index, word)));
            self.commands.push(command.clone());
            let texts = texts(command, is_open);
            // All words are examined for it, so once for the command and not once for each text.
            let is_code = is_code || (!texts.is_empty() && takes_code(command));
            // To read the same text once more would find the same.
            for text in texts.into_iter().filter(|text| text != source) {
                for cwd in &command.folders {
                    self.read(&text, BaseFolders { cwd, home }, depth, is_code);
                }
            }
        }
        if is_open {
            let cwd = script.commands.first().and_then(|command| command.folders.first());
            let base = BaseFolders { cwd: cwd.map_or("/", String::as_str), home };
            for body in &script.bodies {
                self.read(body, base, depth, is_code);
            }
        }
    }

    /// Parses a text as a command line, or as code that may contain one anywhere.
    fn read(&mut self, text: &str, base: BaseFolders<'_>, depth: usize, is_code: bool) {
        if text.trim().is_empty() || steps::is_spent() {
            return;
        }
        if depth >= DEEPEST {
            steps::cut();
        } else {
            let script = ShellScript::nested(text, base, depth + 1);
            self.add(&script, text, base.home, depth + 1, is_code);
        }
    }
}

/// Returns true if this command may run any part of the line.
fn opens_all(command: &ShellCommand) -> bool {
    let is_feeder = |program: &str| {
        is_one_of(program, SHELLS)
            || is_one_of(program, "eval source . xargs gxargs parallel trap alias")
    };
    let begins = |at: usize| command.words[at].text().is_some_and(is_feeder);
    starts(command, false).into_iter().any(begins)
        || command.words.first().is_some_and(|program| !program.is_known())
}

/// Returns true if this command is given code of a language other than the shell's.
fn takes_code(command: &ShellCommand) -> bool {
    let is_interpreter = |at: usize| {
        command.words[at].text().is_some_and(|program| is_one_of(program, INTERPRETERS))
    };
    starts(command, false).into_iter().any(is_interpreter)
}

/// Returns the words at which a program may begin.
fn starts(command: &ShellCommand, is_open: bool) -> Vec<usize> {
    let Some(program) = command.words.first() else { return Vec::new() };
    let is = |list| program.text().is_some_and(|program| is_one_of(program, list));
    if is_open || is(INTERPRETERS) || is(SHELLS) {
        (0..command.words.len()).collect()
    } else if is(WRAPPERS) {
        wrapped(&command.words)
    } else {
        vec![0]
    }
}

/// Returns the words of a wrapper up to the first that is certainly the program, and so on through
/// wrappers.
fn wrapped(words: &[ShellWord]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut after_option = false;
    // A lock, a folder, a mask or a user comes before the program.
    let takes_operand = |word: &ShellWord| {
        word.text().is_some_and(|program| {
            is_one_of(program, "flock chroot taskset faketime setuidgid chpst runuser su")
        })
    };
    let mut is_operand_due = words.first().is_some_and(takes_operand);
    for (at, word) in words.iter().enumerate().skip(1) {
        starts.push(at);
        let text = word.known_text();
        let is_option = text.starts_with('-');
        let is_own = text.contains('=') || text.starts_with(|c: char| c.is_ascii_digit());
        if !is_option && !is_own && !after_option && is_operand_due {
            is_operand_due = false;
        } else if !is_option && !is_own && !after_option && !is_one_of(&text, WRAPPERS) {
            if is_one_of(&text, INTERPRETERS) || is_one_of(&text, SHELLS) {
                starts.extend(at + 1..words.len());
            }
            break;
        }
        after_option = is_option && !text.contains('=');
    }
    starts
}

/// Returns the texts in a command's words that may be command lines themselves.
fn texts(command: &ShellCommand, is_open: bool) -> Vec<String> {
    let is = |list| command.program().is_some_and(|program| is_one_of(program, list));
    let looks_inside = is_open || is(INTERPRETERS) || is(SHELLS) || is(WRAPPERS);
    // The output of a harmless program is run only if something in the line runs it.
    let harmless = if is_open { Vec::new() } else { operands::harmless_texts(command) };
    let mut texts = Vec::new();
    for (at, word) in command.words.iter().enumerate() {
        if harmless.contains(&at) {
            continue;
        }
        let text = word.known_text();
        if looks_inside && text.contains(is_special) {
            texts.push(text.clone());
        }
        if looks_inside || is(CAN_RUN) {
            texts.extend(values(&text));
        }
    }
    for assign in &command.assigns {
        let text = assign.known_text();
        texts.extend(assign.value_at.and_then(|at| text.get(at..)).map(Into::into));
    }
    texts
}

/// Returns the text after each `=` of an option.
fn values(text: &str) -> impl Iterator<Item = String> {
    let after =
        |(at, _): (usize, &str)| text[at + 1..].trim_start_matches(['!', '\'', '"']).to_owned();
    text.match_indices('=').take(4).map(after).filter(|value| !value.is_empty())
}

fn is_special(c: char) -> bool {
    c.is_whitespace() || ";&|<>()`$'\"!{}=,".contains(c)
}
