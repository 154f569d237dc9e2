//! An act with its symbolic links followed: each path by its name and by its target.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Act, touch, written};
use crate::disk::{Disk, PathFollower};
use crate::glob::{ComparisonBias, PatternToken, can_meet, literal_toks};
use crate::place;
use crate::shell::{ShellCommand, ShellWord};
use crate::steps;

/// The most parts of one word whose links are followed. Each is followed in every folder in which
/// the command may run.
const MOST_PARTS: usize = 48;

#[derive(Debug, Default)]
struct LinkTargets {
    project: Option<String>,
    home: Option<String>,
    paths: Vec<String>,
    cwds: Vec<String>,
    strings: Vec<String>,
    /// Commands with the other names, each with the index of the original command.
    commands: Vec<(usize, ShellCommand)>,
    by_name: BTreeMap<String, BTreeSet<String>>,
}

pub(crate) enum FollowedAct {
    /// None of them leads through a link.
    Same,
    /// Some lead elsewhere. This is the act with both names of each.
    Led(Box<Act>),
    /// There are more than may be looked up.
    TooMany,
}

impl Act {
    /// Returns where the paths that it names lead, in their order; not those of a command. A path
    /// whose links lead in circles leads nowhere and is left as it is.
    pub fn path_targets(&self, disk: &dyn Disk) -> Vec<String> {
        let follower = PathFollower::new(disk);
        self.paths
            .iter()
            .map(|path| follower.real_path(path).unwrap_or_else(|| path.clone()))
            .collect()
    }

    pub(crate) fn follow_links(&self, follower: &PathFollower<'_>) -> FollowedAct {
        let leads = LinkTargets::from_act(self, follower);
        if follower.is_spent() {
            FollowedAct::TooMany
        } else if leads.is_empty() {
            FollowedAct::Same
        } else {
            FollowedAct::Led(Box::new(self.with_targets(leads)))
        }
    }

    fn with_targets(&self, leads: LinkTargets) -> Self {
        let mut act = self.clone();
        act.real_project = leads.project;
        act.real_home = leads.home;
        // Both names are kept: a deny applies to either, and an allow has to cover both.
        act.paths.extend(leads.paths);
        act.cwds.extend(leads.cwds);
        for (index, command) in leads.commands {
            act.runs.push_twin(index, command);
        }
        act.targets =
            leads.by_name.into_iter().map(|(name, to)| (name, to.into_iter().collect())).collect();
        // Computed again, because the twins of the commands name more paths.
        act.touched = touch::touched_paths(&act);
        act.touched.extend(leads.strings.iter().map(|place| literal_toks(place)));
        act.string_targets = leads.strings;
        act.swept = touch::swept_folders(&act);
        act.listed = touch::listed_folders(&act);
        act.written = written::written_paths(&act);
        act.look_for_lost();
        act
    }

    /// Returns the act with everything in its command that is not known counted as anything. None
    /// if all is known.
    pub(crate) fn with_unknown_opened(&self) -> Option<Self> {
        if !self.runs.has_unknown() {
            return None;
        }
        let mut act = self.clone();
        act.runs = self.runs.with_unknown_opened();
        // The copied paths are those of the runs before.
        act.find_paths();
        Some(act)
    }

    /// Notes if one of its paths may lead anywhere.
    pub(super) fn look_for_lost(&mut self) {
        if touch::is_lost(self) {
            self.is_lost = true;
            self.note_doubt(
                "a path in it leads through a link of a process, which may lead anywhere",
            );
        }
    }

    /// Returns the targets of a path of a command that leads through links.
    pub(crate) fn targets_of(&self, path: &str) -> &[String] {
        self.targets.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the names of the project's folder: its own, and the one without links.
    pub(crate) fn projects(&self) -> impl Iterator<Item = &str> {
        [Some(&self.project), self.real_project.as_ref()].into_iter().flatten().map(String::as_str)
    }

    pub(crate) fn homes(&self) -> impl Iterator<Item = &str> {
        [Some(&self.home), self.real_home.as_ref()].into_iter().flatten().map(String::as_str)
    }
}

impl LinkTargets {
    fn from_act(act: &Act, follower: &PathFollower<'_>) -> Self {
        // Links that form a loop add no name, because nothing can be opened through them.
        let other = |path: &str| follower.real_path(path).filter(|place| place != path);
        let mut leads = Self {
            project: other(&act.project),
            home: other(&act.home),
            paths: act.paths.iter().filter_map(|path| other(path)).collect(),
            cwds: act.cwds.iter().filter_map(|path| other(path)).collect(),
            ..Self::default()
        };
        for path in named_in_strings(act) {
            leads.strings.extend(other(&path));
        }
        for (index, command) in act.runs.commands.iter().enumerate() {
            // An incomplete result is not used: `follow_links` then returns `TooMany`.
            if follower.is_spent() {
                break;
            }
            if let Some(command) = leads.find_command_twin(command, act, follower) {
                leads.commands.push((index, command));
            }
        }
        leads
    }

    fn is_empty(&self) -> bool {
        self.project.is_none()
            && self.home.is_none()
            && [&self.paths, &self.cwds, &self.strings].iter().all(|list| list.is_empty())
            && self.commands.is_empty()
    }

    /// Returns the command with the other names of its paths, if there are any. Which of its words
    /// are paths is unknown, so all of them are checked, as for rules that forbid.
    fn find_command_twin(
        &mut self,
        command: &ShellCommand,
        act: &Act,
        follower: &PathFollower<'_>,
    ) -> Option<ShellCommand> {
        let mut twin: Option<ShellCommand> = None;
        for folder in &command.folders {
            if let Some(place) = self.find_link_target(folder, follower) {
                let twin = twin.get_or_insert_with(|| command.clone());
                // The original command stays beside its twin, so only the target has to be in it.
                twin.folders.retain(|known| known != folder);
                if !twin.folders.contains(&place) {
                    twin.folders.push(place);
                }
            }
        }
        for folder in &command.other_folders {
            let (path, rest) = known_folder(folder);
            for word in self.find_path_targets(&path, rest, follower) {
                let twin = twin.get_or_insert_with(|| command.clone());
                twin.other_folders.extend(word.patterns());
            }
        }
        for (at, word) in command.words.iter().enumerate() {
            // A program without a slash is looked up on PATH, and is no path.
            if at == 0 && !word.could_contain("/") {
                continue;
            }
            let mut places = self.find_word_targets(word, command, act, follower).into_iter();
            if let Some(first) = places.next() {
                let twin = twin.get_or_insert_with(|| command.clone());
                twin.words[at] = first;
                // Twins only count for rules that forbid, to which the position of a path does not
                // matter.
                twin.words.extend(places);
            }
        }
        let mut more = |words: &[ShellWord]| -> Vec<ShellWord> {
            words
                .iter()
                .flat_map(|word| self.find_word_targets(word, command, act, follower))
                .collect()
        };
        let (redirects, assigns) = (more(&command.redirects), more(&command.assigns));
        let written = more(&command.written);
        if !redirects.is_empty() || !assigns.is_empty() {
            let twin = twin.get_or_insert_with(|| command.clone());
            twin.redirects.extend(redirects);
            // Every written file is also one of `redirects`, so the condition above covers these.
            twin.written.extend(written);
            twin.words.extend(assigns);
        }
        twin
    }

    /// Returns the other names of the paths that a word could mean.
    fn find_word_targets(
        &mut self,
        word: &ShellWord,
        command: &ShellCommand,
        act: &Act,
        follower: &PathFollower<'_>,
    ) -> Vec<ShellWord> {
        let patterns: Vec<Vec<PatternToken>> = word.patterns().collect();
        let mut found: Vec<ShellWord> = Vec::new();
        for part in patterns.iter().flat_map(|toks| touch::word_parts(toks)).take(MOST_PARTS) {
            let (text, rest) = known_folder(part);
            for folder in &command.folders {
                let spelled = (!text.is_empty() || rest.is_empty())
                    .then(|| (touch::join_unresolved(&text, folder, &act.home), rest));
                // Resolved with its wildcards, because in `a*/../b` they do not matter.
                let whole = place::placed_toks(part, &literal_toks(folder), &act.home);
                let whole = (!rest.is_empty()).then(|| known_folder(&whole));
                for (path, rest) in spelled.into_iter().chain(whole) {
                    let words = self.find_path_targets(&path, rest, follower);
                    for word in words {
                        if !found.contains(&word) {
                            found.push(word);
                        }
                    }
                }
            }
        }
        found
    }

    /// Returns the other names of an absolute path and what follows it, which begins with a
    /// wildcard: by the links on the path, by the links in its folder that the wildcard could be,
    /// and by those below the folders that it could be.
    fn find_path_targets(
        &mut self,
        path: &str,
        rest: &[PatternToken],
        follower: &PathFollower<'_>,
    ) -> Vec<ShellWord> {
        let slashed = |place: &str| format!("{}/", place.trim_end_matches('/'));
        let mut words = Vec::new();
        if let Some(place) = self.find_link_target(path, follower) {
            let word = match rest {
                [] => ShellWord::known(&place),
                rest => ShellWord::of_toks(&slashed(&place), rest),
            };
            words.push(word);
        }
        let end = rest.iter().position(|tok| *tok == PatternToken::Is('/')).unwrap_or(rest.len());
        let (name, below) = rest.split_at(end);
        let listing = if name.is_empty() { Rc::default() } else { follower.list(path) };
        let is_meant =
            |found: &&String| can_meet(name, &literal_toks(found), ComparisonBias::Generous);
        for link in listing.links.iter().filter(is_meant) {
            let place = self.find_link_target(&(slashed(path) + link), follower);
            words.extend(place.map(|place| ShellWord::of_toks(&place, below)));
        }
        // Without a wildcard in `name` the folder was not listed, and there is nothing to enter.
        let Some((_, below)) = below.split_first().filter(|_| !name.is_empty()) else {
            return words;
        };
        // The wildcard may be any of these folders, and a link may be further down in each.
        let (known, rest) = known_folder(below);
        for folder in listing.folders.iter().filter(is_meant) {
            let path = slashed(path) + folder + "/" + &known;
            words.extend(self.find_path_targets(&path, rest, follower));
        }
        words
    }

    /// Returns the target of an absolute path, if it leads through a link.
    fn find_link_target(&mut self, spelled: &str, follower: &PathFollower<'_>) -> Option<String> {
        let place = follower.real_path(spelled).filter(|place| place != spelled)?;
        // A path with `..` differs from its target even if there is no link on it.
        let name = place::normal_path(spelled);
        (place != name).then(|| {
            self.by_name.entry(name).or_default().insert(place.clone());
            place
        })
    }
}

/// Returns the folder of a path before its first wildcard, and the rest; or all of it if there is
/// none.
fn known_folder(path: &[PatternToken]) -> (String, &[PatternToken]) {
    let known = path.iter().take_while(|tok| matches!(tok, PatternToken::Is(_))).count();
    let end = if known == path.len() {
        known
    } else {
        path[..known].iter().rposition(|tok| *tok == PatternToken::Is('/')).map_or(0, |at| at + 1)
    };
    let (folder, rest) = path.split_at(end);
    (folder.iter().copied().filter_map(PatternToken::character).collect(), rest)
}

/// Returns the texts in an unknown tool's input that could be paths: those with a slash, and those
/// that are one word.
fn named_in_strings(act: &Act) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in &act.strings {
        for piece in touch::text_words(text).take_while(|_| !steps::is_spent()) {
            if piece.contains('/') || piece == text {
                let toks = literal_toks(piece);
                let project = literal_toks(&act.project);
                let paths = touch::path_parts(&toks)
                    .map(|part| place::placed_toks(part, &project, &act.home));
                found.extend(paths.map(|path| {
                    path.iter().copied().filter_map(PatternToken::character).collect::<String>()
                }));
            }
        }
    }
    found
}
