//! `callgate team`: the rules that a team gives to its members.

mod intake;
mod roles;
mod rules;
mod signing_file;
mod source;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use callgate_store::{EntryDraft, Sha256Hash, Store, now_ms};
use callgate_wire::ledger::{AnswerChannel, LedgerEvent, RulesSaved};

use crate::config::{Config, DeskFlags};
use crate::failure::Failure;
use crate::policy::TeamFile;
pub(crate) use roles::{LiveRoles, all_problems, read_roles, read_roster};
use rules::TeamRulesCommand;
pub(crate) use source::follow_team_rules;

/// Work under the rules of a team
///
/// A team signs its rules, and each member takes them. They apply beside the member's own, and of
/// the verdicts the strictest wins. docs/guide/team.md describes it.
#[derive(Debug, clap::Args)]
pub(crate) struct TeamArgs {
    #[command(subcommand)]
    what: TeamCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TeamCommand {
    /// Sign, take and show the rules of a team
    #[command(subcommand)]
    Rules(TeamRulesCommand),
    /// Show what the people of the team may answer at this desk, and what is wrong with the file
    ///
    /// The file is roles.toml beside your rules. Without it every person of the team may answer
    /// everything; the owner of the desk always may.
    Roles,
    /// Leave the team: its rules no longer apply on this machine
    Leave,
}

impl TeamArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = Config::load(file, &DeskFlags::default())?;
        match self.what {
            TeamCommand::Rules(command) => command.run(&config)?,
            TeamCommand::Roles => return roles::show_roles(&config),
            TeamCommand::Leave => leave_team(&config)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn leave_team(config: &Config) -> Result<(), Failure> {
    let file = TeamFile::beside(&config.database);
    if !file.path().exists() {
        return Err(Failure::Failed("this machine belongs to no team".to_owned()));
    }
    // What cannot be read is left, too.
    let kept = file.read().unwrap_or_default();
    let name = kept.as_ref().and_then(|rules| rules.bundle()).map_or("the team", |b| b.team());
    let summary = format!("Left {name}: its rules no longer apply");
    record_change(config, "the command line", summary.clone(), 0, "").map_err(Failure::Failed)?;
    file.remove().map_err(Failure::Failed)?;
    writeln!(io::stdout(), "{summary}.")?;
    Ok(())
}

/// Records a change of the team's rules in the ledger.
fn record_change(
    config: &Config,
    by: &str,
    summary: String,
    count: usize,
    rules: &str,
) -> Result<(), String> {
    let saved = LedgerEvent::Saved(RulesSaved {
        by: by.to_owned(),
        channel: Some(AnswerChannel::Terminal),
        tool: "team rules".to_owned(),
        summary,
        count,
        hash: Sha256Hash::hash_bytes(rules.as_bytes()).to_string(),
    });
    let draft = EntryDraft::new(now_ms(), None, &saved);
    let recorded =
        Store::open(&config.database).and_then(|mut store| store.append_entries(&[draft]));
    recorded.map(drop).map_err(|error| format!("cannot record it: {error}"))
}
