//! Desks that make the mistakes of others, to show that the model sees them.

use std::collections::{HashMap, HashSet};

use callgate_wire::approval::{Decision, RequestId};

use super::super::question::Occasion;
use super::super::{AskerId, Desk, DeskInput, DeskOutput, DeskStep, DeskTime, Ruling};
use super::{Ledger, authority, settings};
use crate::channel::{ChannelOrder, ChannelReport};

/// What the model can put in the desk's place.
pub(super) trait Judge {
    fn start(now: DeskTime, ledger: &Ledger) -> Self;
    fn handle(&mut self, now: DeskTime, input: DeskInput) -> DeskStep;
    fn open_count(&self) -> usize;
}

impl Judge for Desk {
    fn start(now: DeskTime, ledger: &Ledger) -> Self {
        ledger.desk(now)
    }

    fn handle(&mut self, now: DeskTime, input: DeskInput) -> DeskStep {
        self.handle(now, input)
    }

    fn open_count(&self) -> usize {
        self.open_count()
    }
}

/// Shows a question first and registers it when the message has been sent.
pub(super) struct ShowsFirst {
    desk: Desk,
    unsent: HashMap<RequestId, DeskInput>,
}

impl Judge for ShowsFirst {
    fn start(now: DeskTime, ledger: &Ledger) -> Self {
        Self { desk: ledger.desk(now), unsent: HashMap::new() }
    }

    fn handle(&mut self, now: DeskTime, input: DeskInput) -> DeskStep {
        match &input {
            DeskInput::Asked { request, .. } if !self.desk.knows(&request.request_id) => {
                let id = request.request_id.clone();
                // What would be shown, without anything being registered or recorded.
                let mut shown =
                    Desk::new(settings(), authority(), crate::telegram::is_cut_in_message);
                let DeskInput::Asked { request, ruling, .. } = &input else { unreachable!() };
                let asked = DeskInput::Asked {
                    asker: AskerId(0),
                    request: request.clone(),
                    ruling: ruling.clone(),
                    is_replay: false,
                };
                let mut step = shown.handle(now, asked);
                step.records.clear();
                step.outputs.retain(|output| matches!(output, DeskOutput::Phones(_)));
                self.unsent.insert(id, input);
                step
            }
            DeskInput::News(ChannelReport::Shown(copy)) => match self.unsent.remove(&copy.question)
            {
                Some(asked) => {
                    let mut step = self.desk.handle(now, asked);
                    step.outputs.retain(|output| {
                        !matches!(output, DeskOutput::Phones(ChannelOrder::Show { .. }))
                    });
                    step
                }
                None => self.desk.handle(now, input),
            },
            _ => self.desk.handle(now, input),
        }
    }

    fn open_count(&self) -> usize {
        self.desk.open_count()
    }
}

/// Forgets everything when it is killed.
pub(super) struct Forgets(Desk);

impl Judge for Forgets {
    fn start(_: DeskTime, _: &Ledger) -> Self {
        Self(Desk::new(settings(), authority(), crate::telegram::is_cut_in_message))
    }

    fn handle(&mut self, now: DeskTime, input: DeskInput) -> DeskStep {
        self.0.handle(now, input)
    }

    fn open_count(&self) -> usize {
        self.0.open_count()
    }
}

/// Takes a yes at the check of any call for a yes to all questions that follow.
pub(super) struct Generous {
    desk: Desk,
    checks: HashSet<RequestId>,
    has_allowed: bool,
}

impl Judge for Generous {
    fn start(now: DeskTime, ledger: &Ledger) -> Self {
        Self { desk: ledger.desk(now), checks: HashSet::new(), has_allowed: false }
    }

    fn handle(&mut self, now: DeskTime, mut input: DeskInput) -> DeskStep {
        if let DeskInput::Asked { request, ruling, .. } = &mut input {
            match Occasion::from_request(request) {
                Occasion::Check => {
                    self.checks.insert(request.request_id.clone());
                }
                Occasion::Permission if self.has_allowed => {
                    *ruling = Ruling::Allow { because: "a check".to_owned() };
                }
                _ => {}
            }
        }
        let step = self.desk.handle(now, input);
        self.has_allowed |= step.outputs.iter().any(|output| {
            matches!(output, DeskOutput::Answer(_, response)
                if response.decision == Decision::Allow
                    && self.checks.contains(&response.request_id))
        });
        step
    }

    fn open_count(&self) -> usize {
        self.desk.open_count()
    }
}

/// Shows "allowed" as soon as somebody has pressed, whether the asker lives or not.
pub(super) struct Boasts(Desk);

impl Judge for Boasts {
    fn start(now: DeskTime, ledger: &Ledger) -> Self {
        Self(ledger.desk(now))
    }

    fn handle(&mut self, now: DeskTime, input: DeskInput) -> DeskStep {
        let mut step = self.0.handle(now, input);
        let answered: Vec<AskerId> = step
            .outputs
            .iter()
            .filter_map(|output| match output {
                DeskOutput::Answer(asker, _) => Some(*asker),
                _ => None,
            })
            .collect();
        for asker in answered {
            let mut more = self.0.handle(now, DeskInput::Delivered(asker));
            step.records.append(&mut more.records);
            step.keeps.append(&mut more.keeps);
            // The boast comes before the answer.
            more.outputs.append(&mut step.outputs);
            step.outputs = more.outputs;
        }
        step
    }

    fn open_count(&self) -> usize {
        self.0.open_count()
    }
}

/// Takes what a rule wants confirmed for any other question.
pub(super) struct Hasty(Desk);

impl Judge for Hasty {
    fn start(now: DeskTime, ledger: &Ledger) -> Self {
        Self(ledger.desk(now))
    }

    fn handle(&mut self, now: DeskTime, mut input: DeskInput) -> DeskStep {
        if let DeskInput::Asked { ruling, .. } = &mut input
            && let Ruling::AtDesk { because, .. } = ruling
        {
            *ruling = Ruling::Ask { because: Some(because.clone()), is_guarded: false };
        }
        self.0.handle(now, input)
    }

    fn open_count(&self) -> usize {
        self.0.open_count()
    }
}
