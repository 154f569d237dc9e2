//! The texts in the input of an unknown tool that it may run, by the names of its members.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The names of members that hold a command line or its words, in lower case.
const COMMANDS: [&str; 4] = ["command", "commands", "cmd", "cmds"];
/// The names of members that hold code, which may be that of a shell.
const CODES: [&str; 4] = ["script", "scripts", "code", "codes"];
/// The names of members with the arguments of a program that is given beside them.
const ARGUMENTS: [&str; 3] = ["args", "arguments", "argv"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::act) struct NamedCommand<'a> {
    pub(in crate::act) text: CommandText<'a>,
    /// Whether it may be code of another language, in which a command can be anywhere.
    pub(in crate::act) is_code: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::act) enum CommandText<'a> {
    /// For a shell.
    Line(Cow<'a, str>),
    Words(Vec<Cow<'a, str>>),
}

/// Returns the commands in an input, in every reading: each text below a member whose name says
/// that it is a command or code. A list may be the words of one command or a list of lines.
pub(in crate::act) fn named_commands(input: &Map<String, Value>) -> Vec<NamedCommand<'_>> {
    let mut found = Vec::new();
    let mut left: Vec<(&Value, Option<bool>)> = Vec::new();
    add_members(input, None, &mut left, &mut found);
    while let Some((value, kind)) = left.pop() {
        match (value, kind) {
            (Value::Object(map), _) => add_members(map, kind, &mut left, &mut found),
            (Value::Array(values), _) => {
                if let Some(is_code) = kind {
                    found.extend(
                        list_readings(values)
                            .into_iter()
                            .map(|text| NamedCommand { text, is_code }),
                    );
                }
                // The texts of the list itself were read above, as words and as lines.
                left.extend(values.iter().filter(|v| !v.is_string()).map(|value| (value, kind)));
            }
            (Value::String(text), Some(is_code)) => {
                let text = CommandText::Line(text.as_str().into());
                found.push(NamedCommand { text, is_code });
            }
            _ => {}
        }
    }
    found
}

/// Adds the members of an object to those that are still to be read, and the commands that have
/// their arguments in another member. `above` says whether the object itself is a command, and
/// whether that may be code.
fn add_members<'a>(
    map: &'a Map<String, Value>,
    above: Option<bool>,
    left: &mut Vec<(&'a Value, Option<bool>)>,
    found: &mut Vec<NamedCommand<'a>>,
) {
    let arguments: Vec<Vec<Cow<'a, str>>> = map
        .iter()
        .filter(|(name, _)| is_one_of(name, &ARGUMENTS))
        .map(|(_, v)| command_line_words(v))
        .collect();
    for (name, value) in map {
        // What is below a command is one, too, whatever its own name is.
        let kind = member_kind(name).or(above);
        left.push((value, kind));
        let Some(is_code) = kind.filter(|_| !is_one_of(name, &ARGUMENTS)) else { continue };
        for arguments in arguments.iter().filter(|arguments| !arguments.is_empty()) {
            let all = [command_line_words(value), arguments.clone()].concat();
            let line = CommandText::Line(all.join(" ").into());
            // Some tools join both to a line for a shell, and others start the program with these
            // words.
            let readings = [line, CommandText::Words(all)];
            found.extend(readings.map(|text| NamedCommand { text, is_code }));
        }
    }
}

/// Returns the readings of a list of texts: one command, and lines. Other lists have none.
fn list_readings(values: &[Value]) -> Vec<CommandText<'_>> {
    let all: Vec<Cow<'_, str>> = values.iter().flat_map(command_line_words).collect();
    if all.is_empty() || !values.iter().any(Value::is_string) {
        return Vec::new();
    }
    vec![CommandText::Line(all.join("\n").into()), CommandText::Words(all)]
}

fn command_line_words(value: &Value) -> Vec<Cow<'_, str>> {
    match value {
        Value::String(text) => vec![text.as_str().into()],
        Value::Number(number) => vec![number.to_string().into()],
        Value::Bool(truth) => vec![truth.to_string().into()],
        Value::Array(values) => {
            values.iter().filter(|v| !v.is_array()).flat_map(command_line_words).collect()
        }
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

/// Returns whether a member of this name holds code (`true`) or a command (`false`), if one of
/// them.
fn member_kind(name: &str) -> Option<bool> {
    if is_one_of(name, &COMMANDS) {
        Some(false)
    } else if is_one_of(name, &CODES) {
        Some(true)
    } else {
        None
    }
}

/// Returns true if a name is one of these, or ends in one of them as a word of its own, such as
/// `shell_command`, `bash-command` and `bashCommand`. Case is ignored.
fn is_one_of(name: &str, known: &[&str]) -> bool {
    known.iter().any(|known| {
        let Some(at) = name.len().checked_sub(known.len()) else { return false };
        let (Some(before), Some(end)) = (name.get(..at), name.get(at..)) else { return false };
        end.eq_ignore_ascii_case(known) && ends_word(before, end)
    })
}

/// Returns true if a new word begins between the two parts of a name.
fn ends_word(before: &str, end: &str) -> bool {
    let Some(last) = before.chars().next_back() else { return true };
    let is_capital = |at: usize| end.as_bytes().get(at).is_some_and(u8::is_ascii_uppercase);
    // `XMLCommand` ends in a word of its own too, while `EXECCMD` may be one word.
    !last.is_alphanumeric() || (is_capital(0) && (!last.is_uppercase() || !is_capital(1)))
}

#[cfg(test)]
mod tests;
