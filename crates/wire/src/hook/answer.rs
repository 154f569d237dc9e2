//! What a hook prints: the decision in the form of its agent.

use serde_json::value::RawValue;

use super::AgentHookEvent;
use super::agents::{EditAbility, HookEventProfile};
use super::form::{HookAnswer, HookReply, json_word, reply_line};
use crate::approval::{AnswerExtra, ApprovalRequest, ApprovalResponse, Decision, Prompter};
use crate::raw::{Json, Members};

/// The reason for the agent if the person gave none.
const DENIED: &str = "The user denied this.";
/// The reason for the agent if a person had to decide and nobody did.
const UNDECIDED: &str = "A person has to allow this, and nobody answered in time or could be \
                         reached. Tell the user; try again only when they want you to.";
/// The reason for the agent if it could not accept the answer.
const UNUSABLE: &str = "This was answered in a way that the agent cannot take, so it was not \
                        run. Tell the user.";

/// The reason for the user if the rules gave none.
const ASKED: &str = "A rule wants you to decide.";

pub fn render_response(
    event: &HookEventProfile,
    request: &ApprovalRequest,
    response: &ApprovalResponse,
) -> HookReply {
    match event.event {
        AgentHookEvent::PreToolUse => (event.form)(&checked_answer(event, request, response)),
        AgentHookEvent::PermissionDenied => (event.form)(
            &decided_answer(event, request, response).unwrap_or(HookAnswer::NoDecision),
        ),
        event if !event.decides() => HookReply::Undecided,
        _ => match decided_answer(event, request, response) {
            Some(answer) => (event.form)(&answer),
            None => HookReply::Undecided,
        },
    }
}

/// Returns the decision at an event at which the agent asks if there is none.
fn decided_answer<'a>(
    event: &HookEventProfile,
    request: &'a ApprovalRequest,
    response: &'a ApprovalResponse,
) -> Option<HookAnswer<'a>> {
    match response.decision {
        Decision::Allow if is_taken(event, request, response) => Some(HookAnswer::Allow {
            asked: request,
            input: response.updated_input.as_deref(),
            permissions: permission_updates(request, response),
        }),
        Decision::Deny => {
            let interrupt = response.interrupt && request.takes(AnswerExtra::Interrupt);
            Some(HookAnswer::Deny { reason: denial_reason(response), interrupt })
        }
        Decision::Allow | Decision::Timeout | Decision::Ask | Decision::None => None,
    }
}

/// Returns true if the agent accepts the input that was allowed. A person who changed the input did
/// not allow the original, which the agent would run instead.
fn is_taken(
    event: &HookEventProfile,
    request: &ApprovalRequest,
    response: &ApprovalResponse,
) -> bool {
    let Some(changed) = response.updated_input.as_deref() else { return true };
    let has_all = || {
        let (Members(before), after) =
            (Json::from(&*request.tool_input).members(), Json::from(changed).members());
        before.iter().all(|(name, _)| after.get(name).is_some())
    };
    request.takes(AnswerExtra::Edit) && (event.takes.edit != EditAbility::Merged || has_all())
}

/// Returns the answer to a tool call that is about to run. Agents take silence for a yes, so what
/// nobody decided is denied.
fn checked_answer<'a>(
    event: &HookEventProfile,
    request: &'a ApprovalRequest,
    response: &'a ApprovalResponse,
) -> HookAnswer<'a> {
    let asks = request.context.as_ref().and_then(|context| context.asks).unwrap_or_default();
    let denied = |reason| HookAnswer::Deny { reason, interrupt: false };
    match response.decision {
        // No rule decides, so the agent goes on in its own mode.
        Decision::None => HookAnswer::NoDecision,
        Decision::Deny => denied(denial_reason(response)),
        // Most agents would take silence for a yes.
        Decision::Timeout => denied(UNDECIDED),
        Decision::Ask if asks == Prompter::Agent && event.takes.ask => {
            HookAnswer::Ask { reason: response.message.as_deref().unwrap_or(ASKED) }
        }
        Decision::Allow if is_taken(event, request, response) => HookAnswer::Allow {
            asked: request,
            input: response.updated_input.as_deref(),
            permissions: Vec::new(),
        },
        Decision::Ask | Decision::Allow => denied(UNUSABLE),
    }
}

/// Returns what refuses the call or the question of this event, with the reason for the model.
/// `HookReply::Nothing` where silence refuses.
pub fn call_refusal(event: &HookEventProfile, reason: &str) -> HookReply {
    (event.form)(&HookAnswer::Deny { reason, interrupt: false })
}

/// Returns the line with which a hook refuses a change of settings, with the reason for the user.
pub fn settings_refusal(reason: &str) -> HookReply {
    reply_line([("decision", json_word("block")), ("reason", json_word(reason))])
}

/// Returns the permission updates. Claude Code drops the whole answer, and with it the allow, if it
/// does not understand one element. So if one is not an object, none is sent: half of a choice is
/// not what was chosen.
fn permission_updates<'a>(
    request: &ApprovalRequest,
    response: &'a ApprovalResponse,
) -> Vec<&'a RawValue> {
    let all: Vec<&RawValue> = match &response.updated_permissions[..] {
        [] => response.always_allow_suggestion.as_deref().into_iter().collect(),
        all => all.iter().map(|one| &**one).collect(),
    };
    let are_objects = all.iter().all(|one| Json::from(*one).is_object());
    if are_objects && request.takes(AnswerExtra::Always) { all } else { Vec::new() }
}

fn denial_reason(response: &ApprovalResponse) -> &str {
    response.message.as_deref().filter(|message| !message.trim().is_empty()).unwrap_or(DENIED)
}

#[cfg(test)]
mod tests;
