//! What is a bundle, and what is not.

use proptest::prelude::*;

use super::*;

const RULES: &str =
    "[[rule]]\nname = \"no force\"\ndecide = \"deny\"\ncommand = \"git push --force\"\n";

fn signer(seed: u8) -> TeamSigner {
    TeamSigner::from_seed(&[seed; 32]).unwrap()
}

fn bundle() -> RuleBundle {
    RuleBundle::sign(&signer(1), "acme", 7, 1_794_920_565_248, RULES).unwrap()
}

/// The signature is the one of RFC 8032, so that other programs can make and check bundles.
#[test]
fn a_bundle_is_one_line_and_is_read_back() {
    let text = bundle().to_json();
    assert!(!text.contains('\n'));
    assert_eq!(RuleBundle::from_json(&text), Ok(bundle()));
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let signature = value["signature"].as_str().unwrap();
    let signed = format!("callgate team rules 1\nacme\n7\n1794920565248\n{RULES}");
    let signature = callgate_wire::hex::parse_hex_digits::<64>(signature).unwrap();
    assert!(signer(1).public_key().has_signed(signed.as_bytes(), &signature));
    assert_eq!(bundle().render_name(), "team acme, rules 7");
}

/// The example of the protocol's page is the bundle of these tests.
#[test]
fn the_documented_bundle_is_one() {
    let page = include_str!("../../../../docs/protocol/team.md");
    let example = page.lines().find(|line| line.starts_with("{\"team\"")).unwrap();
    assert_eq!(example, bundle().to_json());
}

#[test]
fn a_name_that_could_be_mistaken_for_something_else_is_refused() {
    let long = "a".repeat(LONGEST_TEAM_NAME + 1);
    for name in ["", "a b", "a\n7", "team:1", "\u{202e}a", &long] {
        let refused = RuleBundle::sign(&signer(1), name, 1, 0, RULES);
        assert_eq!(refused, Err(BundleError::TeamName), "{name}");
    }
    assert!(RuleBundle::sign(&signer(1), &long[1..], 1, 0, RULES).is_ok());
}

/// Each member is covered by the signature.
#[test]
fn a_bundle_with_another_member_is_refused() {
    let value: serde_json::Value = serde_json::from_str(&bundle().to_json()).unwrap();
    let changes = [
        ("team", serde_json::json!("acme2")),
        ("serial", 8.into()),
        ("signed_at_ms", 0.into()),
        ("rules", "".into()),
        ("key", signer(2).public_key().to_string().into()),
        ("signature", "00".repeat(64).into()),
    ];
    for (member, changed) in changes {
        let mut altered = value.clone();
        altered[member] = changed;
        let refused = RuleBundle::from_json(&altered.to_string());
        assert!(matches!(refused, Err(BundleError::Signature(_))), "{member}: {refused:?}");
        altered.as_object_mut().unwrap().remove(member);
        let refused = RuleBundle::from_json(&altered.to_string());
        assert!(matches!(refused, Err(BundleError::Malformed(_))), "{member}: {refused:?}");
    }
}

#[test]
fn what_is_too_large_is_not_parsed() {
    let text = " ".repeat(LARGEST_BUNDLE + 1);
    assert_eq!(RuleBundle::from_json(&text), Err(BundleError::TooLarge));
}

proptest! {
    #[test]
    fn a_cut_bundle_is_refused(at in any::<prop::sample::Index>()) {
        let text = bundle().to_json();
        prop_assert!(RuleBundle::from_json(&text[..at.index(text.len())]).is_err());
    }

    /// Whatever is changed, what is read is what was signed, or nothing.
    #[test]
    fn an_altered_bundle_is_refused_or_means_the_same(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1u8..128), 1..4),
    ) {
        let mut bytes = bundle().to_json().into_bytes();
        for (index, change) in changes {
            let index = index.index(bytes.len());
            bytes[index] = (bytes[index] ^ change) & 127;
        }
        let text = String::from_utf8(bytes).unwrap();
        if let Ok(read) = RuleBundle::from_json(&text) {
            prop_assert_eq!(read, bundle());
        }
    }

    #[test]
    fn anything_else_is_refused(text in ".{0,200}") {
        prop_assert!(RuleBundle::from_json(&text).is_err());
    }
}
