//! The command line that an agent runs for its hook: how it is written and recognised.

use std::path::Path;

/// Who wrote a command of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandOwner {
    /// It starts callgate's hook and nothing else.
    Ours,
    /// It starts callgate's hook as a part of a command that somebody else wrote.
    Composed,
    /// It has nothing to do with us.
    Foreign,
}

/// The large program, whose first argument `hook` makes it a hook.
pub const LARGE: &str = "callgate";
/// The small program, which is a hook by itself.
pub const SMALL: &str = "callgate-hook";

/// Returns who wrote `command`. Ours runs the program `callgate` with the first argument `hook`, or
/// the program `callgate-hook`.
pub fn command_owner(command: &str) -> CommandOwner {
    let ShellWords { words, is_plain } = parse_shell_words(command);
    let starts_hook = |at: &usize| match program_name(&words[*at]) {
        LARGE => words.get(at + 1).is_some_and(|argument| argument == "hook"),
        name => name == SMALL,
    };
    match (0..words.len()).find(starts_hook) {
        Some(0) if is_plain => CommandOwner::Ours,
        Some(_) => CommandOwner::Composed,
        None => CommandOwner::Foreign,
    }
}

/// Returns the program that `command` starts, as it is written there; `None` if it contains a
/// variable of the shell.
pub fn program_of_command(command: &str) -> Option<String> {
    let program = parse_shell_words(command).words.into_iter().next()?;
    (!program.contains('$')).then_some(program)
}

/// Returns true if `command` starts the small program, which is a hook whatever its arguments are.
pub fn is_small(command: &str) -> bool {
    program_of_command(command).is_some_and(|program| program_name(&program) == SMALL)
}

fn program_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns the command that runs `program`, the large or the small one, as a hook with these
/// options. They are all that the hook needs, because its environment may be a project's.
pub fn build_hook_line(program: &str, options: &[(&str, &str)]) -> String {
    let argument = if program_name(program) == SMALL { "" } else { " hook" };
    let mut command = format!("{}{argument}", shell_quoted(program));
    for (flag, value) in options {
        command = format!("{command} {flag} {}", shell_quoted(value));
    }
    command
}

/// Returns the command line of an agent that starts `program` with these arguments without a shell.
pub fn build_command_line(program: &str, arguments: &[String]) -> String {
    let words = std::iter::once(program).chain(arguments.iter().map(String::as_str));
    words.map(shell_quoted).collect::<Vec<_>>().join(" ")
}

/// Returns the program and the arguments of a command line, as a shell would read them.
pub fn split_command(command: &str) -> (String, Vec<String>) {
    let mut words = parse_shell_words(command).words.into_iter();
    (words.next().unwrap_or_default(), words.collect())
}

/// Returns the value of the option `flag` in `command`, as a shell would read it.
pub fn find_option(command: &str, flag: &str) -> Option<String> {
    let ShellWords { words, is_plain } = parse_shell_words(command);
    // In a line with operators the option could belong to another command.
    let at = words.iter().position(|word| word == flag).filter(|_| is_plain)?;
    words.get(at + 1).cloned()
}

/// Returns a path as text. Fails if it is not UTF-8.
pub fn path_text(path: &Path) -> Result<&str, String> {
    let odd = || format!("{} is not UTF-8, so no settings file can hold it", path.display());
    path.to_str().ok_or_else(odd)
}

pub fn shell_quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a command, and whether a shell would do nothing but run them.
#[derive(Default)]
struct ShellWords {
    words: Vec<String>,
    is_plain: bool,
}

fn parse_shell_words(command: &str) -> ShellWords {
    let mut found = ShellWords { words: Vec::new(), is_plain: true };
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => found.words.extend(word.take()),
            // Stricter than a shell, which takes `#` for a comment only at the beginning of a word:
            // such a command counts as composed, and not as ours.
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '`' | '\n' | '\r' | '#' => {
                found.is_plain = false;
                found.words.extend(word.take());
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            '\'' => {
                let rest = letters.as_str();
                let end = rest.find('\'');
                found.is_plain &= end.is_some();
                let end = end.unwrap_or(rest.len());
                word.get_or_insert_default().push_str(&rest[..end]);
                letters = rest.get(end + 1..).unwrap_or_default().chars();
            }
            '"' => found.is_plain &= in_quotes(&mut letters, word.get_or_insert_default()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    found.words.extend(word);
    found
}

/// Reads up to the closing quote. Returns false if there is none, or if a command is substituted
/// before it.
fn in_quotes(letters: &mut std::str::Chars, word: &mut String) -> bool {
    let mut is_plain = true;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return is_plain,
            '\\' => match letters.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
                next => word.extend(['\\'].into_iter().chain(next)),
            },
            // A parenthesis alone is harmless; what counts is that no substitution is missed.
            '`' | '(' => is_plain = false,
            letter => word.push(letter),
        }
    }
    false
}

#[cfg(test)]
mod tests;
