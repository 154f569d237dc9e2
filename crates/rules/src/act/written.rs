//! The files that commands write: the targets of redirects, and the arguments of programs that are
//! known to write them.
//!
//! A program that is not in the table is not seen to write anything.

use super::{Act, touch};
use crate::glob::{PatternToken, literal_toks};
use crate::place;
use crate::shell::{ShellCommand, ShellWord, operands};
use crate::steps;
use callgate_mask::word_list::WordList;
use callgate_mask::words;

#[derive(Debug, Clone, Copy)]
enum WrittenArguments {
    /// All that are not options.
    All,
    /// All that are not options, unless one of these options is given.
    AllUnless(&'static str),
    /// The last that is not an option.
    Last,
    /// Those after one of these options.
    After(&'static str),
    /// Those after one of these options, or else the folder in which it runs.
    Folder(&'static str),
    /// With `-i`, all but the program text. These letters are options that take the next word.
    InPlace(&'static str),
    /// The value of `of=`.
    Disk,
    /// What it unpacks to or packs into.
    Archive,
    /// The repository, unless it only reads it, and the new folders that it is given.
    Git,
}

use WrittenArguments::{After, All, AllUnless, Archive, Disk, Folder, Git, InPlace, Last};

/// The programs that write files, and which arguments name them. A program may have several lines,
/// all of which count.
const WRITERS: &[(&WordList, WrittenArguments)] = &[
    (
        words!(
            "tee sponge touch mkdir mkfifo mknod truncate install ginstall rm rmdir shred srm unlink \
         trash trash-put mv gmv rename mmv chmod chown chgrp chattr chflags setfacl xattr patch \
         link ed ex vi vim nvim nano emacs pico script"
        ),
        All,
    ),
    (words!("cp gcp ln gln rsync scp rclone ditto pax cpio split csplit xxd uniq"), Last),
    (words!("cp gcp ln gln mv gmv install ginstall"), After("-t --target-directory")),
    (
        words!("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd"),
        AllUnless("-c --stdout --to-stdout -l -t"),
    ),
    (words!("sed gsed"), InPlace("ef")),
    (words!("perl ruby"), InPlace("eEIMr")),
    (words!("yq"), InPlace("")),
    (words!("dd"), Disk),
    (words!("tar gtar bsdtar"), Archive),
    (words!("unzip"), Folder("-d")),
    (words!("cpio"), Folder("-D --directory")),
    (words!("patch"), After("-o --output -d --directory -r --reject-file")),
    (words!("7z 7za 7zz"), After("-o")),
    (words!("sort shuf gpg cc gcc g++ clang clang++ ld go rustc tsc pandoc"), After("-o --output")),
    (words!("curl"), After("-o --output --output-dir -D --dump-header -c --cookie-jar --trace")),
    (words!("wget"), After("-O --output-document -P --directory-prefix -o --output-file -a")),
    (words!("find gfind"), After("-fprint -fprint0 -fprintf -fls")),
    (words!("openssl"), After("-out -keyout -writerand")),
    (words!("ssh-keygen"), After("-f")),
    (words!("git"), Git),
];

/// The most paths of one act; one that writes more is too long to judge.
const MOST_PATHS: usize = 10_000;
/// Where written bytes are lost or only shown.
const NOWHERE: &WordList = words!("/dev/null /dev/stdout /dev/stderr /dev/zero /dev/full");
/// The git commands that change no file.
const GIT_READS: &WordList = words!(
    "status diff log show blame annotate ls-files ls-tree ls-remote check-ignore rev-parse \
    rev-list grep shortlog describe cat-file for-each-ref merge-base name-rev whatchanged version"
);
/// The git commands whose arguments are new files or folders.
const GIT_CREATES: &WordList = words!("clone init worktree bundle");

/// Returns the paths that the commands of an act write, absolute; one that could be anything is a
/// single [`PatternToken::Cross`].
pub(super) fn written_paths(act: &Act) -> Vec<Vec<PatternToken>> {
    let mut found = WrittenPaths { act, last: None, folders: Vec::new(), paths: Vec::new() };
    for command in &act.runs.commands {
        found.add_all(command, &command.written);
    }
    for (command, words) in act.runs.run_beginnings() {
        let Some((program, arguments)) = words.split_first() else { continue };
        if !steps::spend_budget(WRITERS.len()) || found.paths.len() > MOST_PATHS {
            steps::exhaust_budget();
            break;
        }
        for (_, written) in WRITERS.iter().filter(|(names, _)| program.could_name(names)) {
            if steps::spend_budget(arguments.len()) {
                found.of_program(*written, command, arguments);
            }
        }
        if program.could_name(words!("sed gsed")) {
            found.of_scripts(command, arguments, &['w', 'W']);
        } else if program.could_name(words!("awk gawk mawk nawk")) {
            found.of_scripts(command, arguments, &['>']);
        }
    }
    found.paths
}

struct WrittenPaths<'a> {
    act: &'a Act,
    /// The command whose folders were looked up last, by its address, and these folders.
    last: Option<*const ShellCommand>,
    folders: Vec<Vec<PatternToken>>,
    paths: Vec<Vec<PatternToken>>,
}

impl WrittenPaths<'_> {
    fn of_program(
        &mut self,
        written: WrittenArguments,
        command: &ShellCommand,
        arguments: &[ShellWord],
    ) {
        let operands = || arguments.iter().filter(|word| !is_option(word));
        match written {
            All => self.add_files(command, operands()),
            AllUnless(options) => {
                if option_values(arguments, options).next().is_none() {
                    self.add_files(command, operands());
                }
            }
            Last => self.add_files(command, last_operands(arguments).into_iter()),
            After(options) => self.add_values(command, option_values(arguments, options)),
            Folder(options) => {
                self.add_folders(command, option_values(arguments, options).collect());
            }
            InPlace(letters) => {
                if let Some(files) = in_place(arguments, letters) {
                    self.add_files(command, files.into_iter());
                }
            }
            Disk => {
                let values = arguments.iter().filter_map(|word| value_of(word, "of="));
                self.add_values(command, values);
            }
            Archive => self.of_archive(command, arguments),
            Git => self.of_git(command, arguments),
        }
    }

    /// Adds what `tar` unpacks to or packs into.
    fn of_archive(&mut self, command: &ShellCommand, arguments: &[ShellWord]) {
        let texts: Vec<String> = arguments.iter().map(ShellWord::gapped_text).collect();
        let letters = |(at, text): (usize, &String)| match text.strip_prefix('-') {
            Some(rest) => (!rest.starts_with('-')).then(|| rest.to_owned()),
            // Without a dash only the first word has letters: `tar xf x.tar`.
            None => (at == 0).then(|| text.clone()),
        };
        let short: String = texts.iter().enumerate().filter_map(letters).collect();
        let has_long = |option: &str| texts.iter().any(|text| text == option);
        if short.contains('x') || has_long("--extract") || has_long("--get") {
            self.add_folders(
                command,
                option_values(arguments, "-C --directory --one-top-level").collect(),
            );
            if short.contains('P') || has_long("--absolute-names") {
                // With absolute names the archive says where it writes.
                self.paths.push(vec![PatternToken::Cross]);
            }
        } else if !short.contains('t') && !has_long("--list") {
            // The letters may come without a dash, and then the archive is the next word.
            let archive = arguments.iter().skip(1).take(1).filter(|_| !texts[0].starts_with('-'));
            self.add_all(command, archive);
            self.add_values(command, option_values(arguments, "-f --file"));
        }
    }

    fn of_git(&mut self, command: &ShellCommand, arguments: &[ShellWord]) {
        let mut at = 0;
        while let Some(word) = arguments.get(at).filter(|word| is_option(word)) {
            let takes_next =
                words!("-C -c --git-dir --work-tree --namespace").contains(word.gapped_text());
            at += 1 + usize::from(takes_next);
        }
        let (options, rest) = arguments.split_at(at.min(arguments.len()));
        let Some((name, rest)) = rest.split_first() else { return };
        let name = name.gapped_text();
        if !GIT_READS.contains(&name) {
            self.add_values(command, option_values(options, "-C --git-dir --work-tree"));
        }
        if name == "clone" {
            self.add_all(command, last_operands(rest));
        } else if GIT_CREATES.contains(&name) {
            self.add_all(command, rest.iter().filter(|word| !is_option(word)));
        }
        self.add_values(
            command,
            option_values(rest, "-o --output --output-directory --separate-git-dir"),
        );
    }

    /// Adds the absolute paths after a sign by which a program for `sed` or `awk` writes.
    fn of_scripts(&mut self, command: &ShellCommand, arguments: &[ShellWord], signs: &[char]) {
        // Then every script of the command is known to write nothing.
        if !operands::harmless_texts(command).is_empty() {
            return;
        }
        for text in arguments.iter().flat_map(ShellWord::texts) {
            for (at, sign) in text.match_indices(signs) {
                let rest = text[at + sign.len()..].trim_start_matches([' ', '>', '"']);
                let end = rest.find(['"', '\n', ';', '}', ' ']).unwrap_or(rest.len());
                // Only an absolute path counts, because `$3 > x` is nearly always a comparison.
                if rest.starts_with('/') && steps::spend_budget(end) {
                    self.add_path(command, &literal_toks(&rest[..end]));
                }
            }
        }
    }

    /// Adds the folders of an option, or the folder in which the command runs.
    fn add_folders(&mut self, command: &ShellCommand, values: Vec<Vec<PatternToken>>) {
        if values.is_empty() {
            self.add_path(command, &literal_toks("."));
        }
        self.add_values(command, values.into_iter());
    }

    /// Adds the files that the operands of a program name.
    fn add_files<'w>(
        &mut self,
        command: &ShellCommand,
        words: impl Iterator<Item = &'w ShellWord>,
    ) {
        self.add_all(command, words);
    }

    fn add_all<'w>(
        &mut self,
        command: &ShellCommand,
        words: impl IntoIterator<Item = &'w ShellWord>,
    ) {
        let patterns = words.into_iter().flat_map(ShellWord::patterns);
        patterns.for_each(|toks| self.add_path(command, &toks));
    }

    fn add_values(
        &mut self,
        command: &ShellCommand,
        values: impl Iterator<Item = Vec<PatternToken>>,
    ) {
        values.for_each(|value| self.add_path(command, &value));
    }

    /// Adds a path in each folder in which the command may run.
    fn add_path(&mut self, command: &ShellCommand, path: &[PatternToken]) {
        if path.is_empty() || steps::is_spent() {
            return;
        }
        // By its address, because comparing two commands would read all of their words.
        let address = std::ptr::from_ref(command);
        // The paths of one command come one after the other and share its folders.
        if self.last != Some(address) {
            self.folders = touch::folders_of(command, &self.act.home);
            self.last = Some(address);
        }
        for folder in &self.folders {
            let path = place::placed_toks(path, folder, &self.act.home);
            let text: String = path.iter().copied().filter_map(PatternToken::character).collect();
            if text.len() < path.len() || !NOWHERE.contains(&text) {
                self.paths.push(path);
            }
        }
    }
}

fn is_option(word: &ShellWord) -> bool {
    let text = word.gapped_text();
    text.starts_with('-') && text.len() > 1
}

/// Returns the last argument that is not an option. The word after an option may be its value, so
/// the one before that counts as well.
fn last_operands(arguments: &[ShellWord]) -> Vec<&ShellWord> {
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate().rev().filter(|(_, word)| !is_option(word)) {
        found.push(word);
        let before = at.checked_sub(1).map(|before| &arguments[before]);
        if before.is_none_or(|before| !is_option(before) || before.text() == Some("--")) {
            break;
        }
    }
    found
}

/// Returns the values of some options: the next word, or the rest of the same word.
fn option_values<'a>(
    arguments: &'a [ShellWord],
    options: &'a str,
) -> impl Iterator<Item = Vec<PatternToken>> + 'a {
    arguments
        .iter()
        .enumerate()
        .filter_map(move |(at, word)| {
            let text = word.gapped_text();
            let named =
                options.split_ascii_whitespace().find_map(|option| value_at(&text, option))?;
            let first = word.patterns().next().unwrap_or_default();
            let rest = first.get(named..).unwrap_or_default().to_vec();
            let next = || arguments.get(at + 1).into_iter().flat_map(ShellWord::patterns).collect();
            Some(if rest.is_empty() { next() } else { vec![rest] })
        })
        .flat_map(|values: Vec<Vec<PatternToken>>| values)
}

/// Returns where the value begins in a word that is this option, perhaps among other letters or
/// abbreviated; at its end if it is in the next word.
fn value_at(text: &str, option: &str) -> Option<usize> {
    if let Some(letter) = option.strip_prefix('-').filter(|rest| rest.chars().count() == 1) {
        let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let at = cluster.find(letter)?;
        return cluster[..at].chars().all(char::is_alphabetic).then_some(at + 2);
    }
    let name = text.split('=').next().unwrap_or_default();
    let is_it = name == option || (name.len() > 3 && text.starts_with("--"));
    (is_it && option.starts_with(name)).then(|| (name.len() + 1).min(text.chars().count()))
}

fn value_of(word: &ShellWord, beginning: &str) -> Option<Vec<PatternToken>> {
    let is_it = word.gapped_text().starts_with(beginning);
    let first = word.patterns().next().filter(|_| is_it)?;
    Some(first.get(beginning.len()..).unwrap_or_default().to_vec())
}

/// Returns the files that a program changes in place, if it does. `letters` are the options that
/// take the rest of their word or the next one; without a program text among them, the first
/// argument is the text.
fn in_place<'a>(arguments: &'a [ShellWord], letters: &str) -> Option<Vec<&'a ShellWord>> {
    let (mut is_in_place, mut has_text, mut is_value) = (false, false, false);
    let mut files = Vec::new();
    for word in arguments {
        let text = word.gapped_text();
        if std::mem::take(&mut is_value) {
            continue;
        }
        if !is_option(word) {
            files.push(word);
        } else if text.starts_with("--") {
            // Long options may be abbreviated.
            is_in_place |= text.starts_with("--in");
            let is_text = ["--expression", "--file"].iter().any(|name| text.starts_with(name));
            has_text |= is_text;
            is_value = is_text && !text.contains('=');
        } else if let Some(at) = text.find(|c: char| c == 'i' || letters.contains(c)) {
            is_in_place |= text[at..].starts_with('i');
            let takes_value = !text[at..].starts_with('i');
            has_text |= text[at..].starts_with(['e', 'E', 'f']);
            is_value = takes_value && at + 1 == text.len();
        }
    }
    if !has_text && !files.is_empty() {
        files.remove(0);
    }
    is_in_place.then_some(files)
}
