//! Answers of people at a desk above or at another desk of the team, and questions that a machine
//! below has passed on.

use std::sync::Arc;

use callgate_wire::approval::{
    Action, AllowDemands, Decision, FirstAllow, Press, RelayedAnswer, RequestId,
};
use callgate_wire::ledger::{ClosedHow, LedgerEvent, PressOutcome};

use super::authority::relay_of;
use super::input::DeferReason;
use super::output::PersonAct;
use super::pressed::OWN_REMOVAL;
use super::question::{DecisionDetails, DeskDecision, PendingQuestion};
use super::{AskerId, Desk, DeskStep, LONGEST_WORDS, record};
use crate::channel::{Person, ReplyTo};
use crate::plain;

/// The name of a relayed answer in the ledger.
const ACTION: &str = "answer";
const NOT_ABOVE: &str = "Only a desk above that is linked brings answers: press instead.";
const BELOW: &str = "Another machine asks this: it is answered here, and at no desk above.";
const TEAM_ONLY: &str = "A rule demands more of an allow than the yes of one person: only the \
                         team's desk knows who its people are. You may deny it.";

impl DeskDecision {
    /// Returns a decision that nobody here waits for.
    pub(super) fn of_desk(decision: Decision, by: String, with: DecisionDetails) -> Self {
        Self { decision, by, members: Vec::new(), with, reply_to: None }
    }

    /// Returns the decision in the form in which it goes to the desk of the machine that asked. An
    /// allow has met what was demanded of it here.
    pub(super) fn relayed_answer(&self, demands: AllowDemands) -> Option<RelayedAnswer> {
        let DecisionDetails { message, offer, picks, words, edited, interrupt } = self.with.clone();
        let is_answer = matches!(self.decision, Decision::Allow | Decision::Deny);
        let is_allow = self.decision == Decision::Allow;
        is_answer.then(|| RelayedAnswer {
            met: if is_allow { demands } else { AllowDemands::default() },
            decision: self.decision,
            by: self.by.clone(),
            members: self.members.clone(),
            message,
            offer,
            picks,
            words,
            edited,
            interrupt,
        })
    }
}

impl Desk {
    /// Takes the answer of a person at the desk above. That desk has shown them the same card, and
    /// has asked for the word where a rule wants one.
    pub(super) fn handle_relayed_answer(
        &mut self,
        step: &mut DeskStep,
        relay: &Person,
        id: &RequestId,
        answer: RelayedAnswer,
        reply_to: &ReplyTo,
    ) {
        let who = &Person { name: answer.attributed_name(&relay.name), ..relay.clone() };
        let act = PersonAct { who, id, name: ACTION, reply_to };
        if !self.may_answer(step, act) {
            return;
        }
        if let Some(why) = self.misplaced_answer(relay, id, &answer) {
            return act.refuse(step, PressOutcome::Barred, why);
        }
        let is_allow = answer.decision == Decision::Allow;
        let pressed = Press::Button(if is_allow { Action::Allow } else { Action::Deny });
        // The desk above shows what this ledger has, so what is cut for viewers here was cut there,
        // too.
        let refusal = self.not_yet(step.now, who, id, &pressed);
        let Some(open) = self.open.get(id) else { return };
        let refusal = refusal.or_else(|| misfit_of_answer(open, &answer).map(str::to_owned));
        let is_own = !is_allow && self.is_own_removal(id, who);
        let refusal = refusal.or_else(|| is_own.then(|| OWN_REMOVAL.to_owned()));
        if let Some(why) = refusal {
            return act.refuse(step, PressOutcome::Nothing, &why);
        }
        let RelayedAnswer { decision, message, offer, picks, words, edited, interrupt, .. } =
            answer;
        let (message, words) = (message.map(shortened_words), words.map(shortened_words));
        let with = if is_allow {
            DecisionDetails { message, offer, picks, words, edited, interrupt }
        } else {
            // Whatever else comes with a deny would be a choice, and a deny leaves no choice.
            DecisionDetails { message, interrupt, ..DecisionDetails::default() }
        };
        let by = record::shown_name(&who.name);
        self.decide_by(step, act, by, decision, with);
    }

    /// Returns why an answer does not count from whoever brings it: what it says of people and of
    /// demands is believed.
    fn misplaced_answer(
        &self,
        relay: &Person,
        id: &RequestId,
        answer: &RelayedAnswer,
    ) -> Option<&'static str> {
        let open = self.open.get(id)?;
        let is_free = answer.decision == Decision::Deny || open.card.row.demands.is_empty();
        match relay_of(relay) {
            None => Some(NOT_ABOVE),
            Some(_) if open.is_relayed() => Some(BELOW),
            Some(_) if !is_free && !self.authority.names_people(relay) => Some(TEAM_ONLY),
            Some(_) => None,
        }
    }

    /// Takes the answer of a person at another desk of the team, which is the one that counts: who
    /// has pressed here was slower.
    pub(super) fn take_team_answer(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        answer: RelayedAnswer,
    ) {
        let Some(id) = self.askers.get(&asker).cloned() else { return };
        let Some(open) = self.open.get_mut(&id) else { return };
        let RelayedAnswer { decision, by, message, offer, picks, words, edited, interrupt, .. } =
            answer;
        let with = DecisionDetails { message, offer, picks, words, edited, interrupt };
        let decided = DeskDecision::of_desk(decision, by, with);
        if let Some(before) = &mut open.decided {
            let slower = before.reply_to.take();
            // An answer that was given at this desk comes back from the database of the team.
            let is_same = (before.decision, &before.by, &before.with)
                == (decided.decision, &decided.by, &decided.with);
            // Whoever gave it was not slower, and is told of the outcome when it has arrived.
            if is_same {
                return before.reply_to = slower;
            }
            let text = format!("Too late: {} was faster.", decided.by);
            if let Some(slower) = slower {
                step.reply(&slower, false, &text);
            }
        }
        self.decide_question(step, &id, decided);
    }

    /// Notes the first of two allows that a person has given at another desk of the team.
    pub(super) fn take_team_allow(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        first: FirstAllow,
    ) {
        let Some(id) = self.askers.get(&asker).cloned() else { return };
        let Some(open) = self.open.get_mut(&id) else { return };
        if open.decided.is_some() || open.first_allow.as_ref() == Some(&first) {
            return;
        }
        step.record_for_question(&id, &LedgerEvent::Pressed(record::team_press(&first)));
        Arc::make_mut(&mut open.card).row.allowed_by = Some(first.name.clone());
        open.first_allow = Some(first);
        self.redraw_question(step, &id);
    }

    /// Says why the answer to an asker is kept for now, unless that was said.
    pub(super) fn defer_answer(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        reason: DeferReason,
    ) {
        let Some(id) = self.askers.get(&asker).cloned() else { return };
        let Some(open) = self.open.get(&id) else { return };
        if open.decided.as_ref().is_none_or(|decided| decided.reply_to.is_none()) {
            return;
        }
        let machine = open.card.row.machine.as_deref().unwrap_or("Its machine");
        let why = match reason {
            DeferReason::Machine => {
                format!("{machine} cannot be reached, and gets it when it is back")
            }
            DeferReason::Silence => {
                format!("{machine} has not confirmed it yet, and gets it again if it comes back")
            }
            DeferReason::Database => "The team's database cannot be reached: this counts when it \
                                      is back, unless somebody else is faster"
                .to_owned(),
        };
        self.show_kept_decision(step, &id, &why);
    }

    /// Closes the questions that a desk before this one has left, and that are not open on their
    /// machine any more. Otherwise people could answer them until their time is over.
    pub(super) fn withdraw_left(
        &mut self,
        step: &mut DeskStep,
        machine: &str,
        open_there: &[RequestId],
    ) {
        let is_over = |(id, open): &(&RequestId, &mut PendingQuestion)| {
            let is_of_machine = open.scope.machine.as_deref() == Some(machine);
            open.asker.is_none() && is_of_machine && !open_there.contains(id)
        };
        let over = self.open.iter_mut().filter(is_over).map(|(id, open)| {
            open.withdrawn = Some("It is over on its machine".to_owned());
            id.clone()
        });
        for id in over.collect::<Vec<_>>() {
            self.close_question(step, &id, ClosedHow::Settled);
        }
    }

    /// Closes a question that is over on the machine that has passed it on.
    pub(super) fn withdraw_question(&mut self, step: &mut DeskStep, asker: AskerId, text: &str) {
        let Some(id) = self.askers.get(&asker).cloned() else { return };
        if let Some(open) = self.open.get_mut(&id) {
            open.withdrawn = Some(plain::foreign_line(text));
        }
        self.close_question(step, &id, ClosedHow::Settled);
    }
}

/// Returns why an answer does not fit the question, as far as that shows before it is built.
fn misfit_of_answer(open: &PendingQuestion, answer: &RelayedAnswer) -> Option<&'static str> {
    let card = &open.card;
    let RelayedAnswer { decision, offer, picks, words, edited, interrupt, met, .. } = answer;
    let has_choice = picks.is_some() || words.is_some() || edited.is_some();
    match decision {
        Decision::Allow if !met.covers(card.row.demands) => Some(
            "The desk above does not know what a rule here demands of an allow: update callgate \
             there. It may deny it.",
        ),
        Decision::Allow if card.blocked.is_some() && (has_choice || offer.is_some()) => {
            Some("Only yes or no can be answered here.")
        }
        Decision::Allow if !card.pickers.is_empty() && !has_choice => {
            Some("Choose one of the answers.")
        }
        Decision::Allow if edited.is_some() && !card.can_edit => {
            Some("This agent takes no changed input.")
        }
        Decision::Deny if *interrupt && !card.can_stop => Some("That is not offered here."),
        Decision::Allow | Decision::Deny => None,
        Decision::Timeout | Decision::Ask | Decision::None => Some("That is no answer."),
    }
}

fn shortened_words(mut words: String) -> String {
    if let Some((end, _)) = words.char_indices().nth(LONGEST_WORDS) {
        words.truncate(end);
    }
    words
}
