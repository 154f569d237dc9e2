//! Why a command line could run anything: what it runs is not known, or cannot be.

use callgate_mask::programs::SHELLS;
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use super::starts::{possible_starts, program_starts};
use crate::place::last_name;
use crate::shell::names::{LANGUAGES, LINE_TAKERS, RUN_VARIABLES};
use crate::shell::values::ShellValues;
use crate::shell::word::WordPiece;
use crate::shell::{GAP, ShellCommand, ShellScript, ShellWord, operands};

const LINE_READERS: &WordList = words!("source . ssh su at batch parallel");
/// Variables of one shell that define what names mean.
const TABLES: [&str; 6] = ["aliases[", "galiases[", "saliases[", "functions[", "commands[", "dis_"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputReader {
    Shell,
    Language,
}

pub(super) fn runs_anything(command: &ShellCommand) -> Option<&'static str> {
    let is_table = |word: &ShellWord| {
        let text = word.first_text();
        TABLES.iter().any(|name| text.starts_with(name))
    };
    if command.assigns.iter().chain(command.words.first()).any(is_table) {
        return Some("a table of the shell");
    }
    let program = command.words.first()?;
    if program.is_anything() || (program.may_split && program.first_text().starts_with(GAP)) {
        return Some("a program whose name is not known");
    }
    let is_setting = |word: &ShellWord| word.first_text().starts_with("GIT_CONFIG");
    let names_alias =
        // Git ignores the case of the names of its settings.
        |word: &ShellWord| word.texts().any(|text| text.to_lowercase().contains("alias."));
    let is_git = |at: usize| command.words[at].could_name(words!("git"));
    if command.assigns.iter().any(is_setting)
        || (command.words.iter().any(names_alias)
            && possible_starts(command, false).into_iter().any(is_git))
    {
        return Some("an alias of git");
    }
    let is_definition = |word: &ShellWord| word.first_text().contains('=') || word.has_unknown();
    if program.could_name(words!("alias")) && command.words[1..].iter().any(is_definition) {
        return Some("an alias");
    }
    let gives_path = command.words[1..].iter().any(is_definition);
    let changes_names = program.could_name(words!("hash enable autoload zmodload"));
    if changes_names && (command.words.len() > 2 || gives_path) {
        return Some("a command that changes the meaning of names");
    }
    let is_compared = |word: &ShellWord| {
        word.text()
            .is_some_and(|text| matches!(text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"))
    };
    let is_test = program.text() == Some("[[") && command.words.iter().any(is_compared);
    if (is_test || program.text() == Some("let"))
        && command.words.iter().any(ShellWord::has_unknown)
    {
        return Some("arithmetic with an unknown value");
    }
    let runs_sed = program.could_name(words!("sed gsed"))
        && operands::sed_scripts(&command.words[1..])
            .any(|script| script.texts().any(|text| !operands::runs_nothing(&text)));
    if runs_sed {
        return Some("a script for sed that could run commands");
    }
    let has_code_gap = program_starts(command).any(|at| takes_gap(&command.words[at..]));
    has_code_gap.then_some("a program text that is not known")
}

/// Returns true if a command changes to a folder that a shell may look for.
pub(super) fn may_search_folders(command: &ShellCommand) -> bool {
    let is_change = |word: &ShellWord| word.could_name(words!("cd chdir pushd"));
    let is_tied = |word: &ShellWord| {
        word.text().is_some_and(|text| {
            text.starts_with(['/', '-', '+'])
                || matches!(text.split('/').next(), Some("." | ".."))
                || words!("command builtin cd chdir pushd").contains(text)
        })
    };
    command.words.iter().any(is_change) && !command.words.iter().all(is_tied)
}

/// Returns true if a program gets a text to run of which something is not known.
pub(super) fn takes_gap(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let is = |list: &WordList| program.could_name(list);
    if is(LINE_TAKERS) {
        return rest.iter().any(ShellWord::has_unknown);
    }
    let is_shell = is(SHELLS);
    if !is_shell && !is(LANGUAGES) && !is(words!("sed gsed")) {
        return false;
    }
    // Their program is a word by its place and not by an option.
    if is(words!("sed gsed")) || is(words!("awk gawk mawk nawk")) {
        return operands::program_text(&program.first_text(), rest)
            .is_some_and(ShellWord::has_unknown);
    }
    let gives_code = |word: &ShellWord| {
        word.text().is_some_and(|text| {
            text.starts_with('-')
                && (matches!(text, "--eval" | "--print" | "--command")
                    || (!text.starts_with("--") && text.ends_with(['c', 'e', 'E', 'r', 'p'])))
        })
    };
    words.windows(2).any(|two| gives_code(&two[0]) && two[1].has_unknown())
}

/// Returns who in a line runs what it reads, which may be any part of the line.
pub(super) fn line_reader(script: &ShellScript) -> Option<InputReader> {
    // A file that the line has written may be run by it.
    let writes = script.commands.iter().any(|command| {
        let is_file = |word: &ShellWord| {
            !matches!(word.text(), Some("/dev/null" | "1" | "2" | "/dev/stderr" | "/dev/stdout"))
        };
        command.redirects.iter().any(is_file) || command.program() == Some("tee")
    });
    let written: Vec<String> = script
        .commands
        .iter()
        .flat_map(|command| &command.redirects)
        .map(|word| last_name(&word.first_text()).to_owned())
        .collect();
    let is_written = |command: &ShellCommand| {
        let program = command.words.first().map(|word| last_name(&word.first_text()).to_owned());
        program.is_some_and(|name| !name.is_empty() && written.contains(&name))
    };
    if script.commands.iter().any(is_written) {
        return Some(InputReader::Shell);
    }
    let readers = script.commands.iter().filter_map(|command| reader_of(command, writes));
    readers.reduce(|one, other| if one == InputReader::Shell { one } else { other })
}

/// Returns how a command runs what it reads, if it does.
pub(super) fn reader_of(command: &ShellCommand, writes: bool) -> Option<InputReader> {
    let is_operand = |word: &ShellWord| {
        let text = word.first_text();
        text == "-c"
            || (!text.starts_with('-') && text != "/dev/stdin" && !text.starts_with("/dev/fd"))
    };
    let names_file = |word: &ShellWord| {
        RUN_VARIABLES.iter().any(|name| word.first_text().starts_with(&format!("{name}=")))
    };
    let reads_variable = writes && command.assigns.iter().chain(&command.words).any(names_file);
    let reader = |at: usize| {
        let (program, rest) = (&command.words[at], &command.words[at + 1..]);
        let has_input = command.is_piped || command.reads_file || rest.is_empty();
        let reads = (has_input || writes) && (!has_code(rest) || command.is_piped)
            || !rest.iter().any(is_operand);
        if program.could_name(SHELLS) || program.could_name(LINE_READERS) {
            reads.then_some(InputReader::Shell)
        } else if program.could_name(LANGUAGES) && has_input && !rest.iter().any(is_operand)
            || program.could_name(words!("make gmake ed ex newgrp")) && command.has_here_text
        {
            Some(InputReader::Language)
        } else {
            None
        }
    };
    let found = program_starts(command).find_map(reader);
    found.or_else(|| reads_variable.then_some(InputReader::Shell))
}

/// Returns true if an option of a shell gives it a command line.
pub(super) fn has_code(words: &[ShellWord]) -> bool {
    words.iter().any(|word| {
        let text = word.first_text();
        text.starts_with('-') && !text.starts_with("--") && text.contains('c')
    })
}

/// Returns why a shell could read anything from another command.
pub(super) fn reads_unknown(
    command: &ShellCommand,
    values: &ShellValues<'_>,
) -> Option<&'static str> {
    let is_shell = |at: usize| {
        let (program, rest) = (&command.words[at], &command.words[at + 1..]);
        let is_script = |word: &ShellWord| !word.first_text().starts_with('-');
        program.could_name(SHELLS) && !has_code(rest) && !rest.iter().any(is_script)
    };
    // A text in the line itself is read as a line of its own.
    let is_fed = command.is_piped && !command.has_here_text;
    if !is_fed || !program_starts(command).any(is_shell) {
        return None;
    }
    let reason = "a shell that runs what is not known";
    let Some(feeder) = command.fed_by else { return Some(reason) };
    let printed = values.printed_by(feeder, 1);
    printed.iter().flatten().any(|piece| !matches!(piece, WordPiece::Text(_))).then_some(reason)
}
