//! `OpenHands`.

use super::super::form::{HookAnswer, HookReply, line, word};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, HookFailures, InputForm, JsonHooks,
    LimitUnit, SettingsFormat, before_tool, renamed, told,
};
use crate::hook::AgentHookEvent;
use crate::raw::Members;

/// `OpenHands`. The hooks of a project replace the user's.
pub static OPENHANDS: AgentProfile = AgentProfile {
    word: "openhands",
    id: "openhands",
    name: "OpenHands",
    programs: &["openhands"],
    mark: Some("OPENHANDS_EVENT_TYPE"),
    reads: &[],
    input: InputForm::Object { event: "event_type", decode },
    events: &[
        before_tool("PreToolUse", AnswerAbilities::DENY, form),
        told("PostToolUse", AgentHookEvent::PostToolUse),
        told("Stop", AgentHookEvent::Stop),
        told("SessionEnd", AgentHookEvent::SessionEnd),
    ],
    failures: HookFailures::OPEN,
    settings: AgentSettingsPlace {
        folder: ".openhands",
        variable: None,
        files: &["hooks.json"],
        project_folder: Some(".openhands"),
        project_files: &["hooks.json"],
        format: SettingsFormat::Json(JsonHooks { matcher: Some("*"), ..JsonHooks::CLAUDE }),
        unit: LimitUnit::Seconds,
    },
    next: "OpenHands conversations that are open now have to be restarted.",
};

fn decode(members: Members<'_>) -> Members<'_> {
    renamed(members, &[("event_type", "hook_event_name"), ("working_dir", "cwd")])
}

/// Writes an answer. It understands `deny`, and not the `block` of others.
fn form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => line([("decision", word("allow"))]),
        HookAnswer::Deny { reason, .. } | HookAnswer::Ask { reason } => {
            line([("decision", word("deny")), ("reason", word(reason))])
        }
        HookAnswer::NoDecision => HookReply::Nothing,
    }
}
