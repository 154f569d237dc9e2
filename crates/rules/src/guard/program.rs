//! Commands that run callgate, end it, or replace it by another program.

use callgate_mask::programs::{WRAPPERS, is_one_of};
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use super::looks::is_changing_folders;
use super::{HOOK, PROGRAM, plain_toks};
use crate::act::{Act, touch};
use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};
use crate::place::last_name;
use crate::shell::names::{MOVERS, SEARCHERS};
use crate::shell::{ShellCommand, ShellWord};

pub(super) const KILLERS: &WordList = words!("kill pkill killall skill fuser xkill tskill snice");
pub(super) const SERVICES: &WordList =
    words!("systemctl service launchctl rc-service initctl supervisorctl loginctl");
/// Programs that read and change the secrets in a keyring, of which some are ours.
pub(super) const KEYRINGS: &WordList = words!("secret-tool security keyring lssecret");
/// Programs that only read the program whose name they get, or do not use it as a file.
const READERS: &WordList = words!(
    "cat bat ls ll exa eza file which type whereis stat head tail wc grep egrep \
    fgrep zgrep rg ag ack ugrep cd pushd chdir echo printf test [ true md5sum sha1sum sha256sum \
    shasum b3sum du df less more man readlink realpath basename dirname diff cmp strings nm \
    objdump readelf ldd otool xxd hexdump od tree pgrep pidof ps find gfind fd fdfind git gh \
    cargo time timeout nice command sudo env kill pkill killall systemctl service launchctl \
    journalctl mkdir export cut sort uniq tr jq"
);

/// Returns why an act runs callgate, or ends it.
pub(super) fn runs_us(act: &Act) -> Option<String> {
    act.runs.all_runs().find_map(|(_, words)| {
        let (program, rest) = words.split_first()?;
        let is = |list: &WordList| match program.text() {
            Some(text) => is_one_of(&last_name(text).to_lowercase(), list),
            None => program.could_name(list),
        };
        // Everything that each word could be.
        let texts: Vec<String> =
            rest.iter().flat_map(ShellWord::texts).map(|text| text.to_lowercase()).collect();
        if (is(words!(PROGRAM)) || is(words!(HOOK))) && !is_harmless_call(&texts) {
            return Some("it runs callgate itself".into());
        }
        // The name matters, because `kill` takes numbers of processes and `pkill` takes names.
        let killer = KILLERS.iter().find(|name| is(&WordList::new(name)));
        if killer.is_some_and(|name| !kills_others(name, &texts)) {
            return Some("it could end callgate".into());
        }
        if is(words!("cargo")) && installs_us(&texts) {
            return Some("it could replace the program callgate".into());
        }
        let names_us = rest.iter().any(|word| {
            word.could_contain(PROGRAM) || word.texts().any(|t| t.to_lowercase().contains(PROGRAM))
        });
        if is(KEYRINGS) && names_us {
            return Some("it could read or change callgate's secrets in the keyring".into());
        }
        (is(SERVICES) && names_us).then(|| "it could stop callgate".into())
    })
}

/// Returns true if callgate only prints its version or help.
pub(super) fn is_harmless_call(words: &[String]) -> bool {
    let is_name = |word: &String| word.chars().all(|c| c.is_ascii_lowercase());
    match words {
        [only] if matches!(only.as_str(), "--help" | "-h" | "--version" | "-v" | "help") => true,
        [names @ .., last] if last == "--help" => names.len() <= 2 && names.iter().all(is_name),
        _ => false,
    }
}

/// Returns true if a program that ends others gets names that cannot be ours.
fn kills_others(program: &str, words: &[String]) -> bool {
    let is_signal = |word: &str| {
        let name = word.trim_start_matches('-');
        word.starts_with('-')
            && (name.parse::<u8>().is_ok_and(|signal| signal > 0)
                || ["term", "kill", "int", "hup", "quit", "usr1", "usr2", "x", "n", "o"]
                    .contains(&name))
    };
    let (signals, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| word.starts_with('-'));
    // The number of a process could be ours; a job of the shell cannot.
    if program == "kill" {
        let is_job = |name: &&String| {
            name.strip_prefix('%').is_some_and(|job| job.bytes().all(|b| b.is_ascii_digit()))
        };
        // `-l` only lists the names of signals.
        return words == ["-l"] || (!names.is_empty() && names.iter().all(is_job));
    }
    let is_other = |name: &&String| {
        name.len() > 1
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            // `pkill` takes a part of a name for the whole.
            && !HOOK.contains(name.as_str())
            && !name.contains(PROGRAM)
    };
    matches!(program, "pkill" | "killall")
        && !names.is_empty()
        && names.iter().all(is_other)
        && signals.iter().all(|word| is_signal(word))
}

fn installs_us(words: &[String]) -> bool {
    let is_install = |word: &String| matches!(word.as_str(), "install" | "binstall");
    let may_be_us = |word: &String| word.contains(PROGRAM) || word.starts_with("--path");
    words.iter().any(is_install) && words.iter().any(may_be_us)
}

/// Returns why a command may write one of the programs, whatever its folder is called.
pub(super) fn writes_us(command: &ShellCommand, act: &Act) -> Option<String> {
    let is_wrapper = command.program().is_some_and(|program| is_one_of(program, WRAPPERS));
    let mut inner = act.runs.all_runs().filter(|(other, _)| is_wrapper && *other == command);
    (command.redirects.iter().any(|word| word.patterns().any(|toks| names_us(&toks)))
        || may_write(&command.words, command, act)
        || inner.any(|(_, words)| may_write(words, command, act)))
    .then(|| "it could change the program callgate".into())
}

/// Returns true if these words of a command name one of the programs not just for reading it.
fn may_write(words: &[ShellWord], command: &ShellCommand, act: &Act) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    // The words of a wrapper before the program.
    if program.gapped_text().starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return false;
    }
    let is = |list| program.text().is_some_and(|program| is_one_of(program, list));
    let is_output =
        |word: &ShellWord| word.could_begin_with("-o") || word.could_begin_with("--output");
    let only_reads = if is(MOVERS) { !is_changing_folders(command, act) } else { is(READERS) };
    let is_told = rest.iter().any(is_output) && !is(SEARCHERS);
    let names = |word: &ShellWord| word.patterns().any(|toks| names_us(&toks));
    (!only_reads || is_told) && rest.iter().any(names)
}

/// Returns true if the last name of a path, or of a part of a word, could be that of one of the
/// programs.
pub(super) fn names_us(word: &[PatternToken]) -> bool {
    let word = plain_toks(word);
    let name = |part: &[PatternToken]| -> Vec<PatternToken> {
        let mut names = part.split(|tok| *tok == PatternToken::Is('/'));
        names.rfind(|name| !name.is_empty()).unwrap_or_default().to_vec()
    };
    touch::path_parts(&word).map(name).any(|name| {
        // A name with too few literal characters is left to other rules.
        let is_written = name.iter().filter(|tok| matches!(tok, PatternToken::Is(_))).count() > 3;
        is_written
            && [PROGRAM, HOOK]
                .iter()
                .any(|us| can_meet(&name, &literal_toks(us), ComparisonBias::Generous))
    })
}
