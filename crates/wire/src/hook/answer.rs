//! What a hook prints: the decision in its agent's own form.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Agent, Event};
use crate::approval::{Decision, Request, Response, Takes};
use crate::fields::one_line;
use crate::raw::{Json, Members};

/// The reason that the agent is given when the person gave none.
const DENIED: &str = "The user denied this.";

/// The decision as one line of JSON. `None` where the agent has to ask in its own way: nobody
/// decided, or the agent could not take what was decided.
#[must_use]
pub fn answer(
    event: Event,
    agent: Agent,
    request: &Request,
    response: &Response,
) -> Option<Vec<u8>> {
    let is_allowed = match response.decision {
        Decision::Allow => true,
        Decision::Deny => false,
        Decision::Timeout | Decision::Ask | Decision::None => return None,
    };
    // Whoever changed the input did not allow the one that the agent would run instead.
    if is_allowed && response.updated_input.is_some() && !request.takes(Takes::Edit) {
        return None;
    }
    match event {
        Event::PermissionRequest if is_allowed => Some(allow(agent, request, response)),
        Event::PermissionRequest => Some(deny(request, response)),
        Event::PreToolUse => Some(pre_tool_use(is_allowed, response)),
        Event::Elicitation => elicitation(is_allowed, request, response),
        _ => None,
    }
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
    // Claude Code takes a bare allow of this tool for no answer and goes on asking its user.
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

/// One element that Claude Code does not understand makes it drop the whole answer, and with it
/// the allow: so what is no object is never among them, and then none is, since half of a choice
/// is not what was chosen.
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

fn pre_tool_use(is_allowed: bool, response: &Response) -> Vec<u8> {
    written(PreToolUse {
        hook_event_name: Event::PreToolUse.name(),
        permission_decision: if is_allowed { "allow" } else { "deny" },
        permission_decision_reason: (!is_allowed).then(|| reason(response)),
        updated_input: response.updated_input.as_deref().filter(|_| is_allowed),
    })
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

/// Whether a bare yes would not do: the server's form has fields that must be filled in.
fn wants_content(input: &Members<'_>) -> bool {
    let schema = input.some("requested_schema").map(Json::members).unwrap_or_default();
    schema.some("required").is_some_and(|required| required.get() != "[]")
}

/// What a bare yes fills into a form; where a page is to be opened there is none.
fn bare_content(input: &Members<'_>) -> Option<&'static RawValue> {
    let is_page = input.string("mode").as_deref() == Some("url");
    if is_page { None } else { serde_json::from_str("{}").ok() }
}
