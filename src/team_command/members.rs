//! `callgate team list` and `callgate team revoke`: the members of the team whose desk this is.

use std::io::{self, Write};

use callgate_mask::text::one_line;
use callgate_store::now_ms;
use callgate_wire::ledger::{LedgerEvent, MemberKind, MemberRevoked, TeamMember, TeamRoster};
use jiff::Timestamp;

use super::BY;
use crate::config::Config;
use crate::failure::Failure;
use crate::remote::{ask_remotes, describe_standing};
use crate::team_register::{MemberChange, TeamRegister};

/// Shows the members, and which machines are connected.
pub(super) fn list_members(config: &Config) -> Result<(), Failure> {
    let mut register = TeamRegister::open(config)?;
    let roster = register.read_roster()?;
    let absent = if matches!(register, TeamRegister::Database(_)) {
        "not connected to this desk"
    } else {
        "not connected"
    };
    let views = ask_remotes(config);
    let now = register.now_ms()?;
    let mut out = io::stdout().lock();
    if roster.members.is_empty() {
        writeln!(out, "There are none. To invite one: callgate team invite NAME")?;
    }
    for (name, member) in &roster.members {
        let standing = match &views {
            Ok(all) => all
                .iter()
                .find(|view| view.host == *name)
                .map_or_else(|| absent.to_owned(), |view| describe_standing(view, now_ms())),
            Err(_) => format!("{absent}, since `callgate up` does not run"),
        };
        let line = format!("{name}: {}", describe_member(member, standing, now));
        writeln!(out, "{}", one_line(&line))?;
    }
    Ok(())
}

fn describe_member(member: &TeamMember, standing: String, now_ms: i64) -> String {
    let kind = member.kind;
    let mut parts = vec![match &member.owner {
        Some(owner) => format!("{kind} of {owner}"),
        None => kind.to_string(),
    }];
    if let Some(invitation) = &member.invitation {
        let until = invitation.until_ms.and_then(|until| Timestamp::from_millisecond(until).ok());
        let what = if kind == MemberKind::Job { "token" } else { "invitation" };
        parts.push(match until {
            _ if !invitation.is_open_at(now_ms) => format!("{what} expired"),
            Some(until) => format!("{what} good until {until:.0}"),
            None => format!("{what} good until it is revoked"),
        });
    }
    let has_line = kind == MemberKind::Machine && member.token.is_some() || kind == MemberKind::Job;
    if has_line {
        parts.push(standing);
    } else if kind == MemberKind::Person && member.has_joined {
        parts.push("has joined".to_owned());
    }
    parts.join(", ")
}

/// Removes a member, or takes back its invitation.
pub(super) fn revoke_member(config: &Config, name: &str) -> Result<(), Failure> {
    let mut register = TeamRegister::open(config)?;
    let revoked = register.change_member(|roster: &TeamRoster| {
        let (name, by) = (name.to_owned(), BY.to_owned());
        let revoked = MemberRevoked { name: name.clone(), by: by.clone() };
        let events = vec![LedgerEvent::Revoked(revoked)];
        roster.members.contains_key(&name).then_some(MemberChange { name, by, events })
    })?;
    if revoked.is_none() {
        return Err(format!("the team has no member {name}: see `callgate team list`").into());
    }
    // Without a desk nobody is connected.
    ask_remotes(config).ok();
    writeln!(io::stdout(), "{name} does not belong to the team any more.")?;
    Ok(())
}
