//! Hosts that drive an agent and ask their user about its tools themselves.
//!
//! A host registers a one-time value and puts it into the environment of the agent that it starts,
//! where our hook finds it. The desk then asks nobody, as long as the host is connected and the
//! hook really descends from it. What a rule denies is still denied, and what a rule wants to be
//! decided at the desk is decided here.

use std::collections::HashMap;

use callgate_wire::approval::ApprovalRequest;
use callgate_wire::ledger::{HostGated, LedgerEvent};

use super::question::Ruling;
use super::{AskerId, Desk, DeskStep};
use crate::channel::{Person, PersonPlace, ReplyTo};

const MOST_GATES: usize = 1_024;

#[derive(Debug, Default)]
pub(super) struct HostGates(HashMap<String, RegisteredHost>);

#[derive(Debug)]
struct RegisteredHost {
    viewer: u64,
    process: u32,
}

impl HostGates {
    /// Forgets the values of a host that has disconnected.
    pub(super) fn forget_viewer(&mut self, viewer: u64) {
        self.0.retain(|_, host| host.viewer != viewer);
    }
}

impl Desk {
    /// Returns true if the asker belongs to a registered host, which asks its user itself.
    pub(super) fn has_other_gate(
        &self,
        asker: AskerId,
        request: &ApprovalRequest,
        ruling: &Ruling,
    ) -> bool {
        let value = request.context.as_ref().and_then(|context| context.gated.as_ref());
        let host = value.and_then(|value| self.gates.0.get(value));
        let (Some(host), Some(lineage)) = (host, self.lineages.get(&asker)) else { return false };
        // What a rule denies or wants decided at the desk is not left to a host.
        let is_ours = matches!(ruling, Ruling::Deny { .. } | Ruling::AtDesk { .. });
        !is_ours && lineage.contains(&host.process)
    }

    /// Registers the value of a host, for as long as the host stays connected.
    pub(super) fn register_gate(
        &mut self,
        step: &mut DeskStep,
        value: String,
        who: &Person,
        reply_to: &ReplyTo,
    ) {
        let PersonPlace::Viewer { viewer, process: Some(process), .. } = who.place else {
            let why = "The system does not say which process this is: no value can be taken.";
            return step.reply(reply_to, false, why);
        };
        if self.gates.0.len() >= MOST_GATES {
            return step.reply(reply_to, false, "Too many hosts are registered: end some.");
        }
        // The first host keeps its value: whoever reads it in the environment of the agent could
        // otherwise take it over, and people would be asked here and by the host.
        if self.gates.0.contains_key(&value) {
            return step.reply(reply_to, false, "This value is taken: make another one.");
        }
        self.gates.0.insert(value, RegisteredHost { viewer, process });
        step.record_event(None, &LedgerEvent::Gated(HostGated { process }));
        step.reply(reply_to, true, "Registered for as long as this connection stays.");
    }
}
