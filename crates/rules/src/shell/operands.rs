//! Which words of a command are files, for the few programs where that is known.
//!
//! Everywhere else every word counts as a path, and so does the folder of the command.

mod awk;
mod sed;
#[cfg(test)]
mod tests;

use callgate_mask::programs::is_one_of;
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use crate::place::last_name;

use super::{GAP, ShellCommand, ShellWord};
pub(crate) use sed::runs_nothing;

/// Programs that use the files that they are given, and nothing else in their folder.
const ONLY_NAMED: &WordList = words!(
    "cat head tail wc nl tac od cksum md5sum sha1sum sha256sum sha512sum b2sum stat cmp diff comm \
    cut ls du basename dirname realpath readlink touch mkdir rmdir rm"
);
const AWK: &WordList = words!("awk gawk mawk nawk");
const SED: &WordList = words!("sed gsed");
const GREP: &WordList = words!("grep egrep fgrep");
const RIPGREP: &WordList = words!("rg");

/// Options of these programs that take no value, or have it in the same word.
const SED_FLAGS: &str = "nErsuz";
const GREP_FLAGS: &str = "nirvlcHhowxEFPsqILaRz";
const RIPGREP_FLAGS: &str = "niwvlcoxFPsSNuHILaqU";
/// Options whose value is a number.
const GREP_NUMBERS: &str = "ABCm";

/// The most programs, patterns and numbers of one command; beyond it all words are paths.
const MOST_TEXTS: usize = 64;

/// Programs that use none of their arguments as the name of a file that they read or write.
const WITHOUT_FILES: &WordList = words!(
    "echo printf : true false exit return break continue shift sleep seq wait export local declare \
    readonly typeset unset read test [ [[ expr basename dirname date let cd pushd popd for select \
    case in set shopt umask ulimit kill pgrep which type hash tput logger jobs fg bg disown"
);

/// Returns the indices of the words in which something unknown could matter: for most programs all
/// of them.
pub(crate) fn unknown_counts(command: &ShellCommand) -> Vec<usize> {
    let program = command.words.first().and_then(ShellWord::text);
    match program.map(last_name) {
        Some(name) if WITHOUT_FILES.contains(name) => vec![0],
        Some("git") => {
            // What follows these options is a text.
            let is_text = |at: usize| {
                let is_after = command.words[at - 1]
                    .text()
                    .is_some_and(|option| matches!(option, "-m" | "--message"));
                let text = command.words[at].first_text();
                let is_in = ["--author=", "--since=", "--until=", "--grep=", "--message="];
                is_after || is_in.iter().any(|option| text.starts_with(option))
            };
            (0..command.words.len()).filter(|at| *at == 0 || !is_text(*at)).collect()
        }
        _ => (0..command.words.len()).collect(),
    }
}

/// Returns the program among the arguments of `awk` or `sed`.
pub(crate) fn program_text<'a>(program: &str, rest: &'a [ShellWord]) -> Option<&'a ShellWord> {
    let takes_next = |word: &ShellWord| {
        let text = word.text().unwrap_or_default();
        matches!(text, "-F" | "-v" | "-f" | "-l" | "--assign" | "--field-separator")
            && is_one_of(program, AWK)
    };
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        let text = word.first_text();
        // A script given by an option leaves the first operand to be a file.
        if text == "-e" || text == "--expression" {
            return rest.get(at + 1);
        }
        if !text.starts_with('-') {
            return Some(word);
        }
        at += 1 + usize::from(takes_next(word));
    }
    None
}

pub(crate) fn sed_scripts(rest: &[ShellWord]) -> impl Iterator<Item = &ShellWord> {
    let is_script_option = |word: &ShellWord| matches!(word.text(), Some("-e" | "--expression"));
    let has_file = rest.iter().any(|word| word.first_text().starts_with("-f"));
    let given = rest.windows(2).filter(move |two| is_script_option(&two[0])).map(|two| &two[1]);
    let has_given = rest.iter().any(is_script_option);
    let first = rest.iter().find(|word| !word.first_text().starts_with('-'));
    given.chain(first.filter(|_| !has_given && !has_file))
}

/// Returns true if the command uses nothing but the files that its words name.
pub(crate) fn are_all(command: &ShellCommand) -> bool {
    // With a path it may be another program of the same name.
    let Some(program) = command.program().filter(|program| !program.contains('/')) else {
        return false;
    };
    is_one_of(program, ONLY_NAMED) || !harmless_texts(command).is_empty()
}

/// Returns the indices of the words that are not paths: programs for `awk` and `sed` that read and
/// write no other files and start nothing, and patterns for `grep` and `rg`.
///
/// Nothing is returned if an option is unknown: then it is uncertain which word the program is.
pub(crate) fn harmless_texts(command: &ShellCommand) -> Vec<usize> {
    let Some(program) = command.program() else { return Vec::new() };
    let is = |list: &WordList| is_one_of(program, list);
    if ![AWK, SED, GREP, RIPGREP].into_iter().any(is) {
        return Vec::new();
    }
    let Some(words) = known_beginnings(command) else { return Vec::new() };
    let found = if is(AWK) {
        awk_program(&words)
    } else if is(SED) {
        sed_script_indexes(&words)
    } else {
        grep_pattern_indexes(&words, if is(GREP) { GREP_FLAGS } else { RIPGREP_FLAGS })
    };
    found.filter(|found| found.len() <= MOST_TEXTS).unwrap_or_default()
}

/// Returns the texts of the words, if those that are not fully known cannot be options.
fn known_beginnings(command: &ShellCommand) -> Option<Vec<&str>> {
    let begins_otherwise = |word: &ShellWord| {
        let pieces = word.choices().map(|pieces| ShellWord::of_pieces(pieces.to_vec()));
        pieces.map(|word| word.gapped_text()).any(|text| text.starts_with(['-', GAP]))
    };
    let words = command.words.iter().map(|word| match word.text() {
        None if begins_otherwise(word) => None,
        text => Some(text.unwrap_or(UNKNOWN_FILE)),
    });
    words.collect()
}

/// A placeholder for a word that names files and is not fully known. No program has this name.
const UNKNOWN_FILE: &str = "\0";

/// Returns the program of `awk` among its words, the first that is not an option, and what
/// separates fields.
fn awk_program(words: &[&str]) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match *word {
            "--" => {
                at += 1;
                break;
            }
            "-F" => {
                found.push(at + 1);
                at += 2;
            }
            "-v" => at += 2,
            word if word.starts_with("-F") || word.starts_with("-v") => at += 1,
            // An unknown option may take the next word, which then is not the program.
            word if word.starts_with('-') => return None,
            _ => break,
        }
    }
    found.push(at);
    words.get(at).is_some_and(|text| awk::is_harmless_program(text)).then_some(found)
}

/// Returns the scripts of `sed` among its words: all after `-e`, or else the first that is not
/// an option.
fn sed_script_indexes(words: &[&str]) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    let mut first = None;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let flags = word.strip_prefix('-').filter(|flags| !flags.is_empty());
        match flags {
            Some("-") => return None,
            Some("e") => {
                at += 1;
                found.push(at);
            }
            Some(flags) if flags.chars().all(|c| SED_FLAGS.contains(c)) => {}
            Some(_) => return None,
            None => first = first.or(Some(at)),
        }
        at += 1;
    }
    if found.is_empty() {
        found.extend(first);
    }
    let is_harmless = |at: &usize| words.get(*at).is_some_and(|text| sed::is_harmless_script(text));
    (!found.is_empty() && found.iter().all(is_harmless)).then_some(found)
}

/// Returns the pattern of `grep` among its words, the first that is not an option, and numbers of
/// options.
fn grep_pattern_indexes(words: &[&str], known: &str) -> Option<Vec<usize>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mut pattern, mut found) = (None, Vec::new());
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.strip_prefix('-').filter(|flags| !flags.is_empty()) {
            None => pattern = pattern.or(Some(at)),
            Some(flags) if flags.chars().all(|c| known.contains(c)) => {}
            Some(flags) if flags.starts_with(|c| GREP_NUMBERS.contains(c)) => {
                let mut value = &flags[1..];
                if value.is_empty() {
                    at += 1;
                    value = words.get(at)?;
                    found.push(at);
                }
                if !is_number(value) {
                    return None;
                }
            }
            Some(_) => return None,
        }
        at += 1;
    }
    // A pattern that is not fully known may become several words, of which the later ones are
    // files.
    found.push(pattern.filter(|at| words[*at] != UNKNOWN_FILE)?);
    Some(found)
}
