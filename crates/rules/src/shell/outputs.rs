//! What the programs of a substitution or a pipeline print, where that is known.
//!
//! Everything else could print anything.

use callgate_mask::word_list::WordList;
use callgate_mask::words;
use std::ops::Range;

use super::ShellCommand;
use super::values::ShellValues;
use super::word::{ShellWord, WordPiece};
use crate::place::{folders_above, last_name};

/// Programs that print numbers only.
const COUNTERS: &WordList = words!("nproc pgrep pidof seq");
/// Programs that print one name, without a slash and without a leading dot.
const NAMERS: &WordList = words!("whoami hostname uname arch");
/// Programs that print some of the lines that they read.
const FILTERS: &WordList = words!("sort uniq head tail tac shuf");
/// Commands of git that print names of commits, branches or tags.
const GIT_NAMES: &str = "describe branch tag merge-base rev-list symbolic-ref rev-parse";
/// Commands that print nothing.
const SILENT: &str = "cd pushd popd set export test [ [[ true : sleep mkdir rm touch unset shopt \
    fi done esac if for while";

/// Something that a program could print.
type PrintedText = Vec<WordPiece>;

impl ShellValues<'_> {
    pub(super) fn printed_by_all(&self, commands: &Range<usize>, depth: usize) -> Vec<PrintedText> {
        let all = || commands.clone().filter_map(|at| Some((at, self.command(at)?)));
        let Some(level) = all().map(|(_, command)| command.level).min() else {
            return vec![Vec::new()];
        };
        let is_silent = |command: &ShellCommand| match command.words.first() {
            None => true,
            Some(word) => word.text().is_some_and(|name| {
                SILENT.split_ascii_whitespace().any(|silent| silent == name)
                    && !self.changed.is_redefined(name)
            }),
        };
        // What another command reads is not printed.
        let is_read = |at: usize| all().any(|(_, other)| other.fed_by == Some(at));
        let mut heard = all()
            .filter(|(at, command)| command.level == level && !is_silent(command) && !is_read(*at));
        match (heard.next(), heard.next()) {
            (Some((at, _)), None) => self.printed_by(at, depth),
            _ => printed_unknown(),
        }
    }

    pub(super) fn printed_by(&self, at: usize, depth: usize) -> Vec<PrintedText> {
        let Some(command) = self.command(at).filter(|_| depth < super::DEEPEST) else {
            return printed_unknown();
        };
        let Some((program, rest)) = command.words.split_first() else { return printed_unknown() };
        let known = |name: &&str| !self.changed.is_redefined(name);
        let Some(name) = program.text().filter(known) else { return printed_unknown() };
        let is = |list: &WordList| list.contains(name);
        let options = || rest.iter().filter_map(ShellWord::text).filter(|t| t.starts_with('-'));
        let has = |wanted: &[&str]| options().any(|option| wanted.contains(&option));
        match name {
            "echo" | "printf" => self.printed_by_echo(name, rest, at, depth),
            "pwd" => self.folders(at).into_single_words(),
            "basename" | "dirname" => self.path_part(name, rest, at, depth),
            "date" => printed_by_date(rest),
            "mktemp" => printed_by_mktemp(rest),
            "which" => printed_by_which(rest),
            "command" if has(&["-v"]) => printed_by_which(rest),
            "id" if has(&["-u", "-g"]) => printed_digits(),
            "id" if has(&["-un", "-gn"]) => printed_name(),
            "wc" if rest.iter().all(|word| word.text().is_some_and(|t| t.starts_with('-'))) => {
                printed_digits()
            }
            "grep" | "rg" if has(&["-c", "--count"]) && plain_operands(rest) < 3 => {
                printed_digits()
            }
            "lsof" if has(&["-t", "-ti"]) => printed_digits(),
            "docker" | "podman" if options().any(is_quiet) => printed_name(),
            "go" if rest.first().and_then(ShellWord::text) == Some("list") => {
                vec![vec![WordPiece::Listing]]
            }
            "git" => self.told_by_git(rest, at),
            "ls" => printed_by_ls(rest),
            "fd" | "fdfind" => vec![vec![WordPiece::Listing]],
            "find" if !options().any(is_other_action) => printed_by_find(rest),
            "grep" | "egrep" | "rg" | "ag" if options().any(lists_files) => printed_by_ls(rest),
            "cat" if rest.is_empty() => self.passed_on(command, depth),
            // With `-o` it prints parts of lines, which may be other names.
            "grep" if !has(&["-o", "-h"]) && plain_operands(rest) == 1 && command.is_piped => {
                self.passed_on(command, depth)
            }
            _ if is(COUNTERS) => printed_digits(),
            _ if is(NAMERS) => printed_name(),
            _ if is(FILTERS) && is_filter(rest) => self.passed_on(command, depth),
            _ => printed_unknown(),
        }
    }

    fn passed_on(&self, command: &ShellCommand, depth: usize) -> Vec<PrintedText> {
        match command.fed_by {
            Some(feeder) => self.printed_by(feeder, depth + 1),
            None => printed_unknown(),
        }
    }

    /// Returns what `echo` or `printf` prints.
    fn printed_by_echo(
        &self,
        name: &str,
        rest: &[ShellWord],
        at: usize,
        depth: usize,
    ) -> Vec<PrintedText> {
        let mut words = rest;
        let mut separator = " ";
        if name == "printf" {
            let Some((format, others)) = rest.split_first() else { return printed_unknown() };
            match format.text() {
                Some("%s" | "%d") => (words, separator) = (others, ""),
                Some("%s\\n" | "%s " | "%s\n" | "%d\\n") => words = others,
                Some(text) if others.is_empty() && !text.contains(['%', '\\']) => {}
                _ => return printed_unknown(),
            }
        } else if rest.first().and_then(ShellWord::text) == Some("-n") {
            words = &rest[1..];
        }
        let mut printed: Vec<PrintedText> = vec![Vec::new()];
        for (index, word) in words.iter().enumerate() {
            // Some shells interpret escapes, and options of `echo`.
            if word.texts().any(|text| text.contains('\\')) || word.could_begin_with("-e") {
                return printed_unknown();
            }
            let choices = self.resolve_at(word, at, depth + 1).into_single_words();
            if printed.len() * choices.len() > 24 {
                return printed_unknown();
            }
            let space = || (index > 0).then(|| WordPiece::Text(separator.into()));
            printed = printed
                .iter()
                .flat_map(|before| {
                    choices.iter().map(|choice| {
                        before.iter().cloned().chain(space()).chain(choice.clone()).collect()
                    })
                })
                .collect();
        }
        printed
    }

    /// Returns the last name of a path, or the folder before it.
    fn path_part(
        &self,
        name: &str,
        rest: &[ShellWord],
        at: usize,
        depth: usize,
    ) -> Vec<PrintedText> {
        let [word, ..] = rest else { return printed_unknown() };
        let mut printed = Vec::new();
        for pieces in self.resolve_at(word, at, depth + 1).into_single_words() {
            let text = ShellWord::of_pieces(pieces.clone());
            match text.text() {
                Some(path) if name == "basename" => {
                    printed.push(vec![WordPiece::Text(last_name(path).into())]);
                    if let [_, suffix] = rest {
                        let end = suffix.text().unwrap_or_default();
                        let name = last_name(path);
                        let name = name.strip_suffix(end).unwrap_or(name);
                        printed.push(vec![WordPiece::Text(name.into())]);
                    }
                }
                Some(path) => {
                    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
                    let folder = if folder.is_empty() { "/" } else { folder };
                    printed.push(vec![WordPiece::Text(folder.into())]);
                }
                // A name in a known folder is a name.
                None if name == "basename" && !text.has_unknown() => {
                    printed.push(vec![WordPiece::Glob('*')]);
                }
                None if !text.has_unknown() => printed.push(pieces),
                None => return printed_unknown(),
            }
        }
        printed
    }

    fn told_by_git(&self, rest: &[ShellWord], at: usize) -> Vec<PrintedText> {
        let texts: Option<Vec<&str>> = rest.iter().map(ShellWord::text).collect();
        let Some(texts) = texts else { return printed_unknown() };
        let Some((command, options)) = texts.split_first() else { return printed_unknown() };
        let has = |option: &str| options.contains(&option);
        match *command {
            // Where the repository begins is not looked up, so it could be this folder or any above
            // it.
            "rev-parse" if has("--show-toplevel") => {
                let Some(command) = self.command(at) else { return printed_unknown() };
                let folders = command.folders.iter();
                let all = folders.flat_map(|folder| {
                    std::iter::once(folder.as_str()).chain(folders_above(folder))
                });
                all.map(|folder| vec![WordPiece::Text(folder.to_owned())]).take(20).collect()
            }
            "rev-list" if has("--count") => printed_digits(),
            "ls-files" | "diff" | "show" | "diff-tree" | "log"
                if *command == "ls-files" || has("--name-only") =>
            {
                vec![vec![WordPiece::Listing]]
            }
            "grep" if options.iter().any(|option| lists_files(option)) => {
                vec![vec![WordPiece::Listing]]
            }
            "log" if options.iter().any(|option| prints_hash(option)) => printed_name(),
            name if GIT_NAMES.split_ascii_whitespace().any(|known| known == name)
                && options.iter().all(|option| names_only(option)) =>
            {
                vec![vec![WordPiece::Listing]]
            }
            _ => printed_unknown(),
        }
    }
}

/// Returns true if a format prints the name of a commit only.
fn prints_hash(option: &str) -> bool {
    let format = option.strip_prefix("--format=").or_else(|| option.strip_prefix("--pretty="));
    format.is_some_and(|format| {
        matches!(format.strip_prefix("format:").unwrap_or(format), "%H" | "%h")
    })
}

/// Returns true if an option does not print anything but names.
fn names_only(option: &str) -> bool {
    !option.contains("format")
        || option.ends_with("=%(refname:short)")
        || option.ends_with("=%(refname)")
}

/// Returns true if an option, or one of several letters, makes a container program print ids.
fn is_quiet(option: &str) -> bool {
    option == "--quiet" || (!option.starts_with("--") && option.contains('q'))
}

fn printed_unknown() -> Vec<PrintedText> {
    vec![vec![WordPiece::Unknown]]
}

fn printed_digits() -> Vec<PrintedText> {
    vec![vec![WordPiece::Digits]]
}

/// Returns one name, which has no slash and no leading dot.
fn printed_name() -> Vec<PrintedText> {
    vec![vec![WordPiece::Glob('*')]]
}

/// Returns how many words are not options.
fn plain_operands(rest: &[ShellWord]) -> usize {
    rest.iter().filter(|word| !word.could_begin_with("-")).count()
}

/// Returns true if a filter reads only its input: it has options and numbers.
fn is_filter(rest: &[ShellWord]) -> bool {
    rest.iter().all(|word| {
        word.text().is_some_and(|text| {
            text.starts_with('-') && !text.starts_with("-o") && !text.contains('=')
                || text.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// Returns what `date` prints. What its format says itself is known.
fn printed_by_date(rest: &[ShellWord]) -> Vec<PrintedText> {
    let Some(format) = rest.iter().find_map(|word| word.text()?.strip_prefix('+')) else {
        return printed_unknown();
    };
    let mut printed = ShellWord::default();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => match chars.next() {
                Some('s' | 'Y' | 'm' | 'd' | 'H' | 'M' | 'S' | 'N' | 'j' | 'y' | 'u' | 'V') => {
                    printed.push_piece(WordPiece::Digits);
                }
                Some('F' | 'T' | 'b' | 'B' | 'a' | 'A' | 'h' | 'Z' | 'z' | 'p' | 'I' | 'R') => {
                    printed.push_piece(WordPiece::Glob('*'));
                }
                _ => return printed_unknown(),
            },
            c => printed.push(c),
        }
    }
    vec![printed.pieces().to_vec()]
}

fn printed_by_mktemp(rest: &[ShellWord]) -> Vec<PrintedText> {
    let texts: Option<Vec<&str>> = rest.iter().map(ShellWord::text).collect();
    let Some(texts) = texts else { return printed_unknown() };
    if texts.iter().any(|text| text.starts_with('-') && !matches!(*text, "-d" | "-q" | "-t" | "-u"))
    {
        return printed_unknown();
    }
    let mut named = texts.iter().filter(|text| !text.starts_with('-'));
    let stem = match (named.next(), texts.contains(&"-t")) {
        (None, _) => "/tmp/tmp.".to_owned(),
        (Some(text), true) => format!("/tmp/{}", text.trim_end_matches('X')),
        (Some(text), false) => text.trim_end_matches('X').to_owned(),
    };
    vec![vec![WordPiece::Text(stem), WordPiece::Glob('*')]]
}

/// Returns the path of a program. Which folder it is in does not matter to a rule.
fn printed_by_which(rest: &[ShellWord]) -> Vec<PrintedText> {
    let mut names = rest.iter().filter(|word| !word.could_begin_with("-"));
    match (names.next().and_then(ShellWord::text), names.next()) {
        (Some(name), None) if !name.contains('/') => {
            vec![
                vec![WordPiece::Text(format!("/usr/bin/{name}"))],
                // A shell prints only the name of what it does itself.
                vec![WordPiece::Text(name.into())],
            ]
        }
        _ => printed_unknown(),
    }
}

fn lists_files(option: &str) -> bool {
    matches!(option, "--files-with-matches" | "--files" | "-L")
        || (option.starts_with('-') && !option.starts_with("--") && option.contains('l'))
}

/// Returns true if an action of `find` prints something else than paths.
fn is_other_action(option: &str) -> bool {
    ["-exec", "-ok", "-printf", "-fprint", "-ls", "-fls", "-files0-from"]
        .iter()
        .any(|action| option.starts_with(action))
}

/// Returns the names that are listed: those in the folder, and those below each operand.
fn printed_by_ls(rest: &[ShellWord]) -> Vec<PrintedText> {
    let mut printed = vec![vec![WordPiece::Listing]];
    for word in rest {
        match word.text() {
            Some(text) if text.starts_with('-') => {}
            Some(text) if text.contains('/') || text.starts_with('.') => {
                printed.push(listing_below(text));
            }
            Some(_) => {}
            None => match known_folder(word) {
                Some(folder) => printed.push(listing_below(&folder)),
                None => return printed_unknown(),
            },
        }
    }
    printed
}

/// Returns the paths that `find` prints below its first operands.
fn printed_by_find(rest: &[ShellWord]) -> Vec<PrintedText> {
    let is_start = |word: &&ShellWord| !word.could_begin_with("-") && !word.could_begin_with("(");
    let mut printed = Vec::new();
    for word in rest.iter().take_while(is_start) {
        match word.text() {
            Some(text) => {
                printed.push(vec![WordPiece::Text(text.to_owned())]);
                printed.push(listing_below(text));
            }
            None => match known_folder(word) {
                Some(folder) => printed.push(listing_below(&folder)),
                None => return printed_unknown(),
            },
        }
    }
    if printed.is_empty() {
        printed.push(listing_below("."));
    }
    printed
}

fn listing_below(folder: &str) -> PrintedText {
    vec![WordPiece::Text(format!("{}/", folder.trim_end_matches('/'))), WordPiece::Listing]
}

/// Returns the folder before the wildcards of a word.
fn known_folder(word: &ShellWord) -> Option<String> {
    let is_wild = |piece: &WordPiece| matches!(piece, WordPiece::Text(_) | WordPiece::Glob(_));
    if !word.pieces().iter().all(is_wild) {
        return None;
    }
    let text: String = word.first_text();
    let fixed = text.split(['*', '?', '[']).next()?;
    Some(
        fixed
            .rsplit_once('/')
            .map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder })
            .to_owned(),
    )
}
