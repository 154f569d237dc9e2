//! The people of a team: who somebody is, what they may answer, and who has left.

use callgate_wire::approval::RequestId;
use callgate_wire::ledger::ChainedLinks;

use super::links::LinkKey;
use super::question::PendingQuestion;
use super::{Desk, DeskOutput, DeskStep};
use crate::channel::{Person, PersonPlace};

/// Why a member may not answer a question of callgate's own about links.
const OWNER_ONLY: &str = "Only the owner of this desk can answer this.";
const NO_ROLE: &str = "None of your roles lets you answer this.";

impl Desk {
    /// Returns a person under the name that they have in the roster of the team.
    pub(super) fn named_person(&self, who: Person) -> Person {
        let link = match who.place {
            PersonPlace::Terminal => None,
            PersonPlace::Telegram { chat, private: true, .. } => {
                Some(LinkKey::Chat(chat).to_string())
            }
            // The link of a group would not say which of its people has pressed.
            PersonPlace::Telegram { user, private: false, .. } => {
                Some(LinkKey::User(user).to_string())
            }
            PersonPlace::Viewer { .. } => who.link.clone(),
        };
        match link.and_then(|link| self.roster.person_of_link(&link)) {
            Some(member) => {
                let member = member.to_owned();
                Person { name: member.clone(), member: Some(member), ..who }
            }
            // Whatever a channel says, only the roster makes somebody a member.
            None => Person { member: None, ..who },
        }
    }

    /// Returns why somebody may not answer a question, if they may not.
    pub(super) fn role_refusal(&self, who: &Person, id: &RequestId) -> Option<&'static str> {
        let member = who.member.as_deref()?;
        if self.changes.contains_key(id) {
            return Some(OWNER_ONLY);
        }
        let open = self.open.get(id)?;
        (!self.has_role(member, open)).then_some(NO_ROLE)
    }

    /// Returns true if the roles of a member cover a question. Without roles everybody of the team
    /// may answer everything.
    fn has_role(&self, member: &str, open: &PendingQuestion) -> bool {
        self.roles.as_ref().is_none_or(|roles| roles.covers_question(member, &open.scope))
    }

    /// Returns true if a first allow of somebody still counts: they may have left the team, or lost
    /// their role.
    pub(super) fn is_still_entitled(&self, member: Option<&str>, open: &PendingQuestion) -> bool {
        self.is_known(member) && member.is_none_or(|member| self.has_role(member, open))
    }

    /// Returns true for a member of the team, and for the owner of the desk.
    pub(super) fn is_known(&self, member: Option<&str>) -> bool {
        member.is_none_or(|member| self.roster.members.contains_key(member))
    }

    /// Returns the member whose machine asks a question; `None` for the owner of the desk.
    pub(super) fn owner_of_question(&self, open: &PendingQuestion) -> Option<&str> {
        self.roster.members.get(open.scope.machine.as_ref()?)?.owner.as_deref()
    }

    /// Returns true if a question is shown in a chat: that of a member only if they may answer it.
    pub(super) fn is_shown_in(&self, chat: i64, open: &PendingQuestion) -> bool {
        let member = self.roster.person_of_link(&LinkKey::Chat(chat).to_string());
        member.is_none_or(|member| self.has_role(member, open))
    }

    /// Takes up the links and the members that the ledger has, as other processes may have changed
    /// them. Whoever is not linked any more may not answer from now on.
    pub(super) fn take_up_links(&mut self, step: &mut DeskStep, links: ChainedLinks) {
        let ChainedLinks { standing, team, .. } = links;
        self.roster = team;
        let gone: Vec<String> =
            self.links.keys().filter(|link| !standing.contains_key(*link)).cloned().collect();
        for link in gone.iter().filter_map(|link| LinkKey::parse(link)) {
            self.revoke_link(step, &link, "This link was removed. You may not answer any more.");
        }
        for (link, name) in &standing {
            if let Some(link) = LinkKey::parse(link).filter(|_| !self.links.contains_key(link)) {
                self.take_up(&link, name);
            }
        }
    }

    /// Revokes what a removed link allowed. Returns true if whoever it names may answer all the
    /// same, because of the settings.
    pub(super) fn revoke_link(&mut self, step: &mut DeskStep, link: &LinkKey, text: &str) -> bool {
        self.links.remove(&link.to_string());
        self.roster.people.remove(&link.to_string());
        let (given, authority) = (&self.given, &mut self.authority);
        let is_given = match link {
            LinkKey::Chat(id) => given.chats.contains(id) || !authority.chats.remove(id),
            LinkKey::User(id) => given.users.contains(id) || !authority.users.remove(id),
            LinkKey::Viewer(hash) => {
                given.viewers.contains(hash) || !authority.viewers.remove(hash)
            }
        };
        if let (LinkKey::Viewer(hash), false) = (link, is_given) {
            step.outputs.push(DeskOutput::Lock { hash: hash.clone(), text: text.to_owned() });
        }
        is_given
    }
}
