//! A decision on its way to the asker, and what is shown once it is there.

use std::sync::Arc;

use callgate_mask::mask_json;
use callgate_mask::text::{self, Measure};
use callgate_wire::approval::{Decision, Request, RequestId, Response, Takes};
use serde_json::json;
use serde_json::value::RawValue;

use super::asked::{UNREACHABLE, copy_key};
use super::calls::CallMemory;
use super::digest::Digest;
use super::past::Over;
use super::question::{Decided, Open, With};
use super::{AskerId, Desk, Output, Step, record};
use crate::card::{Card, picks};
use crate::channel::{Doing, Mark, Order, State};
use crate::plain;

/// How much of an answer is shown beside who gave it, in characters.
const LONGEST_CHOSEN: usize = 300;

impl Desk {
    /// Decides a question. Its asker gets the answer at once, or when it is back.
    pub(super) fn decide(&mut self, step: &mut Step, id: &RequestId, decided: Decided) {
        let Some(open) = self.open.get_mut(id) else { return };
        let chosen = chosen(&decided.with, &open.card);
        step.record("decided", id, &record::decided(&decided, chosen.as_deref()));
        if open.asker.is_some() {
            open.decided = Some(decided);
            self.answer(step, id);
        } else {
            let text =
                format!("{}. The agent gets it when it is back.", outcome(&decided, &open.card));
            tell(step, decided.doing.as_ref(), true, &text);
            let mark = Mark { state: State::Waiting, text };
            open.decided = Some(Decided { doing: None, ..decided });
            mark_all(step, self.settings.terminal, open, &mark);
        }
        self.set_alarm(id);
    }

    /// Sends a live asker what was decided.
    pub(super) fn answer(&mut self, step: &mut Step, id: &RequestId) {
        if self.is_about_links(id) {
            return self.settle_change(step, id);
        }
        let Some(open) = self.open.get_mut(id) else { return };
        let (Some(asker), Some(decided)) = (open.asker, open.decided.as_mut()) else { return };
        let response =
            open.request.as_ref().and_then(|request| response(request, &open.card, decided));
        let response = response.unwrap_or_else(|| {
            // What was decided fits the question no longer, so nothing was decided.
            step.record("refused", id, &json!({ "why": "the answer does not fit the question" }));
            decided.decision = Decision::Timeout;
            Response::new(id.clone(), Decision::Timeout)
        });
        step.outputs.push(Output::Answer(asker, response));
        self.remember(step.now, id);
    }

    pub(super) fn delivered(&mut self, step: &mut Step, asker: AskerId) {
        if let Some(id) = self.askers.get(&asker).cloned() {
            step.record("delivered", &id, &json!({}));
            self.close(step, &id, "answered");
        }
    }

    pub(super) fn lost(&mut self, step: &mut Step, asker: AskerId) {
        if let Some(id) = self.askers.get(&asker).cloned() {
            self.close(step, &id, "gone");
        }
    }

    /// Takes a question off the desk and shows everywhere what became of it. An asker that still
    /// waits gets `timeout`.
    pub(super) fn close(&mut self, step: &mut Step, id: &RequestId, how: &'static str) {
        let Some(open) = self.open.remove(id) else { return };
        if let Some(alarm) = open.alarm {
            self.alarms.remove(&(alarm, id.clone()));
        }
        if open.request.is_some() {
            self.bytes -= open.size;
        }
        if let Some(asker) = open.asker {
            self.askers.remove(&asker);
            self.lineages.remove(&asker);
        }
        if how == "gone" {
            self.forget_undelivered(&open);
        }
        self.drop_change(step, id);
        self.care.forget(id);
        let mark = mark_of(&open, how);
        step.record("closed", id, &json!({ "how": how, "text": mark.text }));
        let doing = open.decided.as_ref().and_then(|decided| decided.doing.as_ref());
        tell(step, doing, how == "answered", &mark.text);
        mark_all(step, self.settings.terminal, &open, &mark);
        for copy in &open.copies {
            step.forget(copy_key(copy));
        }
        let awaits = self.awaited_run(&open, &mark);
        let copies = open.copies;
        self.past.add(id.clone(), Over { text: mark.text, awaits, copies });
    }

    /// The run that an allowed question leads to, by which its report will be known.
    fn awaited_run(&self, open: &Open, mark: &Mark) -> Option<Digest> {
        let request = open.request.as_ref().filter(|_| mark.state == State::Allowed)?;
        let answer = response(request, &open.card, open.decided.as_ref()?)?;
        let input = answer.updated_input.as_ref().unwrap_or(&request.tool_input).get();
        let (session, tool) = (&request.session_id, &request.tool_name);
        Some(Digest::of_run(&self.settings.key, session, tool, input))
    }

    /// Nothing can be recorded, so nothing can be decided: every asker falls back.
    pub(super) fn ledger_failed(&mut self, step: &mut Step) {
        for (id, open) in std::mem::take(&mut self.open) {
            if let Some(asker) = open.asker {
                let response = Response::new(id, Decision::Timeout);
                step.outputs.push(Output::Answer(asker, response));
            }
            let text = "The ledger cannot be written, so this was not decided".to_owned();
            let doing = open.decided.as_ref().and_then(|decided| decided.doing.as_ref());
            tell(step, doing, false, &text);
            mark_all(step, self.settings.terminal, &open, &Mark { state: State::Gone, text });
        }
        self.drop_all_changes(step);
        // What was remembered may never have been recorded.
        self.calls = CallMemory::default();
        self.alarms.clear();
        self.askers.clear();
        self.lineages.clear();
        self.bytes = 0;
    }
}

/// The answer that a decision makes of a request, or nothing when it does not fit.
fn response(request: &Request, card: &Card, decided: &Decided) -> Option<Response> {
    let With { message, offer, picks, words, edited, interrupt } = &decided.with;
    let mut response = Response::new(request.request_id.clone(), decided.decision);
    let input = request.tool_input.get();
    if request.takes(Takes::Outcome) {
        let is_decided = matches!(decided.decision, Decision::Allow | Decision::Deny);
        response.by = is_decided.then(|| decided.by.clone());
        response.unreachable =
            decided.decision == Decision::Timeout && message.as_deref() == Some(UNREACHABLE);
    }
    match decided.decision {
        Decision::Timeout | Decision::Ask | Decision::None => {}
        Decision::Deny => {
            response.message = Some(message.clone().unwrap_or_else(|| denied(&decided.by)));
            response.interrupt = *interrupt && request.takes(Takes::Interrupt);
        }
        Decision::Allow => {
            if let Some(offer) = offer {
                take_offer(&mut response, request, &card.offers.get(*offer)?.members)?;
            }
            let changed = match (picks, words, edited) {
                (Some(picks), _, _) => Some(picks::answered(&request.tool_name, input, picks)?),
                (_, Some(words), _) => Some(picks::worded(&request.tool_name, input, words)?),
                (_, _, Some(edited)) => Some(mask_json(input).restore(edited).ok()?),
                _ => None,
            };
            response.updated_input = changed.map(object).transpose().ok()?;
            if response.updated_input.is_some() && !request.takes(Takes::Edit) {
                return None;
            }
        }
    }
    Some(response)
}

/// Whether a decision can be turned into an answer to this request.
pub(super) fn fits(request: &Request, card: &Card, decided: &Decided) -> bool {
    response(request, card, decided).is_some()
}

fn denied(by: &str) -> String {
    format!("{}.", denial(by))
}

/// Who denied it. A rule's own words begin with what it did.
fn denial(by: &str) -> String {
    match by.strip_prefix("denied by ") {
        Some(rule) => format!("Denied by {rule}"),
        None => format!("Denied by {by}"),
    }
}

fn take_offer(response: &mut Response, request: &Request, members: &[usize]) -> Option<()> {
    let all = members.iter().map(|at| request.permission_suggestions.get(*at).cloned());
    let all: Vec<Box<RawValue>> = all.collect::<Option<_>>()?;
    response.always_allow_suggestion = all.first().cloned();
    if all.len() > 1 {
        response.updated_permissions = all;
    }
    Some(())
}

fn object(json: String) -> Result<Box<RawValue>, ()> {
    if !json.trim_start().starts_with('{') {
        return Err(());
    }
    RawValue::from_string(json).map_err(|_| ())
}

/// What was decided, in words.
fn outcome(decided: &Decided, card: &Card) -> String {
    let Decided { decision, by, with, .. } = decided;
    match decision {
        Decision::Timeout | Decision::Ask | Decision::None => {
            let why = with.message.as_deref().unwrap_or("nobody answered in time");
            let what = if card.no_answer_denies { "Not allowed" } else { "Not decided" };
            format!("{what}: {why}")
        }
        Decision::Allow if card.blocked.is_some() => format!("Allowed by {by} to try again"),
        Decision::Allow => match with.offer.and_then(|at| card.offers.get(at)) {
            Some(offer) => format!("Allowed by {by}, {}: {}", offer.lasts, offer.meaning),
            None if with.edited.is_some() => format!("Allowed by {by}, with changes"),
            None if with.picks.is_some() || with.words.is_some() => match chosen(with, card) {
                Some(chosen) => format!("Answered by {by}: {chosen}"),
                None => format!("Answered by {by}"),
            },
            None => format!("Allowed by {by}"),
        },
        Decision::Deny if with.interrupt => format!("{}, and the turn ended", denial(by)),
        Decision::Deny => match &with.message {
            // A rule's reason is who denied it and why at once.
            Some(message) if message != by => {
                format!("{}: {}", denial(by), plain::hidden(message))
            }
            _ => denial(by),
        },
    }
}

/// What was chosen or written in answer to a question, in words that may be shown and kept.
pub(super) fn chosen(with: &With, card: &Card) -> Option<String> {
    let chosen = match (&with.picks, &with.words) {
        (Some(picks), _) => card.picked(picks),
        (None, Some(words)) => plain::line(&plain::hidden(words)),
        (None, None) => return None,
    };
    let short = text::cut(&chosen, LONGEST_CHOSEN, Measure::Chars);
    let shown = if short.len() < chosen.len() { format!("{short}…") } else { chosen.clone() };
    Some(shown).filter(|shown| !shown.is_empty())
}

fn mark_of(open: &Open, how: &str) -> Mark {
    let decided = open.decided.as_ref();
    let outcome = decided.map(|decided| outcome(decided, &open.card));
    match (how, decided.map(|decided| decided.decision), outcome) {
        ("answered", Some(Decision::Allow), Some(text)) => Mark { state: State::Allowed, text },
        ("answered", Some(Decision::Deny), Some(text)) => Mark { state: State::Denied, text },
        (_, Some(Decision::Timeout), Some(text)) => Mark { state: State::Expired, text },
        ("settled", ..) => {
            Mark { state: State::Settled, text: "Answered at the agent's own terminal".to_owned() }
        }
        (_, _, Some(text)) => {
            Mark { state: State::Gone, text: format!("{text}, but the agent had gone") }
        }
        _ => Mark { state: State::Gone, text: "The agent went away".to_owned() },
    }
}

/// Shows on every copy what has become of a question.
fn mark_all(step: &mut Step, terminal: bool, open: &Open, mark: &Mark) {
    let order = || Order::Mark {
        card: Arc::clone(&open.card),
        copies: open.copies.clone(),
        mark: mark.clone(),
    };
    if terminal {
        step.outputs.push(Output::Terminal(order()));
    }
    if !open.copies.is_empty() || !open.sending.is_empty() {
        step.outputs.push(Output::Phones(order()));
    }
}

/// Tells somebody what came of what they did.
pub(super) fn tell(step: &mut Step, doing: Option<&Doing>, done: bool, text: &str) {
    let order =
        |doing: &Doing| Order::Tell { doing: doing.clone(), text: text.to_owned(), alert: !done };
    match doing {
        None => {}
        Some(Doing::Key) => step.outputs.push(Output::Terminal(order(&Doing::Key))),
        Some(Doing::Viewer { viewer, id }) => step.outputs.push(Output::Viewer {
            viewer: *viewer,
            id: id.clone(),
            done,
            text: text.to_owned(),
        }),
        Some(phone) => step.outputs.push(Output::Phones(order(phone))),
    }
}
