//! The desk under test: single cases, and a model of the world around it in which everything may
//! happen in any order.

mod blocked;
mod calls;
mod cases;
mod checks;
mod confirmed;
mod demands;
mod linking;
mod model;
mod naive;
mod pressing;
mod reaching;
mod relayed;
mod said;
mod settling;
mod twins;
mod unchecked;

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use callgate_store::LedgerEntry;
use callgate_wire::approval::{ApprovalRequest, Press, RequestId};
use callgate_wire::ledger::{ChainedLinks, LedgerEvent, REMOTE_LINK};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Authority, Desk, DeskInput, DeskSettings, DeskStep, DeskTime};
use crate::channel::{Person, PersonPlace};

/// The chat and the user that may answer.
pub(super) const ADA: i64 = 7;

pub(super) fn settings() -> DeskSettings {
    DeskSettings {
        viewer_grace: Duration::from_secs(10),
        notify_on_wait: true,
        phones: true,
        key: [9; 32],
        ..DeskSettings::plain(Duration::from_mins(5), Duration::from_secs(15))
    }
}

pub(super) fn authority() -> Authority {
    Authority { chats: [ADA, -100].into(), users: [ADA].into(), ..Authority::default() }
}

pub(super) fn ada() -> Person {
    Person::new(PersonPlace::Telegram { chat: ADA, user: ADA, private: true }, "Ada")
}

pub(super) fn stranger() -> Person {
    Person::new(PersonPlace::Telegram { chat: 8, user: 8, private: true }, "Mallory")
}

pub(super) fn id(number: u64) -> RequestId {
    RequestId::parse(&format!("00000000-0000-4000-8000-{number:012x}")).unwrap()
}

pub(super) fn request(number: u64, command: &str) -> ApprovalRequest {
    request_of(number, "Bash", &json!({ "command": command }), &json!({}))
}

pub(super) fn request_of(number: u64, tool: &str, input: &Value, more: &Value) -> ApprovalRequest {
    let mut line = json!({
        "request_id": id(number).as_str(),
        "tool_name": tool,
        "tool_input": input,
        "cwd": "/home/ada/engine",
        "session_id": "s1",
        "agent": "claude-code",
        "context": { "takes": ["always", "edit", "interrupt"], "prompt_id": "p1" },
    });
    for (name, value) in more.as_object().unwrap() {
        line[name] = value.clone();
    }
    ApprovalRequest::decode(line.to_string().as_bytes()).unwrap()
}

/// The ledger fails, and has the questions before.
pub(super) fn failed_ledger() -> DeskInput {
    DeskInput::LedgerFailed { unrecorded: HashSet::new() }
}

/// A press that changes the shown input.
pub(super) fn edited_input(json: String) -> Press {
    Press::Input(RawValue::from_string(json).unwrap())
}

/// What was committed: it outlives every desk.
#[derive(Debug, Default, Clone)]
pub(super) struct Ledger {
    pub(super) entries: Vec<LedgerEntry>,
    pub(super) kept: BTreeMap<String, String>,
}

impl Ledger {
    pub(super) fn commit(&mut self, step: &DeskStep) {
        for draft in &step.records {
            let seq = self.entries.len() as u64 + 1;
            let (kind, question, body) =
                (draft.kind.clone(), draft.question.clone(), draft.body.clone());
            self.entries.push(LedgerEntry {
                seq,
                at_ms: draft.at_ms,
                kind,
                question,
                body,
                hash: [0; 32],
            });
        }
        for (key, value) in &step.keeps {
            match value {
                Some(value) => self.kept.insert(key.clone(), value.clone()),
                None => self.kept.remove(key),
            };
        }
    }

    /// The links as the store reads them from the chain.
    pub(super) fn links(&self) -> ChainedLinks {
        let mut links = ChainedLinks::default();
        let events = || self.entries.iter().map(LedgerEntry::event);
        for event in events() {
            // Whoever has asked was added before.
            if let LedgerEvent::Asked(asked) = event
                && let Some(machine) = asked.machine
            {
                links.standing.insert(format!("{REMOTE_LINK}{machine}"), machine);
            }
        }
        for event in events() {
            links.apply_event(&event);
        }
        links
    }

    pub(super) fn of(&self, id: &RequestId) -> Vec<LedgerEntry> {
        let is_of = |entry: &&LedgerEntry| entry.question.as_deref() == Some(id.as_str());
        self.entries.iter().filter(is_of).cloned().collect()
    }

    pub(super) fn is_over(&self, id: &RequestId) -> bool {
        self.of(id).iter().any(|entry| entry.kind == "closed")
    }

    pub(super) fn desk(&self, now: DeskTime) -> Desk {
        self.desk_with(settings(), now)
    }

    pub(super) fn desk_with(&self, settings: DeskSettings, now: DeskTime) -> Desk {
        let mut ids: Vec<&str> =
            self.entries.iter().filter_map(|entry| entry.question.as_deref()).collect();
        ids.sort_unstable();
        ids.dedup();
        let all = ids.into_iter().map(|text| RequestId::parse(text).unwrap());
        let (over, open): (Vec<_>, Vec<_>) = all.partition(|id| self.is_over(id));
        let entries = |ids: Vec<RequestId>| ids.iter().map(|id| self.of(id)).collect::<Vec<_>>();
        let kept: Vec<_> = self.kept.clone().into_iter().collect();
        let mut desk = Desk::new(settings, authority(), crate::telegram::is_cut_in_message);
        desk.restore(now, &entries(open), &entries(over), &kept, self.links());
        desk
    }
}
