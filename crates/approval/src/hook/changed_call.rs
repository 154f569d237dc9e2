//! What a person has made of a call: rules apply to it as to any other.

use std::time::{Duration, Instant};

use callgate_wire::approval::{
    AnswerExtra, ApprovalRequest, ApprovalResponse, Decision, Prompter, RequestKind,
};
use callgate_wire::tool_act::ToolKind;
use serde_json::value::RawValue;

use super::HookCommand;
use crate::asker::{self, AskerCancellation, AskerSettings, NoAnswer, fresh_id};

/// The mode in which an agent asks its user, and the desk nobody in their place.
const ATTENDED: &str = "default";

impl HookCommand<'_> {
    /// Returns the answer that holds for a call. If a person has changed it, the desk checks what
    /// they made of it: an edit must not bring what a rule denies, or what needs two people or a
    /// typed word.
    pub(super) fn check_changes(
        &self,
        (request, response): (&ApprovalRequest, ApprovalResponse),
        (desk, since): (&AskerSettings, Instant),
        unwanted: &AskerCancellation<'_>,
    ) -> Result<ApprovalResponse, String> {
        let Some(input) = changed_input(request, &response) else { return Ok(response) };
        // The agent waits for both answers together.
        let timeout = desk.timeout.saturating_sub(since.elapsed());
        let check = changed_check(request, input, timeout);
        let desk = AskerSettings { timeout, ..desk.clone() };
        let checked = match asker::ask_desk(&desk, &check, unwanted) {
            Err(NoAnswer::NoDesk(_)) => (self.without_desk)(&check)?,
            answered => answered.map_err(|error| error.to_string())?,
        };
        Ok(match checked.decision {
            // A person who is asked about it has just made it.
            Decision::Allow | Decision::Ask | Decision::None => response,
            Decision::Deny | Decision::Timeout => {
                let why = checked.message.as_deref().unwrap_or("nobody has allowed that in time");
                let denied = ApprovalResponse::new(request.request_id.clone(), Decision::Deny);
                let message = format!("A person changed this call, but {why}");
                ApprovalResponse { message: Some(message), ..denied }
            }
        })
    }
}

/// Returns the input with which a call would run instead, if a person has changed it.
fn changed_input(request: &ApprovalRequest, response: &ApprovalResponse) -> Option<Box<RawValue>> {
    let agent = request.agent.as_deref().unwrap_or_default();
    // The answer to a question is no call.
    let is_call = !ToolKind::for_tool(agent, &request.tool_name).asks_a_person();
    let is_changed =
        is_call && response.decision == Decision::Allow && request.takes(AnswerExtra::Edit);
    response.updated_input.clone().filter(|_| is_changed)
}

fn changed_check(
    request: &ApprovalRequest,
    input: Box<RawValue>,
    timeout: Duration,
) -> ApprovalRequest {
    let mut context = request.context.clone().unwrap_or_default();
    context.event = Some("PreToolUse".to_owned());
    context.asks = Some(Prompter::Agent);
    context.mode = Some(ATTENDED.to_owned());
    context.timeout_seconds = Some(timeout.as_secs());
    // What is asked now is allowed or denied as it is.
    context.takes = Some(Vec::new());
    (context.words_follow, context.edit_lines) = (None, None);
    ApprovalRequest {
        // The desk takes the id of the first request for used.
        request_id: fresh_id(),
        kind: RequestKind::Check,
        tool_input: input,
        permission_suggestions: Vec::new(),
        context: Some(context),
        ..request.clone()
    }
}
