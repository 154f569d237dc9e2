//! Which bundles are taken.

use proptest::prelude::*;

use super::*;
use crate::team_key::TeamSigner;

fn signer(seed: u8) -> TeamSigner {
    TeamSigner::from_seed(&[seed; 32]).unwrap()
}

fn bundle(seed: u8, team: &str, serial: u64, rules: &str) -> RuleBundle {
    RuleBundle::sign(&signer(seed), team, serial, 5, rules).unwrap()
}

fn trusting() -> TeamRules {
    TeamRules::trusting(signer(1).public_key())
}

#[test]
fn a_newer_bundle_is_taken_and_an_older_one_never_again() {
    let mut rules = trusting();
    assert_eq!(rules.take(bundle(1, "acme", 7, "a")), Ok(TakenBundle::New));
    assert_eq!(rules.take(bundle(1, "acme", 7, "a")), Ok(TakenBundle::Same));
    let refusal = rules.take(bundle(1, "acme", 7, "b")).unwrap_err();
    assert_eq!(refusal, BundleRefusal::Conflicting { serial: 7 });
    let refusal = rules.take(bundle(1, "acme", 6, "b")).unwrap_err();
    assert_eq!(refusal, BundleRefusal::Older { serial: 6, kept: 7 });
    assert_eq!(rules.bundle().unwrap().rules(), "a");
    assert_eq!(rules.take(bundle(1, "acme", 9, "c")), Ok(TakenBundle::New));
    assert_eq!(rules.bundle().unwrap().rules(), "c");
}

#[test]
fn a_bundle_of_somebody_else_is_refused() {
    let mut rules = trusting();
    let foreign = rules.take(bundle(2, "acme", 1, "a")).unwrap_err();
    assert!(matches!(foreign, BundleRefusal::ForeignKey { .. }), "{foreign}");
    assert_eq!(rules, trusting());
    rules.take(bundle(1, "acme", 1, "a")).unwrap();
    let foreign = rules.take(bundle(1, "other", 2, "a")).unwrap_err();
    assert!(matches!(foreign, BundleRefusal::ForeignTeam { .. }), "{foreign}");
}

#[test]
fn what_is_kept_is_checked_again() {
    let mut rules = trusting();
    assert_eq!(TeamRules::from_json(&rules.to_json()), Ok(rules.clone()));
    rules.take(bundle(1, "acme", 3, "a")).unwrap();
    let text = rules.to_json();
    assert_eq!(TeamRules::from_json(&text), Ok(rules));
    for altered in [text.replace("\"a\"", "\"b\""), text.replace("\"serial\":3", "\"serial\":4")] {
        assert_ne!(altered, text);
        let error = TeamRules::from_json(&altered).unwrap_err().to_string();
        assert!(error.contains("its signature is wrong"), "{error}");
    }
    let other = format!("{{\"key\":\"{}\"", signer(2).public_key());
    let own = format!("{{\"key\":\"{}\"", signer(1).public_key());
    let error = TeamRules::from_json(&text.replace(&own, &other)).unwrap_err().to_string();
    assert!(error.contains("another key than the team's"), "{error}");
}

proptest! {
    /// In whatever order bundles arrive, and whoever has signed them, the one that applies in the
    /// end is the team's own with the highest number, and its number never falls.
    #[test]
    fn the_newest_of_the_teams_own_applies(
        arriving in prop::collection::vec((1u8..4, 0u64..12, 0usize..2), 0..24),
    ) {
        let mut rules = trusting();
        let mut newest = None;
        for (seed, serial, text) in arriving {
            let before = rules.clone();
            let arrived = bundle(seed, "acme", serial, ["a", "b"][text]);
            let taken = rules.take(arrived.clone());
            let is_newer = seed == 1 && newest.is_none_or(|newest| serial > newest);
            prop_assert_eq!(matches!(taken, Ok(TakenBundle::New)), is_newer);
            if is_newer {
                newest = Some(serial);
                prop_assert_eq!(rules.bundle(), Some(&arrived));
            } else {
                prop_assert_eq!(&rules, &before);
            }
        }
    }
}
