//! The people of a team as its page needs them: an invitation becomes the session of a browser.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_approval::viewer_token::{new_viewer_token, token_identity};
use callgate_web::{DeskFuture, PageJoined, TeamPeople, WantedPage};
use callgate_wire::HiddenText;
use callgate_wire::ledger::{
    AnswerChannel, LedgerEvent, MemberJoined, MemberKind, TeamMember, TeamRoster, VIEWER_LINK,
    ViewerPaired,
};

use super::{DeskRegister, TeamDesk, hash_text};
use crate::team_register::MemberChange;

/// How many links a person may have before another page is refused. Each is an entry in the ledger
/// of every desk.
const MOST_LINKS: usize = 64;

/// A person who wants a page, and the hash of the secret of their invitation if one is used up.
type JoiningPerson = (String, Option<String>);

impl TeamPeople for TeamDesk {
    fn join_person<'a>(
        &'a self,
        secret: &'a HiddenText,
        page: WantedPage,
    ) -> DeskFuture<'a, Result<PageJoined, String>> {
        let (secret, now) = (hash_text(secret.reveal()), self.register.now_ms());
        Box::pin(async move {
            // A wrong secret costs no look into the ledger.
            if !self.knows(|roster| find_invited(roster, &secret, now).is_some()).await {
                return Ok(PageJoined::Unknown);
            }
            let find = move |roster: &TeamRoster| find_invited(roster, &secret, now);
            self.link_found(page, find).await
        })
    }

    fn link_person<'a>(
        &'a self,
        name: &'a str,
        page: WantedPage,
    ) -> DeskFuture<'a, Result<PageJoined, String>> {
        let name = name.to_owned();
        let find = move |roster: &TeamRoster| Some((find_person(roster, &name)?, None));
        Box::pin(self.link_found(page, find))
    }

    fn has_link<'a>(&'a self, link: &'a str) -> DeskFuture<'a, bool> {
        Box::pin(self.knows(|roster| roster.person_of_link(link).is_some()))
    }

    fn page_left(&self) {
        self.home.board.wish_for_look();
    }
}

impl TeamDesk {
    async fn link_found(
        &self,
        page: WantedPage,
        find: impl Fn(&TeamRoster) -> Option<JoiningPerson> + Send + 'static,
    ) -> Result<PageJoined, String> {
        let joined = link_page(&self.register, page, find).await?;
        // Its key is known when the page shows it.
        self.read_joined().await;
        Ok(joined)
    }
}

impl fmt::Debug for TeamDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamDesk").finish_non_exhaustive()
    }
}

/// Links a page to the person whom `find` returns.
async fn link_page(
    register: &DeskRegister,
    page: WantedPage,
    find: impl Fn(&TeamRoster) -> Option<JoiningPerson> + Send + 'static,
) -> Result<PageJoined, String> {
    let token = new_viewer_token().map_err(|error| error.to_string())?;
    // The link is a hash, because it goes into the ledgers of all desks, and the token stays with
    // the browser.
    let link = format!("{VIEWER_LINK}{}", token_identity(&token, Some(&page.origin)));
    // The decision is made on another thread, and returns nothing if there is no change: this says
    // why.
    let is_full = Arc::new(AtomicBool::new(false));
    let finds_full = Arc::clone(&is_full);
    let changed = register.change_member(move |roster| {
        let (name, secret) = find(roster)?;
        let held = roster.people.values().filter(|person| **person == name).count();
        // The flag is set at every call, because the closure is called again if another desk was
        // faster.
        finds_full.store(held >= MOST_LINKS, Ordering::Relaxed);
        if held >= MOST_LINKS {
            return None;
        }
        let joined = secret.map(|secret| {
            LedgerEvent::Joined(MemberJoined { name: name.clone(), secret, token: None })
        });
        let linked = LedgerEvent::ViewerPaired(ViewerPaired {
            channel: Some(AnswerChannel::Viewer),
            by: page.name.clone(),
            links: Some(vec![link.clone()]),
            person: Some(name.clone()),
        });
        let events = joined.into_iter().chain([linked]).collect();
        Some(MemberChange { by: name.clone(), name, events })
    });
    Ok(match changed.await? {
        Some(_) => PageJoined::Linked(token),
        None if is_full.load(Ordering::Relaxed) => PageJoined::TooMany,
        None => PageJoined::Unknown,
    })
}

/// Returns the person whose invitation has a secret with this hash.
fn find_invited(roster: &TeamRoster, secret: &str, now: i64) -> Option<JoiningPerson> {
    let (name, member) = roster.invited(secret, now)?;
    let is_person = member.kind == MemberKind::Person;
    is_person.then(|| (name.to_owned(), Some(secret.to_owned())))
}

/// Returns the name of the person of this name, however it is written.
fn find_person(roster: &TeamRoster, name: &str) -> Option<String> {
    let is_it = |known: &str, member: &TeamMember| {
        // An ID token has the address in lower case, and the owner may have written it otherwise.
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
        let register = DeskRegister::new(LedgerCopies::in_database(&database), None);
        let origin = "https://desk.example.org:7443".to_owned();
        let page = WantedPage { origin: origin.clone(), name: "Firefox on Linux".to_owned() };
        let join = |secret: &str| {
            let secret = hash_text(secret);
            let find = move |roster: &TeamRoster| find_invited(roster, &secret, now_ms());
            runtime.block_on(link_page(&register, page.clone(), find)).unwrap()
        };
        let links = || Store::open_read_only(&database).unwrap().chained_links().unwrap();
        let link_of = |joined: PageJoined| match joined {
            PageJoined::Linked(token) => {
                format!("{VIEWER_LINK}{}", token_identity(&token, Some(&origin)))
            }
            other => panic!("{other:?}"),
        };
        let link = link_of(join("secret-a"));
        assert_eq!(join("secret-a"), PageJoined::Unknown, "it was used");
        assert_eq!(join("secret-m"), PageJoined::Unknown, "a machine has no page");
        assert_eq!(join("secret-b"), PageJoined::Unknown, "it is too late");
        assert_eq!(join(""), PageJoined::Unknown);
        assert_eq!(links().standing, [(link.clone(), "Firefox on Linux".to_owned())].into());
        assert_eq!(links().team.person_of_link(&link), Some("ada"));
        // An account needs no invitation, but a member of its name.
        let team = links().team;
        assert_eq!(find_person(&team, "ADA").as_deref(), Some("ada"));
        assert_eq!((find_person(&team, "eve"), find_person(&team, "build-7")), (None, None));
        let sign_in = |name: &'static str| {
            let find = move |roster: &TeamRoster| Some((find_person(roster, name)?, None));
            runtime.block_on(link_page(&register, page.clone(), find)).unwrap()
        };
        assert_eq!(sign_in("eve"), PageJoined::Unknown);
        let link = link_of(sign_in("Ada"));
        assert_eq!(links().team.person_of_link(&link), Some("ada"));
        // Sign-ins do not fill the ledgers of all desks.
        for _ in 2..MOST_LINKS {
            link_of(sign_in("ada"));
        }
        assert_eq!(sign_in("ada"), PageJoined::TooMany);
        assert_eq!(links().standing.len(), MOST_LINKS);
    }
}
