//! `callgate team invite`: lets a machine, a job or a person into the team whose desk this is.

use std::io::{self, Write};

use callgate_approval::viewer_token::new_viewer_token;
use callgate_client::viewer::Viewer;
use callgate_policy::TeamFile;
use callgate_rules::DESK_MACHINE;
use callgate_store::Store;
use callgate_team::{Invitation, check_member_name};
use callgate_wire::ledger::{LedgerEvent, MemberInvited, MemberKind, TeamRoster};

use super::BY;
use crate::config::Config;
use crate::failure::Failure;
use crate::remote::ask_remotes;
use crate::team::NAME_OF_DESK;
use crate::team_desk::{DeskCertificates, hash_text, reached_at};
use crate::team_register::{MemberChange, TeamRegister};

/// How long an invitation for a machine or a person is good, unless it is said, in hours.
const HOURS: u32 = 24;
const HOUR_MS: i64 = 3_600_000;

#[derive(Debug, clap::Args)]
pub(super) struct InviteArgs {
    /// The name of the member in the team, under which its questions or answers are recorded
    name: String,
    /// Invite a machine: its agents ask here [the default]
    #[arg(long, conflicts_with_all = ["person", "job"])]
    machine: bool,
    /// Invite a person, who answers on a page
    #[arg(long, conflicts_with_all = ["job", "owner"])]
    person: bool,
    /// Invite CI jobs: the invitation is a token for any number of runs, until it is revoked
    #[arg(long)]
    job: bool,
    /// The person whose machine or job it is [default: as it was, or nobody]
    #[arg(long, value_name = "PERSON")]
    owner: Option<String>,
    /// How long the invitation can be used [default: 24, and without end for jobs]
    #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..=8760))]
    hours: Option<u32>,
}

impl InviteArgs {
    fn kind(&self) -> MemberKind {
        match (self.person, self.job) {
            (true, _) => MemberKind::Person,
            (_, true) => MemberKind::Job,
            _ => MemberKind::Machine,
        }
    }

    /// Makes an invitation, records it and prints it.
    pub(super) fn invite_member(self, config: &Config) -> Result<(), Failure> {
        let kind = self.kind();
        let mut register = TeamRegister::open(config)?;
        // Before anything is made for it.
        self.check_name(&register.read_roster()?)?;
        self.check_remotes(config)?;
        let failed = |why: String| Failure::Failed(format!("cannot invite: {why}"));
        let certificates = DeskCertificates::open(config).map_err(failed)?;
        let rules = TeamFile::beside(&config.database).read().map_err(failed)?;
        let secret = new_viewer_token().map_err(|error| failed(error.to_string()))?;
        let invitation = Invitation {
            address: find_address(config)?,
            authority: certificates.authority(),
            name: self.name.clone(),
            kind,
            secret,
            rules_key: rules.map(|rules| rules.key()),
        };
        let now = register.now_ms()?;
        // It has no end for a job, because the invitation is the token of every run.
        let hours = self.hours.or((kind != MemberKind::Job).then_some(HOURS));
        let secret = hash_text(invitation.secret.reveal());
        let until_ms = hours.map(|hours| now + i64::from(hours) * HOUR_MS);
        let mut refused = None;
        register.change_member(|roster| {
            let decided = self.decide(roster, &secret, until_ms);
            decided.map_err(|refusal| refused = Some(refusal)).ok()
        })?;
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        // A desk that does not run reads it when it starts.
        ask_remotes(config).ok();
        print_invitation(&invitation, hours)
    }

    /// Returns the change that makes the invitation. Others may have changed the members since they
    /// were read first.
    fn decide(
        &self,
        roster: &TeamRoster,
        secret: &str,
        until_ms: Option<i64>,
    ) -> Result<MemberChange, Failure> {
        self.check_name(roster)?;
        // A machine that gets a new token stays that of its owner: otherwise they could allow what
        // a rule lets only others allow.
        let known = || roster.members.get(&self.name)?.owner.clone();
        let invited = LedgerEvent::Invited(MemberInvited {
            name: self.name.clone(),
            member: Some(self.kind()),
            owner: self.owner.clone().or_else(known),
            secret: secret.to_owned(),
            until_ms,
            by: BY.to_owned(),
        });
        Ok(MemberChange { name: self.name.clone(), by: BY.to_owned(), events: vec![invited] })
    }

    /// Returns an error for a name that would stand for two members.
    fn check_name(&self, roster: &TeamRoster) -> Result<(), Failure> {
        let failed = |text: String| Err(Failure::Failed(text));
        if let Err(error) = check_member_name(&self.name) {
            return failed(error.to_string());
        }
        if !self.person && self.name == DESK_MACHINE {
            return failed(NAME_OF_DESK.to_owned());
        }
        if let Some(owner) = &self.owner
            && roster.members.get(owner).is_none_or(|member| member.kind != MemberKind::Person)
        {
            return failed(format!(
                "{owner} is not a person of the team: invite them first, with `callgate team invite \
                 {owner} --person`"
            ));
        }
        let name = &self.name;
        match roster.members.get(name) {
            Some(known) if known.kind != self.kind() => {
                let known = known.kind;
                failed(format!(
                    "{name} is a {known} of the team already; to use the name otherwise: callgate \
                     team revoke {name}"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error for a machine whose questions come here in another way.
    fn check_remotes(&self, config: &Config) -> Result<(), Failure> {
        let name = &self.name;
        let is_remote =
            Store::open(&config.database)?.chained_links()?.remotes().any(|remote| remote == name);
        if is_remote && !self.person {
            return Err(Failure::Failed(format!(
                "{name} is a machine of `callgate remote` already: choose another name"
            )));
        }
        Ok(())
    }
}

/// Returns where members reach the desk: where it listens now, or where the settings have it
/// listen.
fn find_address(config: &Config) -> Result<String, Failure> {
    let running = Viewer::connect(&config.desk_socket.value).and_then(|mut desk| desk.status());
    if let Ok(status) = running
        && let Some(address) = status.listening
    {
        return Ok(address);
    }
    match (config.team.listen, &config.team.address) {
        (_, Some(address)) => Ok(format!("https://{address}")),
        // The port 0 stands for one that is chosen when the desk starts.
        (Some(listen), None) if listen.port() != 0 => {
            Ok(format!("https://{}", reached_at(config, listen)))
        }
        _ => Err("the team's desk does not listen: start it with `callgate up --listen ADDRESS:PORT`, or \
             set `team.listen`".into()),
    }
}

fn print_invitation(invitation: &Invitation, hours: Option<u32>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let name = &invitation.name;
    let within = hours.map_or_else(String::new, |it| format!(" within {it} h"));
    match invitation.kind {
        MemberKind::Machine => {
            writeln!(out, "Run this on the machine, once{within}:\n")?;
            writeln!(out, "    callgate team join {}", invitation.to_text().reveal())?;
        }
        MemberKind::Job => {
            let until = hours.map_or("until it is revoked".to_owned(), |it| format!("for {it} h"));
            writeln!(
                out,
                "Give the job this secret as CALLGATE_INVITATION. It is good {until}:\n"
            )?;
            writeln!(out, "    {}", invitation.to_text().reveal())?;
            writeln!(
                out,
                "\nThe job runs `callgate team join` first, then its agent or `callgate ask`."
            )?;
        }
        MemberKind::Person => {
            writeln!(out, "{name} opens this in a browser, once{within}:\n")?;
            writeln!(out, "    {}", invitation.to_link().reveal())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use callgate_wire::ledger::TeamMember;

    use super::*;

    #[test]
    fn what_others_have_made_of_a_name_meanwhile_counts() {
        let invite = InviteArgs {
            name: "build".to_owned(),
            machine: false,
            person: false,
            job: false,
            owner: Some("ada".to_owned()),
            hours: None,
        };
        let member = |kind| TeamMember {
            kind,
            owner: None,
            invitation: None,
            token: None,
            has_joined: true,
        };
        let mut roster = TeamRoster::default();
        let decide = |roster: &TeamRoster| {
            invite.decide(roster, "secret", None).map(drop).map_err(|refusal| refusal.to_string())
        };
        assert!(decide(&roster).unwrap_err().contains("ada is not a person of the team"));
        roster.members.insert("ada".to_owned(), member(MemberKind::Person));
        assert_eq!(decide(&roster), Ok(()));
        roster.members.insert("build".to_owned(), member(MemberKind::Job));
        assert!(decide(&roster).unwrap_err().contains("build is a job of the team already"));
    }
}
