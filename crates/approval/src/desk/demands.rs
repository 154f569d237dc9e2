//! Allows of questions of which rules demand more than the yes of one person.
//!
//! A deny is free: whoever may answer denies alone. An allow counts if the person may allow it.
//! Where two people have to, the first allow is noted and shown, and that of another person
//! decides.

use std::sync::Arc;

use callgate_wire::approval::{Decision, FirstAllow, RequestId};

use super::output::PersonAct;
use super::question::{DecisionDetails, PendingQuestion};
use super::{Desk, DeskOutput, DeskStep, record};
use crate::channel::Person;

const AT_DESK: &str = "A rule wants this decided at the desk, not here.";
const TWO_ABOVE: &str = "Two people of the team have to allow this: it waits at the team's desk.";
const OTHER_ABOVE: &str =
    "Somebody else of the team has to allow this: it waits at the team's desk.";
const OWN_MACHINE: &str =
    "Your own machine asks this: somebody else has to allow it. You may deny it.";
const CHANGED: &str = "Two people have to allow the same: it cannot be changed.";
const AGAIN: &str = "You have allowed it already: one more person is needed.";

#[derive(Debug)]
pub(super) enum AnswerEffect {
    /// It decides, and these people have decided.
    Decides { by: String },
    /// It is the first of two.
    Noted(FirstAllow),
    /// It does nothing, for this reason.
    Barred(&'static str),
}

impl Desk {
    /// Returns what an answer with these details does. `is_own` says whether it comes from the
    /// front end of the asker.
    pub(super) fn effect_of_answer(
        &self,
        who: &Person,
        id: &RequestId,
        decision: Decision,
        with: &DecisionDetails,
        is_own: bool,
    ) -> AnswerEffect {
        let name = record::shown_name(&who.name);
        let is_plain =
            |open: &PendingQuestion| decision == Decision::Deny || open.card.row.demands.is_empty();
        let Some(open) = self.open.get(id).filter(|open| !is_plain(open)) else {
            return AnswerEffect::Decides { by: name };
        };
        let is_two = open.card.row.demands.two_people;
        if is_own {
            // Whoever asks does not bring the yes that a rule demands of people.
            return AnswerEffect::Barred(AT_DESK);
        }
        if !open.is_relayed() && self.authority.has_relay() {
            // Only the desk above knows who its people are.
            return AnswerEffect::Barred(if is_two { TWO_ABOVE } else { OTHER_ABOVE });
        }
        let member = who.member.clone();
        if !self.may_allow(member.as_deref(), open) {
            return AnswerEffect::Barred(OWN_MACHINE);
        }
        if !is_two {
            return AnswerEffect::Decides { by: name };
        }
        if with.changes_input() {
            return AnswerEffect::Barred(CHANGED);
        }
        match &open.first_allow {
            // People are compared: all links of a person, and all places of the owner, are one.
            Some(first) if first.member == member => AnswerEffect::Barred(AGAIN),
            // Whoever gave the first may have been revoked since.
            Some(first) if self.still_counts(first, open) => {
                AnswerEffect::Decides { by: format!("{} and {name}", first.name) }
            }
            _ => AnswerEffect::Noted(FirstAllow { member, name }),
        }
    }

    /// Returns true if the demands of rules let somebody allow a question.
    fn may_allow(&self, member: Option<&str>, open: &PendingQuestion) -> bool {
        !(open.card.row.demands.not_own && self.owner_of_question(open) == member)
    }

    fn still_counts(&self, first: &FirstAllow, open: &PendingQuestion) -> bool {
        let member = first.member.as_deref();
        self.may_allow(member, open) && self.is_still_entitled(member, open)
    }

    /// Notes the first of two allows, and shows it everywhere.
    pub(super) fn note_first_allow(
        &mut self,
        step: &mut DeskStep,
        act: PersonAct<'_>,
        first: FirstAllow,
    ) {
        let Some(open) = self.open.get_mut(act.id) else { return };
        let row = &mut Arc::make_mut(&mut open.card).row;
        row.allowed_by = Some(first.name.clone());
        let text = row.demand_text().unwrap_or_default();
        let replaces = open.first_allow.replace(first.clone());
        if let Some(asker) = open.asker.filter(|_| open.is_relayed()) {
            step.outputs.push(DeskOutput::FirstAllow { asker, first, replaces });
        }
        self.redraw_question(step, act.id);
        // Nothing is decided yet, and whoever pressed must not take it for done.
        step.reply(act.reply_to, false, &format!("{text}."));
    }
}
