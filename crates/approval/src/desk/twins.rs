//! One call about which two hooks ask: an agent's own, and the one that it finds in the settings of
//! another agent. A person is asked once, and both hooks get the same answer.

use std::collections::HashMap;
use std::time::Duration;

use callgate_wire::approval::{
    AnswerExtra, ApprovalRequest, ApprovalResponse, Decision, RequestId,
};

use callgate_wire::hook::AgentProfile;

use super::digest::CallDigest;
use super::question::Ruling;
use super::room::request_size;
use super::{AskerId, Desk, DeskOutput, DeskStep, record};

/// How long after an answer the other hook may still ask. Agents run the hooks of a call at once or
/// one right after the other.
const SOON: Duration = Duration::from_secs(5);
/// The most answers that are remembered.
const MOST: usize = 256;
/// The reason for the model if a person changed the input, which the other hook cannot pass on.
const CHANGED: &str = "A person changed this call, and one of the agent's two hooks cannot pass \
                       that on, so it was not run. Tell the user.";

#[derive(Debug, Default)]
pub(super) struct TwinCalls {
    /// Those that wait for the answer to the first.
    waiting: HashMap<AskerId, WaitingTwin>,
    /// How many bytes their requests have together.
    waiting_bytes: usize,
    answered: Vec<AnsweredTwin>,
    /// The latest runs that such agents have reported: until when each counts, and by which hook.
    reported: Vec<(Duration, CallDigest, Option<String>)>,
}

#[derive(Debug)]
pub(super) struct WaitingTwin {
    first: RequestId,
    request: ApprovalRequest,
    ruling: Ruling,
}

#[derive(Debug)]
struct AnsweredTwin {
    until: Duration,
    call: CallDigest,
    hook_of: Option<String>,
    response: ApprovalResponse,
    by: String,
}

impl Desk {
    /// Returns true if this check was answered like that of the agent's other hook about the same
    /// call, or waits for that answer.
    pub(super) fn follows_twin(
        &mut self,
        step: &mut DeskStep,
        asker: AskerId,
        request: &ApprovalRequest,
        ruling: &Ruling,
    ) -> bool {
        let call = CallDigest::of_twin(&self.settings.key, request);
        self.twins.answered.retain(|twin| twin.until > step.now.mono);
        // The same hook asks about another call, however alike they are.
        let is_it = |twin: &AnsweredTwin| twin.call == call && twin.hook_of != hook_of(request);
        if let Some(at) = self.twins.answered.iter().position(is_it) {
            // Used up: a call has two hooks, so a third request is about another call.
            let twin = self.twins.answered.swap_remove(at);
            answer_twin(step, asker, request, &twin.response, &twin.by);
            return true;
        }
        let key = &self.settings.key;
        let is_same = |asked: &ApprovalRequest| {
            asked.agent == request.agent
                && hook_of(asked) != hook_of(request)
                && CallDigest::of_twin(key, asked) == call
        };
        let first = self.open.iter().find(|(_, open)| {
            open.decided.is_none()
                && open.asker.is_some()
                && !open.is_relayed()
                && open.request.as_ref().is_some_and(is_same)
        });
        let Some(first) = first.map(|(id, _)| id.clone()) else { return false };
        // Without room it is refused like any other question.
        let has_room = self.has_room(request);
        if has_room {
            let twin = WaitingTwin { first, request: request.clone(), ruling: ruling.clone() };
            self.twins.add_waiting(asker, twin);
        }
        has_room
    }

    /// Gives the answer to a question to the other hook of its call, now or when it asks.
    pub(super) fn answer_twins(
        &mut self,
        step: &mut DeskStep,
        id: &RequestId,
        response: &ApprovalResponse,
    ) {
        // Both hooks of a call on another machine are answered by the desk there.
        let Some(open) = self.open.get(id).filter(|open| !open.is_relayed()) else { return };
        let (Some(request), Some(decided)) = (&open.request, &open.decided) else { return };
        let by = format!("{}, at the agent's other hook", decided.by);
        let followers: Vec<AskerId> = self.twins.waiting_for(id);
        // One that waits gets it now, and there is no third hook.
        if followers.is_empty() && has_two_hooks(request) {
            let call = CallDigest::of_twin(&self.settings.key, request);
            let (until, hook_of) = (step.now.mono + SOON, hook_of(request));
            self.twins.answered.truncate(MOST - 1);
            let response = response.clone();
            self.twins.answered.insert(0, AnsweredTwin { until, call, hook_of, response, by });
            return;
        }
        for asker in followers {
            if let Some(twin) = self.twins.take_waiting(asker) {
                answer_twin(step, asker, &twin.request, response, &by);
            }
        }
    }

    /// Tells the other hooks of a question to ask for themselves: it is over, and nobody has
    /// decided.
    pub(super) fn release_twins(&mut self, step: &mut DeskStep, id: &RequestId) {
        for asker in self.twins.waiting_for(id) {
            if let Some(WaitingTwin { request, ruling, .. }) = self.twins.take_waiting(asker) {
                // Nothing was recorded under its id while it followed the first.
                self.handle_question(step, asker, request, ruling, false);
            }
        }
    }

    /// Returns true if the agent's other hook has just reported the same run.
    pub(super) fn is_second_report(&mut self, step: &DeskStep, request: &ApprovalRequest) -> bool {
        if !has_two_hooks(request) {
            return false;
        }
        let call = CallDigest::of_twin(&self.settings.key, request);
        let (reported, hook_of) = (&mut self.twins.reported, hook_of(request));
        reported.retain(|(until, ..)| *until > step.now.mono);
        let first = reported.iter().position(|(_, ran, by)| *ran == call && *by != hook_of);
        if let Some(at) = first {
            reported.swap_remove(at);
        } else {
            reported.truncate(MOST - 1);
            reported.insert(0, (step.now.mono + SOON, call, hook_of));
        }
        first.is_some()
    }

    /// Lets every waiting second hook fall back.
    pub(super) fn drop_twins(&mut self, step: &mut DeskStep) {
        // Together with the remembered answers, which may never have been recorded.
        for (asker, twin) in std::mem::take(&mut self.twins).waiting {
            let response = ApprovalResponse::new(twin.request.request_id, Decision::Timeout);
            step.outputs.push(DeskOutput::Answer(asker, response));
        }
    }
}

impl TwinCalls {
    /// Returns how many hooks wait, and how many bytes their requests have together.
    pub(super) fn waiting_room(&self) -> (usize, usize) {
        (self.waiting.len(), self.waiting_bytes)
    }

    fn add_waiting(&mut self, asker: AskerId, twin: WaitingTwin) {
        self.waiting_bytes += request_size(&twin.request);
        self.waiting.insert(asker, twin);
    }

    /// Removes a hook that waits.
    pub(super) fn take_waiting(&mut self, asker: AskerId) -> Option<WaitingTwin> {
        let twin = self.waiting.remove(&asker)?;
        self.waiting_bytes -= request_size(&twin.request);
        Some(twin)
    }

    /// Forgets the answer to a question, which was not recorded.
    pub(super) fn forget_answer(&mut self, id: &RequestId) {
        self.answered.retain(|twin| twin.response.request_id != *id);
    }

    fn waiting_for(&self, id: &RequestId) -> Vec<AskerId> {
        let waiting = self.waiting.iter().filter(|(_, twin)| twin.first == *id);
        waiting.map(|(asker, _)| *asker).collect()
    }
}

/// Answers a second hook like the first.
fn answer_twin(
    step: &mut DeskStep,
    asker: AskerId,
    request: &ApprovalRequest,
    first: &ApprovalResponse,
    by: &str,
) {
    let mut response = ApprovalResponse { request_id: request.request_id.clone(), ..first.clone() };
    if response.updated_input.is_some() && !request.takes(AnswerExtra::Edit) {
        response = ApprovalResponse::new(request.request_id.clone(), Decision::Deny);
        response.message = Some(CHANGED.to_owned());
    }
    step.record_event(None, &record::checked_event(request, response.decision, by));
    step.outputs.push(DeskOutput::Answer(asker, response));
}

fn hook_of(request: &ApprovalRequest) -> Option<String> {
    request.context.as_ref()?.hook_of.clone()
}

fn has_two_hooks(request: &ApprovalRequest) -> bool {
    let agent = request.agent.as_deref().and_then(AgentProfile::find);
    agent.is_some_and(|agent| !agent.reads.is_empty())
}
