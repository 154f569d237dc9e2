//! What was written is read, and what is not known is kept.

use super::*;
use crate::raw::Members;

fn rewritten(kind: &str, body: &str) -> String {
    let (event, rest) = LedgerEvent::decode_body(kind, body);
    assert_eq!(event.kind(), kind);
    event.body(&rest)
}

#[test]
fn unknown_kinds_members_and_values_are_kept() {
    for (kind, body) in [
        ("closed", r#"{"how":"gone","text":"x","later":{"a":[1, 2]},"more":null}"#),
        ("closed", r#"{"text":"x","how":"in a way of its own"}"#),
        ("unsent", r#"{"why":"no","chat":"not a number"}"#),
        ("delivered", r#"{"at":"once"}"#),
        ("decided_again", r#"{"decision":"allow"}"#),
        ("closed", "not JSON"),
        ("closed", "[]"),
    ] {
        let back = rewritten(kind, body);
        let members = |text: &str| {
            let mut members = Members::from_text(text).unwrap_or_default().0;
            members.retain(|(_, value)| !value.is_null());
            let mut members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name}:{value}")).collect();
            members.sort_unstable();
            members
        };
        assert_eq!(members(&back), members(body));
        assert_eq!(rewritten(kind, &back), back);
        if LedgerKind::parse(kind).is_none() || !body.starts_with('{') {
            assert!(matches!(LedgerEvent::decode_body(kind, body).0, LedgerEvent::Unknown { .. }));
            assert_eq!(back, body);
        }
    }
}

#[test]
fn of_two_members_with_one_name_the_first_counts_and_both_are_kept() {
    let body = r#"{"why":"a","why":"b"}"#;
    let LedgerEvent::Refused(refused) = LedgerEvent::decode_body("refused", body).0 else {
        panic!("it is another kind");
    };
    assert_eq!(refused.why, "a");
    assert_eq!(rewritten("refused", body), body);
}

#[test]
fn a_decision_that_is_not_known_is_none() {
    for body in ["{}", r#"{"decision":"allow all"}"#, r#"{"decision":true}"#, "null"] {
        let decision = match LedgerEvent::decode_body("decided", body).0 {
            LedgerEvent::Decided(decided) => decided.decision,
            _ => None,
        };
        assert_eq!(decision, None, "{body}");
    }
}

#[test]
fn every_kind_has_a_name_and_members_that_differ() {
    for kind in LedgerKind::ALL {
        assert_eq!(LedgerKind::parse(kind.name()), Some(kind));
        assert!(LedgerEvent::MEMBERS.iter().any(|(of, _)| *of == kind), "{kind:?}");
    }
    for (kind, members) in LedgerEvent::MEMBERS {
        let mut names: Vec<&str> = members.iter().map(|member| member.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), members.len(), "{kind:?}");
    }
}

#[test]
fn links_of_early_entries_follow_from_chat_and_user() {
    let mut links = ChainedLinks::default();
    for (kind, body) in [
        ("paired", r#"{"by":"Ada","chat":7,"user":7}"#),
        ("paired", r#"{"by":"Bob","chat":-1,"user":8}"#),
        ("paired", r#"{"channel":"viewer","by":"Page","links":["viewer/00"]}"#),
        ("unpaired", r#"{"link":"user/8","by":"Ada"}"#),
        ("closed", r#"{"link":"chat/7"}"#),
    ] {
        links.apply_event(&LedgerEvent::decode_body(kind, body).0);
    }
    let standing: Vec<(&str, &str)> =
        links.standing.iter().map(|(link, name)| (&**link, &**name)).collect();
    assert_eq!(standing, [("chat/-1", "Bob"), ("chat/7", "Ada"), ("viewer/00", "Page")]);
    assert!(links.had_any);
}
