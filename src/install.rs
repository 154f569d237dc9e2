//! `callgate install`: puts our hook into an agent's settings.

pub(crate) mod agent_choice;
pub(crate) mod agent_file;
pub(crate) mod codex;
mod delegate;
mod edit;
mod layout;
pub(crate) mod managed;
pub(crate) mod other_copy;
mod own_file;
mod plan;
mod removed_hooks;
mod report_words;
mod toml_hooks;
mod trust;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use callgate_hooks::hook_command::{self, LARGE, SMALL};
use callgate_link::file::program_folders;
use callgate_link::socket::server_process;
use callgate_wire::hook::agents::CODEX;
pub(crate) use edit::composed_events;
use edit::{InstalledSettings, WantedHook};
pub(crate) use removed_hooks::RemovedHooks;

use agent_choice::AgentChoice;
use agent_file::{AgentFile, FilePart, agent_files};
use report_words::{absent_words, build_folder_note, limit_words};

use crate::agents::hooks::EditRefusal;
use crate::agents::settings_file::{BackupChoice, SettingsFile, SettingsFileError};
use crate::agents::starting_mode::StartingMode;
use crate::agents::{AgentOnDisk, CodingAgent, SettingsScope};
use crate::config::{Config, DeskFlags, Surroundings, load_config, process_surroundings};
use crate::failure::Failure;
use crate::invocation;

/// How often to try to change a file that somebody else changes at the same time.
const ATTEMPTS: usize = 3;

/// Put callgate's hook into your agents' settings
///
/// Without --agent, into those of every agent that is found here, after showing which files that
/// changes; at a terminal you are asked first. Other hooks, the order of keys
/// and the layout stay as they are, and a backup of the file is kept beside it. Running it again
/// brings an installed hook up to date, for instance after callgate has moved or a time limit has
/// changed.
#[derive(Debug, Default, clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct InstallArgs {
    /// Change the settings of the project in this folder instead of your own
    #[arg(long)]
    project: bool,
    /// Change the settings of all users, which nobody can override (as root)
    #[arg(long, conflicts_with = "project")]
    managed: bool,
    /// The agent whose settings are changed, or all that are found here [default: all]
    #[arg(long, value_name = "NAME", value_parser = AgentChoice::parser())]
    agent: Option<AgentChoice>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask before the settings of several agents are changed
    #[arg(long, short)]
    yes: bool,
    /// Leave agents alone whose hooks start another copy of callgate
    #[arg(long, hide = true, conflicts_with = "managed")]
    keep_others: bool,
}

/// Installs the hooks of all agents that are found here, as the command does without options.
pub(crate) fn install_found_agents(file: Option<&Path>) -> Result<(), Failure> {
    if AgentChoice::All.to_install(SettingsScope::User, &process_surroundings()).is_empty() {
        let text = "No agent was found here: run `callgate install` as soon as there is one.";
        return Ok(writeln!(io::stdout(), "{text}")?);
    }
    InstallArgs::default().run(file).map(drop)
}

impl InstallArgs {
    /// Installs the hooks, and says what was done.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        if self.managed {
            let program = program_for_hook(lasting_program()?);
            return managed::install_for_all_users(self.agent, &program, self.dry_run);
        }
        let config = load_config(file, &DeskFlags::default())?;
        let around = process_surroundings();
        let mut agents = self.agent.unwrap_or(AgentChoice::All).to_install(self.scope(), &around);
        if agents.is_empty() {
            return Err(Failure::Failed(agent_choice::none_found()));
        }
        if self.keep_others {
            agents = other_copy::without_other_hooks(agents, self.scope(), &around)?;
            if agents.is_empty() {
                return Ok(ExitCode::SUCCESS);
            }
        }
        let program = program_for_hook(lasting_program()?);
        let wanted = |agent: CodingAgent| Ok((agent, wanted_hooks(agent, &program, &config)?));
        let agents: Vec<_> = agents.into_iter().map(wanted).collect::<Result<_, Failure>>()?;
        if self.agent.is_none()
            && !self.dry_run
            && !plan::is_wanted(&agents, self.scope(), &around, self.yes)?
        {
            return Ok(ExitCode::SUCCESS);
        }
        let mut failures = Vec::new();
        let mut changed: Vec<CodingAgent> = Vec::new();
        for (agent, wanted) in &agents {
            let is_changed = self.install_agent(agent, wanted, &config, &around, &mut failures)?;
            changed.extend(is_changed.then_some(*agent));
        }
        let mut out = io::stdout().lock();
        if let Some(note) = build_folder_note(&program, &config) {
            writeln!(out, "  note     {note}")?;
        }
        if !self.dry_run && !changed.is_empty() {
            self.print_advice(&changed, &config, &mut out)?;
        }
        if !config.rules.exists() {
            let text = format!(
                "`{} rules init` writes some to start with",
                invocation::shell_command(&config)
            );
            writeln!(out, "You have no rules yet: {text}.")?;
        }
        out.flush()?;
        all_done(&failures)
    }

    fn scope(&self) -> SettingsScope {
        if self.project { SettingsScope::Project } else { SettingsScope::User }
    }

    /// Installs the hooks of one agent, and says what was done. Returns true if a file was changed.
    fn install_agent(
        &self,
        agent: CodingAgent,
        wanted: &[WantedHook],
        config: &Config,
        around: &Surroundings,
        failures: &mut Vec<String>,
    ) -> Result<bool, Failure> {
        let files = agent_files(agent, self.scope(), around)?;
        let (targets, others): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.is_target);
        let mut is_changed = false;
        // What the first file names has to be there before.
        for file in targets.into_iter().rev() {
            match change_settings_file(&file.place, || install_hooks(file, wanted, self.dry_run)) {
                Ok(mut done) => {
                    is_changed |= done.is_changed;
                    done.installed
                        .notes
                        .extend(others.iter().filter_map(|other| shared_file_note(other)));
                    self.report_outcome(agent, &file.place, &done)?;
                }
                // The other agents get their hooks all the same.
                Err(text) => {
                    failures.push(text);
                    return Ok(is_changed);
                }
            }
        }
        let mut out = io::stdout().lock();
        if let Some(hook) = wanted.first().filter(|_| is_changed) {
            writeln!(out, "  command  {}{}", hook.command, limit_words(agent, hook.timeout))?;
        }
        if *agent == CODEX && !self.dry_run {
            match files.first().map(|file| codex::trust_our_hooks(&file.place, around)) {
                Some(Ok(trust)) => writeln!(out, "  trust    {trust}")?,
                Some(Err(text)) => failures.push(text),
                None => {}
            }
        }
        writeln!(out, "  absent   {}", absent_words(agent, config))?;
        if let Some(note) = agent_choice::shared_settings(agent) {
            writeln!(out, "  note     {note}")?;
        }
        let mode = StartingMode::for_agent(agent, around).text(config.gate.unattended);
        writeln!(out, "{mode}.")?;
        Ok(is_changed)
    }

    fn report_outcome(
        &self,
        agent: CodingAgent,
        place: &SettingsFile,
        done: &InstallOutcome,
    ) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let InstallOutcome { installed, is_changed, has_backup } = done;
        writeln!(out, "{}", outcome_line(agent, place, *is_changed, self.dry_run))?;
        for (what, events) in [
            ("added", &installed.added),
            ("updated", &installed.updated),
            ("removed", &installed.removed),
        ] {
            if !events.is_empty() {
                writeln!(out, "  {what:8} {}", events.join(", "))?;
            }
        }
        if *has_backup {
            writeln!(out, "  backup   {}", place.backup_path().display())?;
        }
        installed.notes.iter().try_for_each(|note| writeln!(out, "  note     {note}"))?;
        out.flush()
    }

    /// Says what to do next, and how to undo the installation.
    fn print_advice(
        &self,
        agents: &[CodingAgent],
        config: &Config,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if server_process(&config.socket.value).is_none() {
            let me = invocation::shell_command(config);
            writeln!(out, "Next: run `{me} up`, which answers the hooks.")?;
        }
        agents.iter().try_for_each(|agent| writeln!(out, "{}", agent.next))?;
        let project = if self.project { " --project" } else { "" };
        let agent = match agents {
            [agent] => format!(" --agent {}", agent.word),
            _ => String::new(),
        };
        let program = invocation::shell_program();
        writeln!(out, "To remove the hooks: `{program} uninstall{project}{agent}`")
    }
}

fn outcome_line(
    agent: CodingAgent,
    place: &SettingsFile,
    is_changed: bool,
    is_dry: bool,
) -> String {
    let path = place.path().display();
    match (is_changed, is_dry) {
        (false, _) => format!("{}: {path} is up to date", agent.name),
        (true, false) => format!("{}: changed {path}", agent.name),
        (true, true) => format!("{}: would change {path}", agent.name),
    }
}

/// Returns a note if a file that is shared with the project has hooks of ours, which earlier
/// versions put there.
fn shared_file_note(file: &AgentFile) -> Option<String> {
    let seen = file.place.read().ok()??;
    file.part.has_ours(&seen.text).then(|| {
        let path = file.place.path().display();
        format!("{path} also has callgate's hooks, from an earlier version: remove them there")
    })
}

/// Returns the hooks that the agent should have. Their command line contains all that they need, so
/// that nothing in the environment, which a project may set, leads them elsewhere.
fn wanted_hooks(
    agent: CodingAgent,
    program: &Path,
    config: &Config,
) -> Result<Vec<WantedHook>, Failure> {
    let text = |path| hook_command::path_text(path).map_err(Failure::Failed);
    let mut options = vec![("--agent", agent.word)];
    if let Some(file) = &config.file {
        options.push(("--config", text(&file.value)?));
    }
    options.push(("--socket", text(&config.socket.value)?));
    options.push(("--rules", text(&config.rules)?));
    Ok(wanted_at_events(agent, &hook_command::build_hook_line(text(program)?, &options)))
}

fn wanted_at_events(agent: CodingAgent, command: &str) -> Vec<WantedHook> {
    let is_old = agent.is_old_here();
    // An agent that does not know of arguments would start the large program without `hook`.
    let is_small = hook_command::is_small(command);
    let hook = |(event, limit): (&str, Duration)| WantedHook {
        event: event.to_owned(),
        command: command.to_owned(),
        is_direct: is_small && agent.starts_directly(is_old),
        timeout: agent.settings.unit.count(limit).unwrap_or_default(),
    };
    agent.wanted_events(is_old).into_iter().map(hook).collect()
}

/// Returns success if no file failed.
pub(crate) fn all_done(failures: &[String]) -> Result<ExitCode, Failure> {
    if failures.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::Failed(failures.join("\ncallgate: ")))
}

/// What was done to a file.
struct InstallOutcome {
    installed: InstalledSettings,
    is_changed: bool,
    has_backup: bool,
}

/// Changes one file. If somebody else changes it at the same time, it is read again.
pub(crate) fn change_settings_file<T>(
    place: &SettingsFile,
    attempt: impl Fn() -> Result<T, InstallError>,
) -> Result<T, String> {
    let mut attempts = 1;
    loop {
        match attempt() {
            Err(InstallError::File(SettingsFileError::Changed(_))) if attempts < ATTEMPTS => {
                attempts += 1;
            }
            Err(InstallError::Refused(refusal)) => {
                let path = place.path().display();
                let next = "correct it and run the command again";
                return Err(format!("{path} was left as it is: {refusal}; {next}"));
            }
            other => return other.map_err(|error| error.to_string()),
        }
    }
}

fn install_hooks(
    AgentFile { place, part, .. }: &AgentFile,
    wanted: &[WantedHook],
    is_dry: bool,
) -> Result<InstallOutcome, InstallError> {
    let seen = place.read()?;
    let before = seen.as_ref().map_or("", |seen| seen.text.as_str());
    let installed = part.install_into_text(before, wanted)?;
    let is_changed = seen.is_none() || installed.text != before;
    // The backup is the file as it was before our first hook was added.
    // What an administrator has not made before our hooks has no backup.
    let is_managed = matches!(part, FilePart::ManagedClaude | FilePart::ManagedCodex);
    let is_first = !part.has_ours(before) || !is_managed && place.read_backup().is_none();
    let is_own = matches!(part, FilePart::Own(..));
    let needs_backup = seen.is_some() && is_first && !is_own;
    let backup = if needs_backup { BackupChoice::Write } else { BackupChoice::Leave };
    if is_changed && !is_dry {
        place.write(seen.as_ref(), &installed.text, backup)?;
    }
    let has_backup = is_changed && !is_dry && backup == BackupChoice::Write;
    Ok(InstallOutcome { installed, is_changed, has_backup })
}

/// Why a file was left as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error(transparent)]
    File(#[from] SettingsFileError),
    #[error(transparent)]
    Refused(#[from] EditRefusal),
}

/// Returns the path of this program that survives an update: a link on PATH that leads here, as
/// package managers put it there, else the file itself.
fn lasting_program() -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    // The kernel names `own` without links.
    let is_this = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|path| path == own);
    let folders = program_folders(&env::var_os("PATH").unwrap_or_default());
    let on_path = folders.iter().map(|folder| folder.join(LARGE)).find(is_this);
    let program = on_path.unwrap_or(own);
    if program.file_name() != Some(OsStr::new(LARGE)) {
        let text = "this program is called {}; install knows its hooks by the name callgate";
        return Err(text.replace("{}", &program.display().to_string()));
    }
    Ok(program)
}

/// Returns the program that the hook's command starts: the small one beside `program`, if that is
/// the one of this installation, else `program` itself.
fn program_for_hook(program: PathBuf) -> PathBuf {
    let beside = program.with_file_name(SMALL);
    let is_ours = small_hook().is_some_and(|ours| beside.canonicalize().is_ok_and(|it| it == ours));
    if is_ours { beside } else { program }
}

/// Returns the small program in the folder of this one. A link there is not accepted: it may lead
/// to a program that is not a hook.
pub(crate) fn small_hook() -> Option<PathBuf> {
    let own = env::current_exe().and_then(fs::canonicalize).ok()?;
    let path = own.with_file_name(SMALL);
    let metadata = fs::symlink_metadata(&path).ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
}

#[cfg(test)]
mod tests;
