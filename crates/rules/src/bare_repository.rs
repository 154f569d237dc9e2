//! Folders that git would take for a repository although they are not named `.git`.
//!
//! An agent can make one of ordinary files, and then git runs what the file `config` in it names,
//! even for `git status`. The files have harmless names, so that no rule keeps them from being
//! written; what is found on the disk counts instead.

use crate::act::Act;
use crate::disk::{Disk, real_path};
use crate::place::{folders_above, is_in, join_path, last_name, path_below};
use crate::shell::{GAP, ShellCommand, ShellWord};
use crate::steps;
use callgate_mask::words;

/// The most folders of one command that are looked at. Each `-C` doubles them.
const MOST_FOLDERS: usize = 64;
/// The cost of one look at the disk.
const LOOK: usize = 256;

/// Returns why a person has to be asked about an act that runs git, in a sentence.
pub(crate) fn repository_trap_reason(act: &Act, disk: &dyn Disk) -> Option<String> {
    let is_git =
        |words: &[ShellWord]| words.first().is_some_and(|word| word.could_name(words!("git")));
    let mut runs = act.runs.all_runs().filter(|(_, words)| is_git(words));
    runs.find_map(|(command, words)| {
        let Some(folders) = git_folders(command, words) else {
            return Some("git is given more folders than are looked at".to_owned());
        };
        // Git itself knows the folder without links.
        let led = folders.iter().filter_map(|folder| real_path(folder, disk));
        let mut all = folders.iter().cloned().chain(led);
        let found = all.find_map(|folder| found_from(&folder, act, disk))?;
        Some(format!(
            "{found} looks like a repository of its own, and git would run what its `config` names"
        ))
    })
}

/// Returns the folders in which git may look for its repository: those of the command, and those
/// of `-C`. `None` if there are too many.
fn git_folders(command: &ShellCommand, words: &[ShellWord]) -> Option<Vec<String>> {
    let mut folders = command.folders.clone();
    let names_folder = |word: &ShellWord| word.texts().any(|text| text == "-C");
    for two in words.windows(2).filter(|two| names_folder(&two[0])) {
        let known = two[1].texts().filter(|text| !text.contains(GAP));
        let known: Vec<String> = known.collect();
        for folder in folders.clone() {
            // Each leads on from the one before.
            for next in known.iter().map(|next| join_path(&folder, next)) {
                if !folders.contains(&next) {
                    folders.push(next);
                }
            }
        }
        if folders.len() > MOST_FOLDERS {
            return None;
        }
    }
    Some(folders)
}

/// Returns the first such folder from this one upward. In the project all folders are examined,
/// since git also ignores a damaged `.git`; above it, those up to the first repository.
fn found_from(folder: &str, act: &Act, disk: &dyn Disk) -> Option<String> {
    for folder in std::iter::once(folder).chain(folders_above(folder)) {
        if !steps::spend_budget(LOOK) {
            return None;
        }
        // A `.git` is what git is meant to find; writing into one is guarded elsewhere.
        if last_name(folder) != ".git" && is_repository(folder, disk) {
            return Some(folder.to_owned());
        }
        let git = path_below(folder, ".git");
        // In worktrees and submodules `.git` is a file that names the repository.
        let is_file = disk.exists(&git) && !disk.is_folder(&git);
        let is_in_project =
            act.projects().any(|project| is_in(folder, project) && folder != project);
        if !is_in_project && (is_file || is_repository(&git, disk)) {
            return None;
        }
    }
    None
}

/// Returns true if a folder has what git requires of a repository.
fn is_repository(folder: &str, disk: &dyn Disk) -> bool {
    let has = |name: &str| disk.exists(&path_below(folder, name));
    // The folder of a worktree has `commondir` in place of objects and refs of its own.
    has("HEAD") && ((has("objects") && has("refs")) || has("commondir"))
}
