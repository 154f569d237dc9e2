//! Questions: how they come in, wait, and are given up.

use std::sync::Arc;

use callgate_mask::mask_json;
use callgate_wire::approval::{
    ApprovalRequest, ApprovalResponse, Decision, RequestId, RequestKind,
};
use callgate_wire::ledger::{ClosedHow, LedgerEvent, NoMembers, QuestionRefused};

use super::digest::CallDigest;
use super::question::{DecisionDetails, DeskDecision, PendingQuestion, Ruling, question_patience};
use super::reaching::UNREACHABLE;
use super::room::request_size;
use super::{AskerId, Desk, DeskOutput, DeskStep, record};
use crate::card::Card;
use crate::channel::{ChannelOrder, CopyPart, QuestionCopy};

impl Desk {
    pub(super) fn handle_question(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        request: ApprovalRequest,
        ruling: Ruling,
        is_replay: bool,
    ) {
        let id = request.request_id.clone();
        let digest = CallDigest::of_request(&self.settings.key, &request);
        let is_for_desk = matches!(ruling, Ruling::AtDesk { .. });
        let refuse = |step: &mut DeskStep, why| {
            // The agent's own prompt, to which it would turn, knows nothing of the rule.
            let decision = if is_for_desk { Decision::Deny } else { Decision::Timeout };
            refuse_question(step, asker, &id, why, decision);
        };
        if let Some(open) = self.open.get(&id) {
            // Only who brought the question can make its digest: nobody else is given its answer.
            if open.asker.is_none() && open.digest == digest {
                self.handle_returned_asker(step, asker, request);
            } else {
                refuse(step, "another question has this id");
            }
        } else if is_replay || self.past.by_id.contains_key(&id) {
            // Whoever repeats an id might be given what was decided for another question.
            refuse(step, "a question with this id is over");
        } else if !self.has_room(&request) {
            refuse(step, "too many questions are open");
        } else {
            // What a rule denies stays denied, whatever was decided before.
            let before = match &ruling {
                Ruling::Deny { .. } => None,
                _ => self.decided_before(step.now, &request),
            };
            self.register(step, asker, request, digest, ruling, before);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "all of it is the question")]
    pub(super) fn register(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        request: ApprovalRequest,
        digest: CallDigest,
        ruling: Ruling,
        before: Option<DeskDecision>,
    ) {
        let id = request.request_id.clone();
        let patience = question_patience(self.settings.timeout, &request);
        let input = mask_json(request.tool_input.get());
        let patience_ms = i64::try_from(patience.as_millis()).unwrap_or(i64::MAX);
        let until_ms = step.now.wall_ms.saturating_add(patience_ms);
        let mut card = Card::new(&request, input.shown(), step.now.wall_ms, until_ms);
        match &ruling {
            Ruling::Ask { because, is_guarded } => {
                card.row.because.clone_from(because);
                if *is_guarded {
                    // What touches callgate itself is never allowed from now on.
                    card.offers.clear();
                }
            }
            Ruling::AtDesk { because, needs_word, demands } => {
                card.row.because = Some(because.clone());
                card.require_desk(*needs_word, *demands);
            }
            Ruling::Allow { .. } | Ruling::Deny { .. } => {}
        }
        let masked = record::masked_request(&request, input.shown());
        let is_tried_here = card.blocked.is_some() && request.machine.is_none();
        let retry = is_tried_here.then(|| CallDigest::of_retry(&self.settings.key, &request));
        let event = record::asked_event(&masked, &card, &digest, &ruling, retry.as_ref());
        step.record_for_question(&id, &event);
        let is_kept = record::is_kept(input.shown());
        if is_kept {
            step.keep_value(record::input_key(&id), input.shown().to_owned());
        }
        let (size, deadline) = (request_size(&request), step.now.mono + patience);
        let new = PendingQuestion::new(card, digest, deadline, &request);
        let open = PendingQuestion {
            request: Some(request),
            size,
            is_cut_for_viewers: record::is_cut(input.shown()) && !is_kept,
            keeps_input: is_kept,
            asker: Some(asker),
            // The last viewer may just be loading its page again.
            reach_by: self.viewers_back_by.filter(|at| *at > step.now.mono),
            ..new
        };
        self.bytes += size;
        self.open.insert(id.clone(), open);
        self.askers.insert(asker, id.clone());
        match before {
            Some(decided) => self.decide_question(step, &id, decided),
            None => self.apply_ruling(step, &id, ruling),
        }
        self.set_alarm(&id);
    }

    fn apply_ruling(&mut self, step: &mut DeskStep, id: &RequestId, ruling: Ruling) {
        let (decision, message, by) = match ruling {
            Ruling::Ask { .. } | Ruling::AtDesk { .. } => return self.show_question(step, id),
            // The agent has blocked it although a rule allows it, so trying again is pointless
            // unless a person has looked at it.
            Ruling::Allow { .. } if self.is_blocked(id) => return self.show_question(step, id),
            Ruling::Allow { because } => (Decision::Allow, None, because),
            Ruling::Deny { because } => (Decision::Deny, Some(because.clone()), because),
        };
        let with = DecisionDetails { message, ..DecisionDetails::default() };
        self.decide_question(step, id, DeskDecision::of_desk(decision, by, with));
    }

    fn is_blocked(&self, id: &RequestId) -> bool {
        self.open.get(id).is_some_and(|open| open.card.blocked.is_some())
    }

    /// Shows a question to everybody who can be reached, or gives it up if nobody can.
    pub(super) fn show_question(&mut self, step: &mut DeskStep, id: &RequestId) {
        let phones = self.has_phones(step.now);
        let Some(open) = self.open.get_mut(id) else { return };
        if self.settings.terminal {
            step.outputs.push(DeskOutput::Terminal(open.order_to_show(step.now, Vec::new())));
        }
        if phones {
            open.phone_at = Some(step.now.mono + self.settings.phone_after);
            if self.settings.phone_after.is_zero() {
                self.show_on_phones(step, id);
            }
        }
        self.give_up_if_unreachable(step, id);
    }

    pub(super) fn show_on_phones(&mut self, step: &mut DeskStep, id: &RequestId) {
        let Some(open) = self.open.get(id) else { return };
        let has = |chat: i64| open.copies.iter().any(|copy| copy.chat == chat);
        let is_wanted = |chat: &i64| !has(*chat) && self.is_shown_in(*chat, open);
        let chats: Vec<i64> = self.listening_chats(step.now).filter(is_wanted).collect();
        let Some(open) = self.open.get_mut(id) else { return };
        open.phone_at = None;
        open.is_cut_on_phones = (self.cuts_on_phones)(&open.card);
        if !chats.is_empty() {
            open.sending.extend(&chats);
            step.outputs.push(DeskOutput::Phones(open.order_to_show(step.now, chats)));
        }
    }

    /// Notes that a copy of a question was sent to a chat. If the question is closed meanwhile, the
    /// channel marks the copy.
    pub(super) fn handle_shown_copy(&mut self, step: &mut DeskStep, copy: QuestionCopy) {
        let Some(open) = self.open.get_mut(&copy.question) else { return };
        open.sending.retain(|chat| *chat != copy.chat);
        if !open.copies.contains(&copy) {
            step.keep_value(copy_key(&copy), part_name(copy.part).to_owned());
            open.copies.push(copy);
        }
    }

    /// Notes a copy on which somebody who may answer has pressed. It is not known yet if another
    /// run of the desk sent it.
    pub(super) fn pressed_on(&mut self, step: &mut DeskStep, copy: QuestionCopy) {
        if self.open.contains_key(&copy.question) {
            return self.handle_shown_copy(step, copy);
        }
        if let Some(text) = self.past.text_for_new_copy(&copy) {
            step.outputs.push(DeskOutput::Phones(ChannelOrder::Retire { copy, text }));
        }
    }

    pub(super) fn time_out(&mut self, step: &mut DeskStep, id: &RequestId, why: &str) {
        let with = DecisionDetails { message: Some(why.to_owned()), ..DecisionDetails::default() };
        let by = "nobody".to_owned();
        let decided = DeskDecision::of_desk(Decision::Timeout, by, with);
        self.decide_question(step, id, decided);
    }

    pub(super) fn handle_alarm(&mut self, step: &mut DeskStep, id: &RequestId) {
        let Some(open) = self.open.get_mut(id) else { return };
        open.alarm = None;
        if open.away_until.is_some_and(|at| at <= step.now.mono) {
            return self.close_question(step, id, ClosedHow::Gone);
        }
        if open.deadline <= step.now.mono {
            let could_be_seen = self.settings.terminal || self.viewers > 0;
            let could_be_seen = could_be_seen || open.answers_itself() || !open.copies.is_empty();
            let why = if could_be_seen { "nobody answered in time" } else { UNREACHABLE };
            return self.time_out(step, id, why);
        }
        open.reach_by = open.reach_by.filter(|at| *at > step.now.mono);
        if open.phone_at.is_some_and(|at| at <= step.now.mono) {
            self.show_on_phones(step, id);
        }
        self.give_up_if_unreachable(step, id);
        self.set_alarm(id);
    }

    pub(super) fn handle_gone_asker(&mut self, step: &mut DeskStep, asker: AskerId) {
        self.twins.take_waiting(asker);
        if let Some(id) = self.askers.get(&asker).cloned() {
            self.close_question(step, &id, ClosedHow::Gone);
        }
    }

    /// Takes back an asker that repeats its question after a restart.
    fn handle_returned_asker(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        request: ApprovalRequest,
    ) {
        let id = request.request_id.clone();
        let Some(open) = self.open.get_mut(&id) else { return };
        step.record_for_question(&id, &LedgerEvent::Returned(NoMembers {}));
        open.size = request_size(&request);
        // It was not counted while only the ledger had the question.
        self.bytes += open.size;
        // The card was restored from the ledger, which may have only a part of the input.
        let input = mask_json(request.tool_input.get());
        let before = &open.card.row;
        let mut card = Card::new(&request, input.shown(), before.asked_ms, before.until_ms);
        card.row.because.clone_from(&before.because);
        // The last words may have come after the question, and are not in the request then.
        card.shown.last_words = card.shown.last_words.or_else(|| open.card.last_words.clone());
        card.offers.retain(|_| !open.card.offers.is_empty());
        if open.card.is_for_desk() {
            card.require_desk(open.card.confirm.is_some(), before.demands);
        }
        card.row.allowed_by.clone_from(&before.allowed_by);
        open.is_cut_for_viewers = record::is_cut(input.shown()) && !open.keeps_input;
        open.is_cut_on_phones = (self.cuts_on_phones)(&card);
        // The ledger may have had too little of the input to know what can be chosen.
        open.picks.resize(card.pickers.len(), Vec::new());
        open.card = Arc::new(card);
        open.request = Some(request);
        open.asker = Some(asker);
        open.away_until = None;
        self.askers.insert(asker, id.clone());
        if open.decided.is_some() {
            self.answer_asker(step, &id);
        } else {
            self.show_again(step, &id);
        }
        self.set_alarm(&id);
    }

    /// Refuses a question about which the rules could not decide: a tool call is denied, and an
    /// agent that asks for permission asks in its own way.
    pub(super) fn handle_unruled(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        request: ApprovalRequest,
        why: String,
    ) {
        if self.open.contains_key(&request.request_id) {
            // The asker is back after a restart; the rules were asked when it first came.
            let ruling = Ruling::Ask { because: None, is_guarded: true };
            return self.handle_question(step, asker, request, ruling, false);
        }
        let id = &request.request_id;
        if request.kind != RequestKind::Check {
            return refuse_question(step, asker, id, &why, Decision::Timeout);
        }
        step.record_event(None, &record::checked_event(&request, Decision::Deny, &why));
        let call = CallDigest::of_call(&self.settings.key, &request);
        self.calls.remember_denial(step.now.mono, call, &why);
        let mut response = ApprovalResponse::new(request.request_id, Decision::Deny);
        response.message = Some(why);
        step.outputs.push(DeskOutput::Answer(asker, response));
    }

    /// Shows a question again where the last process's screen is lost: at the terminal, and on
    /// phones if it had not reached any.
    fn show_again(&mut self, step: &mut DeskStep, id: &RequestId) {
        let Some(open) = self.open.get_mut(id) else { return };
        if open.copies.is_empty() {
            return self.show_question(step, id);
        }
        if self.settings.terminal {
            step.outputs.push(DeskOutput::Terminal(open.order_to_show(step.now, Vec::new())));
        }
    }
}

pub(super) fn copy_key(copy: &QuestionCopy) -> String {
    format!("copy/{}/{}/{}", copy.question, copy.chat, copy.message)
}

/// Returns what is kept of a copy under its key.
pub(super) fn part_name(part: CopyPart) -> &'static str {
    match part {
        CopyPart::Question => "",
        CopyPart::Buttons => "buttons",
    }
}

/// Refuses a question, without effect on any other.
fn refuse_question(
    step: &mut DeskStep,
    asker: AskerId,
    id: &RequestId,
    why: &str,
    decision: Decision,
) {
    step.record_for_question(id, &LedgerEvent::Refused(QuestionRefused { why: why.to_owned() }));
    let mut response = ApprovalResponse::new(id.clone(), decision);
    response.message = (decision == Decision::Deny).then(|| format!("Not asked: {why}."));
    step.outputs.push(DeskOutput::Answer(asker, response));
}
