//! Checks of tool calls that are about to run, and what is remembered of decisions for later
//! requests about the same call.

use callgate_wire::approval::{ApprovalRequest, ApprovalResponse, Decision, Prompter, RequestId};
use callgate_wire::tool_act::ToolKind;

use super::calls::{Grant, REMEMBERED};
use super::digest::CallDigest;
use super::question::{
    DecisionDetails, DeskDecision, Occasion, PendingQuestion, Ruling, Unattended,
};
use super::{AskerId, Desk, DeskOutput, DeskStep, DeskTime, record};
use crate::card::asks_by_itself;

enum CheckOutcome {
    /// A rule or a grant decides.
    Decided { decision: Decision, by: String, grant: Option<Grant> },
    /// A person decides at the desk, while the asker waits.
    Person(Ruling),
    /// A person decides, and the agent asks them.
    AgentAsks { because: Option<String> },
    /// Nobody decides: the agent goes on as if there were no desk.
    Nobody,
}

impl Desk {
    /// Answers a check at once, or takes it as a question that waits for a person.
    pub(super) fn handle_check(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        request: ApprovalRequest,
        ruling: Ruling,
        is_replay: bool,
    ) {
        // An asker that is back after a restart waits for the answer to its question.
        if self.open.contains_key(&request.request_id) {
            return self.handle_question(step, asker, request, ruling, is_replay);
        }
        let mut response = ApprovalResponse::new(request.request_id.clone(), Decision::None);
        match self.outcome_of_check(step.now, &request, ruling) {
            CheckOutcome::Person(ruling) => {
                if self.follows_twin(step, asker, &request, &ruling) {
                    return;
                }
                return self.handle_question(step, asker, request, ruling, is_replay);
            }
            CheckOutcome::Decided { decision, by, grant } => {
                // Under the question that was allowed: a restored desk sees there that the grant
                // was used.
                let question = grant.as_ref().map(|grant| &grant.question);
                step.record_event(question, &record::checked_event(&request, decision, &by));
                response.decision = decision;
                if decision == Decision::Deny {
                    // If the agent reports the call as blocked next, nobody is asked whether it may
                    // try again.
                    let call = CallDigest::of_call(&self.settings.key, &request);
                    self.calls.remember_denial(step.now.mono, call, &by);
                    response.message = Some(by);
                }
            }
            // What the agent does next is recorded when it asks, or when the tool has run.
            CheckOutcome::AgentAsks { because } => {
                response.decision = Decision::Ask;
                response.message = because;
            }
            CheckOutcome::Nobody => {}
        }
        step.outputs.push(DeskOutput::Answer(asker, response));
    }

    fn outcome_of_check(
        &mut self,
        now: DeskTime,
        request: &ApprovalRequest,
        ruling: Ruling,
    ) -> CheckOutcome {
        let decided = |decision, by| CheckOutcome::Decided { decision, by, grant: None };
        // The rules come first: a grant does not help against a rule that denies by now.
        let ruling = match ruling {
            Ruling::Deny { because } => return decided(Decision::Deny, because),
            Ruling::Allow { because } => return decided(Decision::Allow, because),
            asks => asks,
        };
        if let Some(grant) = self.take_grant_for(now, request) {
            let by = format!("{}, who let it try again", grant.by);
            return CheckOutcome::Decided { decision: Decision::Allow, by, grant: Some(grant) };
        }
        match (self.waits_for_person(request, &ruling), ruling) {
            (true, Ruling::Ask { because, is_guarded }) => {
                let because = because.or_else(|| Some(asks_nobody(request)));
                CheckOutcome::Person(Ruling::Ask { because, is_guarded })
            }
            (true, ruling) => CheckOutcome::Person(ruling),
            (false, Ruling::Ask { because, is_guarded }) if because.is_some() || is_guarded => {
                CheckOutcome::AgentAsks { because }
            }
            _ => CheckOutcome::Nobody,
        }
    }

    /// Returns true if a check with this ruling becomes a question at the desk, unless a grant lets
    /// it through.
    pub(crate) fn waits_for_person(&self, request: &ApprovalRequest, ruling: &Ruling) -> bool {
        let (because, is_guarded) = match ruling {
            Ruling::Ask { because, is_guarded } => (because, is_guarded),
            Ruling::AtDesk { .. } => return true,
            Ruling::Allow { .. } | Ruling::Deny { .. } => return false,
        };
        if because.is_some() || *is_guarded {
            return find_prompter(request, *is_guarded) == Prompter::Desk;
        }
        // A question of the agent to its user does not need permission.
        let is_question = ToolKind::for_tool("", &request.tool_name) == ToolKind::AskUser;
        self.settings.unattended == Unattended::Ask
            && !asks_by_itself(request.mode())
            && !is_question
    }

    /// Takes the grant for this call, if a person has given one.
    fn take_grant_for(&mut self, now: DeskTime, request: &ApprovalRequest) -> Option<Grant> {
        // Nearly always, and then no digest is needed.
        if self.calls.grants.entries.is_empty() {
            return None;
        }
        let call = CallDigest::of_retry(&self.settings.key, request);
        self.calls.grants.take(now.mono, &call)
    }

    /// Returns what was decided before about the call of a request, so that nobody is asked about
    /// it again.
    pub(super) fn decided_before(
        &mut self,
        now: DeskTime,
        request: &ApprovalRequest,
    ) -> Option<DeskDecision> {
        let call = || CallDigest::of_call(&self.settings.key, request);
        match Occasion::from_request(request) {
            Occasion::Permission if !self.calls.answers.entries.is_empty() => {
                let decided = self.calls.take_answer(now.mono, &call())?;
                // No person sees this question, so its entry says where the decision comes from.
                let by = format!("{}, when the call was checked", decided.by);
                Some(DeskDecision { by, ..decided })
            }
            Occasion::Blocked => {
                let call = call();
                // An allow at the check did not help, so another one would not either.
                let allowed = self
                    .calls
                    .take_answer(now.mono, &call)
                    .map(|decided| format!("the agent itself, although {} allowed it", decided.by));
                let denied = || self.calls.denials.get(now.mono, &call).cloned();
                // In plan mode Claude Code ignores the allow of a hook, so a retry would be blocked
                // again.
                let planned = || (request.mode() == Some("plan")).then(|| "plan mode".to_owned());
                let by = allowed.or_else(denied).or_else(planned)?;
                Some(DeskDecision::of_desk(Decision::Deny, by, DecisionDetails::default()))
            }
            _ => None,
        }
    }

    /// Remembers what the answer to a question means for later requests about the same call. The
    /// next request may come as soon as the asker has read the answer, so this does not wait for
    /// delivery.
    pub(super) fn remember_answer(&mut self, now: DeskTime, id: &RequestId) {
        let Self { open, calls, settings, .. } = self;
        let Some(PendingQuestion { request: Some(request), decided: Some(decided), .. }) =
            open.get(id)
        else {
            return;
        };
        let occasion = Occasion::from_request(request);
        if occasion == Occasion::Other {
            return;
        }
        let call = CallDigest::of_call(&settings.key, request);
        match (occasion, decided.decision) {
            // An allow with changed input says nothing about this input.
            (Occasion::Check, Decision::Allow) if decided.with.changes_input() => {}
            (Occasion::Check, Decision::Allow | Decision::Deny) => {
                calls.remember_answer(now.mono, call, tool_use_id(request), decided);
            }
            (Occasion::Blocked, Decision::Allow) => {
                let grant = Grant { question: id.clone(), by: decided.by.clone() };
                let retry = CallDigest::of_retry(&settings.key, request);
                calls.grants.insert(now.mono + REMEMBERED, retry, grant);
            }
            _ => {}
        }
        match (occasion, decided.decision) {
            (_, Decision::Allow) => calls.denials.remove(&call),
            // Nobody answered in time, so the asker has denied it.
            (Occasion::Check, _) | (_, Decision::Deny) => {
                calls.remember_denial(now.mono, call, &decided.by);
            }
            _ => {}
        }
    }

    /// Forgets an answer that its asker has not read. Otherwise it would decide a later request
    /// about a call that its agent believes to be undecided.
    pub(super) fn forget_undelivered(&mut self, open: &PendingQuestion) {
        let Some(request) = open.request.as_ref().filter(|_| open.decided.is_some()) else {
            return;
        };
        match Occasion::from_request(request) {
            Occasion::Check => {
                let call = CallDigest::of_call(&self.settings.key, request);
                self.calls.forget_answer(&call, tool_use_id(request).as_deref());
            }
            Occasion::Blocked => {
                let call = CallDigest::of_retry(&self.settings.key, request);
                let question = &request.request_id;
                self.calls.grants.change(&call, |grant| grant.question != *question);
            }
            Occasion::Permission | Occasion::Other => {}
        }
    }
}

/// Returns who can ask a person about a check. Claude Code guards its own settings itself, but in
/// these two modes it leaves that to a classifier and shows no dialog.
pub fn find_prompter(request: &ApprovalRequest, is_guarded: bool) -> Prompter {
    // Nothing is known of an agent that would ask, so the question is not left to a dialog that may
    // never come.
    let Some(context) = &request.context else { return Prompter::Desk };
    match context.mode.as_deref() {
        Some("auto" | "plan") if is_guarded => Prompter::Desk,
        _ => context.asks.unwrap_or_default(),
    }
}

pub(super) fn tool_use_id(request: &ApprovalRequest) -> Option<String> {
    request.context.as_ref()?.tool_use_id.clone()
}

/// Returns why a person is asked about a call that no rule matches.
fn asks_nobody(request: &ApprovalRequest) -> String {
    match request.mode() {
        Some(mode) => {
            format!("No rule allows it, and {} mode asks nobody", record::shown_name(mode))
        }
        None => "No rule allows it, and the agent may ask nobody".to_owned(),
    }
}
