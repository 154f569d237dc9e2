//! Commands that only read files, and those whose words are mostly prose.

use callgate_mask::programs::{INTERPRETERS, SHELLS, is_one_of};
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use crate::act::Act;
use crate::shell::{ShellCommand, ShellWord};

/// Programs that write no file, whatever their arguments.
const LOOKERS: &WordList = words!(
    "cat ls ll head tail wc nl tac grep egrep fgrep zgrep rg ag ack ugrep stat \
    cmp diff du test [ readlink realpath basename dirname md5sum sha1sum sha256sum sha512sum shasum \
    b3sum jq cut strings hexdump cd chdir pushd pwd true find gfind fd fdfind"
);
/// The git commands that write no file in the folders that they name.
const GIT_LOOKERS: &WordList =
    words!("status diff log show blame add ls-files ls-tree check-ignore rev-parse grep shortlog");
/// Programs that run another program on their input.
pub(super) const FEEDERS: &WordList = words!("xargs gxargs parallel");
/// Programs that find files, and can change what they find.
const FINDERS: &WordList = words!("find gfind fd fdfind");
/// Programs whose arguments are mostly text for people.
const SPEAKERS: &WordList = words!("echo printf git gh glab hub hg svn jj");

/// Returns true if a command changes no file that its words name; redirects are checked
/// elsewhere.
pub(super) fn only_looks(command: &ShellCommand, act: &Act) -> bool {
    let Some(program) = command.program() else { return false };
    // A variable may change what it does, and a path may lead to another program of this name.
    if !command.assigns.is_empty() || program.contains('/') {
        return false;
    }
    if program == "git" {
        let mut words = command.words.iter().skip(1);
        // An option before the command may change its effect; some write the output to a file.
        let name = words.next().and_then(ShellWord::text);
        return name.is_some_and(|name| GIT_LOOKERS.contains(name)) && !words.any(is_output);
    }
    if matches!(program, "echo" | "printf") {
        return only_speaks(command, act);
    }
    // With these options, ripgrep runs a program on what it searches.
    let runs_others = |word: &ShellWord| {
        word.could_begin_with("--pre") || word.could_begin_with("--hostname-bin")
    };
    LOOKERS.contains(program)
        && !changes_findings(command, act)
        && !command.words.iter().any(runs_others)
}

/// Returns true if the words of a command are text for people that no other program of the line
/// runs.
pub(super) fn only_speaks(command: &ShellCommand, act: &Act) -> bool {
    let is_speaker = command.program().is_some_and(|program| SPEAKERS.contains(program));
    let runs_texts = |words: &[ShellWord]| {
        words
            .first()
            .and_then(ShellWord::text)
            .is_some_and(|program| is_one_of(program, SHELLS) || is_one_of(program, INTERPRETERS))
    };
    is_speaker && !act.runs.all_runs().any(|(other, words)| other != command && runs_texts(words))
}

/// Returns true if `find` changes the files it finds: through its actions, or through a program
/// that gets its output.
fn changes_findings(command: &ShellCommand, act: &Act) -> bool {
    let is_find = command.program().is_some_and(|name| FINDERS.contains(name));
    is_find && is_changing_folders(command, act)
}

fn is_output(word: &ShellWord) -> bool {
    ["--output", "-o", "--ext-diff"].iter().any(|start| word.could_begin_with(start))
}

/// Returns true if a program that can change folders does so, or passes its output to another.
pub(super) fn is_changing_folders(command: &ShellCommand, act: &Act) -> bool {
    let feeds = |words: &[ShellWord]| {
        words.first().and_then(ShellWord::text).is_some_and(|program| {
            [FEEDERS, SHELLS, INTERPRETERS].iter().any(|list| is_one_of(program, list))
        })
    };
    // A wrapper may come first, so every word is looked at.
    let is_find =
        command.words.iter().filter_map(ShellWord::text).any(|word| is_one_of(word, FINDERS));
    let is_action = |text: &str| {
        let actions = ["-delete", "-exec", "-ok", "-fprint", "-fls", "-x", "-X", "--exec"];
        actions.iter().any(|action| text.starts_with(action))
    };
    let is_fed = || act.runs.all_runs().any(|(other, words)| other != command && feeds(words));
    !is_find || is_fed() || command.words.iter().any(|word| word.text().is_none_or(is_action))
}
