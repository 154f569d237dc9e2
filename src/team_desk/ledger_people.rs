//! The people of a team as its page needs them: an invitation becomes the session of a browser.

use std::path::PathBuf;
use std::sync::Mutex;

use callgate_approval::viewer_token::{new_viewer_token, token_identity};
use callgate_link::sync::lock;
use callgate_store::{EntryDraft, Store, now_ms};
use callgate_web::{TeamPeople, WantedPage};
use callgate_wire::HiddenText;
use callgate_wire::ledger::{
    AnswerChannel, LedgerEvent, MemberJoined, MemberKind, TeamMember, TeamRoster, ViewerPaired,
};

use super::hash_text;

/// The people who are in the ledger of the team's desk.
#[derive(Debug)]
pub(crate) struct LedgerPeople {
    database: PathBuf,
    /// Held while an invitation is used, so that it is used once.
    using: Mutex<()>,
}

impl LedgerPeople {
    pub(crate) fn new(database: PathBuf) -> Self {
        Self { database, using: Mutex::new(()) }
    }

    /// Links a page to the person whom `find` returns, with the secret of an invitation if one is
    /// used up.
    fn link_page(
        &self,
        page: &WantedPage,
        find: impl FnOnce(&TeamRoster) -> Option<(String, Option<String>)>,
    ) -> Result<Option<HiddenText>, String> {
        let failed = |error: callgate_store::StoreError| error.to_string();
        let _using = lock(&self.using);
        let mut store = Store::open(&self.database).map_err(failed)?;
        let roster = store.chained_links().map_err(failed)?.team;
        let Some((person, secret)) = find(&roster) else { return Ok(None) };
        let token = new_viewer_token().map_err(|error| error.to_string())?;
        let joined = secret.map(|secret| {
            LedgerEvent::Joined(MemberJoined { name: person.clone(), secret, token: None })
        });
        let linked = LedgerEvent::ViewerPaired(ViewerPaired {
            channel: Some(AnswerChannel::Viewer),
            by: page.name.clone(),
            links: Some(vec![format!("viewer/{}", token_identity(&token, Some(&page.origin)))]),
            person: Some(person),
        });
        let events = joined.into_iter().chain([linked]);
        let entries: Vec<_> = events.map(|event| EntryDraft::new(now_ms(), None, &event)).collect();
        store.append_entries(&entries).map_err(failed)?;
        Ok(Some(token))
    }
}

impl TeamPeople for LedgerPeople {
    fn join_person(
        &self,
        secret: &HiddenText,
        page: &WantedPage,
    ) -> Result<Option<HiddenText>, String> {
        let secret = hash_text(secret.reveal());
        self.link_page(page, |roster| {
            let (name, member) = roster.invited(&secret, now_ms())?;
            (member.kind == MemberKind::Person).then(|| (name.to_owned(), Some(secret)))
        })
    }

    fn has_person(&self, name: &str) -> Result<bool, String> {
        let store = Store::open_read_only(&self.database).map_err(|error| error.to_string())?;
        let links = store.chained_links().map_err(|error| error.to_string())?;
        Ok(find_person(&links.team, name).is_some())
    }

    fn link_person(&self, name: &str, page: &WantedPage) -> Result<Option<HiddenText>, String> {
        self.link_page(page, |roster| Some((find_person(roster, name)?, None)))
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

    use callgate_wire::ledger::MemberInvited;

    use super::*;

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
        let people = LedgerPeople::new(database.clone());
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
