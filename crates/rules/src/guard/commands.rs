//! Commands that touch what is guarded.

use callgate_mask::programs::{WRAPPERS, is_one_of};
use callgate_mask::word_list::WordList;
use callgate_mask::words;

use super::looks::{self, FEEDERS, is_changing_folders};
use super::places::{GuardedKind, GuardedPlace};
use super::{GuardedSet, git, plain_toks, program};
use crate::act::{Act, touch};
use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};
use crate::place::{folders_above, last_name, normal_toks};
use crate::shell::loose::PossibleRuns;
use crate::shell::names::{MOVERS, SEARCHERS};
use crate::shell::{ShellCommand, ShellScript, ShellWord};
use crate::steps;

/// Programs that put files into the folder that is their last argument.
const COPIERS: &WordList = words!("cp gcp mv gmv ln gln install ginstall rsync scp");

/// The longest text in another tool's input that may be a command line, in bytes. Each text with a
/// slash or a wildcard is parsed as one.
const LONGEST_SAID: usize = 20_000;

/// Programs that write the files that their input names.
const UNPACKERS: &WordList = words!("patch gpatch tar gtar bsdtar unzip bsdcpio cpio pax 7z");
/// The commands of `git` that do so.
const CHECKOUTS: &WordList = words!(
    "apply am checkout checkout-index restore reset switch stash pull merge \
    rebase cherry-pick revert clone worktree read-tree clean submodule"
);

impl GuardedSet {
    pub(super) fn command_touches(&self, command: &ShellCommand, act: &Act) -> Option<String> {
        if let Some(reason) = program::writes_us(command, act) {
            return Some(reason);
        }
        let only_looks = looks::only_looks(command, act);
        let only_speaks = looks::only_speaks(command, act);
        let is_soft = |place: &GuardedPlace| place.kind == GuardedKind::Hooks;
        let all = || command.words.iter().chain(&command.assigns).chain(&command.redirects);
        // Rules decide about reading these files with a command, and prose only mentions them.
        let counts = |place: &&GuardedPlace| !is_soft(place) || !(only_looks || only_speaks);
        if let Some(reason) =
            all().flat_map(ShellWord::texts).find_map(|text| self.names_guarded_by(&text, counts))
        {
            return Some(reason);
        }
        let paths = paths_of(command, act);
        let changed = if only_looks {
            paths_of(&with_words(command, |_| false), act)
        } else if only_speaks {
            paths_of(&with_words(command, |word| !is_prose(word)), act)
        } else {
            let folders = command.folders.iter().map(|folder| plain_toks(&literal_toks(folder)));
            paths.iter().cloned().chain(folders).collect()
        };
        // A folder and a name in it may be two words.
        let others = relative_paths(command);
        let is_hit = |place: &&GuardedPlace| {
            let paths = if is_soft(place) { &changed } else { &paths };
            paths.iter().any(|path| place.holds(path)) || place.is_joined(paths, &others)
        };
        let hit = self.places.iter().find(is_hit).map(GuardedPlace::reason);
        hit.or_else(|| git::replaces_folder(command))
            .or_else(|| self.sweeps_guarded(command, act, &paths))
    }

    /// Returns why a text, if it is a command line and runs, would touch what is guarded.
    pub(super) fn line_touches(&self, text: &str, act: &Act) -> Option<String> {
        if text.len() > LONGEST_SAID {
            return None;
        }
        let script = ShellScript::from_line(text, &act.project, &act.home);
        PossibleRuns::from_script(&script, &act.home).commands.iter().find_map(|command| {
            let mut paths = Vec::new();
            touch::of_command(command, &act.home, &mut paths);
            // In a text that is no command line, a bracket is not a wildcard.
            paths.retain(|path| {
                !path.contains(&PatternToken::Cross) || begins_with_literal(path, &act.project)
            });
            let paths: Vec<Vec<PatternToken>> = paths.iter().map(|path| plain_toks(path)).collect();
            let is_hit = |place: &&GuardedPlace| paths.iter().any(|path| place.holds(path));
            let sweeps = || {
                let program = command.program()?;
                let is = |list| is_one_of(program, list);
                let is_sweeper = is(MOVERS) || is(UNPACKERS) || is(SEARCHERS) || is(WRAPPERS);
                is_sweeper.then(|| self.sweeps_guarded(command, act, &paths))?
            };
            self.places.iter().find(is_hit).map(GuardedPlace::reason).or_else(sweeps)
        })
    }

    /// Returns why a command affects what is guarded together with a folder above it.
    fn sweeps_guarded(
        &self,
        command: &ShellCommand,
        act: &Act,
        paths: &[Vec<PatternToken>],
    ) -> Option<String> {
        let is = |list: &WordList| {
            let mut words = command.words.iter().skip(1).filter_map(ShellWord::text);
            command.words.first().is_some_and(|program| program.could_name(list))
                || words.any(|word| is_one_of(word, list))
        };
        // `find` is among these programs and changes nothing without an action.
        let is_moving = is(MOVERS) && is_changing_folders(command, act);
        let mut moved = if is_moving { source_paths(command, act) } else { Vec::new() };
        if is_moving && is(FEEDERS) {
            // Its input may be any file here.
            moved.extend(command.folders.iter().map(|folder| literal_toks(folder)));
        }
        let mut written = Vec::new();
        if is(UNPACKERS) || (is(words!("git")) && is(CHECKOUTS)) {
            written.extend_from_slice(paths);
            written.extend(command.folders.iter().map(|folder| literal_toks(folder)));
        }
        let mut read = Vec::new();
        if is(COPIERS) {
            read = source_paths(command, act);
        } else if is(SEARCHERS) {
            read.extend_from_slice(paths);
            read.extend(command.folders.iter().map(|folder| literal_toks(folder)));
        }
        let listed = listed_by(command, act);
        if is_moving {
            moved.extend_from_slice(&listed);
        } else {
            read.extend_from_slice(&listed);
        }
        let is_hit = |place: &&GuardedPlace| {
            moved.iter().chain(&written).any(|path| place.is_below(path))
                // Rules decide about reading everything that is not callgate's own.
                || (place.kind == GuardedKind::Own && read.iter().any(|path| place.is_below(path)))
        };
        let holds_project = |path: &Vec<PatternToken>| {
            let project = [act.project.as_str()].into_iter().chain(folders_above(&act.project));
            project
                .into_iter()
                .any(|folder| can_meet(path, &literal_toks(folder), ComparisonBias::Generous))
        };
        self.places.iter().find(is_hit).map(GuardedPlace::reason).or_else(|| {
            let reason =
                "it could change the whole project, and with it the settings that are guarded";
            moved.iter().any(holds_project).then(|| reason.into())
        })
    }
}

fn paths_of(command: &ShellCommand, act: &Act) -> Vec<Vec<PatternToken>> {
    let mut paths = Vec::new();
    touch::of_command(command, &act.home, &mut paths);
    // What a list contains is judged by the folder that is listed.
    paths.retain(|path| !touch::is_listed(path));
    paths.iter().map(|path| plain_toks(path)).collect()
}

/// Returns the folders whose contents a command gets by a list.
fn listed_by(command: &ShellCommand, act: &Act) -> Vec<Vec<PatternToken>> {
    let mut paths = Vec::new();
    touch::of_command(command, &act.home, &mut paths);
    paths.retain(|path| touch::is_listed(path));
    let folder = |path: Vec<PatternToken>| {
        let end = path.iter().rposition(|tok| *tok == PatternToken::Is('/')).unwrap_or_default();
        plain_toks(&path[..end.max(1)])
    };
    paths.into_iter().map(folder).collect()
}

/// Returns a command with its redirects and assignments, and those of its arguments that count.
fn with_words(command: &ShellCommand, counts: impl Fn(&ShellWord) -> bool) -> ShellCommand {
    let (program, rest) = command.words.split_at(command.words.len().min(1));
    let rest = rest.iter().filter(|word| counts(word));
    ShellCommand { words: program.iter().chain(rest).cloned().collect(), ..command.clone() }
}

/// Returns true if a word consists of several: no intended path has blanks in such a place.
fn is_prose(word: &ShellWord) -> bool {
    word.texts().any(|text| text.contains(char::is_whitespace))
}

/// Returns true if a path with a wildcard begins with a literal name and is not in the project.
fn begins_with_literal(path: &[PatternToken], project: &str) -> bool {
    matches!(path, [_, PatternToken::Is(_), ..]) && !path.starts_with(&literal_toks(project))
}

/// Returns the paths that a command removes, moves or changes with all their contents.
fn source_paths(command: &ShellCommand, act: &Act) -> Vec<Vec<PatternToken>> {
    let mut command = command.clone();
    let is_copier =
        command.words.iter().filter_map(ShellWord::text).any(|word| is_one_of(word, COPIERS));
    let is_whole = |word: &ShellWord| {
        word.has_unknown()
            || word
                .texts()
                .any(|text| text.ends_with('/') || matches!(last_name(&text), "." | ".."))
    };
    let names_target = |word: &ShellWord| {
        word.texts().any(|text| text.starts_with("-t") || text.starts_with("--t"))
    };
    let rest = &command.words[1..];
    let all_but_last = rest.get(..rest.len().saturating_sub(1)).unwrap_or_default();
    // Copying something into a folder under its own name changes nothing else in it.
    if is_copier && !all_but_last.iter().any(is_whole) && !rest.iter().any(names_target) {
        command.words.pop();
    }
    paths_of(&command, act)
}

/// Returns the words of a command as paths within a folder: as they are, and by their last name.
fn relative_paths(command: &ShellCommand) -> Vec<Vec<PatternToken>> {
    let mut found = Vec::new();
    for word in command.words.iter().skip(1).chain(&command.redirects) {
        for toks in word.patterns().map(|toks| plain_toks(&toks)) {
            for part in touch::path_parts(&toks).take_while(|_| !steps::is_spent()) {
                let whole = normal_toks(&[&[PatternToken::Is('/')], part].concat());
                let names = whole.rsplit(|tok| *tok == PatternToken::Is('/'));
                let name = names.take(1).flatten().copied().collect::<Vec<PatternToken>>();
                if !name.is_empty() && !name.contains(&PatternToken::Cross) {
                    found.extend([name, whole[1..].to_vec()]);
                }
            }
        }
    }
    found
}
