//! What a hook prints: the decision in the form of its agent.

use serde_json::value::RawValue;

use super::{AgentHookEvent, HookAgent};
use crate::approval::{AnswerExtra, ApprovalRequest, ApprovalResponse, Decision, Prompter};
use crate::raw::{Json, Members, flatten, quoted};

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
pub enum HookReply {
    /// The decision, as one line of JSON.
    Line(Vec<u8>),
    /// Nothing: the agent continues as without a hook.
    Nothing,
    /// Nobody decided, or the agent could not accept the decision: it has to ask in its own way.
    Undecided,
}

/// Returns the desk's response in the form of the agent.
#[must_use]
pub fn answer(
    event: AgentHookEvent,
    agent: HookAgent,
    request: &ApprovalRequest,
    response: &ApprovalResponse,
) -> HookReply {
    match event {
        AgentHookEvent::PreToolUse => checked(agent, request, response),
        AgentHookEvent::PermissionDenied => retried(request, response),
        _ => decided(event, agent, request, response).map_or(HookReply::Undecided, HookReply::Line),
    }
}

/// Returns the decision as one line of JSON, for an event at which the agent asks if there is none.
fn decided(
    event: AgentHookEvent,
    agent: HookAgent,
    request: &ApprovalRequest,
    response: &ApprovalResponse,
) -> Option<Vec<u8>> {
    let is_allowed = match response.decision {
        Decision::Allow => true,
        Decision::Deny => false,
        Decision::Timeout | Decision::Ask | Decision::None => return None,
    };
    if is_allowed && !is_taken(request, response) {
        return None;
    }
    match event {
        AgentHookEvent::PermissionRequest if is_allowed => Some(allow(agent, request, response)),
        AgentHookEvent::PermissionRequest => Some(deny(request, response)),
        AgentHookEvent::Elicitation => elicitation(is_allowed, request, response),
        _ => None,
    }
}

/// Returns true if the agent accepts the input that was allowed. A person who changed the input did
/// not allow the original, which the agent would run instead.
fn is_taken(request: &ApprovalRequest, response: &ApprovalResponse) -> bool {
    response.updated_input.is_none() || request.takes(AnswerExtra::Edit)
}

/// Returns the answer to a tool call that is about to run. The agent takes silence for a yes, so
/// what nobody decided is denied.
fn checked(agent: HookAgent, request: &ApprovalRequest, response: &ApprovalResponse) -> HookReply {
    let asks = request.context.as_ref().and_then(|context| context.asks).unwrap_or_default();
    match response.decision {
        Decision::None => HookReply::Nothing,
        Decision::Deny => HookReply::Line(denial(reason(response))),
        Decision::Timeout => HookReply::Line(denial(UNDECIDED)),
        Decision::Ask if asks == Prompter::Agent && agent == HookAgent::Claude => {
            let reason = response.message.as_deref().unwrap_or(ASKED);
            HookReply::Line(pre_tool_use("ask", Some(reason), None))
        }
        Decision::Allow if is_taken(request, response) => match agent {
            HookAgent::Claude => {
                HookReply::Line(pre_tool_use("allow", None, response.updated_input.as_deref()))
            }
            // It has no `allow` here, and continues without one.
            HookAgent::Codex => HookReply::Nothing,
        },
        Decision::Ask | Decision::Allow => HookReply::Line(denial(UNUSABLE)),
    }
}

/// Returns the answer to a call that the agent has blocked by itself.
fn retried(request: &ApprovalRequest, response: &ApprovalResponse) -> HookReply {
    match response.decision {
        Decision::Allow if is_taken(request, response) => HookReply::Line(line(
            AgentHookEvent::PermissionDenied,
            [("retry", Some("true".to_owned()))],
        )),
        _ => HookReply::Nothing,
    }
}

/// Returns the line that denies a tool call which is about to run, with the reason for the model.
#[must_use]
pub fn denial(reason: &str) -> Vec<u8> {
    pre_tool_use("deny", Some(reason), None)
}

/// Returns the line that refuses what the agent asks at this event, with the reason for the model.
/// `None` where silence refuses.
#[must_use]
pub fn refusal(event: AgentHookEvent, reason: &str) -> Option<Vec<u8>> {
    match event {
        AgentHookEvent::PreToolUse => Some(denial(reason)),
        AgentHookEvent::PermissionRequest => Some(permission_denied(reason, false)),
        AgentHookEvent::Elicitation => Some(line(event, [("action", Some(quoted("decline")))])),
        _ => None,
    }
}

/// Returns the line with which a hook refuses a change of settings, with the reason for the user.
#[must_use]
pub fn settings_refusal(reason: &str) -> Vec<u8> {
    let members = [("decision", Some(quoted("block"))), ("reason", Some(quoted(reason)))];
    let mut line = object(members).into_bytes();
    line.push(b'\n');
    line
}

/// Returns an answer as one line. Members without a value are left out; a value is JSON text.
fn line<const N: usize>(event: AgentHookEvent, members: [(&str, Option<String>); N]) -> Vec<u8> {
    let name = [("hookEventName", Some(quoted(event.name())))];
    let output = object(name.into_iter().chain(members));
    let mut line = object([("hookSpecificOutput", Some(output))]).into_bytes();
    flatten(&mut line);
    line.push(b'\n');
    line
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, Option<String>)>) -> String {
    let member = |(key, value): (&str, Option<String>)| Some(format!("{}:{}", quoted(key), value?));
    let members: Vec<String> = members.into_iter().filter_map(member).collect();
    format!("{{{}}}", members.join(","))
}

fn text(value: &RawValue) -> String {
    value.get().to_owned()
}

fn allow(agent: HookAgent, request: &ApprovalRequest, response: &ApprovalResponse) -> Vec<u8> {
    let mut input = response.updated_input.as_deref();
    // Claude Code ignores a bare allow of this tool and still asks its user.
    if agent == HookAgent::Claude && request.tool_name == "ExitPlanMode" {
        input = input.or(Some(&request.tool_input));
    }
    let permissions =
        if request.takes(AnswerExtra::Always) { permissions(response) } else { Vec::new() };
    let permissions = (!permissions.is_empty()).then(|| format!("[{}]", permissions.join(",")));
    let decision = object([
        ("behavior", Some(quoted("allow"))),
        ("updatedInput", input.map(text)),
        ("updatedPermissions", permissions),
    ]);
    line(AgentHookEvent::PermissionRequest, [("decision", Some(decision))])
}

/// Returns the permission updates. Claude Code drops the whole answer, and with it the allow, if it
/// does not understand one element. So if one is not an object, none is sent: half of a choice is
/// not what was chosen.
fn permissions(response: &ApprovalResponse) -> Vec<&str> {
    let all: Vec<&RawValue> = match &response.updated_permissions[..] {
        [] => response.always_allow_suggestion.as_deref().into_iter().collect(),
        all => all.iter().map(|one| &**one).collect(),
    };
    let are_objects = all.iter().all(|one| Json::from(*one).is_object());
    if are_objects { all.into_iter().map(RawValue::get).collect() } else { Vec::new() }
}

fn deny(request: &ApprovalRequest, response: &ApprovalResponse) -> Vec<u8> {
    let interrupt = response.interrupt && request.takes(AnswerExtra::Interrupt);
    permission_denied(reason(response), interrupt)
}

fn permission_denied(reason: &str, interrupt: bool) -> Vec<u8> {
    let decision = object([
        ("behavior", Some(quoted("deny"))),
        ("message", Some(quoted(reason))),
        ("interrupt", interrupt.then(|| "true".to_owned())),
    ]);
    line(AgentHookEvent::PermissionRequest, [("decision", Some(decision))])
}

fn reason(response: &ApprovalResponse) -> &str {
    response.message.as_deref().filter(|message| !message.trim().is_empty()).unwrap_or(DENIED)
}

fn pre_tool_use(decision: &str, reason: Option<&str>, input: Option<&RawValue>) -> Vec<u8> {
    let members = [
        ("permissionDecision", Some(quoted(decision))),
        ("permissionDecisionReason", reason.map(quoted)),
        ("updatedInput", input.map(text)),
    ];
    line(AgentHookEvent::PreToolUse, members)
}

fn elicitation(
    is_allowed: bool,
    request: &ApprovalRequest,
    response: &ApprovalResponse,
) -> Option<Vec<u8>> {
    let input = Json::from(&*request.tool_input).members();
    let filled = response.updated_input.as_deref();
    let (action, content) = match (is_allowed, response.interrupt) {
        (true, _) if filled.is_none() && wants_content(&input) => return None,
        (true, _) => ("accept", filled.map(text).or_else(|| bare_content(&input))),
        (false, true) => ("cancel", None),
        (false, false) => ("decline", None),
    };
    Some(line(
        AgentHookEvent::Elicitation,
        [("action", Some(quoted(action))), ("content", content)],
    ))
}

/// Returns true if a bare yes is not enough: the server's form has required fields.
fn wants_content(input: &Members<'_>) -> bool {
    let schema = input.some("requested_schema").map(Json::members).unwrap_or_default();
    schema.some("required").is_some_and(|required| required.get() != "[]")
}

/// Returns the form content for a bare yes; `None` if a page is to be opened.
fn bare_content(input: &Members<'_>) -> Option<String> {
    let is_page = input.string("mode").as_deref() == Some("url");
    (!is_page).then(|| "{}".to_owned())
}

#[cfg(test)]
mod tests;
