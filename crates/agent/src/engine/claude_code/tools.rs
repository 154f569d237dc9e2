//! What the CLI may do: its own tools after the gate has permitted each call, and the runtime's
//! tools, which pass the gate by themselves.

use std::sync::Arc;

use callgate_claude::{
    ClaudeSettings, Hook, HookEvent, HookOutput, PermissionDecision, PermissionQuestion,
};
use callgate_link::sync::lock;
use callgate_tools::{CallContext, Host, HostError, Tool, ToolError, ToolOutput};
use callgate_wire::tool_act::ToolKind;
use serde_json::Value;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::{RanTools, RoundEnds};
use crate::engine::{EngineToolCall, ToolRunner};
use crate::gate::ToolPermit;
use crate::tool::{CallOutcome, ToolSpec, raw_json};

/// The name of the server with the runtime's tools.
const SERVER: &str = "callgate";
/// The prefix of the runtime's tools, as the CLI names them.
const PREFIX: &str = "mcp__callgate__";
/// The CLI's tools that touch nothing outside of its own session. `Task` and `Agent` are among them
/// because each call of a subagent is asked about by itself.
const HARMLESS: [&str; 8] = [
    "TodoWrite",
    "Task",
    "Agent",
    "TaskOutput",
    "ToolSearch",
    "Skill",
    "EnterPlanMode",
    "StructuredOutput",
];

/// Returns the name of a tool of the runtime's, as the runtime has it.
pub(super) fn own_name(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

/// Makes the CLI wait after each of its tools until the sender in `rounds` was received and
/// dropped, so that the user can say something before the model continues.
pub(super) fn with_pauses(mut settings: ClaudeSettings, rounds: &RoundEnds) -> ClaudeSettings {
    for event in [HookEvent::PostToolUse, HookEvent::PostToolUseFailure] {
        let rounds = rounds.clone();
        settings = settings.hook(Hook::new(event, move |input| {
            let rounds = rounds.clone();
            async move {
                // What is said is for the agent itself, not for those that it has started.
                if input.data["agent_id"].is_null() {
                    let (release, released) = oneshot::channel();
                    if rounds.send(release).await.is_ok() {
                        // If nobody receives it, it is dropped, which has the same effect.
                        released.await.ok();
                    }
                }
                HookOutput::proceed()
            }
        }));
    }
    settings
}

/// Passes the CLI's own tools to the gate, also those that the CLI would not ask about. What was
/// denied is in `ran`, by the id of the call.
pub(super) fn with_gate(
    settings: ClaudeSettings,
    runner: &Arc<dyn ToolRunner>,
    ran: &RanTools,
) -> ClaudeSettings {
    let hook = Hook::new(HookEvent::PreToolUse, |input| async move {
        let name = input.tool_name.unwrap_or_default();
        // A tool of the runtime passes the gate when it runs: asked here too, a person would be
        // asked twice.
        let is_asked = own_name(&name).is_none() && !HARMLESS.contains(&&*name);
        if is_asked { HookOutput::ask("callgate decides") } else { HookOutput::proceed() }
    });
    let (runner, ran) = (Arc::clone(runner), Arc::clone(ran));
    settings.hook(hook).permission(move |question| {
        decide_question(Arc::clone(&runner), Arc::clone(&ran), question)
    })
}

async fn decide_question(
    runner: Arc<dyn ToolRunner>,
    ran: RanTools,
    question: PermissionQuestion,
) -> PermissionDecision {
    let PermissionQuestion { tool_name, input, tool_use_id, .. } = question;
    let id = tool_use_id.unwrap_or_else(|| Uuid::new_v4().to_string());
    let is_read_only = matches!(
        ToolKind::for_tool("", &tool_name),
        ToolKind::Read | ToolKind::Find | ToolKind::Search | ToolKind::WebSearch
    );
    let input = raw_json(&input);
    let call = EngineToolCall { id: id.clone(), tool: tool_name, input, is_read_only };
    match runner.permit_call(call).await {
        ToolPermit::Allowed { input, .. } => {
            // Arguments that a person has changed are an object, as the gate has checked.
            let input = input.and_then(|input| serde_json::from_str(input.get()).ok());
            PermissionDecision::Allow { input, updates: Vec::new() }
        }
        ToolPermit::Futile { because } => {
            lock(&ran).insert(id, CallOutcome::failed(&*because));
            PermissionDecision::Deny { message: because, interrupt: false }
        }
        ToolPermit::Denied { because, interrupt } => {
            lock(&ran).insert(id, CallOutcome::denied(&*because));
            PermissionDecision::Deny { message: because, interrupt }
        }
    }
}

/// Offers the runtime's tools.
pub(super) fn build_host(
    specs: &[ToolSpec],
    runner: &Arc<dyn ToolRunner>,
    ran: &RanTools,
) -> Result<Host, HostError> {
    Host::new(specs.iter().map(|spec| build_tool(spec, runner, ran)))?.named(SERVER)
}

fn build_tool(spec: &ToolSpec, runner: &Arc<dyn ToolRunner>, ran: &RanTools) -> Tool {
    let name: Arc<str> = (&*spec.name).into();
    let schema: Value = serde_json::from_str(spec.input_schema.get()).unwrap_or_default();
    let (runner, ran) = (Arc::clone(runner), Arc::clone(ran));
    let work = move |arguments: Value, context: CallContext| {
        let (runner, ran, name) = (Arc::clone(&runner), Arc::clone(&ran), name.to_string());
        async move {
            let id = context.call_id().unwrap_or_else(|| Uuid::new_v4().to_string());
            let outcome = runner.run_tool(id.clone(), name, raw_json(&arguments)).await;
            let (text, is_error) = (outcome.text.clone(), outcome.is_error);
            let pictures = outcome.images.clone();
            // Before the CLI gets the text, because its own report of the result may follow at
            // once.
            lock(&ran).insert(id, outcome);
            tool_output(text, is_error, pictures)
        }
    };
    Tool::raw(spec.name.to_string(), spec.description.to_string(), schema, work)
}

fn tool_output(
    text: String,
    is_error: bool,
    pictures: Vec<crate::message::MediaSource>,
) -> Result<ToolOutput, ToolError> {
    if is_error {
        return Err(ToolError::new(text));
    }
    let pictures = pictures.into_iter().map(|picture| {
        let crate::message::MediaSource::Base64 { media_type, data } = picture;
        callgate_tools::ToolContent::image(data, media_type)
    });
    let text = callgate_tools::ToolContent::text(text);
    Ok(ToolOutput::items(std::iter::once(text).chain(pictures)))
}
