//! What somebody has allowed for the rest of a conversation.
//!
//! It is kept in memory and ends with the runtime. It covers exactly the same act: the same command
//! with the same arguments, or the same tool on the same file. It never overrides a rule that
//! denies or asks, and never covers what touches callgate itself.

use std::collections::VecDeque;
use std::sync::Mutex;

use callgate_link::sync::lock;
use callgate_rules::{Act, ActClass};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// How many acts are remembered; the oldest is forgotten first.
const MOST: usize = 1_000;
/// The longest description of an act that can be allowed, in bytes.
const LONGEST: usize = 1_000;

/// An act that can be allowed for the rest of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RepeatableAct {
    tool: String,
    what: ActSubject,
    words: String,
}

#[derive(Debug, Clone, PartialEq)]
enum ActSubject {
    /// This file or folder, by its real path.
    Place(String),
    Input(Value),
}

impl RepeatableAct {
    /// Returns the act if it can be allowed from now on. `places` are where its paths lead.
    pub(super) fn from_act(act: &Act, places: &[String], input: &str) -> Option<Self> {
        let (what, words) = match (act.class, places, &act.command) {
            // Nothing else can be allowed, because an act on several places, or on one that is not
            // sure, could be another one next time.
            (ActClass::Read | ActClass::Write, [place], _) if act.doubt_reason().is_none() => {
                (ActSubject::Place(place.clone()), place.clone())
            }
            (ActClass::Run, _, Some(command)) => {
                // The whole input is compared, because it may have a folder or a time limit beside
                // the command.
                (ActSubject::Input(serde_json::from_str(input).ok()?), command.clone())
            }
            _ => return None,
        };
        // Nobody can decide on what is too long to read.
        (words.len() <= LONGEST).then(|| Self { tool: act.tool.clone(), what, words })
    }

    /// Returns the act in the form that the desk protocol uses for suggestions.
    pub(super) fn suggestion(&self) -> Option<Box<RawValue>> {
        let rule = json!({ "toolName": self.tool, "ruleContent": self.words });
        let suggestion = json!({
            "type": "addRules",
            "rules": [rule],
            "behavior": "allow",
            "destination": "session",
        });
        to_raw_value(&suggestion).ok()
    }
}

/// The acts that were allowed in each conversation.
#[derive(Debug, Default)]
pub(super) struct AllowedActs(Mutex<VecDeque<(String, RepeatableAct)>>);

impl AllowedActs {
    pub(super) fn allow_act(&self, conversation: &str, like: &RepeatableAct) {
        let mut all = lock(&self.0);
        all.push_back((conversation.to_owned(), like.clone()));
        if all.len() > MOST {
            all.pop_front();
        }
    }

    pub(super) fn is_allowed(&self, conversation: &str, like: &RepeatableAct) -> bool {
        let all = lock(&self.0);
        all.iter().any(|(there, known)| there == conversation && known == like)
    }
}
