//! Commands that change what git runs: its settings, and the hooks of a new repository.

use callgate_mask::programs::is_one_of;
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use crate::act::Act;
use crate::shell::names::MOVERS;
use crate::shell::{ShellCommand, ShellWord};

/// Options of git itself that take the next word.
const TAKES_NEXT: &WordList =
    words!("-C -c --git-dir --work-tree --namespace --super-prefix --config-env");

/// Settings that only describe people, display or merging; any other may name a program, a folder
/// of hooks, another settings file or another server.
const HARMLESS: &WordList = words!(
    "user.name user.email user.signingkey init.defaultbranch commit.gpgsign tag.gpgsign \
    pull.rebase pull.ff push.default push.autosetupremote fetch.prune merge.conflictstyle \
    merge.ff rebase.autosquash rebase.autostash rerere.enabled core.autocrlf core.eol \
    core.filemode core.ignorecase core.longpaths core.quotepath core.abbrev color.ui log.date \
    diff.algorithm"
);

/// Programs, besides those that move files, that write the file they are given.
const WRITERS: &WordList = words!("touch sed gsed perl curl wget patch");

/// Returns why a command may replace a repository's `.git` by a file: such a file names the folder
/// with the repository's settings and hooks.
pub(super) fn replaces_folder(command: &ShellCommand) -> Option<String> {
    let is_git = |word: &ShellWord| word.could_end_in(".git");
    let writes = |word: &ShellWord| {
        word.text().is_some_and(|text| is_one_of(text, MOVERS) || is_one_of(text, WRITERS))
    };
    // Excluded files are not written.
    let leaves_out = |word: &ShellWord| {
        let options = ["--exclude", "--ignore", "-x", "-I", "-E", "-path", "-name"];
        word.texts().all(|text| options.iter().any(|option| text.starts_with(option)))
    };
    let is_written = || {
        command.words.iter().any(writes)
            && command.words.windows(2).any(|two| is_git(&two[1]) && !leaves_out(&two[0]))
    };
    (command.redirects.iter().any(is_git) || is_written())
        .then(|| "it could change .git, which names what git runs".into())
}

/// Returns why an act changes what git runs, in words that follow "because".
pub(super) fn changes_settings(act: &Act) -> Option<String> {
    act.runs.all_runs().find_map(|(_, words)| {
        let (program, rest) = words.split_first()?;
        program.could_end_in("git").then(|| changed_by(rest))?
    })
}

fn changed_by(words: &[ShellWord]) -> Option<String> {
    let mut at = 0;
    while let Some(option) = words.get(at).filter(|word| word.gapped_text().starts_with('-')) {
        at += 1 + usize::from(TAKES_NEXT.contains(option.gapped_text()));
    }
    let (command, rest) = words.get(at..)?.split_first()?;
    let texts: Vec<String> = rest.iter().flat_map(ShellWord::texts).collect();
    if command.could_be_text("config") && !only_reads(&texts) {
        return Some("it changes the settings of git, which can name programs to run".into());
    }
    let makes = ["init", "clone", "submodule"].iter().any(|name| command.could_be_text(name));
    let is_given = |word: &ShellWord| {
        // Beginnings of `--template` and `--config`. `-c` may share a word with its value.
        ["--t", "--co", "-c"].iter().any(|start| word.could_begin_with(start))
    };
    (makes && rest.iter().any(is_given))
        .then(|| "it gives a repository settings or hooks that git runs".into())
}

/// Returns true if `git config` only reads, or sets something harmless.
fn only_reads(words: &[String]) -> bool {
    let (options, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|text| text.starts_with('-'));
    // Git accepts the beginning of a long option in its place.
    let has = |starts: &[&str]| {
        options.iter().any(|option| starts.iter().any(|start| option.starts_with(start)))
    };
    // Another file may be the settings of another program.
    if has(&["-f", "--fi"]) {
        return false;
    }
    let (verb, rest) = names.split_first().map_or(("", &names[..]), |(verb, rest)| (*verb, rest));
    match verb {
        "get" | "list" => true,
        "set" => is_harmless_setting(rest),
        "unset" | "edit" | "rename-section" | "remove-section" => false,
        _ if has(&["--get", "--list", "-l", "--help", "-h"]) => true,
        _ if has(&["-e", "--ed", "--un", "--re", "--ad"]) => false,
        // With a name alone, `git config` prints the value.
        _ => names.len() == 1 || is_harmless_setting(&names),
    }
}

/// Returns true if this is the name and value of a setting that runs nothing.
fn is_harmless_setting(setting: &[&String]) -> bool {
    let [name, _] = setting else { return false };
    let name = name.to_lowercase();
    HARMLESS.contains(&name) || name.starts_with("advice.")
}
