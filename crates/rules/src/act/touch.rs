//! The paths and hosts an act could touch, for rules that forbid.
//!
//! Only the program knows which words of a command are paths, so every word counts as one, and so
//! does every part of a word between two of `=`, `:`, `,` and `@`, or after an option's letter.

use callgate_mask::programs::is_one_of;
use callgate_wire::tool_act::ToolKind;

use super::{Act, OWN_AGENT};
use crate::glob::{PatternToken, is_text, literal_toks};
use crate::place::link::leads_anywhere;
use crate::place::{self, placed_toks};
use crate::shell::names::{MOVERS, SEARCHERS};
use crate::shell::{ShellCommand, ShellWord, operands};
use crate::steps;

/// The most folders in which one command may run. They double with each option that names one.
const MOST_FOLDERS: usize = 256;
/// The cost of keeping one word that may be a host.
const HOST: usize = 32;
/// The most parts of one word that are examined. Each goes on to the end of the word, so that very
/// many would cost the square of its length.
const MOST_PARTS: usize = 24;
/// The most paths with wildcards in one act; one with more is too long to judge, because each is
/// compared with every pattern by a search.
const MOST_WILD_PATHS: usize = 2_000;
/// The most paths that are found in one act; one with more is too long to judge.
const MOST_PATHS: usize = 20_000;

pub(super) fn touched_paths(act: &Act) -> Vec<Vec<PatternToken>> {
    let named = act.paths.iter().chain(&act.cwds);
    let mut found: Vec<Vec<PatternToken>> = named.map(|path| literal_toks(path)).collect();
    for text in &act.strings {
        for piece in text_words(text) {
            if steps::is_spent() {
                break;
            }
            // If a text is longer, only its end can be a path, whose characters may have four bytes
            // each.
            let from = piece.ceil_char_boundary(piece.len().saturating_sub(4 * place::LONGEST));
            let piece = &piece[from..];
            let project = literal_toks(&act.project);
            path_parts(&literal_toks(piece))
                .for_each(|part| found.push(placed_toks(part, &project, &act.home)));
        }
    }
    for command in &act.runs.commands {
        of_command(command, &act.home, &mut found);
    }
    if found.len() > MOST_PATHS {
        steps::exhaust_budget();
    }
    // A path from a list is somewhere in the folder that is listed, which is touched by that.
    found.iter_mut().filter(|path| is_listed(path)).for_each(cut_listing);
    few_wild(found)
}

/// Leaves the folder of a path from a list.
fn cut_listing(path: &mut Vec<PatternToken>) {
    path.pop();
    while path.len() > 1 && path.last() == Some(&PatternToken::Is('/')) {
        path.pop();
    }
}

pub(crate) fn is_listed(path: &[PatternToken]) -> bool {
    path.last() == Some(&PatternToken::Beneath)
}

pub(super) fn listed_folders(act: &Act) -> Vec<Vec<PatternToken>> {
    let mut found = Vec::new();
    for command in &act.runs.commands {
        // Few commands have one, so the words of the others need not be placed again.
        let has_list =
            |word: &ShellWord| word.patterns().any(|toks| toks.contains(&PatternToken::Beneath));
        if path_words(command).any(has_list) {
            of_command(command, &act.home, &mut found);
        }
    }
    found.retain(|path| is_listed(path));
    found.iter_mut().for_each(cut_listing);
    found
}

/// Returns the absolute path of a part of a word in a folder, with every `..` kept.
pub(super) fn join_unresolved(part: &str, folder: &str, home: &str) -> String {
    match part.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ if part.starts_with('/') => part.to_owned(),
        _ => format!("{folder}/{part}"),
    }
}

pub(super) fn text_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || is_bracket(c)).filter(|piece| !piece.is_empty())
}

/// Returns true for a character that surrounds paths. A search in a string would be slower.
fn is_bracket(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | ';')
}

/// Returns true if one of the paths, or a folder of a command, may lead anywhere.
pub(super) fn is_lost(act: &Act) -> bool {
    let mut folders = act.runs.commands.iter().flat_map(|command| &command.folders);
    act.touched.iter().any(|path| leads_anywhere(path))
        || folders.any(|folder| leads_anywhere(&literal_toks(folder)))
}

/// Notes if there are more paths with wildcards than can be compared.
fn few_wild(paths: Vec<Vec<PatternToken>>) -> Vec<Vec<PatternToken>> {
    if paths.iter().filter(|path| !is_text(path)).count() > MOST_WILD_PATHS {
        steps::note_omission();
    }
    paths
}

/// Adds the paths that the words of a command could mean, in each folder in which it may run.
pub(crate) fn of_command(command: &ShellCommand, home: &str, found: &mut Vec<Vec<PatternToken>>) {
    let folders = folders_of(command, home);
    for word in path_words(command) {
        for glob_toks in word.patterns() {
            for part in word_parts(&glob_toks) {
                for folder in &folders {
                    if found.len() > MOST_PATHS || steps::is_spent() {
                        return;
                    }
                    found.push(placed_toks(part, folder, home));
                }
            }
        }
    }
}

/// Returns the folders in which a command may run, including those that an option names.
pub(super) fn folders_of(command: &ShellCommand, home: &str) -> Vec<Vec<PatternToken>> {
    let mut folders: Vec<Vec<PatternToken>> =
        command.folders.iter().map(|folder| literal_toks(folder)).collect();
    folders.extend(command.other_folders.iter().cloned());
    for (at, word) in command.words.iter().enumerate().skip(1) {
        if !word.could_begin_with("-") {
            continue;
        }
        let names_next = word.texts().any(|text| takes_folder(&text));
        let next = command.words.get(at + 1).filter(|_| names_next);
        let next = next.into_iter().flat_map(ShellWord::patterns);
        let glued =
            word.patterns().filter_map(|toks| glued_folder(&toks).map(<[PatternToken]>::to_vec));
        let named: Vec<Vec<PatternToken>> = next.chain(glued).collect();
        // Each leads on from the one before, unless that was the value of another option.
        for folder in folders.clone() {
            for toks in &named {
                let folder = placed_toks(toks, &folder, home);
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        if folders.len() > MOST_FOLDERS {
            steps::note_omission();
            break;
        }
    }
    folders
}

/// Returns true if the word after an option is a folder in which a program works, perhaps because
/// of the last of its letters.
fn takes_folder(option: &str) -> bool {
    matches!(option, "--chdir" | "--directory" | "-D")
        || (option.ends_with('C') && option.starts_with('-') && !option.starts_with("--"))
}

/// Returns the folder in the word of an option.
fn glued_folder(toks: &[PatternToken]) -> Option<&[PatternToken]> {
    let starts = ["--chdir=", "--directory=", "-C", "-D"].into_iter();
    let mut rest = starts.filter_map(|start| toks.strip_prefix(literal_toks(start).as_slice()));
    rest.find(|rest| !rest.is_empty())
}

/// Returns all words of a command that could be a path, including a program with a slash.
fn path_words(command: &ShellCommand) -> impl Iterator<Item = &ShellWord> {
    let is_path = |word: &&ShellWord| word.could_contain("/") && !word.is_anything();
    let program = command.words.first().filter(is_path);
    // The pattern of a `grep` and the program of an `awk` are not files, however much they look
    // like paths.
    let texts = operands::harmless_texts(command);
    let counts = operands::unknown_counts(command);
    let is_file = move |(at, word): &(usize, &ShellWord)| {
        !texts.contains(at) && (!word.counts_as_anything() || counts.contains(at))
    };
    let rest = command.words.iter().enumerate().skip(1).filter(is_file).map(|(_, word)| word);
    // An assignment on its own touches nothing; its value is followed.
    let assigns = command.assigns.iter().filter(|_| !command.words.is_empty());
    program.into_iter().chain(rest).chain(&command.redirects).chain(assigns)
}

/// Returns the parts of a word that could be a path by themselves; the word itself is the first.
pub(crate) fn path_parts(toks: &[PatternToken]) -> impl Iterator<Item = &[PatternToken]> {
    part_starts(toks).map(move |at| &toks[at..]).take(MOST_PARTS)
}

/// Returns the parts of a command's word that could be a path by themselves. A part ends where the
/// word does, or before the next separator, as in `-v ~/.ssh:/keys`. Of a word with very many parts
/// the later ones end only there.
pub(crate) fn word_parts(toks: &[PatternToken]) -> impl Iterator<Item = &[PatternToken]> {
    let has_separator = toks.iter().copied().any(is_separator);
    let short = part_starts(toks).filter(move |_| has_separator).map(move |at| {
        let part = &toks[at..];
        &part[..part.iter().copied().position(is_separator).unwrap_or(part.len())]
    });
    path_parts(toks).chain(short.filter(|part| !part.is_empty()))
}

fn part_starts(toks: &[PatternToken]) -> impl Iterator<Item = usize> {
    let is_option = toks.first() == Some(&PatternToken::Is('-'));
    let begins = move |at: &usize| match *at {
        0 => true,
        at => {
            is_separator(toks[at - 1])
                // An option of one letter may have its value attached (`-oFILE`), and of several
                // letters a path can be told by its first character (`-rvf/x`).
                || (is_option
                    && (at == 2
                        || (matches!(toks[at], PatternToken::Is('/' | '~' | '.')) && at < 8)))
        }
    };
    // What begins earlier is too long for a path.
    let from = toks.len().saturating_sub(place::LONGEST);
    (from..toks.len()).filter(begins)
}

fn is_separator(tok: PatternToken) -> bool {
    matches!(tok, PatternToken::Is('=' | ':' | ',' | '@'))
}

/// Returns the folders that an act searches, removes or moves with all their contents.
pub(super) fn swept_folders(act: &Act) -> Vec<Vec<PatternToken>> {
    let mut found = Vec::new();
    if act.is_search && !has_own_filter(act) {
        found.extend(act.paths.iter().map(|path| literal_toks(path)));
    }
    for command in &act.runs.commands {
        let is = |list| {
            command.words.iter().filter_map(ShellWord::text).any(|word| is_one_of(word, list))
        };
        // What such a program searches if no word names a folder.
        if is(SEARCHERS) {
            found.extend(folders_of(command, &act.home));
        }
        if is(SEARCHERS) || is(MOVERS) {
            of_command(command, &act.home, &mut found);
        }
    }
    // These are in `Act::listed`, which is compared with the rules separately.
    found.retain(|path| !is_listed(path));
    few_wild(found)
}

/// Returns true if the tool itself leaves out what rules deny or ask for: the searches of our own
/// runtime.
fn has_own_filter(act: &Act) -> bool {
    act.is_search && act.agent == OWN_AGENT && ToolKind::is_tool_of(OWN_AGENT, &act.tool)
}

/// Returns everything in an act that could be the name of a host, in lower case, and whether it
/// certainly is one.
pub(crate) fn mentioned_hosts(act: &Act) -> Vec<(String, bool)> {
    let words =
        act.runs.commands.iter().flat_map(|command| command.words.iter().chain(&command.assigns));
    let texts = words.flat_map(ShellWord::texts).chain(act.strings.iter().cloned());
    let mut found: Vec<(String, bool)> =
        act.hosts.iter().map(|host| (host.clone(), true)).collect();
    for text in texts {
        if !steps::spend_budget(text.len()) {
            break;
        }
        // Any word may look like a host, so only one in a URL certainly is one.
        let is_url = text.contains("://");
        let is_host = |c: char| matches!(c, '-' | '.' | '_' | ':') || c.is_alphanumeric();
        let names = text.split(|c: char| !is_host(c)).filter(|name| !name.is_empty());
        for name in names.map(str::to_lowercase) {
            if !steps::spend_budget(HOST) {
                break;
            }
            found.extend(
                name.split(':').filter(|part| !part.is_empty()).map(|part| (part.into(), is_url)),
            );
            found.push((name, is_url));
        }
    }
    found
}
