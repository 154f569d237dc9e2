//! `callgate install`: puts our hook into an agent's settings.

pub(crate) mod codex;
mod edit;
mod layout;
pub(crate) mod managed;
mod removed_hooks;
mod trust;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use callgate_link::socket::server_process;
use callgate_wire::hook::agents::{CLAUDE, CODEX};
use clap::ValueEnum;
use edit::{InstalledSettings, WantedHook};
pub(crate) use edit::{composed, uninstall};
pub(crate) use removed_hooks::RemovedHooks;

use crate::agents::hooks::{EditRefusal, FoundHooks};
use crate::agents::settings_file::{BackupChoice, SettingsFile, SettingsFileError};
use crate::agents::starting_mode::StartingMode;
use crate::agents::{AgentOnDisk, CodingAgent, INSTALLABLE, SettingsScope};
use crate::config::{Config, DeskFlags, Surroundings};
use crate::failure::Failure;
use crate::hook_command::{self, LARGE, SMALL, quoted};
use crate::invocation;

/// How often to try to change a file that somebody else changes at the same time.
const ATTEMPTS: usize = 3;

/// Put callgate's hook into your agent's settings
///
/// Other hooks, the order of keys and the layout stay as they are, and a backup of the file is
/// kept beside it. Running it again brings an installed hook up to date, for instance after
/// callgate has moved or a time limit has changed.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// Change the settings of the project in this folder instead of your own
    #[arg(long)]
    project: bool,
    /// Change the settings of all users, which nobody can override (as root)
    #[arg(long, conflicts_with = "project")]
    managed: bool,
    /// The agents whose settings are changed [default: claude; all with --managed]
    #[arg(long, value_enum)]
    agent: Option<AgentChoice>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// The agents that a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentChoice {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Every agent that is here
    All,
}

impl AgentChoice {
    /// Returns the agents. `All` stands for those that have a folder here.
    pub(crate) fn here(self, scope: SettingsScope, around: &Surroundings) -> Vec<CodingAgent> {
        let is_here =
            |agent: &CodingAgent| agent.folder(scope, around).is_some_and(|folder| folder.is_dir());
        match self {
            Self::Claude => vec![&CLAUDE],
            Self::Codex => vec![&CODEX],
            Self::All => INSTALLABLE.into_iter().filter(is_here).collect(),
        }
    }
}

/// Returns the settings files of an agent that can hold hooks; ours go into the first.
pub(crate) fn places(
    agent: CodingAgent,
    scope: SettingsScope,
    around: &Surroundings,
) -> Result<Vec<SettingsFile>, Failure> {
    let none = || Failure::Failed("there is no home folder; set HOME".to_owned());
    let folder = agent.folder(scope, around).ok_or_else(none)?;
    let files = agent.files(scope).iter();
    Ok(files.map(|file| SettingsFile::new(folder.join(file))).collect())
}

impl InstallArgs {
    /// Installs the hooks, and says what was done.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        if self.managed {
            let program = starter(program().map_err(Failure::Failed)?);
            return managed::install(self.agent, &program, self.dry_run);
        }
        let config = Config::load(file, &DeskFlags::default())?;
        let around = Surroundings::of_process();
        let scope = if self.project { SettingsScope::Project } else { SettingsScope::User };
        let agents = self.agent.unwrap_or(AgentChoice::Claude).here(scope, &around);
        if agents.is_empty() {
            let text =
                "no agent was found: there is no .claude or .codex folder; name one with --agent";
            return Err(Failure::Failed(text.to_owned()));
        }
        let program = starter(program().map_err(Failure::Failed)?);
        let mut failures = Vec::new();
        for agent in agents {
            let places = places(agent, scope, &around)?;
            let [place, others @ ..] = &places[..] else { continue };
            let wanted = wanted(agent, &program, &config)?;
            match change(place, || install(place, &wanted, self.dry_run)) {
                Ok(mut done) => {
                    done.installed.notes.extend(others.iter().filter_map(shared));
                    done.installed.notes.extend(fleeting(&program, &config));
                    let trust = self.trust(agent, place, &around);
                    self.report(agent, place, &wanted, &done, trust.as_ref().ok())?;
                    if done.is_changed && !self.dry_run {
                        self.advise(agent, &config)?;
                    }
                    let mode = StartingMode::of(agent, &around).text(config.gate.unattended);
                    writeln!(io::stdout(), "{mode}.")?;
                    if !config.rules.exists() {
                        let me = invocation::command(&config);
                        let text = format!("`{me} rules init` writes some to start with");
                        writeln!(io::stdout(), "You have no rules yet: {text}.")?;
                    }
                    failures.extend(trust.err());
                }
                Err(text) => failures.push(text),
            }
        }
        all_done(&failures)
    }

    /// Makes Codex trust our hooks; returns what was done, if there was anything to do.
    fn trust(
        &self,
        agent: CodingAgent,
        place: &SettingsFile,
        around: &Surroundings,
    ) -> Result<Option<String>, String> {
        match agent.word {
            "codex" if !self.dry_run => codex::trust(place, around).map(Some),
            _ => Ok(None),
        }
    }

    fn report(
        &self,
        agent: CodingAgent,
        place: &SettingsFile,
        wanted: &[WantedHook],
        done: &InstallOutcome,
        trust: Option<&Option<String>>,
    ) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let path = place.path().display();
        let InstallOutcome { installed, is_changed, has_backup } = done;
        match (is_changed, self.dry_run) {
            (false, _) => writeln!(out, "{}: {path} is up to date", agent.name)?,
            (true, false) => writeln!(out, "{}: changed {path}", agent.name)?,
            (true, true) => writeln!(out, "{}: would change {path}", agent.name)?,
        }
        for (what, events) in [
            ("added", &installed.added),
            ("updated", &installed.updated),
            ("removed", &installed.removed),
        ] {
            if !events.is_empty() {
                writeln!(out, "  {what:8} {}", events.join(", "))?;
            }
        }
        if let Some(hook) = wanted.first().filter(|_| *is_changed) {
            writeln!(out, "  command  {} (up to {} s)", hook.command, hook.timeout)?;
        }
        if *has_backup {
            writeln!(out, "  backup   {}", place.backup_path().display())?;
        }
        if let Some(Some(trust)) = trust {
            writeln!(out, "  trust    {trust}")?;
        }
        installed.notes.iter().try_for_each(|note| writeln!(out, "  note     {note}"))?;
        out.flush()
    }

    /// Says what to do next, and how to undo the installation.
    fn advise(&self, agent: CodingAgent, config: &Config) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let me = invocation::command(config);
        if server_process(&config.socket.value).is_none() {
            write!(out, "Next: run `{me} up`, which answers the hooks. ")?;
        }
        writeln!(out, "{}", agent.next)?;
        let project = if self.project { " --project" } else { "" };
        let program = invocation::program();
        let undo = format!("{program} uninstall{project} --agent {}", agent.word);
        writeln!(out, "To remove the hooks: `{undo}`")?;
        out.flush()
    }
}

/// Returns true if the text of a settings file contains a hook of ours.
pub(crate) fn has_ours(text: &str) -> bool {
    FoundHooks::read(text).is_ok_and(|found| found.has_ours())
}

/// Returns a note if a file that is shared with the project has hooks of ours, which earlier
/// versions put there.
fn shared(place: &SettingsFile) -> Option<String> {
    let seen = place.read().ok()??;
    has_ours(&seen.text).then(|| {
        let path = place.path().display();
        format!("{path} also has callgate's hooks, from an earlier version: remove them there")
    })
}

/// Returns a note if the hook is in a build folder, with a better place.
fn fleeting(program: &Path, config: &Config) -> Option<String> {
    let folder = invocation::build_folder(program)?;
    let source = folder.parent().filter(|folder| folder.join("Cargo.toml").exists());
    let better = match source {
        Some(source) => {
            let source = quoted(&source.to_string_lossy());
            format!("run `cargo install --path {source} --profile dist`")
        }
        None => "copy callgate and callgate-hook into a folder on your PATH".to_owned(),
    };
    Some(format!(
        "the hook is in a build folder and vanishes with it, and then nobody is asked: better \
         {better}, then `callgate{} install` again ({})",
        invocation::config_option(config),
        folder.display()
    ))
}

/// Returns the hooks that the agent should have. Their command line contains all that they need, so
/// that nothing in the environment, which a project may set, leads them elsewhere.
fn wanted(agent: CodingAgent, program: &Path, config: &Config) -> Result<Vec<WantedHook>, Failure> {
    let text = |path| hook_command::path_text(path).map_err(Failure::Failed);
    let mut options = vec![("--agent", agent.word)];
    if let Some(file) = &config.file {
        options.push(("--config", text(&file.value)?));
    }
    options.push(("--socket", text(&config.socket.value)?));
    options.push(("--rules", text(&config.rules)?));
    Ok(wanted_at_events(agent, &hook_command::hook(text(program)?, &options)))
}

/// Returns hooks with this command for every event of the agent.
fn wanted_at_events(agent: CodingAgent, command: &str) -> Vec<WantedHook> {
    let is_old = agent.is_old_here();
    // An agent that does not know of arguments would start the large program without `hook`.
    let is_small = hook_command::is_small(command);
    let hook = |(event, limit): (&str, Duration)| WantedHook {
        event: event.to_owned(),
        command: command.to_owned(),
        is_direct: is_small && agent.starts_directly(is_old),
        timeout: limit.as_secs(),
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
pub(crate) fn change<T>(
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

fn install(
    place: &SettingsFile,
    wanted: &[WantedHook],
    is_dry: bool,
) -> Result<InstallOutcome, InstallError> {
    let seen = place.read()?;
    let before = seen.as_ref().map_or("", |seen| seen.text.as_str());
    let installed = edit::install(before, wanted)?;
    let is_changed = seen.is_none() || installed.text != before;
    // The backup is the file as it was before our first hook was added.
    let is_first = place.backup().is_none() || !has_ours(before);
    let backup = if seen.is_some() && is_first { BackupChoice::Write } else { BackupChoice::Leave };
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
fn program() -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let is_this = |path: &PathBuf| fs::canonicalize(path).is_ok_and(|path| path == own);
    let folders = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(LARGE));
    let program = on_path.into_iter().find(is_this).unwrap_or(own);
    if program.file_name() != Some(OsStr::new(LARGE)) {
        let text = "this program is called {}; install knows its hooks by the name callgate";
        return Err(text.replace("{}", &program.display().to_string()));
    }
    Ok(program)
}

/// Returns the program that the hook's command starts: the small one beside `program`, if that is
/// the one of this installation, else `program` itself.
fn starter(program: PathBuf) -> PathBuf {
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
