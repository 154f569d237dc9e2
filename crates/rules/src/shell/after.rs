//! The effects of the commands of a line on each other: folders, and commands that change the
//! shell.

use std::collections::HashMap;

use callgate_mask::programs::is_one_of;

use super::names::STATEFUL;
use super::values::{ShellValues, runs_in_same_shell};
use super::{GAP, MOST_WILD_WORDS, ShellCommand, ShellScript, ShellWord};
use crate::glob::{PatternToken, literal_toks};
use crate::place::link::is_through_root;
use crate::place::{
    BaseFolders, LONGEST, folders_above, join_path, last_name, normal_path, placed_toks,
};
use crate::steps;

/// The most folders in which a command may run before they count as unknown. Every word of a
/// command is placed in each of them.
const MOST_FOLDERS: usize = 16;

/// Finds the folders of all commands, and what makes a line unclear besides its grammar.
pub(super) fn find_folders(script: &mut ShellScript, base: BaseFolders<'_>) {
    let mut folders = vec![normal_path(base.cwd)];
    let mut others = Vec::new();
    let mut doubts = Vec::new();
    // The values of variables are looked up only where a folder depends on one.
    let targets = changed_folders(script, base);
    let mut has_moved = false;
    for (at, command) in script.commands.iter_mut().enumerate() {
        let length: usize = folders.iter().map(String::len).sum();
        doubts.extend(command_doubt(command));
        if !steps::spend_budget(length) {
            // The folders of the other commands are not determined any more.
            steps::note_omission();
            command.folders.extend(folders.first().cloned());
            doubts.push("more commands than are read");
            continue;
        }
        command.folders.clone_from(&folders);
        command.other_folders.clone_from(&others);
        let is_known = change_folder(command, &mut folders, base.home);
        if is_known && changes_within_text(command) {
            doubts.push("a change to an unknown folder");
            others.push(unknown_folder());
        }
        if is_known && !others.is_empty() && names_change(command) {
            // It may also lead on from a folder that is not known.
            step_loosely(command.words.last(), command, &[], &mut others, base.home);
        }
        if !is_known {
            doubts.push("a change to an unknown folder");
            let word = targets.get(&at).or_else(|| command.words.get(1));
            // A return leads to a folder that is among the known ones already.
            let is_back = has_moved && is_return(command);
            if !is_back && !steps::is_spent() {
                step_loosely(word, command, &folders, &mut others, base.home);
            }
        }
        has_moved |= command.program().is_some_and(|program| matches!(program, "cd" | "pushd"));
    }
    if runs_again(script) {
        spread_folders(script, folders, &others);
    }
    let words = script.commands.iter().flat_map(|command| &command.words);
    if words.filter(|word| !word.is_known()).count() > MOST_WILD_WORDS {
        doubts.push("more wildcards than are looked at");
    }
    for reason in doubts {
        script.note_doubt(reason);
    }
}

/// Returns true if commands of a line may run once more after those that follow them: it has
/// loops, functions or traps.
fn runs_again(script: &ShellScript) -> bool {
    let mut words = script.commands.iter().filter_map(|command| command.words.first());
    script.has_loops
        || !script.functions.is_empty()
        || words.any(|word| matches!(word.text(), Some("trap" | "function")))
}

/// Puts all folders of a line at all of its commands.
fn spread_folders(
    script: &mut ShellScript,
    mut folders: Vec<String>,
    others: &[Vec<PatternToken>],
) {
    let climbs = |command: &ShellCommand| match command.program() {
        Some("cd" | "pushd") => {
            Some(command.words.get(1).is_some_and(|word| word.could_begin_with("..")))
        }
        _ => None,
    };
    let mut changes = script.commands.iter().filter_map(climbs).peekable();
    if script.has_loops && changes.peek().is_some() && changes.all(|climbs| climbs) {
        // Each round leads further up.
        for folder in folders.clone().iter().flat_map(|folder| folders_above(folder)) {
            if !folders.iter().any(|known| known == folder) {
                folders.push(folder.to_owned());
            }
        }
        folders.truncate(MOST_FOLDERS);
    }
    if folders.len() + others.len() < 2 {
        return;
    }
    let length: usize = folders.iter().map(String::len).sum();
    for command in &mut script.commands {
        if !steps::spend_budget(length) {
            return steps::note_omission();
        }
        command.folders.clone_from(&folders);
        others.clone_into(&mut command.other_folders);
    }
}

/// Returns true if a command changes to a folder that it names.
fn names_change(command: &ShellCommand) -> bool {
    let is_change = |word: &ShellWord| matches!(word.text(), Some("cd" | "chdir" | "pushd"));
    command.words.len() > 1 && command.words.iter().any(is_change)
}

/// Returns true if a text that the same shell runs may change its folder.
fn changes_within_text(command: &ShellCommand) -> bool {
    let is_change = |word: &str| matches!(word, "cd" | "chdir" | "pushd" | "popd");
    let names_change =
        |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_change);
    runs_in_same_shell(command)
        && (command.is_piped || command.words.iter().any(|word| names_change(&word.first_text())))
}

fn unknown_folder() -> Vec<PatternToken> {
    vec![PatternToken::Is('/'), PatternToken::Is(GAP)]
}

/// Returns the targets of the `cd`s of a line whose values are not written out.
fn changed_folders(script: &ShellScript, base: BaseFolders<'_>) -> HashMap<usize, ShellWord> {
    let is_open = |command: &ShellCommand| {
        command
            .program()
            .is_some_and(|program| matches!(last_name(program), "cd" | "chdir" | "pushd"))
            && command.words.iter().any(|word| !word.is_known())
    };
    if !script.commands.iter().any(is_open) {
        return HashMap::new();
    }
    let mut here = script.clone();
    for command in &mut here.commands {
        // `$PWD` and `pwd` need a folder, and those of the commands are not known yet.
        command.folders = vec![normal_path(base.cwd)];
    }
    let values = ShellValues::from_script(&here, None);
    let commands = script.commands.iter().enumerate().filter(|(_, command)| is_open(command));
    let targets = commands.filter_map(|(at, command)| {
        let word = command.words.iter().skip(1).find(|word| !word.could_begin_with("-"))?;
        Some((at, values.joined_word(word, at)))
    });
    targets.collect()
}

/// Returns true if a command goes back to the folder before.
fn is_return(command: &ShellCommand) -> bool {
    match command.program() {
        Some("popd") => true,
        Some("cd") => command.words.get(1).is_some_and(|word| word.text() == Some("-")),
        _ => false,
    }
}

/// Adds the folders to which a command could change.
fn step_loosely(
    target: Option<&ShellWord>,
    command: &ShellCommand,
    folders: &[String],
    others: &mut Vec<Vec<PatternToken>>,
    home: &str,
) {
    let unknown = unknown_folder();
    let mut found = Vec::new();
    match target.filter(|_| command.assigns.is_empty()) {
        Some(word) if !word.has_unknown() && !word.could_begin_with("-") => {
            let from: Vec<Vec<PatternToken>> = folders
                .iter()
                .map(|folder| literal_toks(folder))
                .chain(others.iter().cloned())
                .collect();
            for toks in word.patterns() {
                found.extend(from.iter().map(|folder| placed_toks(&toks, folder, home)));
            }
        }
        _ => found.push(unknown.clone()),
    }
    for folder in found {
        if !others.contains(&folder) {
            others.push(folder);
        }
    }
    if others.len() > MOST_FOLDERS {
        *others = vec![unknown];
    }
}

fn command_doubt(command: &ShellCommand) -> Option<&'static str> {
    let first = command.words.first()?;
    let Some(program) = first.text() else {
        return Some("a program whose name is not written out");
    };
    let rest = &command.words[1..];
    let texts = || rest.iter().filter_map(|word| word.text());
    if program.is_empty() {
        Some("no program")
    } else if program.starts_with('%') {
        Some("a job of the shell")
    } else if is_one_of(program, STATEFUL)
        || (program == "printf" && texts().any(|text| text.starts_with("-v")))
    {
        Some("a command that changes the shell")
    } else if matches!(program, "test" | "[" | "printf") && texts().any(has_substitution) {
        // The shell's own `test -v` evaluates the text in the brackets of its operand.
        Some("a substitution")
    } else {
        None
    }
}

fn has_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// Adds the folder to which this command changes; false if that is unknown.
fn change_folder(command: &ShellCommand, folders: &mut Vec<String>, home: &str) -> bool {
    let is_prefix = |word: &&ShellWord| {
        matches!(word.text(), Some("time" | "-p" | "command" | "builtin" | "--"))
    };
    let mut words = command.words.iter().skip_while(is_prefix).map(ShellWord::text);
    let program = words.next().flatten().map(last_name);
    let Some("cd" | "chdir" | "pushd") = program else { return true };
    // With an assignment it may use another home, or search other folders.
    if !command.assigns.is_empty() {
        return false;
    }
    let mut target = words.next();
    while matches!(target, Some(Some("-P" | "-L" | "--"))) {
        target = words.next();
    }
    let target = match (target, words.next()) {
        // `pushd` without a folder swaps two that were visited before.
        (None, _) if program == Some("cd") => home,
        // `cd -` goes back, and `pushd +1` turns the stack of folders.
        (Some(Some(target)), None) if !target.starts_with(['-', '+']) && !target.is_empty() => {
            target
        }
        _ => return false,
    };
    let longest = folders.iter().map(String::len).max().unwrap_or_default();
    if longest + target.len() > LONGEST {
        return false;
    }
    let is_known = !folders.iter().any(|cwd| is_through_root(cwd, target));
    // The earlier folders stay, because the change may fail and the line may go on all the same.
    let gone: Vec<String> = folders.iter().map(|cwd| join_path(cwd, target)).collect();
    for folder in gone {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let is_known = is_known && folders.len() <= MOST_FOLDERS;
    folders.truncate(MOST_FOLDERS);
    is_known
}
