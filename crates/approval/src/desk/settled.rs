//! Reports of agents: tools that have run, turns and sessions that have ended.

use callgate_wire::approval::{ApprovalRequest, Decision, RequestId, RequestKind};
use callgate_wire::ledger::{ClosedHow, LedgerEvent};
use serde_json::Value;

use super::answer::undecided_response;
use super::checked::tool_use_id;
use super::digest::{CallDigest, is_only_said};
use super::question::PendingQuestion;
use super::waits::is_dialog;
use super::{Desk, DeskOutput, DeskStep, record};
use crate::card::{agent_name, asks_by_itself};
use crate::channel::ChannelOrder;
use crate::plain;

/// How much of an agent's last words is shown when it has finished, in bytes.
const LAST_WORDS: usize = 600;

impl Desk {
    pub(super) fn handle_report(&mut self, step: &mut DeskStep, request: &ApprovalRequest) {
        match (request.kind, request.event().unwrap_or_default()) {
            // An agent with two hooks reports each run twice.
            (RequestKind::Settle, "PostToolUse" | "PostToolUseFailure")
                if self.is_second_report(step, request) => {}
            (RequestKind::Settle, "PostToolUse" | "PostToolUseFailure") => {
                self.handle_run(step, request);
            }
            (RequestKind::Settle, "SessionEnd") => self.settle_matching(step, request, |_| true),
            (RequestKind::Settle, "Stop") => self.handle_stop(step, request),
            (RequestKind::Notify, "ConfigChange") => self.settings_refused(step, request),
            (RequestKind::Notify, _) => self.handle_notification(step, request),
            // Unknown events settle nothing.
            _ => {}
        }
    }

    /// Records that a tool has run: it was allowed here, or a question about it was answered
    /// elsewhere, or nobody was asked.
    fn handle_run(&mut self, step: &mut DeskStep, request: &ApprovalRequest) {
        let ApprovalRequest { session_id, tool_name, tool_input, .. } = request;
        let run = CallDigest::of_run(&self.settings.key, session_id, tool_name, tool_input.get());
        let allowed = self.past.take_run(&run);
        // A run that was allowed here settles no other question about the same call.
        let settled = if allowed.is_none() { self.asked_about(request) } else { None };
        if !self.calls.answers.entries.is_empty() {
            let call = CallDigest::of_call(&self.settings.key, request);
            // The call is over: what was decided at its check must not answer for the next one.
            self.calls.forget_answer(&call, tool_use_id(request).as_deref());
        }
        match allowed.as_ref().or(settled.as_ref()) {
            Some(question) => {
                step.record_for_question(
                    question,
                    &LedgerEvent::Ran(record::call_that_ran(request, None)),
                );
            }
            None => self.ran_unasked(step, request),
        }
        if let Some(id) = settled {
            self.settle_question(step, &id);
        }
    }

    /// Records the run of a tool about which nobody was asked here.
    fn ran_unasked(&mut self, step: &mut DeskStep, request: &ApprovalRequest) {
        let mut ran = record::call_that_ran(request, Some(&record::brief_input(request)));
        self.mark_unchecked(step, request, &mut ran);
        let (ok, summary) = (ran.ok, ran.summary.clone());
        // A run without a verdict is recorded in any case, because no other entry has the call.
        if self.settings.record_runs || ran.by.is_some() {
            step.record_event(None, &LedgerEvent::Ran(ran));
        }
        if let Some(mode) = request.mode().filter(|mode| !asks_by_itself(Some(mode))) {
            let failed = if ok == Some(false) { " (failed)" } else { "" };
            let line = format!("{} mode ran{failed}: {summary}", record::shown_name(mode));
            self.tell_quietly(step, line);
        }
    }

    /// Returns the oldest open question about this run, if there is one.
    fn asked_about(&self, request: &ApprovalRequest) -> Option<RequestId> {
        let told = request.context.clone().unwrap_or_default();
        let ran: Value = serde_json::from_str(request.tool_input.get()).unwrap_or_default();
        // Not every event of every agent has the ids: one that is missing contradicts nothing.
        let agree = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        let is_same = |asked: &ApprovalRequest| {
            let id = asked.context.as_ref().and_then(|context| context.tool_use_id.as_ref());
            // While a check waits, its call cannot run, so the report is about another call.
            let may_be = match (id, &told.tool_use_id) {
                (Some(asked), Some(ran)) => asked == ran,
                _ => asked.kind != RequestKind::Check,
            };
            may_be
                && asked.session_id == request.session_id
                && asked.tool_name == request.tool_name
                && is_in(asked, &ran)
        };
        let matching = self.open.iter().filter(|(_, open)| {
            open.decided.is_none()
                && !open.is_relayed()
                && agree(&open.prompt_id, &told.prompt_id)
                && agree(&open.agent_id, &told.agent_id)
                && open.request.as_ref().is_some_and(is_same)
        });
        matching.min_by_key(|(_, open)| open.deadline).map(|(id, _)| id.clone())
    }

    /// Handles the end of a turn: questions of the main agent about its prompt were answered
    /// elsewhere. Subagents may continue in the background.
    fn handle_stop(&mut self, step: &mut DeskStep, request: &ApprovalRequest) {
        let told = request.context.clone().unwrap_or_default();
        if let Some(prompt) = &told.prompt_id {
            self.settle_matching(step, request, |open| {
                open.prompt_id.as_ref() == Some(prompt) && open.agent_id.is_none()
            });
        }
        if self.settings.notify_on_stop {
            let words = told.last_words.unwrap_or_default();
            self.announce_agent(step, request, &format!("has finished. {words}"));
        }
    }

    fn settle_matching(
        &mut self,
        step: &mut DeskStep,
        request: &ApprovalRequest,
        is_over: impl Fn(&PendingQuestion) -> bool,
    ) {
        let is_of_session = |open: &PendingQuestion| {
            let is_of_session = |asked: &ApprovalRequest| asked.session_id == request.session_id;
            !open.is_relayed() && open.request.as_ref().is_some_and(is_of_session)
        };
        let over =
            |open: &PendingQuestion| open.decided.is_none() && is_of_session(open) && is_over(open);
        let ids: Vec<RequestId> =
            self.open.iter().filter(|(_, open)| over(open)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.settle_question(step, &id);
        }
    }

    /// Closes a question that was answered at the agent's own terminal. Its asker falls back if it
    /// still waits.
    fn settle_question(&mut self, step: &mut DeskStep, id: &RequestId) {
        if let Some(open) = self.open.get(id)
            && let Some(asker) = open.asker
        {
            // Any process of the user can claim that the agent has ended, so what people have to
            // decide at the desk is denied here, and not left to the agent's own prompt.
            let why = "it was not answered at the desk";
            let response = undecided_response(id, open.request.as_ref(), &open.card, why);
            step.outputs.push(DeskOutput::Answer(asker, response));
        }
        self.close_question(step, id, ClosedHow::Settled);
    }

    /// Records and tells everybody that a hook has refused a change of the agent's settings, which
    /// would have opened the gate.
    fn settings_refused(&mut self, step: &mut DeskStep, request: &ApprovalRequest) {
        let reason = request.context.as_ref().and_then(|context| context.reason.as_deref());
        let reason = plain::safe_line(reason.unwrap_or("no reason was given"));
        let reason = &reason[..reason.floor_char_boundary(LAST_WORDS)];
        step.record_event(None, &record::checked_event(request, Decision::Deny, reason));
        self.announce_agent(
            step,
            request,
            &format!("did not apply a change of its settings: {reason}"),
        );
    }

    fn handle_notification(&mut self, step: &mut DeskStep, request: &ApprovalRequest) {
        let input: Value = serde_json::from_str(request.tool_input.get()).unwrap_or_default();
        let Some(message) = input["message"].as_str() else { return };
        if input["notification_type"].as_str().is_some_and(is_dialog) {
            self.say_agent_waits(step, request, message);
        } else if self.settings.notify_on_stop {
            self.announce_agent(step, request, &format!("says: {message}"));
        }
    }

    pub(super) fn announce_agent(
        &self,
        step: &mut DeskStep,
        request: &ApprovalRequest,
        what: &str,
    ) {
        let agent = record::shown_name(agent_name(request.agent.as_deref().unwrap_or("agent")));
        let what = plain::safe_text(what);
        let end = what.floor_char_boundary(LAST_WORDS);
        let text =
            format!("{agent} in {} {}", record::shown_name(&request.cwd), what[..end].trim_end());
        self.say_to_chats(step, self.listening_chats(step.now).collect(), text);
    }

    /// Says something that belongs to no question: in these chats and at the terminal.
    pub(super) fn say_to_chats(&self, step: &mut DeskStep, chats: Vec<i64>, text: String) {
        if self.settings.phones && !chats.is_empty() {
            step.outputs.push(DeskOutput::Phones(ChannelOrder::Say { chats, text: text.clone() }));
        }
        if self.settings.terminal {
            step.outputs.push(DeskOutput::Terminal(ChannelOrder::Say { chats: Vec::new(), text }));
        }
    }
}

/// Returns true if a run includes everything that was asked about. It may have more: the user's
/// answers, if the agent asked for them.
fn is_in(asked: &ApprovalRequest, ran: &Value) -> bool {
    let input: Value = serde_json::from_str(asked.tool_input.get()).unwrap_or_default();
    let Some(members) = input.as_object() else { return false };
    let mut members = members.iter().filter(|(name, _)| !is_only_said(&asked.tool_name, name));
    members.all(|(name, value)| ran.get(name) == Some(value))
}
