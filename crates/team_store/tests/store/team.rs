//! Questions, answers and ledgers as teams have them.

use std::time::Duration;

use callgate_store::{ChainHead, EntryDraft, LedgerEntry};
use callgate_team_store::{
    AuditCopy, AuditLabels, DocumentEdit, DocumentKind, TeamAnswer, TeamAsk,
};
use callgate_wire::approval::{Decision, RequestId};

pub(crate) fn id(number: u64) -> RequestId {
    RequestId::from_random(u128::from(number).to_be_bytes())
}

pub(crate) fn ask(number: u64) -> TeamAsk {
    TeamAsk {
        id: id(number),
        machine: "laptop".into(),
        project: "shop".into(),
        agent: "claude".into(),
        act: format!(r#"{{"tool":"Bash","summary":"make {number}"}}"#),
        wait: Duration::from_mins(10),
    }
}

/// Returns an answer to the question with this number; `answer` is its own.
pub(crate) fn answer(question: u64, answer: u64, by: &str) -> TeamAnswer {
    TeamAnswer {
        id: id(1_000_000 + answer),
        question: id(question),
        by: by.into(),
        members: Vec::new(),
        roles: 0,
        decision: Decision::Allow,
        body: format!(r#"{{"decision":"allow","by":"{by}"}}"#),
    }
}

pub(crate) fn edit(name: &str, replaces: u64, number: u64, body: Option<&str>) -> DocumentEdit {
    DocumentEdit {
        kind: DocumentKind::Member,
        name: name.into(),
        replaces,
        id: id(2_000_000 + number),
        by: "ada".into(),
        body: body.map(str::to_owned),
    }
}

/// Returns a ledger of `count` entries that follow `after`.
pub(crate) fn ledger(after: ChainHead, count: u64) -> Vec<AuditCopy> {
    let mut head = after;
    let entries = (0..count).map(|number| {
        let draft = EntryDraft {
            at_ms: i64::try_from(1_700_000_000_000 + number).unwrap(),
            kind: "ran".into(),
            question: None,
            body: format!(r#"{{"tool":"Bash","number":{number}}}"#),
        };
        let entry = LedgerEntry::chain_draft(&head, draft);
        head = entry.head();
        AuditCopy { labels: AuditLabels::default(), entry }
    });
    entries.collect()
}
