//! `callgate team list` and `callgate team revoke`: the members of the team whose desk this is.

use std::io::{self, Write};

use callgate_mask::text::one_line;
use callgate_store::{EntryDraft, Store, StoreError, now_ms};
use callgate_wire::ledger::{LedgerEvent, MemberKind, MemberRevoked, TeamMember, TeamRoster};
use jiff::Timestamp;

use crate::config::Config;
use crate::failure::Failure;
use crate::remote::{ask_remotes, describe_standing};

/// Who invites and revokes, in the ledger.
pub(super) const BY: &str = "the command line";

/// Shows the members, and which machines are connected.
pub(super) fn list_members(config: &Config) -> Result<(), Failure> {
    let roster = read_roster(config)?;
    let views = ask_remotes(config);
    let mut out = io::stdout().lock();
    if roster.members.is_empty() {
        writeln!(out, "There are none. To invite one: callgate team invite NAME")?;
    }
    for (name, member) in &roster.members {
        let standing = match &views {
            Ok(all) => all.iter().find(|view| view.host == *name).map_or_else(
                || "not connected".to_owned(),
                |view| describe_standing(view, now_ms()),
            ),
            Err(_) => "not connected, since `callgate up` does not run".to_owned(),
        };
        let line = format!("{name}: {}", describe_member(member, standing, now_ms()));
        writeln!(out, "{}", one_line(&line))?;
    }
    Ok(())
}

/// Describes a member. `standing` is how it stands with its line.
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
    let roster = read_roster(config)?;
    if !roster.members.contains_key(name) {
        let text = format!("{name} is no member: see `callgate team list`");
        return Err(Failure::Failed(text));
    }
    let revoked = MemberRevoked { name: name.to_owned(), by: BY.to_owned() };
    record_event(config, &LedgerEvent::Revoked(revoked))?;
    // Without a desk nobody is connected.
    ask_remotes(config).ok();
    writeln!(io::stdout(), "{name} does not belong to the team any more.")?;
    Ok(())
}

/// Returns the members of the team whose desk this is.
pub(crate) fn read_roster(config: &Config) -> Result<TeamRoster, Failure> {
    match Store::open_read_only(&config.database) {
        Err(StoreError::Missing(_)) => Ok(TeamRoster::default()),
        store => Ok(store?.chained_links()?.team),
    }
}

pub(super) fn record_event(config: &Config, event: &LedgerEvent) -> Result<(), Failure> {
    let mut store = Store::open(&config.database)?;
    store.append_entries(&[EntryDraft::new(now_ms(), None, event)])?;
    Ok(())
}
