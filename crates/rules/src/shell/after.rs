//! The effects of the commands of a line on each other: folders, and commands that change the
//! shell.

use callgate_mask::programs::is_one_of;

use super::names::STATEFUL;
use super::{MOST_WILD_WORDS, ShellCommand, ShellScript, ShellWord};
use crate::place::link::is_through_root;
use crate::place::{BaseFolders, LONGEST, join, last_name, normal};
use crate::steps;

/// The most folders in which a command may run before they count as unknown.
const MOST_FOLDERS: usize = 16;

/// Finds the folders of all commands, and what makes a line unclear besides its grammar.
pub(super) fn look(script: &mut ShellScript, base: BaseFolders<'_>) {
    let mut folders = vec![normal(base.cwd)];
    let mut doubts = Vec::new();
    for command in &mut script.commands {
        let length: usize = folders.iter().map(String::len).sum();
        doubts.extend(doubt(command));
        if !steps::spend(length) {
            // The folders of the other commands are not determined any more.
            steps::cut();
            command.folders.extend(folders.first().cloned());
            doubts.push("more commands than are read");
            continue;
        }
        command.folders.clone_from(&folders);
        if !step(command, &mut folders, base.home) {
            doubts.push("a change to an unknown folder");
        }
    }
    let words = script.commands.iter().flat_map(|command| &command.words);
    if words.filter(|word| !word.is_known()).count() > MOST_WILD_WORDS {
        doubts.push("more wildcards than are looked at");
    }
    for reason in doubts {
        script.doubt(reason);
    }
}

fn doubt(command: &ShellCommand) -> Option<&'static str> {
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
fn step(command: &ShellCommand, folders: &mut Vec<String>, home: &str) -> bool {
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
        (None, _) if program == Some("cd") => home,
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
    let gone: Vec<String> = folders.iter().map(|cwd| join(cwd, target)).collect();
    for folder in gone {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    let is_known = is_known && folders.len() <= MOST_FOLDERS;
    folders.truncate(MOST_FOLDERS);
    is_known
}
