//! Where in the words of a command a program could begin.

use callgate_mask::programs::{INTERPRETERS, SHELLS, WRAPPERS};
use callgate_mask::words;

use crate::shell::names::LANGUAGES;
use crate::shell::{ShellCommand, ShellWord};

pub(super) fn possible_starts(command: &ShellCommand, is_open: bool) -> Vec<usize> {
    let words = &command.words;
    let Some(program) = words.first() else { return Vec::new() };
    if is_open {
        return (0..words.len()).collect();
    }
    let mut starts = nested_starts(words);
    if let Some(git) = starts.iter().copied().find(|at| words[*at].could_name(words!("git"))) {
        starts.extend(started_by_git(&words[git..]).into_iter().map(|at| git + at));
        starts.sort_unstable();
        starts.dedup();
    }
    if starts.len() == 1 && program.may_split && words.len() > 1 {
        // It may be no word at all.
        starts.push(1);
    }
    starts
}

/// Returns the words at which the first one's program, or one that it runs, may begin.
fn nested_starts(words: &[ShellWord]) -> Vec<usize> {
    let Some(program) = words.first() else { return Vec::new() };
    // As a wrapper `xargs` has known options, so that not every word of it may be a program.
    let is_feeder = program.could_name(words!("xargs gxargs"));
    if !is_feeder && (program.could_name(INTERPRETERS) || program.could_name(SHELLS)) {
        (0..words.len()).collect()
    } else if program.could_name(WRAPPERS) {
        wrapper_starts(words)
    } else if program.text() == Some("!") {
        // After a redirection one shell still takes it for a negation.
        let negated = nested_starts(&words[1..]).into_iter().map(|at| 1 + at);
        [0].into_iter().chain(negated).collect()
    } else {
        vec![0]
    }
}

/// Returns the words at which a shell would find a program: not every word of a program in another
/// language.
pub(super) fn program_starts(command: &ShellCommand) -> impl Iterator<Item = usize> {
    let is_language = command.words.first().is_some_and(|program| program.could_name(LANGUAGES));
    let starts = if is_language { vec![0] } else { possible_starts(command, false) };
    starts.into_iter()
}

fn started_by_git(words: &[ShellWord]) -> Vec<usize> {
    let mut starts = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1).take(words.len().saturating_sub(2)) {
        let is_before = |text: &str| {
            matches!(text, "foreach" | "run" | "-x" | "--exec" | "--recursive" | "--quiet")
        };
        if word.text().is_some_and(is_before) {
            let rest = words[at + 1..].iter();
            let first = at + 1 + rest.take_while(|word| word.could_contain("=")).count();
            // What may be an assignment may also be the program.
            starts.extend(at + 1..first);
            starts.extend(nested_starts(&words[first..]).into_iter().map(|inner| first + inner));
        }
    }
    starts
}

/// Returns the words of a wrapper up to the first that is certainly the program, and so on through
/// wrappers.
fn wrapper_starts(words: &[ShellWord]) -> Vec<usize> {
    let mut starts = vec![0];
    let mut after_option = false;
    // A lock, a folder, a mask or a user comes before the program.
    let takes_operand = |word: &ShellWord| {
        word.could_name(words!("flock chroot taskset faketime setuidgid chpst runuser su"))
    };
    let mut is_operand_due = words.first().is_some_and(takes_operand);
    let mut is_feeder = words.first().is_some_and(|word| word.could_name(words!("xargs gxargs")));
    // The value of such an option of `xargs` is the next word.
    let takes_value = |option: &str| {
        matches!(option, "-I" | "-n" | "-P" | "-L" | "-s" | "-d" | "-a" | "-E" | "-J" | "-R" | "-S")
            || option.starts_with("--")
    };
    for (at, word) in words.iter().enumerate().skip(1) {
        starts.push(at);
        // Behind these any later word may be a program, as at the beginning of a command.
        if word.could_name(INTERPRETERS) || word.could_name(SHELLS) {
            starts.extend(at + 1..words.len());
            break;
        }
        let is_option = word.could_begin_with("-") || word.may_split;
        let is_own =
            word.could_contain("=") || word.first_text().starts_with(|c: char| c.is_ascii_digit());
        let is_plain = !is_option && !is_own && !after_option;
        if !is_option && takes_operand(word) {
            // After an option it may be the option's value, or the next wrapper.
            is_operand_due = true;
        } else if is_plain && is_operand_due {
            is_operand_due = false;
        } else if is_plain && !word.could_name(WRAPPERS) {
            break;
        }
        if is_plain {
            is_feeder = word.could_name(words!("xargs gxargs"));
        }
        let is_flag = is_feeder && !takes_value(&word.first_text());
        after_option = is_option && !is_flag && !word.first_text().contains('=');
    }
    starts
}
