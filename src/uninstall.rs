//! `callgate uninstall`: removes our hook from an agent's settings.

use std::io::{self, Write};
use std::process::ExitCode;

use callgate_wire::hook::agents::CODEX;

use crate::agents::{CodingAgent, SettingsScope};
use crate::config::process_surroundings;
use crate::failure::Failure;
use crate::install::agent_choice::AgentChoice;
use crate::install::agent_file::{AgentFile, FilePart, agent_files};
use crate::install::other_copy::{find_other_copy, report_other_copy};
use crate::install::{self, InstallError, RemovedHooks, managed};

/// Take callgate's hook out of your agents' settings
///
/// Everything else stays. A file that has not changed since `callgate install` is restored byte
/// for byte.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct UninstallArgs {
    /// Change the settings of the project in this folder instead of your own
    #[arg(long)]
    project: bool,
    /// Change the settings of all users (as root)
    #[arg(long, conflicts_with = "project")]
    managed: bool,
    /// The agent whose settings are changed, or all
    #[arg(long, value_name = "NAME", value_parser = AgentChoice::parser(), default_value = "all")]
    agent: AgentChoice,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Leave hooks that start another copy of callgate
    #[arg(long, hide = true, conflicts_with = "managed")]
    keep_others: bool,
}

impl UninstallArgs {
    /// Removes the hooks, and says what was done.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let around = process_surroundings();
        let scope = if self.project { SettingsScope::Project } else { SettingsScope::User };
        let mut failures = Vec::new();
        let agents = if self.managed {
            managed::check_root(self.dry_run)?;
            managed::managed_agents(Some(self.agent))?
        } else {
            self.agent.to_uninstall(scope, &around)
        };
        if agents.is_empty() {
            writeln!(
                io::stdout(),
                "no agent's settings were found here, so there is no hook to remove"
            )?;
        }
        for agent in agents {
            let files = if self.managed {
                vec![managed::managed_file(agent)]
            } else {
                agent_files(agent, scope, &around)?
            };
            for (number, file) in files.iter().enumerate() {
                // The trust in the hooks is found by the text that still has them.
                let before = file.place.read().ok().flatten().map(|seen| seen.text);
                let has_ours = before.as_deref().is_some_and(|text| file.part.has_ours(text));
                // Of the other files only those are mentioned that have something of ours.
                if number > 0 && !has_ours {
                    continue;
                }
                let other = self.keep_others.then(|| find_other_copy(file)).flatten();
                if let Some(other) = other {
                    report_other_copy(agent, file, &other)?;
                    continue;
                }
                match install::change_settings_file(&file.place, || {
                    remove_agent_hooks(agent, file, self.dry_run)
                }) {
                    Ok(said) => writeln!(io::stdout(), "{}: {said}", agent.name)?,
                    Err(text) => {
                        failures.push(text);
                        continue;
                    }
                }
                // Codex trusts what an administrator requires.
                let has_trust = *agent == CODEX && !self.managed;
                if let (true, Some(text), false) = (has_trust, before, self.dry_run) {
                    failures.extend(
                        install::codex::distrust_our_hooks(&file.place, &text, &around).err(),
                    );
                }
            }
            // All files are gone before their folders.
            if !self.dry_run {
                files.iter().for_each(remove_folders);
            }
        }
        install::all_done(&failures)
    }
}

/// Removes the folders that were made for a file that is gone.
fn remove_folders(file: &AgentFile) {
    if !file.place.path().exists() {
        file.place.remove_made_folders();
    }
}

fn remove_agent_hooks(
    agent: CodingAgent,
    file: &AgentFile,
    is_dry: bool,
) -> Result<String, InstallError> {
    let AgentFile { place, part, .. } = file;
    let Some(seen) = place.read()?.filter(|seen| !seen.text.trim().is_empty()) else {
        return Ok(RemovedHooks::Nothing.sentence(place, is_dry));
    };
    let removed = part.uninstall_from_text(&seen.text, place.read_backup().as_deref())?;
    let mut said = removed.sentence(place, is_dry);
    if let FilePart::Json(form) = part {
        for event in install::composed_events(form, &seen.text) {
            let note = "has a command of yours that runs callgate's hook; it stays";
            said = format!("{said}\n  note     {event} {note}");
        }
    }
    if let (true, RemovedHooks::AsBefore(after) | RemovedHooks::Ours(after)) =
        (*agent == CODEX, &removed)
    {
        said += &moved_hooks_note(install::codex::count_moved_hooks(&seen.text, after));
    }
    if is_dry {
        return Ok(said);
    }
    removed.write_to_file(place, &seen)?;
    Ok(said)
}

/// Returns a note that Codex does not run hooks whose position changed since they were trusted.
fn moved_hooks_note(count: usize) -> String {
    let (what, it) = match count {
        0 => return String::new(),
        1 => ("1 other hook moves up".to_owned(), "it"),
        count => (format!("{count} other hooks move up"), "them"),
    };
    format!(
        "\n  note     {what}, and Codex, which knows hooks by their place, skips {it} without a \
         word until you trust {it} again: start `codex` and open /hooks"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_that_move_up_are_told() {
        let handler = |command: &str| format!(r#"{{"type":"command","command":"{command}"}}"#);
        let group = |handlers: &[&str]| {
            let all: Vec<String> = handlers.iter().map(|command| handler(command)).collect();
            format!(r#"{{"matcher":"*","hooks":[{}]}}"#, all.join(","))
        };
        let file =
            |groups: &[String]| format!(r#"{{"hooks":{{"PreToolUse":[{}]}}}}"#, groups.join(","));
        let ours = "/usr/bin/callgate-hook --agent codex";
        let (mine, other) = ("/bin/mine", "/bin/other");
        let before = file(&[group(&[mine]), group(&[ours]), group(&[other])]);
        let after = file(&[group(&[mine]), group(&[other])]);
        assert_eq!(install::codex::count_moved_hooks(&before, &after), 1);
        let before = file(&[group(&[ours, mine, other])]);
        assert_eq!(install::codex::count_moved_hooks(&before, &file(&[group(&[mine, other])])), 2);
        // Ours stood last, as `install` puts it.
        let before = file(&[group(&[mine]), group(&[other]), group(&[ours])]);
        assert_eq!(install::codex::count_moved_hooks(&before, &after), 0);
        assert_eq!(moved_hooks_note(0), "");
        assert!(
            moved_hooks_note(1).contains("1 other hook moves up")
                && moved_hooks_note(1).contains("open /hooks")
        );
    }
}
