//! Members changed at once: in the ledger of one desk, and in a database that several desks share.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use callgate_store::EntryFilter;
use callgate_wire::ledger::{
    LinkRemoved, MemberInvited, MemberJoined, MemberKind, MemberRevoked, ViewerPaired,
};

use super::*;
use crate::team_database::test_stores::open_two_stores;

const PAGE: &str = "viewer/1@https://desk:7443";

fn change(name: &str, events: Vec<LedgerEvent>) -> MemberChange {
    MemberChange { name: name.to_owned(), by: "the test".to_owned(), events }
}

fn invited(name: &str, kind: MemberKind, secret: &str) -> MemberChange {
    let event = LedgerEvent::Invited(MemberInvited {
        name: name.to_owned(),
        member: Some(kind),
        secret: secret.to_owned(),
        ..MemberInvited::default()
    });
    change(name, vec![event])
}

/// Uses the invitation with this secret, as a machine that gets this token.
fn join(roster: &TeamRoster, secret: &str, token: &str) -> Option<MemberChange> {
    let (name, _) = roster.invited(secret, 0)?;
    let (secret, token) = (secret.to_owned(), Some(token.to_owned()));
    let joined = MemberJoined { name: name.to_owned(), secret, token };
    Some(change(name, vec![LedgerEvent::Joined(joined)]))
}

fn roster(store: &mut dyn TeamStore) -> TeamRoster {
    read_documents(store).unwrap().1
}

#[test]
fn an_invitation_that_two_desks_use_at_once_has_one_winner() {
    let Some([mut one, mut other]) = open_two_stores() else { return };
    change_in_database(one.as_mut(), |_| Some(invited("build", MemberKind::Machine, "s"))).unwrap();
    let mut looks = 0;
    let won = change_in_database(one.as_mut(), |roster| {
        looks += 1;
        let decided = join(roster, "s", "token of one");
        if looks == 1 {
            let faster = change_in_database(other.as_mut(), |roster| join(roster, "s", "other's"));
            assert!(faster.unwrap().is_some());
        }
        decided
    });
    assert_eq!((won.unwrap(), looks), (None, 2), "it looks again, and it is used up");
    let roster = roster(one.as_mut());
    assert_eq!(roster.members["build"].token.as_deref(), Some("other's"));
}

#[test]
fn nobody_is_revoked_between_the_look_at_an_invitation_and_its_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("callgate.db");
    let mut store = Store::open(&path).unwrap();
    change_in_ledger(&mut store, |_| Some(invited("ada", MemberKind::Person, "s"))).unwrap();
    let (told, revoked) = mpsc::channel();
    let mut revoking = None;
    let joined = change_in_ledger(&mut store, |roster| {
        assert!(roster.invited("s", 0).is_some());
        let (path, told) = (path.clone(), told.clone());
        revoking = Some(thread::spawn(move || {
            let mut store = Store::open(&path).unwrap();
            let event = LedgerEvent::Revoked(MemberRevoked {
                name: "ada".to_owned(),
                by: "the test".to_owned(),
            });
            let event = std::slice::from_ref(&event);
            change_in_ledger(&mut store, |_| Some(change("ada", event.to_vec()))).unwrap();
            told.send(()).unwrap();
        }));
        assert!(revoked.recv_timeout(Duration::from_millis(300)).is_err(), "it has to wait");
        let joined = MemberJoined { name: "ada".to_owned(), secret: "s".to_owned(), token: None };
        let linked = ViewerPaired {
            by: "Firefox".to_owned(),
            links: Some(vec![PAGE.to_owned()]),
            person: Some("ada".to_owned()),
            ..ViewerPaired::default()
        };
        let events = vec![LedgerEvent::Joined(joined), LedgerEvent::ViewerPaired(linked)];
        Some(change("ada", events))
    });
    assert_eq!(joined.unwrap().as_deref(), Some("ada"));
    revoking.unwrap().join().unwrap();
    let entries = store.entries_after(&EntryFilter::default(), 0, 10).unwrap();
    let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["invited", "joined", "paired", "revoked"]);
    assert_eq!(store.chained_links().unwrap().standing, [].into());
}

#[test]
fn a_member_that_was_removed_can_be_invited_again() {
    let Some([mut one, _]) = open_two_stores() else { return };
    for secret in ["s1", "s2"] {
        let invite = |_: &TeamRoster| Some(invited("build", MemberKind::Machine, secret));
        assert!(change_in_database(one.as_mut(), invite).unwrap().is_some());
        assert!(roster(one.as_mut()).invited(secret, 0).is_some());
        let revoked =
            LedgerEvent::Revoked(MemberRevoked { name: "build".to_owned(), by: String::new() });
        let revoke = |_: &TeamRoster| Some(change("build", vec![revoked.clone()]));
        let document = change_in_database(one.as_mut(), revoke).unwrap().unwrap();
        assert_eq!(document.body, None);
        assert!(roster(one.as_mut()).members.is_empty());
    }
}

#[test]
fn pages_of_a_person_are_kept_with_them_and_end_one_by_one() {
    let Some([mut one, _]) = open_two_stores() else { return };
    change_in_database(one.as_mut(), |_| Some(invited("ada", MemberKind::Person, "s"))).unwrap();
    let page = |link: &str| {
        LedgerEvent::ViewerPaired(ViewerPaired {
            by: "Firefox".to_owned(),
            links: Some(vec![link.to_owned()]),
            person: Some("ada".to_owned()),
            ..ViewerPaired::default()
        })
    };
    let link = |_: &TeamRoster| Some(change("ada", vec![page(PAGE), page("viewer/2@https://x")]));
    change_in_database(one.as_mut(), link).unwrap();
    assert_eq!(roster(one.as_mut()).person_of_link(PAGE), Some("ada"));
    let removed = LinkRemoved { link: "viewer/2@https://x".to_owned(), by: String::new() };
    let unlink = |_: &TeamRoster| Some(change("ada", vec![LedgerEvent::Unpaired(removed.clone())]));
    let document = change_in_database(one.as_mut(), unlink).unwrap().unwrap();
    let member = read_member(&document).unwrap().unwrap();
    assert_eq!(member.links, [(PAGE.to_owned(), "Firefox".to_owned())].into());
    let damaged = TeamDocument { body: Some("{}".to_owned()), ..document };
    assert!(matches!(read_member(&damaged), Err(TeamStoreError::Damaged { .. })));
}
