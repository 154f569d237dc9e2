//! `callgate doctor`: says what is wrong, and what to do.

mod build;
mod daemon;
mod files;
mod finding;
mod gate;
mod hazards;
mod hooks;
mod installed_hook;
mod keyring;
mod ledger;
mod modes;
mod phones;
mod team;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_wire::hook::agents::AGENTS;

use crate::agents::{AgentOnDisk, SettingsScope};
use crate::config::{
    Config, ConfigProblems, DeskFlags, Surroundings, load_config, process_surroundings,
};
use crate::failure::Failure;
use finding::{FindingLevel, Findings};
use installed_hook::{HookedAgent, installed_hooks};

use crate::install::managed;

/// Find out what is wrong, and what to do
///
/// Looks at how callgate was built, at your settings and rules, at `callgate up`, at Telegram, at
/// the keyring, at the ledger, and at the hooks in your agents' settings. Changes nothing. The exit
/// code is 0 if there is no problem, and 1 if there is one; warnings do not count.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,
    /// Also ask Telegram whether it knows the bot
    #[arg(long)]
    telegram: bool,
}

impl DoctorArgs {
    /// Looks, and prints the findings.
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let mut findings = Findings::default();
        build::check_profile(&mut findings);
        match load_config(file, &DeskFlags::default()) {
            Ok(config) => self.check_installation(&config, &mut findings),
            Err(wrong) => wrong_settings(&wrong, &mut findings),
        }
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", findings.json())?;
        } else {
            out.write_all(findings.text().as_bytes())?;
        }
        out.flush()?;
        let is_well = findings.count(FindingLevel::Problem) == 0;
        Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn check_installation(&self, config: &Config, findings: &mut Findings) {
        files::check_settings_file(config, findings);
        files::check_rule_files(config, findings);
        files::check_roles(config, findings);
        let running = daemon::check_running_desk(config, findings);
        phones::check_telegram(config, running.as_ref(), self.telegram, findings);
        team::check_database(config, findings);
        keyring::check_stored_keys(&config.agent, findings);
        ledger::check_ledger_file(&config.database, running.is_some(), findings);
        look_at_agents(config, &process_surroundings(), findings);
    }
}

/// Looks into the settings of every agent, the user's and those of the working folder.
fn look_at_agents(config: &Config, around: &Surroundings, findings: &mut Findings) {
    let is_managed = hazards::look_at_managed(findings);
    let mut has_any = is_managed;
    let mut without = Vec::new();
    for agent in AGENTS {
        let hooks = installed_hooks(agent, around, findings);
        if hooks.is_empty() {
            without.extend(agent.is_here(around).then_some(agent));
        } else {
            has_any = true;
            let checked = HookedAgent { agent, hooks: &hooks, config, around };
            hooks::check_agent_hooks(&checked, findings);
            gate::check_hooks_deny(&checked, findings);
            modes::check_starting_mode(&checked, findings);
        }
    }
    hazards::check_settings_hazards(is_managed, around, findings);
    if !has_any {
        let text = "no agent has our hook in its settings, so nobody asks";
        return findings.add_problem("hooks", text, "callgate install");
    }
    for agent in without.into_iter().filter(|agent| !managed::has_ours(agent)) {
        let text =
            format!("{} is here and does not have our hook, so it asks nobody here", agent.name);
        let advice = installed_hook::install_command(agent, SettingsScope::User);
        findings.add_warning("hooks", text, advice);
    }
}

fn wrong_settings(ConfigProblems(problems): &ConfigProblems, findings: &mut Findings) {
    for problem in problems {
        findings.add_problem("settings", problem.to_string(), "correct it");
    }
    let text = "everything else depends on the settings and was not checked";
    findings.add_warning("settings", text, "run `callgate doctor` again when they are right");
}
