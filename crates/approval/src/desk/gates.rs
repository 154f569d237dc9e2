//! Hosts that drive an agent and ask their user about its tools themselves.
//!
//! A host registers a one-time value and gives it to the agent that it starts, in whose environment
//! our hook finds it. The desk then asks nobody, as long as the host is there and the hook really
//! descends from it; what a rule denies is denied all the same.

use std::collections::HashMap;

use callgate_wire::approval::{Decision, Request, RequestId, Response};
use serde_json::json;

use super::answer::tell;
use super::question::Ruling;
use super::{AskerId, Desk, Output, Step};
use crate::channel::{Doing, Place, Who};

/// How many values may be registered at once.
const MOST_GATES: usize = 1_024;

/// The values that hosts have registered.
#[derive(Debug, Default)]
pub(super) struct Gates(HashMap<String, Host>);

#[derive(Debug)]
struct Host {
    viewer: u64,
    process: u32,
}

impl Gates {
    /// Forgets what a host has registered that has gone.
    pub(super) fn forget(&mut self, viewer: u64) {
        self.0.retain(|_, host| host.viewer != viewer);
    }
}

impl Desk {
    /// Whether the host of whoever asks is registered and asks its user itself.
    pub(super) fn has_other_gate(
        &self,
        asker: AskerId,
        request: &Request,
        ruling: &Ruling,
    ) -> bool {
        let value = request.context.as_ref().and_then(|context| context.gated.as_ref());
        let host = value.and_then(|value| self.gates.0.get(value));
        let (Some(host), Some(lineage)) = (host, self.lineages.get(&asker)) else { return false };
        !matches!(ruling, Ruling::Deny { .. }) && lineage.contains(&host.process)
    }

    /// Takes the value of a host, for as long as the host stays.
    pub(super) fn gate(&mut self, step: &mut Step, value: String, who: &Who, doing: &Doing) {
        let Place::Viewer { viewer, process: Some(process), .. } = who.place else {
            let why = "The system does not say which process this is: no value can be taken.";
            return tell(step, Some(doing), false, why);
        };
        if self.gates.0.len() >= MOST_GATES {
            return tell(step, Some(doing), false, "Too many hosts are registered: end some.");
        }
        if self.gates.0.contains_key(&value) {
            return tell(step, Some(doing), false, "This value is taken: make another one.");
        }
        self.gates.0.insert(value, Host { viewer, process });
        step.note("gated", None, &json!({ "process": process }));
        tell(step, Some(doing), true, "Registered for as long as this connection stays.");
    }
}

/// Lets an asker go on as if nobody had been asked: its host asks.
pub(super) fn pass_by(step: &mut Step, asker: AskerId, id: RequestId) {
    step.outputs.push(Output::Answer(asker, Response::new(id, Decision::None)));
}
