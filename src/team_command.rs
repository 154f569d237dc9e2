//! `callgate team`: the members of a team, and the rules that it gives to them.

mod invite;
mod join;
mod members;
mod roles;
mod rules;
mod signing_file;
mod status;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use callgate_policy::TeamFile;
use callgate_wire::ledger::MemberKind;

use crate::config::{Config, DeskFlags, load_config};
use crate::failure::Failure;
use crate::relay::RelayDeskPlace;
use crate::remote::ask_remotes;
use crate::team::{MembershipFile, RULES_CHANGE, record_change};
use invite::InviteArgs;
use rules::TeamRulesCommand;

/// Work in a team: one desk for many machines, and rules for all of them
///
/// The team's desk is a `callgate up --listen ADDRESS`. Machines, CI jobs and people are invited
/// there and join by their invitation. A team also signs its rules, and each member takes them:
/// they apply beside the member's own, and of the verdicts the strictest wins. docs/guide/team.md
/// describes it.
#[derive(Debug, clap::Args)]
pub(crate) struct TeamArgs {
    #[command(subcommand)]
    what: TeamCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TeamCommand {
    /// Invite a machine, CI jobs or a person to the team whose desk this is
    ///
    /// The desk has to listen for them: `callgate up --listen ADDRESS:PORT`. Whoever has the
    /// invitation can use it, so send it where nobody else can read it. A new one replaces the one
    /// before.
    Invite(InviteArgs),
    /// Join a team with an invitation
    ///
    /// The desk of this machine keeps a connection to the team's desk from then on. What the rules
    /// here leave to people is answered there, too. The hooks of the agents that are found here are
    /// installed, as `callgate install` does; at a terminal you are asked first. With the
    /// invitation of a job it starts a desk in the background, waits until it is connected, and
    /// installs nothing.
    Join {
        /// The invitation [default: the variable `CALLGATE_INVITATION`, or standard input]
        ///
        /// Other users of this machine can see arguments, so prefer the other ways.
        invitation: Option<String>,
        /// Leave the settings of the agents here as they are
        #[arg(long)]
        no_install: bool,
    },
    /// Show the members of the team whose desk this is
    List,
    /// Remove a member of the team, at once
    Revoke {
        /// The member, as `callgate team list` names it
        name: String,
    },
    /// Sign, take and show the rules of a team
    #[command(subcommand)]
    Rules(TeamRulesCommand),
    /// Show what the people of the team may answer at this desk, and what is wrong with the file
    ///
    /// The file is roles.toml beside your rules. Without it every person of the team may answer
    /// everything; the owner of the desk always may. Desks that share a database have the same
    /// roles, which `--set` gives to all of them.
    Roles {
        /// Check a file of roles, and make it the roles of the team
        #[arg(long, value_name = "FILE")]
        set: Option<PathBuf>,
        /// Remove the roles: every person of the team may answer everything
        #[arg(long, conflicts_with = "set")]
        clear: bool,
    },
    /// Show the state of the team whose desk this is
    ///
    /// Says where the desk listens, how many members it has, which rules and roles apply, and with
    /// a database whether it answers, how large it is and how long it keeps entries.
    Status,
    /// Leave the team: its desk and its rules no longer concern this machine
    Leave,
}

impl TeamArgs {
    pub(crate) fn run(self, file: Option<&Path>) -> Result<ExitCode, Failure> {
        let config = load_config(file, &DeskFlags::default())?;
        match self.what {
            TeamCommand::Invite(args) => args.invite_member(&config)?,
            TeamCommand::Join { invitation, no_install } => {
                join::join_team(&config, file, invitation.as_deref(), !no_install)?;
            }
            TeamCommand::List => members::list_members(&config)?,
            TeamCommand::Revoke { name } => members::revoke_member(&config, &name)?,
            TeamCommand::Rules(command) => command.run(&config)?,
            TeamCommand::Roles { set: Some(file), .. } => roles::set_roles(&config, Some(&file))?,
            TeamCommand::Roles { clear: true, .. } => roles::set_roles(&config, None)?,
            TeamCommand::Roles { .. } => return roles::show_roles(&config),
            TeamCommand::Status => return status::show_status(&config),
            TeamCommand::Leave => leave_team(&config, file)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Who invites, revokes and signs, in the ledger.
const BY: &str = "the command line";

fn leave_team(config: &Config, settings: Option<&Path>) -> Result<(), Failure> {
    let (file, line) =
        (TeamFile::beside(&config.database), MembershipFile::beside(&config.database));
    // What cannot be read is left, too.
    let membership = line.read().unwrap_or_default();
    let has_rules = file.path().exists();
    if !has_rules && !line.path().exists() {
        return Err("this machine belongs to no team".into());
    }
    let kept = file.read().unwrap_or_default();
    let team =
        kept.as_ref().and_then(|rules| rules.bundle()).map(|bundle| bundle.team().to_owned());
    let team = team.or_else(|| membership.as_ref().map(|it| format!("the team of {}", it.address)));
    let team = team.unwrap_or_else(|| "the team".to_owned());
    let what = if has_rules { "its rules no longer apply" } else { "it no longer answers here" };
    // It is recorded before it is done, so that no rules are gone without the ledger knowing of it.
    let summary = format!("Left {team}: {what}");
    record_change(config, RULES_CHANGE, BY, summary.clone(), 0, "")?;
    if has_rules {
        file.remove()?;
    }
    line.remove()?;
    // Without a desk there is no line to end.
    ask_remotes(config).ok();
    // The desk of a job was started for the team alone, so it ends with the membership.
    if membership.is_some_and(|it| it.kind == MemberKind::Job) {
        RelayDeskPlace::new(config, settings).stop_own_desk()?;
    }
    writeln!(io::stdout(), "{summary}.")?;
    Ok(())
}
