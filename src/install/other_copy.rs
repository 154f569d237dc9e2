//! The hooks of another copy of callgate: a machine that is set up over ssh may have had one
//! before.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use callgate_hooks::hook_command::{CommandOwner, program_of_command};

use super::agent_file::{AgentFile, agent_files};
use crate::agents::{CodingAgent, SettingsScope};
use crate::config::Surroundings;
use crate::failure::Failure;

/// Returns the agents that have no hooks of another copy, and says which have.
pub(super) fn without_other_hooks(
    agents: Vec<CodingAgent>,
    scope: SettingsScope,
    around: &Surroundings,
) -> Result<Vec<CodingAgent>, Failure> {
    let mut wanted = Vec::new();
    for agent in agents {
        let files = agent_files(agent, scope, around)?;
        match files.iter().find_map(|file| Some((file, find_other_copy(file)?))) {
            Some((file, other)) => report_other_copy(agent, file, &other)?,
            None => wanted.push(agent),
        }
    }
    Ok(wanted)
}

/// Returns the program of another copy of callgate that a hook in this file starts.
pub(crate) fn find_other_copy(file: &AgentFile) -> Option<PathBuf> {
    let own = env::current_exe().and_then(fs::canonicalize).ok()?;
    let text = file.place.read().ok()??.text;
    let hooks = file.part.hooks(&text).ok()?;
    let ours = hooks.iter().filter(|hook| hook.owner == CommandOwner::Ours);
    let programs = ours.filter_map(|hook| program_of_command(&hook.command));
    programs.map(PathBuf::from).find(|program| is_other_copy(program, &own))
}

/// Returns true for a program in another folder than `own`. One that is gone gates nothing, so
/// nothing is lost with it.
fn is_other_copy(program: &Path, own: &Path) -> bool {
    // Which program that is depends on the PATH of the agent, so it is left alone.
    let is_on_path = program.components().count() == 1;
    let found = fs::canonicalize(program);
    is_on_path || found.is_ok_and(|found| found.parent() != own.parent())
}

/// Says that an agent keeps the hooks of another copy of callgate.
pub(crate) fn report_other_copy(
    agent: CodingAgent,
    file: &AgentFile,
    program: &Path,
) -> io::Result<()> {
    let (path, program) = (file.place.path().display(), program.display());
    writeln!(io::stdout(), "{}: {path} keeps its hooks, which start {program}", agent.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_copy_is_a_program_in_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["own", "other"] {
            fs::create_dir(place(name)).unwrap();
            for program in ["callgate", "callgate-hook"] {
                fs::write(place(name).join(program), "").unwrap();
            }
        }
        std::os::unix::fs::symlink(place("own/callgate"), place("callgate")).unwrap();
        let own = place("own/callgate");
        for (program, is_other) in [
            ("own/callgate", false),
            ("own/callgate-hook", false),
            ("callgate", false),
            ("other/callgate-hook", true),
            ("gone/callgate-hook", false),
        ] {
            assert_eq!(is_other_copy(&place(program), &own), is_other, "{program}");
        }
        assert!(is_other_copy(Path::new("callgate-hook"), &own));
    }
}
