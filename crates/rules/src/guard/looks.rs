//! Commands that only look at files, and those whose words are mostly prose.

use callgate_mask::programs::{INTERPRETERS, SHELLS, is_one_of};

use super::commands::changes;
use crate::act::Act;
use crate::shell::{Command, Word};

/// Programs that write to no file, whatever their arguments.
const LOOKERS: &str = "cat ls ll head tail wc nl tac grep egrep fgrep zgrep rg ag ack ugrep stat \
    cmp diff du test [ readlink realpath basename dirname md5sum sha1sum sha256sum sha512sum shasum \
    b3sum jq cut strings hexdump cd chdir pushd pwd true find gfind fd fdfind";
/// The commands of git that write to no file in the folders that they name.
const GIT_LOOKERS: &str =
    "status diff log show blame add ls-files ls-tree check-ignore rev-parse grep shortlog";
/// Programs whose arguments are mostly text for people.
const SPEAKERS: &str = "echo printf git gh glab hub hg svn jj";

/// Returns true if a command changes no file that its words name; what it is redirected to is
/// another matter.
pub(super) fn only_looks(command: &Command, act: &Act) -> bool {
    let Some(program) = command.program() else { return false };
    if !command.assigns.is_empty() || program.contains('/') {
        return false;
    }
    if program == "git" {
        let texts = || command.words.iter().skip(1).map(Word::known_text);
        // An option before the command may change what it does; some write their output to a file.
        let is_known =
            texts().next().is_some_and(|name| GIT_LOOKERS.split(' ').any(|known| known == name));
        return is_known && !texts().any(|text| is_output(&text));
    }
    if matches!(program, "echo" | "printf") {
        return only_speaks(command, act);
    }
    let runs_others = |text: &str| text.starts_with("--pre") || text.starts_with("--hostname-bin");
    is_exactly(program, LOOKERS)
        && !changes_findings(command, act)
        && !command.words.iter().any(|word| runs_others(&word.known_text()))
}

/// Returns true if the words of a command are text for people that no other program of the line
/// is given to run.
pub(super) fn only_speaks(command: &Command, act: &Act) -> bool {
    let is_speaker = command.program().is_some_and(|program| is_exactly(program, SPEAKERS));
    let runs_texts = |words: &[Word]| {
        words
            .first()
            .and_then(Word::text)
            .is_some_and(|program| is_one_of(program, SHELLS) || is_one_of(program, INTERPRETERS))
    };
    is_speaker && !act.runs.each().any(|(other, words)| other != command && runs_texts(words))
}

fn is_exactly(program: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == program)
}

/// `find` changes nothing unless it is told to, or its findings are handed on.
fn changes_findings(command: &Command, act: &Act) -> bool {
    let is_find = command.program().is_some_and(|name| is_exactly(name, "find gfind fd fdfind"));
    is_find && changes(command, act)
}

fn is_output(text: &str) -> bool {
    text.starts_with("--output") || text.starts_with("-o") || text.starts_with("--ext-diff")
}
