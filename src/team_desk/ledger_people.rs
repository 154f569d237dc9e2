//! The people of a team as its page needs them: an invitation becomes the session of a browser.

use callgate_approval::viewer_token::{new_viewer_token, token_identity};
use callgate_web::{TeamPeople, WantedPage};
use callgate_wire::HiddenText;
use callgate_wire::ledger::{
    AnswerChannel, LedgerEvent, MemberJoined, MemberKind, TeamMember, TeamRoster, ViewerPaired,
};
use tokio::runtime::Handle;

use super::{DeskRegister, hash_text};
use crate::team_register::MemberChange;

/// The people who are in the ledger of the team's desk. Its calls block, on threads of a runtime that
/// are for that.
pub(crate) struct LedgerPeople {
    register: DeskRegister,
    /// Has the desk look at its members again.
    wish: Box<dyn Fn() + Send + Sync>,
}

impl LedgerPeople {
    pub(crate) fn new(register: DeskRegister, wish: impl Fn() + Send + Sync + 'static) -> Self {
        Self { register, wish: Box::new(wish) }
    }

    /// Links a page to the person whom `find` returns, with the secret of an invitation if one is
    /// used up.
    fn link_page(
        &self,
        page: &WantedPage,
        find: impl Fn(&TeamRoster) -> Option<(String, Option<String>)> + Send + 'static,
    ) -> Result<Option<HiddenText>, String> {
        let token = new_viewer_token().map_err(|error| error.to_string())?;
        let (by, link) = (page.name.clone(), token_identity(&token, Some(&page.origin)));
        let changed = self.register.change_member(move |roster| {
            let (name, secret) = find(roster)?;
            let joined = secret.map(|secret| {
                LedgerEvent::Joined(MemberJoined { name: name.clone(), secret, token: None })
            });
            let linked = LedgerEvent::ViewerPaired(ViewerPaired {
                channel: Some(AnswerChannel::Viewer),
                by: by.clone(),
                links: Some(vec![format!("viewer/{link}")]),
                person: Some(name.clone()),
            });
            let events = joined.into_iter().chain([linked]).collect();
            Some(MemberChange { by: name.clone(), name, events })
        });
        Ok(Handle::current().block_on(changed)?.map(|_| token))
    }
}

impl TeamPeople for LedgerPeople {
    fn join_person(
        &self,
        secret: &HiddenText,
        page: &WantedPage,
    ) -> Result<Option<HiddenText>, String> {
        let secret = hash_text(secret.reveal());
        let now = self.register.now_ms();
        self.link_page(page, move |roster| {
            let (name, member) = roster.invited(&secret, now)?;
            (member.kind == MemberKind::Person).then(|| (name.to_owned(), Some(secret.clone())))
        })
    }

    fn has_person(&self, name: &str) -> Result<bool, String> {
        let roster = Handle::current().block_on(self.register.read_roster())?;
        Ok(find_person(&roster, name).is_some())
    }

    fn link_person(&self, name: &str, page: &WantedPage) -> Result<Option<HiddenText>, String> {
        let name = name.to_owned();
        self.link_page(page, move |roster| Some((find_person(roster, &name)?, None)))
    }

    fn page_left(&self) {
        (self.wish)();
    }
}

/// Returns the name of the person of this name, however it is written.
fn find_person(roster: &TeamRoster, name: &str) -> Option<String> {
    let is_it = |known: &str, member: &TeamMember| {
        member.kind == MemberKind::Person && known.eq_ignore_ascii_case(name)
    };
    let found = roster.members.iter().find(|(known, member)| is_it(known, member));
    found.map(|(known, _)| known.clone())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use callgate_store::{EntryDraft, Store, now_ms};
    use callgate_wire::ledger::MemberInvited;

    use super::*;
    use crate::machines::ledger_copies::LedgerCopies;

    fn invite(database: &Path, name: &str, kind: MemberKind, secret: &str, until_ms: i64) {
        let invited = LedgerEvent::Invited(MemberInvited {
            name: name.to_owned(),
            member: Some(kind),
            owner: None,
            secret: hash_text(secret),
            until_ms: Some(until_ms),
            by: "the test".to_owned(),
        });
        let entry = EntryDraft::new(now_ms(), None, &invited);
        Store::open(database).unwrap().append_entries(&[entry]).unwrap();
    }

    #[test]
    fn an_invitation_of_a_person_is_used_once_and_links_that_person() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("callgate.db");
        let later = now_ms() + 60_000;
        invite(&database, "ada", MemberKind::Person, "secret-a", later);
        invite(&database, "build-7", MemberKind::Machine, "secret-m", later);
        invite(&database, "ben", MemberKind::Person, "secret-b", now_ms() - 1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _entered = runtime.enter();
        let register = DeskRegister::new(LedgerCopies::in_database(&database), None);
        let people = LedgerPeople::new(register, || ());
        let origin = "https://desk.example.org:7443".to_owned();
        let page = WantedPage { origin: origin.clone(), name: "Firefox on Linux".to_owned() };
        let join = |secret: &str| people.join_person(&HiddenText::new(secret), &page).unwrap();
        let token = join("secret-a").unwrap();
        assert!(join("secret-a").is_none(), "it was used");
        assert!(join("secret-m").is_none(), "a machine has no page");
        assert!(join("secret-b").is_none(), "it is too late");
        assert!(join("").is_none());
        let links = Store::open_read_only(&database).unwrap().chained_links().unwrap();
        let link = format!("viewer/{}", token_identity(&token, Some(&origin)));
        assert_eq!(links.standing, [(link.clone(), "Firefox on Linux".to_owned())].into());
        assert_eq!(links.team.person_of_link(&link), Some("ada"));
        // An account needs no invitation, but a member of its name.
        assert!(people.has_person("ADA").unwrap() && !people.has_person("eve").unwrap());
        assert!(!people.has_person("build-7").unwrap());
        assert!(people.link_person("eve", &page).unwrap().is_none());
        let token = people.link_person("Ada", &page).unwrap().unwrap();
        let links = Store::open_read_only(&database).unwrap().chained_links().unwrap();
        let link = format!("viewer/{}", token_identity(&token, Some(&origin)));
        assert_eq!(links.team.person_of_link(&link), Some("ada"));
    }
}
