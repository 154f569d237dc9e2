//! What a hook prints: the decision in the form of its agent.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Agent, Event};
use crate::approval::{Asks, Decision, Request, Response, Takes};
use crate::fields::one_line;
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

/// What a hook prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The decision, as one line of JSON.
    Line(Vec<u8>),
    /// Nothing: the agent goes on as without a hook.
    Nothing,
    /// Nobody decided, or the agent could not accept the decision: it has to ask in its own way.
    Undecided,
}

/// Returns the desk's response in the form of the agent.
#[must_use]
pub fn answer(event: Event, agent: Agent, request: &Request, response: &Response) -> Answer {
    match event {
        Event::PreToolUse => checked(agent, request, response),
        Event::PermissionDenied => retried(request, response),
        _ => decided(event, agent, request, response).map_or(Answer::Undecided, Answer::Line),
    }
}

/// Returns the decision as one line of JSON, for an event at which the agent asks if there is none.
fn decided(event: Event, agent: Agent, request: &Request, response: &Response) -> Option<Vec<u8>> {
    let is_allowed = match response.decision {
        Decision::Allow => true,
        Decision::Deny => false,
        Decision::Timeout | Decision::Ask | Decision::None => return None,
    };
    if is_allowed && !is_taken(request, response) {
        return None;
    }
    match event {
        Event::PermissionRequest if is_allowed => Some(allow(agent, request, response)),
        Event::PermissionRequest => Some(deny(request, response)),
        Event::Elicitation => elicitation(is_allowed, request, response),
        _ => None,
    }
}

/// Returns true if the agent accepts the input that was allowed. A person who changed the input did
/// not allow the original, which the agent would run instead.
fn is_taken(request: &Request, response: &Response) -> bool {
    response.updated_input.is_none() || request.takes(Takes::Edit)
}

/// Returns the answer to a tool call that is about to run. The agent takes silence for a yes, so
/// what nobody decided is denied.
fn checked(agent: Agent, request: &Request, response: &Response) -> Answer {
    let asks = request.context.as_ref().and_then(|context| context.asks).unwrap_or_default();
    match response.decision {
        Decision::None => Answer::Nothing,
        Decision::Deny => Answer::Line(denial(reason(response))),
        Decision::Timeout => Answer::Line(denial(UNDECIDED)),
        Decision::Ask if asks == Asks::Agent && agent == Agent::Claude => {
            let reason = response.message.as_deref().unwrap_or(ASKED);
            Answer::Line(pre_tool_use("ask", Some(reason), None))
        }
        Decision::Allow if is_taken(request, response) => match agent {
            Agent::Claude => {
                Answer::Line(pre_tool_use("allow", None, response.updated_input.as_deref()))
            }
            // It has no `allow` here, and goes on without one.
            Agent::Codex => Answer::Nothing,
        },
        Decision::Ask | Decision::Allow => Answer::Line(denial(UNUSABLE)),
    }
}

/// Returns the answer to a call that the agent has blocked by itself.
fn retried(request: &Request, response: &Response) -> Answer {
    match response.decision {
        Decision::Allow if is_taken(request, response) => Answer::Line(written(PermissionDenied {
            hook_event_name: Event::PermissionDenied.name(),
            retry: true,
        })),
        _ => Answer::Nothing,
    }
}

/// Returns the line that denies a tool call which is about to run, with the reason for the model.
#[must_use]
pub fn denial(reason: &str) -> Vec<u8> {
    pre_tool_use("deny", Some(reason), None)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<T> {
    hook_specific_output: T,
}

fn written(output: impl Serialize) -> Vec<u8> {
    one_line(&Output { hook_specific_output: output })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Permission<T> {
    hook_event_name: &'static str,
    decision: T,
}

fn permission(decision: impl Serialize) -> Vec<u8> {
    written(Permission { hook_event_name: Event::PermissionRequest.name(), decision })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Allow<'a> {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    updated_permissions: Vec<&'a RawValue>,
}

fn allow(agent: Agent, request: &Request, response: &Response) -> Vec<u8> {
    let mut input = response.updated_input.as_deref();
    // Claude Code ignores a bare allow of this tool and still asks its user.
    if agent == Agent::Claude && request.tool_name == "ExitPlanMode" {
        input = input.or(Some(&request.tool_input));
    }
    let permissions = permissions(response);
    permission(Allow {
        behavior: "allow",
        updated_input: input,
        updated_permissions: if request.takes(Takes::Always) { permissions } else { Vec::new() },
    })
}

/// Returns the permission updates. Claude Code drops the whole answer, and with it the allow, if it
/// does not understand one element. So if one is not an object, none is sent: half of a choice is
/// not what was chosen.
fn permissions(response: &Response) -> Vec<&RawValue> {
    let all: Vec<&RawValue> = match &response.updated_permissions[..] {
        [] => response.always_allow_suggestion.as_deref().into_iter().collect(),
        all => all.iter().map(|one| &**one).collect(),
    };
    if all.iter().all(|one| Json::from(*one).is_object()) { all } else { Vec::new() }
}

#[derive(Serialize)]
struct Deny<'a> {
    behavior: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupt: bool,
}

fn deny(request: &Request, response: &Response) -> Vec<u8> {
    let interrupt = response.interrupt && request.takes(Takes::Interrupt);
    permission(Deny { behavior: "deny", message: reason(response), interrupt })
}

fn reason(response: &Response) -> &str {
    response.message.as_deref().filter(|message| !message.trim().is_empty()).unwrap_or(DENIED)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PreToolUse<'a> {
    hook_event_name: &'static str,
    permission_decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<&'a RawValue>,
}

fn pre_tool_use(
    permission_decision: &'static str,
    permission_decision_reason: Option<&str>,
    updated_input: Option<&RawValue>,
) -> Vec<u8> {
    written(PreToolUse {
        hook_event_name: Event::PreToolUse.name(),
        permission_decision,
        permission_decision_reason,
        updated_input,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PermissionDenied {
    hook_event_name: &'static str,
    retry: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Elicitation<'a> {
    hook_event_name: &'static str,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a RawValue>,
}

fn elicitation(is_allowed: bool, request: &Request, response: &Response) -> Option<Vec<u8>> {
    let input = Json::from(&*request.tool_input).members();
    let filled = response.updated_input.as_deref();
    let (action, content) = match (is_allowed, response.interrupt) {
        (true, _) if filled.is_none() && wants_content(&input) => return None,
        (true, _) => ("accept", filled.or_else(|| bare_content(&input))),
        (false, true) => ("cancel", None),
        (false, false) => ("decline", None),
    };
    Some(written(Elicitation { hook_event_name: Event::Elicitation.name(), action, content }))
}

/// Returns true if a bare yes is not enough: the server's form has required fields.
fn wants_content(input: &Members<'_>) -> bool {
    let schema = input.some("requested_schema").map(Json::members).unwrap_or_default();
    schema.some("required").is_some_and(|required| required.get() != "[]")
}

/// Returns the form content for a bare yes; `None` if a page is to be opened.
fn bare_content(input: &Members<'_>) -> Option<&'static RawValue> {
    let is_page = input.string("mode").as_deref() == Some("url");
    if is_page { None } else { serde_json::from_str("{}").ok() }
}

#[cfg(test)]
mod tests;
