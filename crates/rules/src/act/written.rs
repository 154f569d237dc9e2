//! The files that commands write: the targets of redirects, and the arguments of programs that are
//! known to write them.
//!
//! A program that is not in the table is not seen to write anything.

mod argument_forms;

use super::{Act, touch};
use crate::glob::{PatternToken, literal_toks};
use crate::place;
use crate::shell::{ShellCommand, ShellWord, operands};
use crate::steps;
use argument_forms::{
    archive_letters, in_place, last_operands, may_be_operand, may_be_option, names_one,
    option_values, values_after,
};
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
            // The verdict is then to ask. If the list only ended here, later files would evade a
            // deny.
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
        let operands = || arguments.iter().filter(|word| may_be_operand(word));
        match written {
            All => self.add_files(command, operands()),
            AllUnless(options) => {
                let is_given = |word: &ShellWord| {
                    !may_be_operand(word)
                        && word.gapped_texts().all(|text| names_one(&text, options))
                };
                if !arguments.iter().any(is_given) {
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
                let values = arguments.iter().flat_map(|word| values_after(word, "of="));
                self.add_values(command, values);
            }
            Archive => self.of_archive(command, arguments),
            Git => self.of_git(command, arguments),
        }
    }

    /// Adds what `tar` unpacks to or packs into.
    fn of_archive(&mut self, command: &ShellCommand, arguments: &[ShellWord]) {
        let texts: Vec<(usize, String)> = arguments
            .iter()
            .enumerate()
            .flat_map(|(at, word)| word.gapped_texts().map(move |text| (at, text)))
            .collect();
        let short: String =
            texts.iter().filter_map(|(at, text)| archive_letters(*at, text)).collect();
        let has_long = |option: &str| texts.iter().any(|(_, text)| text == option);
        let surely_lists = arguments.iter().enumerate().any(|(at, word)| {
            let lists = |text: String| {
                text == "--list"
                    || archive_letters(at, &text).is_some_and(|letters| letters.contains('t'))
            };
            word.gapped_texts().all(lists)
        });
        let extracts = short.contains('x') || has_long("--extract") || has_long("--get");
        if extracts {
            self.add_folders(
                command,
                option_values(arguments, "-C --directory --one-top-level").collect(),
            );
            if short.contains('P') || has_long("--absolute-names") {
                // With absolute names the archive says where it writes.
                self.paths.push(vec![PatternToken::Cross]);
            }
        }
        // An unknown word may hold other letters, so that both directions are possible.
        let may_pack = !extracts || arguments.iter().any(|word| !word.is_known());
        if may_pack && !surely_lists {
            // The letters may come without a dash, and then the archive is the next word.
            let begins_plain = arguments.first().is_some_and(may_be_operand);
            let archive = arguments.iter().skip(1).take(1).filter(|_| begins_plain);
            self.add_all(command, archive);
            self.add_values(command, option_values(arguments, "-f --file"));
        }
    }

    fn of_git(&mut self, command: &ShellCommand, arguments: &[ShellWord]) {
        let mut at = 0;
        while let Some(word) = arguments.get(at).filter(|word| may_be_option(word)) {
            if may_be_operand(word) {
                // Which word the command is, is not known.
                self.add_all(command, &arguments[at + 1..]);
            }
            let takes_next =
                words!("-C -c --git-dir --work-tree --namespace").contains(word.gapped_text());
            at += 1 + usize::from(takes_next);
        }
        let (options, rest) = arguments.split_at(at.min(arguments.len()));
        let Some((name, rest)) = rest.split_first() else { return };
        let names: Vec<String> = name.gapped_texts().collect();
        // Only a command that certainly reads leaves the repository alone.
        if !names.iter().all(|name| GIT_READS.contains(name)) {
            self.add_values(command, option_values(options, "-C --git-dir --work-tree"));
        }
        if names.iter().any(|name| name == "clone") {
            self.add_all(command, last_operands(rest));
        }
        if names.iter().any(|name| GIT_CREATES.contains(name) && name != "clone") {
            self.add_all(command, rest.iter().filter(|word| may_be_operand(word)));
        }
        self.add_values(
            command,
            option_values(rest, "-o --output --output-directory --separate-git-dir"),
        );
    }

    /// Adds the absolute paths after a sign by which a program for `sed` or `awk` writes.
    fn of_scripts(&mut self, command: &ShellCommand, arguments: &[ShellWord], signs: &[char]) {
        // It returns scripts only if all of them are known to write nothing.
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
