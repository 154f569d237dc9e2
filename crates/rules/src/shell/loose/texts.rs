//! The texts in the words of a command that may be command lines or programs themselves.

use callgate_mask::programs::{INTERPRETERS, SHELLS, WRAPPERS};
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use super::doubts::has_code;
use super::starts::{possible_starts, program_starts};
use super::{ReadLine, TextKind};
use crate::shell::names::{CAN_RUN, LANGUAGES, LINE_TAKERS, RUN_VARIABLES};
use crate::shell::word::WordPiece;
use crate::shell::{ShellCommand, ShellWord, operands};

/// Commands of a shell that evaluate the text between brackets in their words.
pub(super) const EVALUATORS: &WordList = words!(
    "test [ [[ read printf unset declare typeset local export readonly integer float let \
    mapfile readarray wait getopts compgen complete print"
);

/// Options whose value a program runs as a command line.
const LINE_OPTIONS: [(&WordList, &str); 7] = [
    (words!("zip"), "-TT --unzip-command"),
    (
        words!("tar gtar bsdtar"),
        "--checkpoint-action --to-command --use-compress-program -I --rsh-command",
    ),
    (words!("split gsplit"), "--filter"),
    (words!("flock script runuser su watch"), "-c --command"),
    (words!("mapfile readarray compgen complete"), "-C -F -W"),
    (words!("rsync"), "-e --rsh --rsync-path"),
    (words!("ssh scp sftp"), "-o"),
];

fn option_lines(words: &[ShellWord]) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(program) = words.first() else { return lines };
    for (_, options) in LINE_OPTIONS.iter().filter(|(names, _)| program.could_name(names)) {
        for (at, word) in words.iter().enumerate().skip(1) {
            for text in word.texts() {
                if options.split(' ').any(|option| option == text) {
                    lines.extend(words.get(at + 1).into_iter().flat_map(ShellWord::texts));
                }
                let value = text
                    .split_once('=')
                    .filter(|(name, _)| options.split(' ').any(|option| option == *name));
                lines.extend(value.map(|(_, value)| value.to_owned()));
            }
        }
    }
    // The line may follow a name in the value: `-o ProxyCommand=…`, `--checkpoint-action=exec=…`.
    let after = |line: &String| line.split_once('=').map(|(_, rest)| rest.to_owned());
    let inner: Vec<String> = lines.iter().filter_map(after).collect();
    lines.extend(inner);
    lines
}

/// Returns the command lines that `env` takes apart: the value of an option, and the words after
/// it.
fn split_lines(words: &[ShellWord]) -> Vec<String> {
    if !words.first().is_some_and(|program| program.could_name(words!("env genv"))) {
        return Vec::new();
    }
    let value = |text: String| {
        let value = text.strip_prefix("-S").or_else(|| text.strip_prefix("--split-string="));
        value.map(str::to_owned)
    };
    let rest = |at: usize| words[at + 1..].iter().map(ShellWord::first_text);
    let lines = words.iter().enumerate().skip(1).flat_map(|(at, word)| {
        let line = move |value: String| [value].into_iter().chain(rest(at)).collect::<Vec<_>>();
        word.texts().filter_map(value).map(move |value| line(value).join(" "))
    });
    lines.collect()
}

pub(super) fn runnable_texts(command: &ShellCommand, line: ReadLine) -> Vec<(String, TextKind)> {
    let ReadLine { kind, body_kind, is_open } = line;
    let is_line = kind == TextKind::Line;
    let Some(program) = command.words.first() else {
        return assigned_texts(command, is_line).collect();
    };
    let is = |list: &WordList| program.could_name(list);
    let takes_texts = |at: usize| {
        let word = &command.words[at];
        [INTERPRETERS, SHELLS, WRAPPERS, LINE_TAKERS].iter().any(|list| word.could_name(list))
    };
    let looks_inside = is_open || program_starts(command).any(takes_texts);
    // The output of a harmless program is run only if something in the line runs it.
    let harmless = if is_open { Vec::new() } else { operands::harmless_texts(command) };
    let kind = if is_line && runs_texts(command) { TextKind::Line } else { body_kind };
    let evaluates = is_line && is(EVALUATORS);
    let names = |list: &WordList| {
        possible_starts(command, false).iter().any(|at| command.words[*at].could_name(list))
    };
    let is_code = names(LANGUAGES);
    let code = if names(words!("perl ruby php")) { TextKind::Script } else { TextKind::Code };
    let mut texts = Vec::new();
    for (at, word) in command.words.iter().enumerate().filter(|(at, _)| !harmless.contains(at)) {
        for text in word.texts() {
            if looks_inside && text.contains(is_special) {
                if is_code {
                    texts.push((text.clone(), code));
                }
                if !is_code || kind == TextKind::Line {
                    texts.extend(glued_texts(&text).map(|text| (text, kind)));
                    texts.push((text.clone(), kind));
                }
            }
            if looks_inside || is(CAN_RUN) {
                texts.extend(after_equals(&text).map(|text| (text, TextKind::Possible)));
            }
            if at > 0 && is(words!("sed gsed")) {
                // Otherwise the delimiters in `s/x/git push/e` would belong to the words between
                // them.
                texts.push((text.replace(is_sed_mark, " "), TextKind::Code));
                texts.push((text.clone(), TextKind::Code));
            }
            if evaluates && (text.contains("$(") || text.contains('`')) {
                texts.push((text.clone(), TextKind::Line));
            }
            if at > 0 && is(words!("git")) && gives_git_command(&command.words, at) {
                let line = text.strip_prefix("--exec=").unwrap_or(&text);
                texts.push((line.trim_start_matches('!').to_owned(), TextKind::Line));
            }
        }
    }
    if is_line && is(words!("eval")) {
        // It joins its words.
        let joined: Vec<String> = command.words[1..].iter().map(ShellWord::first_text).collect();
        texts.push((joined.join(" "), TextKind::Line));
    }
    if is_line {
        let words = program_starts(command).map(|at| &command.words[at..]);
        let lines =
            words.flat_map(|words| option_lines(words).into_iter().chain(split_lines(words)));
        texts.extend(lines.map(|line| (line, TextKind::Line)));
    }
    texts.extend(assigned_texts(command, is_line));
    texts
}

pub(super) fn assigned_texts(
    command: &ShellCommand,
    is_line: bool,
) -> impl Iterator<Item = (String, TextKind)> {
    command.assigns.iter().flat_map(move |assign| {
        let name = assign.first_text();
        let is_element = assign.pieces().get(1) == Some(&WordPiece::Glob('['));
        let value = move |text: String| {
            let at = assign.value_at?;
            // What is put into the index moves the value of an element.
            let value = if is_element {
                text.split_once('=').map(|(_, value)| value)
            } else {
                text.get(at..)
            };
            value.map(String::from)
        };
        let is_named = |run: &&str| {
            name.strip_prefix(*run).is_some_and(|rest| rest.starts_with(['=', '+', '[']))
        };
        // The shell runs the value of such a variable by itself, for example before each prompt.
        let is_run = is_line && RUN_VARIABLES.iter().any(is_named);
        let kind = if is_run { TextKind::Line } else { TextKind::Possible };
        // A wildcard alone names no program.
        let is_line = |text: &String| text.contains(char::is_alphanumeric);
        assign.texts().filter_map(value).filter(is_line).map(move |text| (text, kind))
    })
}

/// Returns true if a program of the command certainly runs a text that it is given.
pub(super) fn runs_texts(command: &ShellCommand) -> bool {
    let takes_line = |at: usize| {
        let (program, rest) = (&command.words[at], &command.words[at + 1..]);
        let splits = program.could_name(words!("env"))
            && rest
                .iter()
                .any(|word| word.could_begin_with("-S") || word.could_begin_with("--split"));
        program.could_name(LINE_TAKERS) || splits || (program.could_name(SHELLS) && has_code(rest))
    };
    program_starts(command).any(takes_line)
}

pub(super) fn gives_git_command(words: &[ShellWord], at: usize) -> bool {
    let before = words[at - 1].text().unwrap_or_default();
    let has_command = |name: &str| words.iter().any(|word| word.text() == Some(name));
    match before {
        "-x" | "--exec" => has_command("rebase") || has_command("difftool"),
        "--extcmd" | "--tree-filter" | "--index-filter" | "--msg-filter" | "--env-filter"
        | "--commit-filter" | "--parent-filter" | "--tag-name-filter" | "--setup"
        | "--upload-pack" | "--receive-pack" | "foreach" => true,
        _ => {
            let is_foreach = |word: &ShellWord| word.text() == Some("foreach");
            words[..at].iter().any(is_foreach)
                || words[at].text().is_some_and(|text| text.starts_with("--exec="))
        }
    }
}

pub(super) fn is_sed_mark(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~'))
}

/// Returns the text after the letter of an option, as in `-S'git push'`, and after a colon.
pub(super) fn glued_texts(text: &str) -> impl Iterator<Item = String> {
    let is_option = text.starts_with('-') && !text.starts_with("--");
    let letters = is_option.then(|| text.chars().skip(2).collect::<String>());
    let after_colon = text.split_once(':').map(|(_, rest)| rest.trim_start_matches('!').to_owned());
    let after_mark =
        text.strip_prefix(['!', ':', '+']).map(|rest| rest.trim_start_matches('!').to_owned());
    letters.into_iter().chain(after_colon).chain(after_mark).filter(|text| !text.is_empty())
}

/// Returns the text after each `=` of an option.
pub(super) fn after_equals(text: &str) -> impl Iterator<Item = String> {
    let after =
        |(at, _): (usize, &str)| text[at + 1..].trim_start_matches(['!', '\'', '"']).to_owned();
    text.match_indices('=').take(4).map(after).filter(|value| !value.is_empty())
}

pub(super) fn is_special(c: char) -> bool {
    c.is_whitespace() || ";&|<>()`$'\"!{}=,".contains(c)
}
