//! Who is a member after which entries.

use super::*;
use crate::ledger::{ChainedLinks, MemberMirrored, MemberRevoked, SharedMember, ViewerPaired};

fn invited(name: &str, kind: MemberKind, secret: &str, until_ms: Option<i64>) -> LedgerEvent {
    LedgerEvent::Invited(MemberInvited {
        name: name.to_owned(),
        member: Some(kind),
        owner: Some("ada".to_owned()).filter(|_| kind != MemberKind::Person),
        secret: secret.to_owned(),
        until_ms,
        by: "the owner".to_owned(),
    })
}

fn joined(name: &str, secret: &str, token: Option<&str>) -> LedgerEvent {
    let token = token.map(str::to_owned);
    LedgerEvent::Joined(MemberJoined { name: name.to_owned(), secret: secret.to_owned(), token })
}

fn revoked(name: &str) -> LedgerEvent {
    LedgerEvent::Revoked(MemberRevoked { name: name.to_owned(), by: "the owner".to_owned() })
}

fn links_after(events: &[LedgerEvent]) -> ChainedLinks {
    let mut links = ChainedLinks::default();
    for event in events {
        links.apply_event(event);
    }
    links
}

fn name_of(found: Option<(&str, &TeamMember)>) -> Option<String> {
    found.map(|(name, _)| name.to_owned())
}

#[test]
fn an_invitation_is_used_once_and_in_time() {
    let machine = invited("build", MemberKind::Machine, "s1", Some(100));
    let team = links_after(std::slice::from_ref(&machine)).team;
    assert_eq!(name_of(team.invited("s1", 99)), Some("build".to_owned()));
    assert_eq!(name_of(team.invited("s1", 100)), None, "it is too late");
    assert_eq!(name_of(team.holder_of_token("s1", 99)), None, "it is no token");

    let twice = [machine, joined("build", "s1", Some("t1")), joined("build", "s1", Some("t2"))];
    let team = links_after(&twice).team;
    assert_eq!(name_of(team.invited("s1", 99)), None);
    assert_eq!(name_of(team.holder_of_token("t1", 500)), Some("build".to_owned()));
    assert_eq!(name_of(team.holder_of_token("t2", 500)), None, "the second use counts for nothing");
}

#[test]
fn a_new_invitation_leaves_the_token_until_it_is_used() {
    let mut events = vec![
        invited("build", MemberKind::Machine, "s1", None),
        joined("build", "s1", Some("t1")),
        invited("build", MemberKind::Machine, "s2", None),
    ];
    let team = links_after(&events).team;
    assert_eq!(name_of(team.holder_of_token("t1", 0)), Some("build".to_owned()));
    events.push(joined("build", "s2", Some("t2")));
    let team = links_after(&events).team;
    assert_eq!(name_of(team.holder_of_token("t1", 0)), None);
    assert_eq!(name_of(team.holder_of_token("t2", 0)), Some("build".to_owned()));
    // The name cannot become that of somebody else.
    events.push(invited("build", MemberKind::Person, "s3", None));
    let team = links_after(&events).team;
    assert_eq!(name_of(team.invited("s3", 0)), None);
    assert_eq!(team.members["build"].kind, MemberKind::Machine);
}

#[test]
fn a_job_uses_its_invitation_as_its_token_again_and_again() {
    let events = [invited("ci", MemberKind::Job, "s1", Some(100)), joined("ci", "s1", None)];
    let team = links_after(&events).team;
    assert_eq!(name_of(team.holder_of_token("s1", 99)), Some("ci".to_owned()));
    assert_eq!(name_of(team.holder_of_token("s1", 100)), None);
    assert_eq!(team.members["ci"].owner.as_deref(), Some("ada"));
}

#[test]
fn a_revoked_person_has_no_link_any_more() {
    let paired = |link: &str, person: Option<&str>| {
        LedgerEvent::ViewerPaired(ViewerPaired {
            by: "A page".to_owned(),
            links: Some(vec![link.to_owned()]),
            person: person.map(str::to_owned),
            ..ViewerPaired::default()
        })
    };
    let mut events = vec![
        invited("ben", MemberKind::Person, "s1", None),
        joined("ben", "s1", None),
        paired("viewer/1", Some("ben")),
        invited("cleo", MemberKind::Person, "s2", None),
        paired("viewer/2", Some("cleo")),
        paired("viewer/3", None),
        // Whoever was revoked while they joined, and whoever is no person.
        paired("viewer/4", Some("dora")),
        invited("build", MemberKind::Machine, "s3", None),
        paired("viewer/5", Some("build")),
    ];
    let links = links_after(&events);
    assert_eq!(links.standing.keys().collect::<Vec<_>>(), ["viewer/1", "viewer/2", "viewer/3"]);
    assert_eq!(links.team.person_of_link("viewer/1"), Some("ben"));
    assert_eq!(links.team.person_of_link("viewer/3"), None, "the owner's");
    let json = serde_json::to_string(&links).unwrap();
    assert_eq!(serde_json::from_str::<ChainedLinks>(&json).unwrap(), links);

    events.push(revoked("ben"));
    let links = links_after(&events);
    let standing: Vec<&String> = links.standing.keys().collect();
    assert_eq!(standing, ["viewer/2", "viewer/3"]);
    assert_eq!(links.team.people.len(), 1);
    assert_eq!(links.team.members.keys().collect::<Vec<_>>(), ["build", "cleo"]);
}

#[test]
fn links_of_a_desk_without_a_team_are_written_as_before() {
    let json = r#"{"standing":{"chat/7":"Ada"},"had_any":true}"#;
    let links: ChainedLinks = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&links).unwrap(), json);
}

/// What several desks share of a member is what each of them has after mirroring it.
#[test]
fn a_mirrored_member_is_the_one_that_was_shared() {
    let page = |link: &str| {
        LedgerEvent::ViewerPaired(ViewerPaired {
            by: "A page".to_owned(),
            links: Some(vec![link.to_owned()]),
            person: Some("ben".to_owned()),
            ..ViewerPaired::default()
        })
    };
    let mirrored = |member: Option<SharedMember>| {
        let (name, by) = ("ben".to_owned(), "the owner".to_owned());
        LedgerEvent::Mirrored(MemberMirrored { name, member, by })
    };
    let (one, other) = ("viewer/1@https://desk:7443", "viewer/2@https://desk:7443");
    let mut here = vec![
        invited("ben", MemberKind::Person, "s1", None),
        joined("ben", "s1", None),
        page(one),
        page(other),
        page("viewer/3@http://127.0.0.1:7000"),
        page("chat/7"),
    ];
    let shared = links_after(&here).shared_member("ben").unwrap();
    assert_eq!(shared.links.keys().collect::<Vec<_>>(), [one, other], "what is this desk's alone");
    let json = serde_json::to_string(&shared).unwrap();
    assert_eq!(serde_json::from_str::<SharedMember>(&json).unwrap(), shared);

    let there = links_after(&[mirrored(Some(shared.clone()))]);
    assert_eq!(there.shared_member("ben").as_ref(), Some(&shared));
    assert_eq!(there.team.person_of_link(one), Some("ben"));
    assert_eq!(there.standing[one], "A page");
    assert!(there.had_any);

    // The other page was left at another desk.
    let mut less = shared;
    less.links.remove(other);
    here.push(mirrored(Some(less)));
    let links = links_after(&here);
    let standing: Vec<&String> = links.standing.keys().collect();
    assert_eq!(standing, ["chat/7", one, "viewer/3@http://127.0.0.1:7000"]);
    assert_eq!(links.team.person_of_link(other), None);

    here.push(mirrored(None));
    let links = links_after(&here);
    assert!(links.standing.is_empty() && links.team.is_empty(), "{links:?}");
    assert!(!links_after(&[mirrored(None)]).had_any);
}
