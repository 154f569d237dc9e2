//! Decisions: how one is sent to the asker, and what is shown once it has arrived.

use std::sync::Arc;

use callgate_mask::mask_json;
use callgate_mask::text::{self, Measure};
use callgate_wire::approval::{
    AnswerExtra, ApprovalRequest, ApprovalResponse, Decision, RequestId,
};
use callgate_wire::ledger::{ClosedHow, LedgerEvent, NoMembers, QuestionClosed, QuestionRefused};
use callgate_wire::tool_act::ToolKind;
use serde_json::value::RawValue;

use super::asked::copy_key;
use super::digest::CallDigest;
use super::past::ClosedQuestion;
use super::question::{DecisionDetails, DeskDecision, OWN, Occasion, PendingQuestion};
use super::reaching::UNREACHABLE;
use super::{AskerId, Desk, DeskOutput, DeskStep, record};
use crate::card::{Card, offers, picks};
use crate::channel::{ChannelOrder, MarkState, QuestionMark};
use crate::plain;

/// How much of an answer is shown after the name of who gave it, in characters.
const LONGEST_CHOSEN: usize = 300;

impl Desk {
    /// Decides a question. Its asker gets the answer at once, or when it comes back.
    pub(super) fn decide_question(
        &mut self,
        step: &mut DeskStep,
        id: &RequestId,
        decided: DeskDecision,
    ) {
        let Some(open) = self.open.get_mut(id) else { return };
        let chosen = chosen_text(&decided.with, &open.card);
        step.record_for_question(id, &record::decided_event(&decided, chosen));
        if open.asker.is_some() {
            open.decided = Some(decided);
            self.answer_asker(step, id);
        } else {
            open.decided = Some(decided);
            self.show_kept_decision(step, id, "The agent gets it when it is back");
        }
        self.set_alarm(id);
    }

    /// Says that a decision is recorded, and why its asker does not have it yet.
    pub(super) fn show_kept_decision(&mut self, step: &mut DeskStep, id: &RequestId, why: &str) {
        let Some(open) = self.open.get_mut(id) else { return };
        let Some(decided) = open.decided.as_mut() else { return };
        let text = format!("{}. {why}.", outcome_text(decided, &open.card));
        if let Some(reply_to) = decided.reply_to.take() {
            step.reply(&reply_to, true, &text);
        }
        let mark = QuestionMark { state: MarkState::Waiting, text };
        mark_all(step, self.settings.terminal, open, &mark);
    }

    /// Sends the decision to an asker that is connected.
    pub(super) fn answer_asker(&mut self, step: &mut DeskStep, id: &RequestId) {
        if self.changes.contains_key(id) {
            return self.settle_change(step, id);
        }
        if self.rehearsal.as_ref() == Some(id) {
            return self.close_question(step, id, ClosedHow::Answered);
        }
        let Some(open) = self.open.get_mut(id) else { return };
        let (Some(asker), Some(decided)) = (open.asker, open.decided.as_mut()) else { return };
        let response =
            open.request.as_ref().and_then(|request| build_response(request, &open.card, decided));
        let response = response.unwrap_or_else(|| {
            // The decision no longer fits the question, so nothing was decided.
            let why = "the answer does not fit the question";
            let refused = QuestionRefused { why: why.to_owned() };
            step.record_for_question(id, &LedgerEvent::Refused(refused));
            decided.decision = Decision::Timeout;
            undecided_response(id, open.request.as_ref(), &open.card, why)
        });
        step.outputs.push(DeskOutput::Answer(asker, response.clone()));
        self.answer_twins(step, id, &response);
        self.remember_answer(step.now, id);
    }

    /// Returns true if the desk has to know whether an asker reads its answer: it has an open
    /// question.
    pub(crate) fn awaits_delivery(&self, asker: AskerId) -> bool {
        self.askers.contains_key(&asker)
    }

    pub(super) fn handle_delivered(&mut self, step: &mut DeskStep, asker: AskerId) {
        if let Some(id) = self.askers.get(&asker).cloned() {
            step.record_for_question(&id, &LedgerEvent::Delivered(NoMembers {}));
            self.close_question(step, &id, ClosedHow::Answered);
        }
    }

    pub(super) fn close_question(&mut self, step: &mut DeskStep, id: &RequestId, how: ClosedHow) {
        let Some(open) = self.open.remove(id) else { return };
        if let Some(alarm) = open.alarm {
            self.alarms.remove(&(alarm, id.clone()));
        }
        // After a restart it was never counted.
        if open.request.is_some() {
            self.bytes -= open.size;
        }
        if let Some(asker) = open.asker {
            self.askers.remove(&asker);
            self.lineages.remove(&asker);
        }
        // Nobody has got the decision, so nothing may follow from it.
        if how == ClosedHow::Gone {
            self.forget_undelivered(&open);
        }
        self.drop_change(step, id);
        for key in self.kept_about(&open) {
            step.forget_value(key);
        }
        let mark = mark_of(&open, how);
        let closed = QuestionClosed { how: Some(how), text: mark.text.clone() };
        step.record_for_question(id, &LedgerEvent::Closed(closed));
        if let Some(reply_to) = open.decided.as_ref().and_then(|it| it.reply_to.as_ref()) {
            step.reply(reply_to, how == ClosedHow::Answered, &mark.text);
        }
        mark_all(step, self.settings.terminal, &open, &mark);
        let awaits = self.awaited_run(&open, &mark);
        if !open.is_relayed() {
            self.lately.add_closed(step.now, &open.card.row.session);
        }
        let copies = open.copies;
        self.release_twins(step, id);
        self.past.add(id.clone(), ClosedQuestion { text: mark.text, awaits, copies });
    }

    /// Forgets what single presses did not decide about a question that is over. Returns the keys
    /// of all that is kept about it beside the ledger.
    pub(super) fn kept_about(&mut self, open: &PendingQuestion) -> Vec<String> {
        let id = &open.card.id;
        let mut keys = self.care.forget_question(id);
        keys.extend(self.replies.forget_question(id));
        keys.extend(open.keeps_input.then(|| record::input_key(id)));
        keys.extend(open.copies.iter().map(copy_key));
        keys
    }

    /// Returns the digest of the run that an allowed question leads to, by which the report of the
    /// run is recognized.
    fn awaited_run(&self, open: &PendingQuestion, mark: &QuestionMark) -> Option<CallDigest> {
        let is_awaited = mark.state == MarkState::Allowed && !open.is_relayed();
        let request = open.request.as_ref().filter(|_| is_awaited)?;
        let answer = build_response(request, &open.card, open.decided.as_ref()?)?;
        // The agent reports the run with the input that ran.
        let input = answer.updated_input.as_ref().unwrap_or(&request.tool_input).get();
        let (session, tool) = (&request.session_id, &request.tool_name);
        Some(CallDigest::of_run(&self.settings.key, session, tool, input))
    }
}

/// Returns the answer to a question that is not decided, for this reason: its asker falls back, or
/// hears a no where no prompt of the agent may answer in place of people.
pub(super) fn undecided_response(
    id: &RequestId,
    request: Option<&ApprovalRequest>,
    card: &Card,
    why: &str,
) -> ApprovalResponse {
    let with = DecisionDetails { message: Some(why.to_owned()), ..DecisionDetails::default() };
    let (decision, by) = (Decision::Timeout, "nobody".to_owned());
    let decided = DeskDecision { decision, by, with, members: Vec::new(), reply_to: None };
    let response = request.and_then(|request| build_response(request, card, &decided));
    response.unwrap_or_else(|| ApprovalResponse::new(id.clone(), decision))
}

/// Turns a decision into the answer to a request. Returns `None` if it does not fit.
pub(super) fn build_response(
    request: &ApprovalRequest,
    card: &Card,
    decided: &DeskDecision,
) -> Option<ApprovalResponse> {
    let DecisionDetails { message, offer, picks, words, edited, interrupt } = &decided.with;
    let mut response = ApprovalResponse::new(request.request_id.clone(), decided.decision);
    let input = request.tool_input.get();
    if request.takes(AnswerExtra::Outcome) {
        let is_decided = matches!(decided.decision, Decision::Allow | Decision::Deny);
        response.by = is_decided.then(|| decided.by.clone());
        response.unreachable =
            decided.decision == Decision::Timeout && message.as_deref() == Some(UNREACHABLE);
    }
    response.relayed = request
        .machine
        .as_ref()
        .and_then(|_| decided.relayed_answer(card.row.demands).map(Box::new));
    match decided.decision {
        // The agent's own prompt, to which it would turn, knows nothing of the rule.
        Decision::Timeout
            if card.is_for_desk() && Occasion::from_request(request) == Occasion::Permission =>
        {
            response.decision = Decision::Deny;
            let why = message.as_deref().unwrap_or("nobody answered in time");
            let wanted = match card.row.demands.sentence() {
                Some(demand) => format!("{why}. {demand}."),
                None => format!("{why}, and a rule wants it confirmed."),
            };
            response.message = Some(format!("Not allowed: {wanted}"));
        }
        Decision::Timeout | Decision::Ask | Decision::None => {}
        Decision::Deny => {
            // A model would take "you" for itself.
            let by = if decided.by == OWN { "the user" } else { &decided.by };
            response.message = Some(message.clone().unwrap_or_else(|| denial_text(by) + "."));
            response.interrupt = *interrupt && request.takes(AnswerExtra::Interrupt);
        }
        Decision::Allow => {
            if let Some(offer) = offer {
                // A guarded call has no offers on its card, although its request may carry
                // suggestions.
                card.offers.get(*offer)?;
                take_offer(&mut response, request, *offer)?;
            }
            let tool = ToolKind::for_tool("", &request.tool_name);
            let changed = match (picks, words, edited) {
                // What a tool server gets is an answer, and not its question with changes.
                (None, None, Some(edited)) if tool == ToolKind::Elicit => {
                    Some(mask_json(input).restore(edited).unwrap_or_else(|_| edited.clone()))
                }
                (None, None, Some(edited)) => Some(mask_json(input).restore(edited).ok()?),
                (None, None, None) => None,
                (picks, words, _) => {
                    let picks = picks.as_deref().unwrap_or_default();
                    Some(picks::answered_input(tool, input, picks, words.as_deref())?)
                }
            };
            response.updated_input = changed.map(parse_object).transpose().ok()?;
            // The asker would run the call as it came, which nobody has allowed.
            if response.updated_input.is_some() && !request.takes(AnswerExtra::Edit) {
                return None;
            }
        }
    }
    Some(response)
}

/// Says who denied a call. The text of a rule already begins with "denied by".
fn denial_text(by: &str) -> String {
    match by.strip_prefix("denied by ") {
        Some(rule) => format!("Denied by {rule}"),
        None => format!("Denied by {by}"),
    }
}

fn take_offer(
    response: &mut ApprovalResponse,
    request: &ApprovalRequest,
    offer: usize,
) -> Option<()> {
    let suggestions = &request.permission_suggestions;
    let members = offers::members_of_offer(suggestions, offer)?.into_iter();
    let all: Vec<Box<RawValue>> = members.map(|at| suggestions[at].clone()).collect();
    response.always_allow_suggestion = all.first().cloned();
    if all.len() > 1 {
        response.updated_permissions = all;
    }
    Some(())
}

fn parse_object(json: String) -> Result<Box<RawValue>, ()> {
    if !json.trim_start().starts_with('{') {
        return Err(());
    }
    RawValue::from_string(json).map_err(|_| ())
}

/// Returns true if the agent or a tool server asks its user something.
fn asks_a_person(card: &Card) -> bool {
    ToolKind::for_tool("", &card.row.tool).asks_a_person()
}

fn outcome_text(decided: &DeskDecision, card: &Card) -> String {
    let DeskDecision { decision, by, with, .. } = decided;
    match decision {
        Decision::Timeout | Decision::Ask | Decision::None => {
            let why = with.message.as_deref().unwrap_or("nobody answered in time");
            let what = if card.no_answer_denies { "Not allowed" } else { "Not decided" };
            format!("{what}: {why}")
        }
        Decision::Allow if card.blocked.is_some() => format!("Allowed by {by} to try again"),
        Decision::Allow => match with.offer.and_then(|at| card.offers.get(at)) {
            Some(offer) => format!("Allowed by {by}, {}: {}", offer.lasts, offer.meaning),
            None if with.edited.is_some() && asks_a_person(card) => format!("Answered by {by}"),
            None if with.edited.is_some() => format!("Allowed by {by}, with changes"),
            None if with.picks.is_some() || with.words.is_some() => match chosen_text(with, card) {
                Some(chosen) => format!("Answered by {by}: {chosen}"),
                None => format!("Answered by {by}"),
            },
            // A rule's reason says that it allowed it as well.
            None => format!("Allowed by {}", by.strip_prefix("allowed by ").unwrap_or(by)),
        },
        Decision::Deny if with.interrupt => format!("{}, and the turn ended", denial_text(by)),
        Decision::Deny => match &with.message {
            // A rule's reason says who denied it as well.
            Some(message) if message != by => {
                format!("{}: {}", denial_text(by), plain::without_secrets(message))
            }
            _ => denial_text(by),
        },
    }
}

/// Returns what was chosen or written in answer to a question, masked.
pub(super) fn chosen_text(with: &DecisionDetails, card: &Card) -> Option<String> {
    let picked = with.picks.as_ref().map(|picks| card.picked_labels(picks));
    let words = with.words.as_ref().map(|words| plain::safe_line(&plain::without_secrets(words)));
    let chosen = picked.into_iter().chain(words).filter(|part| !part.is_empty());
    let chosen = chosen.collect::<Vec<_>>().join("; ");
    let short = text::cut_to_length(&chosen, LONGEST_CHOSEN, Measure::Chars);
    let shown = if short.len() < chosen.len() { format!("{short}…") } else { chosen.clone() };
    Some(shown).filter(|shown| !shown.is_empty())
}

fn mark_of(open: &PendingQuestion, how: ClosedHow) -> QuestionMark {
    let decided = open.decided.as_ref();
    let outcome = decided.map(|decided| outcome_text(decided, &open.card));
    match (how, decided.map(|decided| decided.decision), outcome) {
        (ClosedHow::Answered, Some(Decision::Allow), Some(text)) => {
            QuestionMark { state: MarkState::Allowed, text }
        }
        (ClosedHow::Answered, Some(Decision::Deny), Some(text)) => {
            QuestionMark { state: MarkState::Denied, text }
        }
        (_, Some(Decision::Timeout), Some(text)) => {
            QuestionMark { state: MarkState::Expired, text }
        }
        (ClosedHow::Settled, ..) => {
            let there = open.withdrawn.clone();
            let text = there.unwrap_or_else(|| "Answered at the agent's own terminal".to_owned());
            QuestionMark { state: MarkState::Settled, text }
        }
        (_, _, Some(text)) => {
            QuestionMark { state: MarkState::Gone, text: format!("{text}, but the agent had gone") }
        }
        _ => QuestionMark { state: MarkState::Gone, text: "The agent went away".to_owned() },
    }
}

pub(super) fn mark_all(
    step: &mut DeskStep,
    terminal: bool,
    open: &PendingQuestion,
    mark: &QuestionMark,
) {
    let order = || ChannelOrder::Mark {
        card: Arc::clone(&open.card),
        copies: open.copies.clone(),
        mark: mark.clone(),
    };
    if terminal {
        step.outputs.push(DeskOutput::Terminal(order()));
    }
    if !open.copies.is_empty() || !open.sending.is_empty() {
        step.outputs.push(DeskOutput::Phones(order()));
    }
}
