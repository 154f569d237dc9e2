//! `OpenHands`.

use super::super::form::{HookAnswer, HookReply, json_word, reply_line};
use super::{
    AgentProfile, AgentSettingsPlace, AnswerAbilities, HookFailures, InputForm, JsonHooks,
    LimitUnit, SettingsFormat, before_tool, rename_members, silent_report,
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
    input: InputForm::Object { event: "event_type", decode: decode_openhands_input },
    events: &[
        before_tool("PreToolUse", AnswerAbilities::DENY, openhands_form),
        silent_report("PostToolUse", AgentHookEvent::PostToolUse),
        silent_report("Stop", AgentHookEvent::Stop),
        silent_report("SessionEnd", AgentHookEvent::SessionEnd),
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

fn decode_openhands_input(members: Members<'_>) -> Members<'_> {
    rename_members(members, &[("event_type", "hook_event_name"), ("working_dir", "cwd")])
}

/// Writes an answer. It understands `deny`, and not the `block` of others.
fn openhands_form(answer: &HookAnswer<'_>) -> HookReply {
    match answer {
        HookAnswer::Allow { .. } => reply_line([("decision", json_word("allow"))]),
        HookAnswer::Deny { reason, .. } | HookAnswer::Ask { reason } => {
            reply_line([("decision", json_word("deny")), ("reason", json_word(reason))])
        }
        HookAnswer::NoDecision => HookReply::Nothing,
    }
}
