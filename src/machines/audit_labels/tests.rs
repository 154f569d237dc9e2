//! Labels of entries as machines send them.

use callgate_store::{ChainHead, EntryDraft};
use callgate_wire::approval::Decision;
use serde_json::json;

use super::*;

fn entry(kind: &str, question: Option<&str>, body: &serde_json::Value) -> LedgerEntry {
    let (question, body) = (question.map(str::to_owned), body.to_string());
    let draft = EntryDraft { at_ms: 1, kind: kind.to_owned(), question, body };
    LedgerEntry::chain_draft(&ChainHead::NONE, draft)
}

#[test]
fn the_entries_of_a_question_have_its_labels() {
    let mut labels = QuestionLabels::default();
    let asked = entry("asked", Some("q"), &json!({ "cwd": "/srv/shop", "agent": "claude-code" }));
    let decided = entry("decided", Some("q"), &json!({ "decision": "allow", "by": "Ada" }));
    assert_eq!(labels.unknown_among(&[asked.clone(), decided.clone()]), Vec::<String>::new());
    assert_eq!(labels.unknown_among(std::slice::from_ref(&decided)), ["q"]);
    assert_eq!(labels.of_entry(&asked).project.as_deref(), Some("/srv/shop"));
    let of_decided = labels.of_entry(&decided);
    let expected = AuditLabels {
        project: Some("/srv/shop".to_owned()),
        agent: Some("claude-code".to_owned()),
        who: Some("Ada".to_owned()),
        decision: Some(Decision::Allow),
    };
    assert_eq!(of_decided, expected);
    labels.of_entry(&entry("closed", Some("q"), &json!({ "how": "answered", "text": "" })));
    assert_eq!(labels.unknown_among(&[decided]), ["q"], "it is forgotten when it is closed");
}

#[test]
fn odd_texts_are_no_reason_to_refuse_an_entry() {
    let mut labels = QuestionLabels::default();
    let long = format!("/srv/{}\u{7}", "\u{e9}".repeat(300));
    let odd = entry("checked", None, &json!({ "cwd": long, "by": "\n", "decision": "deny" }));
    let found = labels.of_entry(&odd);
    assert_eq!(found.project.unwrap().len(), 255);
    assert_eq!((found.who.as_deref(), found.decision), (Some("-"), Some(Decision::Deny)));
    assert_eq!(labels.of_entry(&entry("checked", None, &json!(7))), AuditLabels::default());
}

#[test]
fn whoever_changed_the_team_or_a_link_is_found_by_their_name() {
    let mut labels = QuestionLabels::default();
    for kind in ["invited", "revoked", "mirrored", "unpaired", "paired"] {
        let changed = entry(kind, None, &json!({ "by": "Ada", "name": "ben", "link": "chat/1" }));
        assert_eq!(labels.of_entry(&changed).who.as_deref(), Some("Ada"), "{kind}");
    }
}
