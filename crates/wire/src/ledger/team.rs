//! The members of a team, as the ledger of its desk has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::team_member::{MemberKind, OpenInvitation, TeamMember};
use super::{LedgerEvent, MemberInvited, MemberJoined};

/// The members of a team: those who have joined, and those who are invited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamRoster {
    pub members: BTreeMap<String, TeamMember>,
    /// The links of people: each with the name of the member who holds it. A link that is not among
    /// them belongs to the owner of the desk.
    pub people: BTreeMap<String, String>,
}

impl TeamRoster {
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.people.is_empty()
    }

    /// Returns the member whose invitation has a secret with this hash, if it can be used now.
    pub fn invited(&self, secret: &str, now_ms: i64) -> Option<(&str, &TeamMember)> {
        self.find_member(|member| {
            let invitation = member.invitation.as_ref();
            invitation.is_some_and(|it| it.secret == secret && it.is_open_at(now_ms))
        })
    }

    /// Returns the machine or job that a token with this hash belongs to. The token of a job is the
    /// secret of its invitation.
    pub fn holder_of_token(&self, token: &str, now_ms: i64) -> Option<(&str, &TeamMember)> {
        let held = self.find_member(|member| member.token.as_deref() == Some(token));
        let job = || self.invited(token, now_ms).filter(|(_, it)| it.kind == MemberKind::Job);
        held.or_else(job)
    }

    /// Returns the hash of the token by which a machine or a job is known now.
    pub fn token_of(&self, name: &str, now_ms: i64) -> Option<&str> {
        let member = self.members.get(name)?;
        let invitation = member.invitation.as_ref();
        let of_job =
            invitation.filter(|it| member.kind == MemberKind::Job && it.is_open_at(now_ms));
        member.token.as_deref().or(of_job.map(|it| it.secret.as_str()))
    }

    /// Returns the person who holds a link; `None` if it is the owner's.
    pub fn person_of_link(&self, link: &str) -> Option<&str> {
        self.people.get(link).map(String::as_str)
    }

    fn find_member(&self, is_it: impl Fn(&TeamMember) -> bool) -> Option<(&str, &TeamMember)> {
        let found = self.members.iter().find(|(_, member)| is_it(member));
        found.map(|(name, member)| (name.as_str(), member))
    }

    pub(super) fn note_link(&mut self, link: &str, person: Option<&str>) {
        match person {
            Some(person) => drop(self.people.insert(link.to_owned(), person.to_owned())),
            // A link that is made without a person belongs to the owner, whoever had it before.
            None => self.forget_link(link),
        }
    }

    pub(super) fn forget_link(&mut self, link: &str) {
        self.people.remove(link);
    }

    /// Applies an entry about members. Returns the links that end with it.
    pub(super) fn apply_event(&mut self, event: &LedgerEvent) -> Vec<String> {
        match event {
            LedgerEvent::Invited(invited) => self.invite(invited),
            LedgerEvent::Joined(joined) => self.join(joined),
            LedgerEvent::Revoked(revoked) => {
                self.members.remove(&revoked.name);
                let is_theirs = |_: &String, person: &mut String| *person == revoked.name;
                return self.people.extract_if(.., is_theirs).map(|(link, _)| link).collect();
            }
            _ => {}
        }
        Vec::new()
    }

    /// Adds a member, or gives one that is known another invitation. What a name stands for never
    /// changes while it is known.
    fn invite(&mut self, invited: &MemberInvited) {
        let Some(kind) = invited.member else { return };
        let member = self.members.entry(invited.name.clone()).or_insert_with(|| TeamMember {
            kind,
            owner: None,
            invitation: None,
            token: None,
            has_joined: false,
        });
        if member.kind == kind {
            member.owner.clone_from(&invited.owner);
            let (secret, until_ms) = (invited.secret.clone(), invited.until_ms);
            member.invitation = Some(OpenInvitation { secret, until_ms });
        }
    }

    fn join(&mut self, joined: &MemberJoined) {
        let Some(member) = self.members.get_mut(&joined.name) else { return };
        let is_this = |invitation: &OpenInvitation| invitation.secret == joined.secret;
        // An invitation that was replaced by another one meanwhile lets nobody in.
        if !member.invitation.as_ref().is_some_and(is_this) {
            return;
        }
        member.has_joined = true;
        // A job keeps its invitation, whose secret is the token of each of its runs.
        if member.kind != MemberKind::Job {
            member.invitation = None;
            member.token.clone_from(&joined.token);
        }
    }
}

#[cfg(test)]
mod tests;
